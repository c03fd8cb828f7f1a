"""Training time as samples and labels grow, against one-vs-all LIBSVM.

As figures 4.4, 4.5, 5.3 and 5.4 of the dissertation: OneVsAllSVM, LabelRanker (MLR-L1),
IncompleteLabelRanker (MLR-GL) and SharedSubspace (MLLS) against OneVsRestClassifier(SVC). Everybody reads the
same Gram matrix in float64 on one core; making it is not counted. Ours stop at a relative duality gap of
1e-3, the peer at its default tolerance; the gap that each reached is measured. The subspace is computed in
closed form, to the last digit. Labels are taken by falling frequency. Seconds are those of the processor.
"""

from dataclasses import dataclass

import numpy as np

from tagrank.data import load_dataset
from tagrank.estimators import IncompleteLabelRanker, LabelRanker, OneVsAllSVM, SharedSubspace
from tagrank.kernels import Gaussian
from tagrank.reports.charts import line_chart
from tagrank_papers.catalogue import find_table
from tagrank_papers.figures import Answer, Figures
from tagrank_papers.lines import distinct, exponent, where
from tagrank_papers.measuring import best_time
from tagrank_papers.plots import draw_charts
from tagrank_papers.protocols.data import dense, draw_problem
from tagrank_papers.protocols.peers import peer_gap, train_peer
from tagrank_papers.text import markdown_table, read_text, show

QUICK = {"only": ("drawn",), "small": True}
TEXT = read_text("growth")
PAGES = ("growth-results.md", "growth.svg")
PEER = "one-vs-all LIBSVM"
SUBSPACE = "SharedSubspace"
METHODS = {
    Method.__name__: Method for Method in (OneVsAllSVM, LabelRanker, IncompleteLabelRanker, SharedSubspace)
}
C, ALPHA, TOL = 1.0, 1.0, 1e-3
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
    if method == SUBSPACE:
        return SharedSubspace(alpha=ALPHA, kernel="precomputed", n_jobs=1).fit(K, Y)
    return METHODS[method](C, kernel="precomputed", tol=TOL, random_state=0, n_jobs=1).fit(K, Y)


def measure(K, Y):
    """One line for each method, the peer first."""
    lines = []
    for method in (PEER, *METHODS):
        _, seconds, model = best_time(train, method, K, Y, enough=SHORT)
        gap = float(peer_gap(model, K, Y, C)) if method == PEER else getattr(model, "duality_gap_", None)
        line = {"n_samples": len(K), "n_labels": Y.shape[1], "method": method, "seconds": seconds}
        line |= {"gap": gap, "passes": getattr(model, "n_iter_", None)}
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
ACRONYMS = {
    PEER: "LIBSVM",
    "OneVsAllSVM": "SVM",
    SUBSPACE: "MLLS",
    RANKER: "MLR-L1",
    "IncompleteLabelRanker": "MLR-GL",
}


def answer(table, results):
    """Seconds of every size that was measured, and ratios of the methods that the drawings have."""
    sizes = {}
    for line in results:
        size = f"{line['data']}, {line['n_samples']:,} x {line['n_labels']}"
        sizes.setdefault(size, {})[line["method"]] = line["seconds"]
    figures = Figures(
        tuple(ACRONYMS.values()),
        {size: tuple(f"{seconds[method]:.3g}" for method in ACRONYMS) for size, seconds in sizes.items()},
    )
    others = ("IncompleteLabelRanker", PEER) if table == "mlr-gl-figure5.3" else (PEER, SUBSPACE)
    words = []
    for other in others:
        ratios = [seconds[other] / seconds[RANKER] for seconds in sizes.values()]
        words.append(f"{ACRONYMS[other]} takes {min(ratios):.1f} to {max(ratios):.1f} times as long")
    return Answer(figures, f"Processor seconds by samples x labels. Beside MLR-L1, {', '.join(words)}.")


# Its page

COLUMNS = {"samples": "n_samples", "labels": "n_labels"}
SAMPLES_2006, SAMPLES_2007, LABELS_2006, LABELS_2007 = 2400, 5200, 10, 20
PUBLISHED = ("MLR-L1", "one-vs-all LIBSVM", "SVM-perf", "MLSSM")  # the columns of table 2


