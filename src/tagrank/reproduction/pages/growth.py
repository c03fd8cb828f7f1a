"""The page docs/growth-results.md and its plot, from the results of growth.py."""

import numpy as np

from tagrank.reports.charts import line_chart
from tagrank.reproduction.entries import find_table
from tagrank.reproduction.pages.plots import draw_charts
from tagrank.reproduction.text import markdown_table

COLUMNS = {"samples": "n_samples", "labels": "n_labels"}
SAMPLES_2006, SAMPLES_2007, LABELS_2006, LABELS_2007 = 2400, 5200, 10, 20
PUBLISHED = ("MLR-L1", "one-vs-all LIBSVM", "SVM-perf", "MLSSM")  # the columns of table 2
INTRO = """# Training time as samples and labels grow

Measured by `tagrank reproduce mlr-table2`; written by `make docs` from the figures that are kept, with
machine and versions, in `src/tagrank/reproduction/results/growth.json`. Do not edit it by hand. Measured on
{machine}.

The question, from table 2 of *Efficient Multi-label Ranking for Multi-class Learning* and figures 4.4, 4.5,
5.3 and 5.4 of the dissertation: how does training time grow with the number of samples and of labels, beside
one-vs-all LIBSVM?

How it was measured:

- Everybody reads the same Gram matrix (Gaussian, mean width) in float64, on one core; making it is not
  counted, as in the dissertation. C = 1.
- `OneVsAllSVM`, `LabelRanker` (MLR-L1) and `IncompleteLabelRanker` (MLR-GL, exact) stop at a certified
  relative duality gap of 0.001. LIBSVM is `OneVsRestClassifier(SVC(kernel="precomputed"))` at its default
  tolerance; its problem has a free bias, and the gap is that of its own problem. The three problems differ:
  the same gap is the same closeness to each method's own optimum.
- Samples in random order, labels by falling frequency: more labels are rarer labels, as in the dissertation.
- Whole fits; of those below a second the shortest of three.

![Seconds over samples and labels](growth.svg)
"""
TABLE = """
## {data}: {fixed}, {what} grow

Seconds, and the relative duality gap that was reached:

{table}
"""
EXPONENTS = """
## How fast it grows

Exponents p of seconds ~ size^p, by least squares on the logarithms of the sizes above:

{table}

The dissertation counts n^2 m for a pass of MLR-L1 or MLR-GL over all samples. Passes here leave out samples
that hardly contribute and coefficients that do not change, and how many passes are needed depends on the size
too, so that exponents need not be 2 and 1. Small sizes are partly a fixed cost, which lowers them.
"""
COMPARED = """
## Beside the published figures

Table 2 of the ranking paper, seconds on PASCAL VOC 2006 (2,400 training images, 10 classes) and 2007 (5,200
images, 20 classes), and how much longer the second took; below, what our exponents say for the same step:

{table}

- **Seconds** cannot be compared: another machine, more than ten years older, other data and another kernel;
  the paper states neither its machine nor how close to the optimum its runs ended. Only growth can be
  compared, and roughly: two data sets differ in more than their sizes.
- **LIBSVM against MLR-L1**: 27 and 17 times longer in the paper; here {ratios}.
- **Figures 4.4, 4.5, 5.3 and 5.4** (ESP Game, 1,000 to 40,000 samples and 10 to 500 labels) are drawings
  without numbers. Their text reports quadratic growth with the samples for MLR-L1 and SVM; linear growth with
  the labels for MLR-L1, and less for SVM, because training ends early for rare labels; similar times for
  MLR-GL, MLR-L1 and SVM. The exponents above are what compares.
"""


def render_page(lines, *, machine):
    """Tables of seconds by size, exponents, and the published figures."""
    parts = [INTRO.format(machine=machine)]
    for data in _names(lines, "data"):
        for what, fixed in (("samples", "labels"), ("labels", "samples")):
            some = _series(lines, data, what)
            amount = f"{max(line[COLUMNS[fixed]] for line in some):,} {fixed}"
            parts.append(TABLE.format(data=data, fixed=amount, what=what, table=_times(some, what)))
    powers = _powers(lines)
    parts.append(EXPONENTS.format(table=_exponent_table(powers)))
    parts.append(_compared(lines, powers))
    return "".join(parts)


def _compared(lines, powers):
    ranker = [line["ratio_to_peer"] for line in lines if line["method"] == "LabelRanker"]
    ratios = f"{min(ranker):.1f} to {max(ranker):.1f} times"
    return COMPARED.format(table=_published_table(powers), ratios=ratios)


def _times(lines, what):
    """Rows are sizes, columns methods."""
    methods, column = _names(lines, "method"), COLUMNS[what]
    rows = []
    for size in sorted({line[column] for line in lines}):
        cells = {
            line["method"]: f"{line['seconds']:.3g} ({line['gap']:.0e})"
            for line in lines
            if line[column] == size
        }
        rows.append([f"{size:,}", *(cells[method] for method in methods)])
    return markdown_table([what, *methods], rows, numbers=True)


def _powers(lines):
    """(data, what grows, method) -> exponent."""
    return {
        (data, what, method): _slope(
            [line for line in _series(lines, data, what) if line["method"] == method], what
        )
        for data in _names(lines, "data")
        for what in COLUMNS
        for method in _names(lines, "method")
    }


def _slope(lines, what):
    sizes = np.log([line[COLUMNS[what]] for line in lines])
    return float(np.polyfit(sizes, np.log([line["seconds"] for line in lines]), 1)[0])


def _exponent_table(powers):
    methods = list(dict.fromkeys(method for _, _, method in powers))
    rows = [
        [f"{data}, {what}", *(f"{powers[data, what, method]:.2f}" for method in methods)]
        for data, what in dict.fromkeys((data, what) for data, what, _ in powers)
    ]
    return markdown_table(["", *methods], rows, numbers=True)


def _published_table(powers):
    rows = [
        [f"{method}, published", f"{first:,.0f}", f"{second:,.0f}", f"{second / first:.1f} x"]
        for method, first, second in zip(PUBLISHED, *_published_seconds(), strict=True)
    ]
    for data, method in dict.fromkeys((data, method) for data, _, method in powers):
        growth = (SAMPLES_2007 / SAMPLES_2006) ** powers[data, "samples", method]
        growth *= (LABELS_2007 / LABELS_2006) ** powers[data, "labels", method]
        rows.append([f"{method}, exponents of {data}", "", "", f"{growth:.1f} x"])
    return markdown_table(["", "VOC 2006", "VOC 2007", "growth"], rows, numbers=True)


def _published_seconds():
    rows = find_table("mlr-table2").published.rows.values()
    return [[float(cell.split(" ± ")[0]) for cell in cells] for cells in rows]


def draw_growth(lines):
    """Seconds of all methods over samples and over labels, for each data set, as SVG."""
    charts = []
    for data in _names(lines, "data"):
        for what, column in COLUMNS.items():
            series = []
            for method in _names(lines, "method"):
                some = sorted(
                    (line[column], line["seconds"])
                    for line in _series(lines, data, what)
                    if line["method"] == method
                )
                series.append((method, *zip(*some, strict=True)))
            charts.append(
                line_chart("seconds", series, description="", x_label=f"{what} of {data}", logarithmic=True)
            )
    return draw_charts(charts)


def _series(lines, data, what):
    return [line for line in lines if line["data"] == data and what in line["grows"]]


def _names(lines, key):
    return list(dict.fromkeys(line[key] for line in lines))
