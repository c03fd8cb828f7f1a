"""What training costs as samples and labels grow, against one-vs-all LIBSVM.

As table 2 of the ranking paper and figures 4.4, 4.5, 5.3 and 5.4 of the dissertation: OneVsAllSVM,
LabelRanker (MLR-L1) and IncompleteLabelRanker (MLR-GL) against OneVsRestClassifier(SVC). Everybody reads the
same Gram matrix in float64 on one core; making it is not counted. Ours stop at a relative duality gap of
1e-3, the peer at its default tolerance; the gap that each reached is measured. Labels are taken by falling
frequency. Writes results/growth.json, docs/growth-results.md and docs/growth.svg.

Data sets that do not lie below TAGRANK_DATA are left out; if there are none, and in a quick run, data is
drawn.

    python benchmarks/growth.py [--only corel5k] [--quick]
"""

import argparse
import time
import warnings
from dataclasses import dataclass

import numpy as np
from common import describe_machine, write_page, write_results
from gram_training import draw_problem, peer_gap
from growth_page import draw_growth, render_page
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from tagrank import Gaussian, IncompleteLabelRanker, LabelRanker, OneVsAllSVM, load_dataset
from tagrank.data import find_dataset

PEER = "one-vs-all LIBSVM"
METHODS = {Method.__name__: Method for Method in (OneVsAllSVM, LabelRanker, IncompleteLabelRanker)}
C, TOL = 1.0, 1e-3
SHORT, REPEATS = 1.0, 3  # seconds below which a fit is repeated, for the shortest time


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


DATASETS = {
    "corel5k": Sizes((560, 1125, 2250, 4500), (25, 50, 100, 200, 371), 4500),
    "delicious": Sizes((1250, 2500, 5000, 10_000), (25, 50, 100, 200, 400), 2500),
}
DRAWN = Sizes((500, 1000, 2000, 4000), (25, 50, 100, 200), 2000)
QUICK = Sizes((60, 120), (4, 8), 120, 8)


def read(name, sizes):
    """Gram matrix and labels of the largest size, samples in random order, labels by falling frequency."""
    n_samples = max(*sizes.samples, sizes.n_samples)
    if name == "drawn":
        K, Y = draw_problem(n_samples, max(*sizes.labels, sizes.n_labels))
    else:
        train = load_dataset(name).train
        chosen = np.random.default_rng(0).permutation(train.X.shape[0])[:n_samples]
        X, Y = (_dense(matrix)[chosen] for matrix in (train.X, train.Y))
        K = Gaussian()(X)
    return K, Y[:, np.argsort(-Y.sum(axis=0), kind="stable")]


def _dense(matrix):
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix, dtype=np.float64)


def make(method):
    if method == PEER:
        return OneVsRestClassifier(SVC(C=C, kernel="precomputed"))
    return METHODS[method](C, kernel="precomputed", tol=TOL, random_state=0, n_jobs=1)


def train(method, K, Y):
    """Shortest time of a fit, and the model."""
    seconds = []
    while not seconds or (seconds[0] < SHORT and len(seconds) < REPEATS):
        start = time.perf_counter()
        model = make(method).fit(K, Y)
        seconds.append(time.perf_counter() - start)
    return min(seconds), model


def measure(K, Y):
    """One line for each method, the peer first."""
    lines = []
    for method in (PEER, *METHODS):
        seconds, model = train(method, K, Y)
        gap = peer_gap(model, K, Y, C) if method == PEER else model.duality_gap_
        line = {"n_samples": len(K), "n_labels": Y.shape[1], "method": method, "seconds": seconds}
        line |= {"gap": float(gap), "passes": None if method == PEER else model.n_iter_}
        lines.append(line | {"ratio_to_peer": (lines[0] if lines else line)["seconds"] / seconds})
    return lines


def run(name, sizes):
    """Lines of all sizes of a data set."""
    K, Y = read(name, sizes)
    lines = []
    for (n_samples, n_labels), grows in sizes.points():
        part, labels = np.ascontiguousarray(K[:n_samples, :n_samples]), Y[:n_samples, :n_labels]
        varies = np.ptp(labels, axis=0) > 0  # the peer cannot train the others
        for line in measure(part, labels[:, varies]):
            lines.append({"data": name, "grows": grows, **line})
            text = f"{name:10} {n_samples:6,} x {line['n_labels']:3} {line['method']:22}"
            print(f"{text} {line['seconds']:8.3f} s  gap {line['gap']:.1e}", flush=True)
    return lines


def choose_data(names):
    """Sizes by name of the data sets that are at hand, or of drawn data."""
    here = {name: DATASETS[name] for name in names if find_dataset(name) is not None}
    print(*(f"left out: {name} is not here\n" for name in names if name not in here), sep="", end="")
    return here or {"drawn": DRAWN}


def warm_up():
    """Compile before anything is timed; large problems take another way than small ones."""
    for n_samples in (200, 1000):
        K, Y = draw_problem(n_samples, 8)
        for method in METHODS:
            make(method).fit(K, Y)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=DATASETS, default=list(DATASETS))
    parser.add_argument("--quick", action="store_true", help="two small sizes of drawn data")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", message="Label .* is present in all training examples")
    warm_up()
    chosen = {"drawn": QUICK} if options.quick else choose_data(options.only)
    lines = [line for name, sizes in chosen.items() for line in run(name, sizes)]
    machine = describe_machine()
    write_results("growth", lines)
    write_page("growth-results.md", render_page(lines, machine=f"one core of an {machine['processor']}"))
    write_page("growth.svg", draw_growth(lines))


if __name__ == "__main__":
    main()
