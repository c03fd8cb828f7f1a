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
from tagrank.reproduction.pages.growth import draw_growth, render_page
from tagrank.reproduction.protocols.data import dense, draw_problem
from tagrank.reproduction.protocols.svm_peer import peer_gap, train_peer
from tagrank.reproduction.protocols.timing import best_time
from tagrank.reproduction.text import show

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
