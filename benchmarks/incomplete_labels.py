"""Training labels hidden on purpose: who loses least? As tables 5.2, 5.3 and 5.5 of the dissertation.

0, 20, 40 and 60 % of the present training labels become absent, each sample keeps one; the test labels stay
complete. One-vs-all SVMs, the same with Platt's probabilities, LabelRanker (MLR-L1) and
IncompleteLabelRanker (MLR-GL) learn from the same similarities; C is chosen for each alike, by cross-
validation on the labels that are left. Writes results/incomplete_labels.json and docs/incomplete-labels-
results.md. The set "drawn" needs no data, and tells nothing but that everything runs.

    python benchmarks/incomplete_labels.py [--sets scene yeast] [--methods SVM MLR-GL] [--quick]
"""

import argparse
import json
import time
import warnings

import numpy as np
from common import RESULTS, write_page, write_results
from incomplete_labels_page import render_page

from tagrank import (
    CalibratedRanker,
    Gaussian,
    IncompleteLabelRanker,
    LabelRanker,
    LabelStratifiedKFold,
    OneVsAllSVM,
    choose_features,
    describe_pictures,
    hide_labels,
    image_auc,
    image_average_precision,
    load_dataset,
)
from tagrank.annotation.estimator_choice import mean_kernel
from tagrank.features import usual_features

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
QUICK = {"seeds": 1, "costs": COSTS[1:4], "tol": 1e-2, "n_most": 1000}
METHODS = {
    "SVM": OneVsAllSVM,
    "PLATT": lambda C, **options: CalibratedRanker(OneVsAllSVM(C, **options), random_state=0),
    "MLR-L1": LabelRanker,
    "MLR-GL": IncompleteLabelRanker,
}
STANDARDISED = {"scene", "yeast"}


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
    return K.astype(np.float32), Q.astype(np.float32), _dense(train.Y), _dense(test.Y)


def some_of(rows, n_most):
    """Which rows to take; some sets are sorted by label."""
    return np.random.default_rng(0).permutation(len(rows))[:n_most]


def load(name):
    """Rows and labels of the training part, and of the test part."""
    data = load_dataset(name)
    return [_dense(matrix) for part in (data.train, data.test) for matrix in (part.X, part.Y)]


def draw(n_samples=120, n_labels=8):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_samples, 6))
    strength = X @ rng.normal(size=(6, n_labels)) + rng.normal(size=(n_samples, n_labels))
    Y = (strength >= np.sort(strength, axis=1)[:, [-3]]).astype(float)
    return X[::2], Y[::2], X[1::2], Y[1::2]


def _dense(matrix):
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix, dtype=np.float64)


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


def run_case(K, Q, T, hidden, methods, costs, tol):
    """Lines of one case: method, C, image AUC and MAP on the test samples, seconds of the last fit."""
    for name in methods:
        C = choose_cost(METHODS[name], K, hidden, costs, tol)
        start = time.perf_counter()
        F = rank(next(fit_path(METHODS[name], K, hidden, [C], tol)), Q)
        yield _line(name, C, T, F, time.perf_counter() - start)


def _line(method, C, T, F, seconds):
    auc, precision = image_auc(T, F), image_average_precision(T, F)
    return {"method": method, "C": C, "auc": auc, "map": precision, "seconds": round(seconds, 3)}


def run_set(name, methods, *, seeds, costs, tol, n_most, is_quick):
    K, Q, Y, T = read(name, n_most)
    lines = []
    for fraction in FRACTIONS:
        for seed in range(seeds if fraction else 1):
            hidden = hide(Y, fraction, seed)
            share = 1 - hidden.sum() / Y.sum()
            for line in run_case(K, Q, T, hidden, methods, costs, tol):
                case = {"set": name, "fraction": fraction, "hidden": share, "seed": seed, "n_train": len(Y)}
                case |= {"is_quick": is_quick, "n_seeds": seeds, "costs": costs, "tol": tol}
                lines.append(case | line)
                text = f"{name:10} {fraction:.0%} {line['method']:7} C={line['C']:<6g}"
                print(f"{text} AUC {line['auc']:.4f}  MAP {line['map']:.4f}  {line['seconds']} s", flush=True)
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=[*SETTINGS, "drawn"], default=list(SETTINGS))
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--quick", action="store_true", help="one seed, three costs, 1,000 training samples")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", message=".*never positive")
    path = RESULTS / "incomplete_labels.json"
    kept = json.loads(path.read_text())["results"]["lines"] if path.exists() else []
    lines = [
        line for line in kept if line["set"] not in options.sets or line["method"] not in options.methods
    ]
    for name in options.sets:
        is_small = options.quick or name == "drawn"
        lines += run_set(name, options.methods, **(QUICK if is_small else SETTINGS[name]), is_quick=is_small)
        write_results("incomplete_labels", {"lines": lines})
        write_page("incomplete-labels-results.md", render_page(lines))


if __name__ == "__main__":
    main()
