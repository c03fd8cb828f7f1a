"""Training time as samples and labels grow, against one-vs-all LIBSVM.

As table 2 of the ranking paper and figures 4.4, 4.5, 5.3 and 5.4 of the dissertation: OneVsAllSVM,
LabelRanker (MLR-L1) and IncompleteLabelRanker (MLR-GL) against OneVsRestClassifier(SVC). Everybody reads the
same Gram matrix in float64 on one core; making it is not counted. Ours stop at a relative duality gap of
1e-3, the peer at its default tolerance; the gap that each reached is measured. Labels are taken by falling
frequency.
"""

from dataclasses import dataclass

import numpy as np

from tagrank.data import load_dataset
from tagrank.estimators import IncompleteLabelRanker, LabelRanker, OneVsAllSVM
from tagrank.kernels import Gaussian
from tagrank.reports.charts import line_chart
from tagrank_papers.catalogue import find_table
from tagrank_papers.figures import Answer, Figures
from tagrank_papers.measuring import best_time
from tagrank_papers.plots import draw_charts
from tagrank_papers.protocols.data import dense, draw_problem
from tagrank_papers.protocols.svm_peer import peer_gap, train_peer
from tagrank_papers.text import markdown_table, show

QUICK = {"only": ("drawn",), "small": True}
PAGES = ("growth-results.md", "growth.svg")
PEER = "one-vs-all LIBSVM"
METHODS = {Method.__name__: Method for Method in (OneVsAllSVM, LabelRanker, IncompleteLabelRanker)}
C, TOL = 1.0, 1e-3
SHORT = 1.0  # seconds; a fit that takes less is repeated, for the shortest time


@dataclass(frozen=True)
class Sizes:
    """Samples that grow while labels stay, and labels that grow while samples stay."""

    samples: tuple
    labels: tuple
    n_samples: int
    n_labels: int = 100

    def points(self):
        """(n_samples, n_labels) and what grows there; the point where both series meet is measured once."""
        grows = {}
        for n_samples in self.samples:
            grows.setdefault((n_samples, self.n_labels), []).append("samples")
        for n_labels in self.labels:
            grows.setdefault((self.n_samples, n_labels), []).append("labels")
        return grows.items()


SIZES = {
    "corel5k": Sizes((560, 1125, 2250, 4500), (25, 50, 100, 200, 371), 4500),
    "delicious": Sizes((1250, 2500, 5000, 10_000), (25, 50, 100, 200, 400), 2500),
    "drawn": Sizes((500, 1000, 2000, 4000), (25, 50, 100, 200), 2000),
}
SMALL = Sizes((60, 120), (4, 8), 120, 8)


def run(*, only=("corel5k", "delicious"), small=False):
    warm_up()
    yield [line for name in only for line in measure_sizes(name, SMALL if small else SIZES[name])]


def render(results, machine):
    page = render_page(results, machine=f"one core of an {machine['processor']}")
    return dict(zip(PAGES, (page, draw_growth(results)), strict=True))


def read(name, sizes):
    """Gram matrix and labels of the largest size, samples in random order, labels by falling frequency."""
    n_samples = max(*sizes.samples, sizes.n_samples)
    if name == "drawn":
        K, Y = draw_problem(n_samples, max(*sizes.labels, sizes.n_labels))
    else:
        train = load_dataset(name).train
        chosen = np.random.default_rng(0).permutation(train.X.shape[0])[:n_samples]
        X, Y = (dense(matrix)[chosen] for matrix in (train.X, train.Y))
        K = Gaussian()(X)
    return K, Y[:, np.argsort(-Y.sum(axis=0), kind="stable")]


def train(method, K, Y):
    if method == PEER:
        return train_peer(K, Y, C)
    return METHODS[method](C, kernel="precomputed", tol=TOL, random_state=0, n_jobs=1).fit(K, Y)


def measure(K, Y):
    """One line for each method, the peer first."""
    lines = []
    for method in (PEER, *METHODS):
        seconds, _, model = best_time(train, method, K, Y, enough=SHORT)
        gap = peer_gap(model, K, Y, C) if method == PEER else model.duality_gap_
        line = {"n_samples": len(K), "n_labels": Y.shape[1], "method": method, "seconds": seconds}
        line |= {"gap": float(gap), "passes": None if method == PEER else model.n_iter_}
        lines.append(line | {"ratio_to_peer": (lines[0] if lines else line)["seconds"] / seconds})
    return lines


def measure_sizes(name, sizes):
    """Lines of all sizes of a data set."""
    K, Y = read(name, sizes)
    for (n_samples, n_labels), grows in sizes.points():
        part, labels = np.ascontiguousarray(K[:n_samples, :n_samples]), Y[:n_samples, :n_labels]
        varies = np.ptp(labels, axis=0) > 0  # the peer cannot train the others
        for line in measure(part, labels[:, varies]):
            show(line, *line)
            yield {"data": name, "grows": grows, **line}


def warm_up():
    """Compile before anything is timed; large problems take another way than small ones."""
    for n_samples in (200, 1000):
        K, Y = draw_problem(n_samples, 8)
        for method in METHODS:
            train(method, K, Y)


# Its answers to tables

RANKER = "LabelRanker"
ACRONYMS = {PEER: "LIBSVM", "OneVsAllSVM": "SVM", RANKER: "MLR-L1", "IncompleteLabelRanker": "MLR-GL"}


def answer(table, results):
    """Seconds of every size that was measured; the ratios of the two that the ranking paper has."""
    sizes = {}
    for line in results:
        size = f"{line['data']}, {line['n_samples']:,} x {line['n_labels']}"
        sizes.setdefault(size, {})[line["method"]] = line["seconds"]
    figures = Figures(
        tuple(ACRONYMS.values()),
        {size: tuple(f"{seconds[method]:.3g}" for method in ACRONYMS) for size, seconds in sizes.items()},
    )
    other = "IncompleteLabelRanker" if table == "mlr-gl-figure5.3" else PEER
    ratios = [seconds[other] / seconds[RANKER] for seconds in sizes.values()]
    return Answer(
        figures,
        f"Seconds by samples x labels. {ACRONYMS[other]} takes {min(ratios):.1f} to {max(ratios):.1f} times "
        "as long as MLR-L1.",
    )


# Its page

COLUMNS = {"samples": "n_samples", "labels": "n_labels"}
SAMPLES_2006, SAMPLES_2007, LABELS_2006, LABELS_2007 = 2400, 5200, 10, 20
PUBLISHED = ("MLR-L1", "one-vs-all LIBSVM", "SVM-perf", "MLSSM")  # the columns of table 2
INTRO = """# Training time as samples and labels grow

Measured by `tagrank reproduce mlr-table2`; written by `make docs` from the figures that are kept, with
machine and versions, in `papers/src/tagrank_papers/results/growth.json`. Do not edit it by hand. Measured on
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
