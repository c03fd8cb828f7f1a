"""Labels that go together otherwise in the test part than in training: does a prior help? (M3L, section 6.2)

Each data set is cut in two by the sign of the product of its first two label components: in one group they go
up together, in the other against each other. The training part is drawn mostly from one group, the test part
and a third part, disjoint from both, mostly from the other. The prior is estimated from the
labels of the third part alone. Hamming loss of PriorMarginClassifier and of methods that know no prior, as a
page: docs/prior-results.md, with the sweep of the correlation r as docs/prior-sweep.svg.

The data sets must lie below TAGRANK_DATA (`tagrank datasets` says where they come from).

    python benchmarks/prior_experiment.py [--quick] [--only yeast]
"""

import argparse
import time
import warnings
from dataclasses import dataclass

import numpy as np
from common import write_page, write_results
from prior_page import draw_sweep, render_page
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler, normalize

from tagrank.data import load_dataset
from tagrank.estimators import (
    LabelRanker,
    OneVsAllSVM,
    PriorMarginClassifier,
    correlation_prior,
    signature_prior,
)
from tagrank.kernels import Gaussian, Linear

DATASETS = ("rcv1_subset1", "corel16k001", "yeast")
COSTS = (0.1, 0.3, 1.0, 3.0, 10.0)
BIAS = 0.8  # share of the training part from the first group, and of the other two from the second
SWEEP = np.linspace(-1, 1, 21)
N_SWEEP = 200  # training rows of the sweep, as in the paper
OPTIONS = {"kernel": "precomputed", "tol": 1e-3, "random_state": 0}


@dataclass
class Split:
    """Gram matrices and labels of one cut into training, test and third part."""

    rows: np.ndarray
    K: np.ndarray
    K_test: np.ndarray
    Y: np.ndarray
    Y_test: np.ndarray
    Y_third: np.ndarray
    X: object
    X_test: object


def load(name):
    """Rows fit for the kernel of the data set, labels as 0 and 1 without labels of fewer than 20 rows."""
    collection = load_dataset(name)
    X, Y = collection.X, collection.Y
    Y = np.asarray(Y.toarray() if sparse.issparse(Y) else Y)
    Y = Y[:, Y.sum(axis=0) >= 20]
    X = normalize(X) if sparse.issparse(X) else StandardScaler().fit_transform(X)
    return X, Y, Linear() if name == "rcv1_subset1" else Gaussian()


def draw_parts(Y, n_rows, seed):
    """Three disjoint sets of row indices, `n_rows` each or less: training, test, third."""
    rng = np.random.default_rng(seed)
    components = PCA(2, svd_solver="full").fit_transform(Y)
    go_together = np.prod(components - np.median(components, axis=0), axis=1) > 0
    first, second = (rng.permutation(np.flatnonzero(go_together == g)) for g in (True, False))
    if len(first) > len(second):  # two parts are drawn mostly from the second
        first, second = second, first
    n_rows = min(n_rows, int(len(first) / (BIAS + 2 * (1 - BIAS))), int(len(second) / (2 * BIAS + 1 - BIAS)))
    many, few = round(BIAS * n_rows), n_rows - round(BIAS * n_rows)
    train = np.concatenate([first[:many], second[:few]])
    test = np.concatenate([first[many : many + few], second[few : few + many]])
    third = np.concatenate([first[many + few : many + 2 * few], second[few + many : few + 2 * many]])
    return train, test, third


def make_split(X, Y, kernel, n_rows, seed):
    train, test, third = draw_parts(Y, n_rows, seed)
    seen = Y[train].any(axis=0)  # a label never seen is lost for every method alike
    Y = Y[:, seen]
    kernel, K = kernel.fit_gram(X[train])
    return Split(train, K, kernel(X[test], X[train]), Y[train], Y[test], Y[third], X[train], X[test])


def margin(Estimator, **options):
    """A function of (K, Y, cost, K_test) that trains one of our estimators and predicts."""

    def predict(K, Y, cost, K_test):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return Estimator(cost, **OPTIONS, **options).fit(K, Y).predict(K_test)

    return predict


def power_set(K, Y, cost, K_test):
    """One class for each label set seen."""
    sets, classes = np.unique(Y, axis=0, return_inverse=True)
    model = OneVsAllSVM(cost, **OPTIONS).fit(K, np.eye(len(sets))[classes.ravel()])
    return sets[np.argmax(model.decision_function(K_test), axis=1)]


def regression(K, Y, cost, K_test):
    return KernelRidge(alpha=1 / (2 * cost), kernel="precomputed").fit(K, 2 * Y - 1).predict(K_test) > 0


def choose_cost(predict, K, Y):
    """The cost of the smallest Hamming loss in 3-fold cross-validation on the training part."""
    folds = list(KFold(3, shuffle=True, random_state=0).split(K))
    losses = [
        np.mean([hamming(predict(K[np.ix_(a, a)], Y[a], cost, K[np.ix_(b, a)]), Y[b]) for a, b in folds])
        for cost in COSTS
    ]
    return COSTS[int(np.argmin(losses))]


