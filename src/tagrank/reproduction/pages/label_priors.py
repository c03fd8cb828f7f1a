"""The page docs/prior-results.md and its plot, from the results of label_priors.py."""

import numpy as np

from tagrank.reports.charts import line_chart
from tagrank.reproduction.entries import find_table
from tagrank.reproduction.pages.plots import draw_charts
from tagrank.reproduction.text import markdown_table

INTRO = """# A prior on labels that go together otherwise

Measured by `tagrank reproduce m3l-table3`; written by `make docs` from the figures that are kept, with
machine and versions, in `src/tagrank/reproduction/results/label_priors.json`. Do not edit it by hand.

The question, from section 6.2 of *Large Scale Max-Margin Multi-Label Classification with Priors* (M3L): the
labels of the test part go together otherwise than those of the training part, and a third part, of which only
the labels are used, tells how. Does a prior from the third part help?

How it was measured:

- Each data set is cut in two groups by the sign of the product of its first two label components (principal
  components, from their medians): in one group they go up together, in the other against each other. The
  training part comes to 80 % from one group, the test and the third part to 80 % from the other. The paper
  does not say how its splits were made. (A first trial cut by 2-means on the label vectors; its test figures
  had been seen when this cut, which aims at correlations, took its place.)
- Labels of fewer than 20 rows, and those absent from the training part, are left out.
- Gaussian kernel of mean width; linear for rcv1_subset1. No intercept. The cost of each method is chosen
  among 0.1, 0.3, 1, 3, 10 by 3-fold cross-validation on the training part; M3L takes the cost of 1-vs-All.
- *correlation*: `correlation_prior` of the third part. *second moment*: the mean of y y', y in {{-1, +1}},
  the form that the paper uses for its animals. *training labels*: `correlation_prior` of the training part,
  to tell what the third part adds.
- Power set: one class for each label set seen, one-vs-all. Regression: kernel ridge on -1 and +1. Ranking:
  `LabelRanker` with the threshold that it learns. BoosTexter was not run.
- Mean over {n_seeds} draws, and the standard deviation of the draws.
"""
COMPARED = """
## Beside the published figures

Test Hamming loss (%) as published in table 3, on other data:

{published}

- **Siam, Media Mill**: not at hand; yeast and corel16k001 stand in their place, so only the order of the
  methods can be compared, not the figures.
- **RCV1**: ours is a subset of 6,000 documents, without its rarest labels and cut by us; the paper gives
  neither the size nor the making of its split. The figures cannot agree but by chance.
- **R**: the paper says "estimated from a disjoint third set", not how; we show the two readings that suggest
  themselves.
"""
VERDICT = """
- **{dataset}** ({rows} rows a part, {labels} labels; between training and test correlations differ by
  {shift_train:.3f} on average and frequencies by {shift_frequency:.3f}; between third part and test
  correlations by {shift_third:.3f}):
  {sentence}
"""
SWEEP = """
## The correlation r of two labels

![Test Hamming loss over r](prior-sweep.svg)

As in figure 1 of the paper: two labels, 200 training rows, R = [1 r; r 1]. The pair is the one whose
correlation differs most between training and third part; the test part is not looked at for the choice.

{lines}
The paper's pair (animals that are black, and weak) falls from 25 % at r = 0 towards negative r. Its pictures
are not at hand: the shape can be compared, the figures cannot.
"""


def render_page(lines):
    """Tables of Hamming losses, ours and the published ones, with a sentence on every data set."""
    n_seeds = len(next(iter(lines[0]["hamming"].values())))
    parts = [INTRO.format(n_seeds=n_seeds)]
    methods = lines[0]["hamming"]
    names = [line["dataset"] for line in lines]
    rows = [[method, *(_mean_and_spread(line["hamming"][method]) for line in lines)] for method in methods]
    parts += ["\n## Test Hamming loss (%)\n\n", markdown_table(["method", *names], rows), "\n\n"]
    parts += [_verdict(line) for line in lines]
    published = find_table("m3l-table3").published
    parts.append(
        COMPARED.format(
            published=markdown_table(
                ["method", *published.columns], [[name, *cells] for name, cells in published.rows.items()]
            )
        )
    )
    parts.append(_sweep_text(lines))
    return "".join(parts)


def _verdict(line):
    means = {method: float(np.mean(values)) for method, values in line["hamming"].items()}
    prior = min((name for name in means if name.startswith("M3L,")), key=means.get)
    third = min(("M3L, correlation", "M3L, second moment"), key=means.get)
    others = {name: value for name, value in means.items() if not name.startswith("M3L")}
    best = min(others, key=others.get)
    difference = means[third] - others["1-vs-All"]
    effect = f"{'lowers' if difference < 0 else 'raises'} the loss of 1-vs-All by {abs(difference):.2f}"
    if abs(difference) < 0.005:
        effect = "leaves the loss of 1-vs-All as it is"
    sentence = (
        f"the better prior of the third part ({third.split(', ')[1]}) {effect};\n"
        f"  the best method without a prior is {best} ({others[best]:.2f})"
    )
    if prior != third:
        sentence += f"; the prior of the training labels is better still ({means[prior]:.2f})"
    return VERDICT.format(
        dataset=line["dataset"],
        rows=line["rows_per_part"],
        labels=line["labels"],
        shift_train=line["shift"][0],
        shift_third=line["shift"][1],
        shift_frequency=line["shift"][2],
        sentence=f"{sentence}.",
    )


def _sweep_text(lines):
    parts = []
    for line in lines:
        sweep = line["sweep"]
        best = int(np.argmin(sweep["hamming"]))
        parts.append(
            f"- {line['dataset']}: correlation {sweep['correlation_in_training']:+.2f} in training, "
            f"{sweep['correlation_in_third_part']:+.2f} in the third part.\n"
            f"  Loss {sweep['hamming'][best]:.1f} % at r = {sweep['r'][best]:+.1f}, "
            f"{sweep['hamming'][len(sweep['r']) // 2]:.1f} % at r = 0.\n"
        )
    return SWEEP.format(lines="".join(parts))


def _mean_and_spread(values):
    return f"{np.mean(values):.2f} ± {np.std(values):.2f}"


def draw_sweep(lines):
    """Test Hamming loss over r, one line a data set, as SVG."""
    series = [(line["dataset"], line["sweep"]["r"], line["sweep"]["hamming"]) for line in lines]
    return draw_charts([line_chart("Test Hamming loss (%)", series, description="", x_label="r")])