def render(results, machine):
    """Tables of seconds by size, exponents, and the published figures."""
    parts = [TEXT.intro.format(machine=f"one core of an {machine['processor']}")]
    for data in distinct(results, "data"):
        for what, fixed in (("samples", "labels"), ("labels", "samples")):
            some = _series(results, data, what)
            amount = f"{max(line[COLUMNS[fixed]] for line in some):,} {fixed}"
            parts.append(TEXT.table.format(data=data, fixed=amount, what=what, table=_times(some, what)))
    powers = _powers(results)
    parts.append(TEXT.exponents.format(table=_exponent_table(powers)))
    ratios = [line["ratio_to_peer"] for line in where(results, method=RANKER)]
    words = f"{min(ratios):.1f} to {max(ratios):.1f} times"
    slower = [line["ratio_to_peer"] for line in where(results, method=SUBSPACE)]
    shared = [first / second for first, second in zip(ratios, slower, strict=True)]
    times = f"{min(shared):.1f} to {max(shared):.1f} times"
    parts.append(TEXT.compared.format(table=_published_table(powers), ratios=words, shared=times))
    return {PAGES[0]: "".join(parts), PAGES[1]: draw_growth(results)}


def _times(lines, what):
    """Rows are sizes, columns methods."""
    methods, column = distinct(lines, "method"), COLUMNS[what]
    rows = []
    for size in sorted(distinct(lines, column)):
        some = {line["method"]: line for line in where(lines, **{column: size})}
        rows.append([f"{size:,}", *(_cell(some[method]) for method in methods)])
    return markdown_table([what, *methods], rows, numbers=True)


def _cell(line):
    return f"{line['seconds']:.3g}" + ("" if line["gap"] is None else f" ({line['gap']:.0e})")


def _powers(lines):
    """(data, what grows, method) -> exponent."""
    powers = {}
    for data in distinct(lines, "data"):
        for what, column in COLUMNS.items():
            for method in distinct(lines, "method"):
                some = where(_series(lines, data, what), method=method)
                sizes, seconds = ([line[key] for line in some] for key in (column, "seconds"))
                powers[data, what, method] = exponent(sizes, seconds)
    return powers


def _exponent_table(powers):
    methods = list(dict.fromkeys(method for _, _, method in powers))
    rows = [
        [f"{data}, {what}", *(f"{powers[data, what, method]:.2f}" for method in methods)]
        for data, what in dict.fromkeys((data, what) for data, what, _ in powers)
    ]
    return markdown_table(["", *methods], rows, numbers=True)


def _published_table(powers):
    cells = find_table("mlr-table2").published.rows.values()
    published = [[float(cell.split(" ± ")[0]) for cell in row] for row in cells]
    rows = [
        [f"{method}, published", f"{first:,.0f}", f"{second:,.0f}", f"{second / first:.1f} x"]
        for method, first, second in zip(PUBLISHED, *published, strict=True)
    ]
    for data, method in dict.fromkeys((data, method) for data, _, method in powers):
        growth = (SAMPLES_2007 / SAMPLES_2006) ** powers[data, "samples", method]
        growth *= (LABELS_2007 / LABELS_2006) ** powers[data, "labels", method]
        rows.append([f"{method}, exponents of {data}", "", "", f"{growth:.1f} x"])
    return markdown_table(["", "VOC 2006", "VOC 2007", "growth"], rows, numbers=True)


def draw_growth(lines):
    """Seconds of all methods over samples and over labels, for each data set, as SVG."""
    charts = []
    for data in distinct(lines, "data"):
        for what, column in COLUMNS.items():
            series = []
            for method in distinct(lines, "method"):
                some = where(_series(lines, data, what), method=method)
                points = sorted((line[column], line["seconds"]) for line in some)
                series.append((method, *zip(*points, strict=True)))
            charts.append(
                line_chart("seconds", series, description="", x_label=f"{what} of {data}", logarithmic=True)
            )
    return draw_charts(charts)


def _series(lines, data, what):
    return [line for line in where(lines, data=data) if what in line["grows"]]