def hamming(predicted, Y):
    return 100 * float(np.mean(predicted != Y))


def compare(split):
    """Hamming loss (%) of every method; the priors take the cost of 1-vs-All, for it is the same problem."""
    alone = {
        "1-vs-All": margin(OneVsAllSVM),
        "Power set": power_set,
        "Regression": regression,
        "Ranking": margin(LabelRanker),
    }
    costs = {name: choose_cost(predict, split.K, split.Y) for name, predict in alone.items()}
    losses = {
        name: hamming(predict(split.K, split.Y, costs[name], split.K_test), split.Y_test)
        for name, predict in alone.items()
    }
    priors = {
        "M3L, correlation": correlation_prior(split.Y_third),
        "M3L, second moment": signature_prior(split.Y_third),
        "M3L, training labels": correlation_prior(split.Y),
    }
    for name, R in priors.items():
        predict = margin(PriorMarginClassifier, prior=R)
        predicted = predict(split.K, split.Y, costs["1-vs-All"] / 2, split.K_test)
        losses[name] = hamming(predicted, split.Y_test)
    neighbours = KNeighborsClassifier(5).fit(split.X, split.Y)
    losses["no label at all"] = hamming(0, split.Y_test)
    losses["5-NN"] = hamming(neighbours.predict(split.X_test), split.Y_test)
    return losses, costs


def shift(split):
    """Mean |difference| of label correlations (training and test, third and test) and of frequencies."""
    train, test, third = (correlation_prior(Y, shrinkage=0) for Y in (split.Y, split.Y_test, split.Y_third))
    frequencies = np.abs(split.Y.mean(axis=0) - split.Y_test.mean(axis=0)).mean()
    return float(np.abs(train - test).mean()), float(np.abs(third - test).mean()), float(frequencies)


def sweep(split, n_draws, cost=1.0):
    """Test Hamming loss over r, of the two labels that go together most differently in the third part."""
    frequent = np.flatnonzero((split.Y.mean(axis=0) > 0.1) & (split.Y_third.mean(axis=0) > 0.1))
    if len(frequent) < 2:
        frequent = np.argsort(-np.minimum(split.Y.mean(axis=0), split.Y_third.mean(axis=0)))[:5]
    train, third = (correlation_prior(Y[:, frequent], shrinkage=0) for Y in (split.Y, split.Y_third))
    i, j = np.unravel_index(np.argmax(np.abs(train - third)), train.shape)
    pair = frequent[[i, j]]
    losses = np.zeros((n_draws, len(SWEEP)))
    for draw in range(n_draws):
        some = np.random.default_rng(draw).permutation(len(split.Y))[:N_SWEEP]
        for k, r in enumerate(SWEEP):
            predict = margin(PriorMarginClassifier, prior=[[1, r], [r, 1]])
            K, K_test = split.K[np.ix_(some, some)], split.K_test[:, some]
            losses[draw, k] = hamming(predict(K, split.Y[some][:, pair], cost, K_test), split.Y_test[:, pair])
    return {
        "correlation_in_training": float(train[i, j]),
        "correlation_in_third_part": float(third[i, j]),
        "r": SWEEP.tolist(),
        "hamming": losses.mean(axis=0).tolist(),
    }


def run(name, options):
    """Everything about one data set."""
    X, Y, kernel = load(name)
    n_rows, n_seeds, n_draws = (400, 2, 3) if options.quick else (4000, 5, 20)
    losses, costs, shifts, sizes, sweeps = [], [], [], [], []
    for seed in range(n_seeds):
        started = time.perf_counter()
        split = make_split(X, Y, kernel, n_rows, seed)
        found, chosen = compare(split)
        losses.append(found)
        costs.append(chosen)
        shifts.append(shift(split))
        sizes.append(split.Y.shape)
        if seed == 0:
            sweeps = sweep(split, n_draws)
        print(
            f"{name} {seed}: {time.perf_counter() - started:.0f} s",
            {k: round(v, 2) for k, v in found.items()},
        )
    return {
        "dataset": name,
        "rows_per_part": int(sizes[0][0]),
        "labels": int(sizes[0][1]),
        "hamming": {method: [line[method] for line in losses] for method in losses[0]},
        "costs": costs,
        "shift": np.mean(shifts, axis=0).tolist(),
        "sweep": sweeps,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="400 rows a part, two draws")
    parser.add_argument("--only", nargs="+", choices=DATASETS, help="these alone; prints, writes no page")
    options = parser.parse_args()
    lines = [run(name, options) for name in options.only or DATASETS]
    if options.only:
        return
    write_page("prior-results.md", render_page(lines, quick=options.quick))
    write_page("prior-sweep.svg", draw_sweep(lines))
    write_results("prior_experiment", lines)


if __name__ == "__main__":
    main()
