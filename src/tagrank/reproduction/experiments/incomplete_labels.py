"""Training labels hidden on purpose: who loses least? As tables 5.2, 5.3 and 5.5 of the dissertation.

0, 20, 40 and 60 % of the present training labels become absent, each sample keeps one; the test labels stay
complete. One-vs-all SVMs, the same with Platt's probabilities, LabelRanker (MLR-L1) and
IncompleteLabelRanker (MLR-GL) learn from the same similarities; C is chosen for each alike, by cross-
validation on the labels that are left. `short` takes one draw, three costs and 1,000 samples.
"""

import warnings

import numpy as np

from tagrank.annotation import describe_pictures
from tagrank.annotation.recipe import mean_kernel
from tagrank.data import LabelStratifiedKFold, hide_labels, load_dataset
from tagrank.estimators import CalibratedRanker, IncompleteLabelRanker, LabelRanker, OneVsAllSVM
from tagrank.features import choose_features, usual_features
from tagrank.kernels import Gaussian
from tagrank.metrics import image_auc, image_average_precision
from tagrank.reproduction.pages.incomplete_labels import render_page
from tagrank.reproduction.protocols.data import dense, draw_rows
from tagrank.reproduction.protocols.timing import best_time
from tagrank.reproduction.text import show

PAGES = ("incomplete-labels-results.md",)
QUICK = {"sets": ("drawn",), "short": True}
FRACTIONS = (0.0, 0.2, 0.4, 0.6)
COSTS = (0.001, 0.01, 0.1, 1.0, 10.0)
USUAL = {"seeds": 3, "costs": COSTS, "tol": 1e-3, "n_most": None}
LARGE = {"seeds": 2, "costs": COSTS[:4], "tol": 5e-3, "n_most": None}
SETTINGS = {
    "scene": USUAL,
    "yeast": USUAL,
    "corel5k": LARGE,
    "photographs": LARGE | {"costs": COSTS[1:]},
    "delicious": {"seeds": 1, "costs": COSTS[:4], "tol": 1e-2, "n_most": 3000},
}
SHORT = {"seeds": 1, "costs": COSTS[1:4], "tol": 1e-2, "n_most": 1000}
METHODS = {
    "SVM": OneVsAllSVM,
    "PLATT": lambda C, **options: CalibratedRanker(OneVsAllSVM(C, **options), random_state=0),
    "MLR-L1": LabelRanker,
    "MLR-GL": IncompleteLabelRanker,
}
STANDARDISED = {"scene", "yeast"}


def run(*, sets=tuple(SETTINGS), methods=tuple(METHODS), short=False):
    warnings.filterwarnings("ignore", message=".*never positive")
    lines = []
    for name in sets:
        lines += run_set(name, methods, **(SHORT if short else SETTINGS[name]), is_quick=short)
        yield {"lines": lines}


def render(results, machine):
    return {PAGES[0]: render_page(results["lines"])}


def read(name, n_most):
    """Similarities of training samples, of test and training samples, and both label matrices."""
    if name == "photographs":
        return read_photographs(n_most)
    X, Y, Z, T = draw() if name == "drawn" else load(name)
    chosen = some_of(X, n_most)
    X, Y = X[chosen], Y[chosen]
    if name in STANDARDISED:
        mean, deviation = X.mean(axis=0), np.maximum(X.std(axis=0), 1e-12)
        X, Z = (X - mean) / deviation, (Z - mean) / deviation
    kernel = Gaussian().fit(X)
    return kernel(X, X).astype(np.float32), kernel(Z, X).astype(np.float32), Y, T


def read_photographs(n_most):
    """The photographs of Corel5k, 260 words: the mean kernel of the features that `tagrank train` takes."""
    described = describe_pictures(
        load_dataset("corel5k_images_260"), choose_features(usual_features()), cache=True
    )
    train, test = described.collection.train, described.collection.test
    train = train.subset(some_of(train, n_most))
    X, Z = ({name: part.views[name] for name in described.features} for part in (train, test))
    kernel = mean_kernel(described.features).fit(X)
    K, Q = kernel(X), kernel(Z, X)
    return K.astype(np.float32), Q.astype(np.float32), dense(train.Y), dense(test.Y)


def some_of(rows, n_most):
    """Which rows to take; some sets are sorted by label."""
    return np.random.default_rng(0).permutation(len(rows))[:n_most]


def load(name):
    """Rows and labels of the training part, and of the test part."""
    data = load_dataset(name)
    return [dense(matrix) for part in (data.train, data.test) for matrix in (part.X, part.Y)]


def draw():
    X, Y = draw_rows(120, 8)
    return X[::2], Y[::2], X[1::2], Y[1::2]


def hide(Y, fraction, seed):
    """`Y` with a fraction of its present labels hidden, or as many as leave one to every sample."""
    present = Y > 0
    most = (present.sum() - present.any(axis=1).sum()) / present.sum()
    return hide_labels(Y, min(fraction, np.floor(most * 1e4) / 1e4), random_state=seed)


def choose_cost(Method, K, Y, costs, tol):
    """The C with the best image AUC on held-out folds, judged by the labels that are left."""
    scores = np.zeros(len(costs))
    for train, test in LabelStratifiedKFold(3, shuffle=True, random_state=0).split(K, Y):
        for k, fitted in enumerate(fit_path(Method, K[np.ix_(train, train)], Y[train], costs, tol)):
            scores[k] += image_auc(Y[test], rank(fitted, K[np.ix_(test, train)]))
    return costs[int(np.argmax(scores))]


def fit_path(Method, K, Y, costs, tol):
    """The model of each cost; started from the one before where the method knows how."""
    options = {"kernel": "precomputed", "tol": tol, "random_state": 0}
    if hasattr(Method, "path"):
        yield from Method(1.0, **options).path(K, Y, costs)
    else:
        for cost in costs:
            yield Method(cost, **options).fit(K, Y)


def rank(model, Q):
    """Probabilities where there are some, scores otherwise."""
    return model.predict_proba(Q) if isinstance(model, CalibratedRanker) else model.decision_function(Q)


def fit_and_rank(Method, K, Q, Y, cost, tol):
    return rank(next(fit_path(Method, K, Y, [cost], tol)), Q)


def run_case(K, Q, T, hidden, methods, costs, tol):
    """Lines of one case: method, C, image AUC and MAP on the test samples, seconds of the last fit."""
    for name in methods:
        C = choose_cost(METHODS[name], K, hidden, costs, tol)
        seconds, _, F = best_time(fit_and_rank, METHODS[name], K, Q, hidden, C, tol, repeats=1)
        auc, precision = image_auc(T, F), image_average_precision(T, F)
        yield {"method": name, "C": C, "auc": auc, "map": precision, "seconds": round(seconds, 3)}


def run_set(name, methods, *, seeds, costs, tol, n_most, is_quick):
    K, Q, Y, T = read(name, n_most)
    for fraction in FRACTIONS:
        for seed in range(seeds if fraction else 1):
            hidden = hide(Y, fraction, seed)
            case = {"set": name, "fraction": fraction, "hidden": 1 - hidden.sum() / Y.sum(), "seed": seed}
            case |= {"n_train": len(Y), "is_quick": is_quick, "n_seeds": seeds, "costs": costs, "tol": tol}
            for line in run_case(K, Q, T, hidden, methods, costs, tol):
                show(case | line, "set", "fraction", *line)
                yield case | line
