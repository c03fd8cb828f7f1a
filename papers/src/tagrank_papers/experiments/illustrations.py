"""Two small pictures of the papers, in numbers.

Figure 1 of the ranking paper: five classes in the plane. To which class does each method give the region far
from all samples? The machines of LIBSVM have an intercept, those of the ranking paper have none, so
one-vs-all stands here with and without.

Figure 1.1 of the dissertation: three classes of Caltech 101, 15 pictures each for training, one-vs-all
machines on sums of a kernel of colours and one of textures. Which weights are best for which class?
"""

import warnings
from itertools import product

import numpy as np
from sklearn.metrics import average_precision_score
from sklearn.svm import SVC

from tagrank.annotation import describe_pictures
from tagrank.data import load_dataset
from tagrank.estimators import LabelRanker, OneVsAllSVM
from tagrank.features import choose_features
from tagrank.kernels import ChiSquared, Gaussian
from tagrank_papers.figures import Answer, Figures
from tagrank_papers.protocols.data import DRAWN, dense

QUICK = {"draws": 2, "only": DRAWN}
N_CLASSES, N_POINTS, SPREAD, SIDE = 5, 30, 0.6, 4.0  # classes lie at random in a square of twice this side
REGION, STEPS, FAR = 10.0, 81, 3.0  # half a side of the plane that is looked at, and how far "far" is
CLASSES, N_TRAINING = ("crocodile", "snoopy", "strawberry"), 15
COLOURS, TEXTURES = "hsv", "lbp"
WEIGHTS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
COST = 10.0
OPTIONS = {"kernel": "precomputed", "random_state": 0, "n_jobs": 1}


def run(*, only="caltech101", draws=20):
    plane = [look_at_plane(seed) for seed in range(draws)]
    results = {"draws": draws, "plane": {name: mean_of(plane, name) for name in plane[0]}, "weights": []}
    print(results["plane"])
    kernels, Y = read_pictures(only)
    grids = [try_weights(kernels, Y, seed) for seed in range(draws)]
    for k, (colours, textures) in enumerate(pairs()):
        precisions = np.mean([grid[k] for grid in grids], axis=0).tolist()
        results["weights"].append({"colours": colours, "textures": textures, "precisions": precisions})
    yield results


def mean_of(found, name):
    return {key: float(np.mean([one[name][key] for one in found])) for key in found[0][name]}


def look_at_plane(seed):
    """How each method divides the region far from all samples, and the region near them."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(N_CLASSES), N_POINTS)
    X = rng.uniform(-SIDE, SIDE, (N_CLASSES, 2))[y] + SPREAD * rng.standard_normal((len(y), 2))
    ticks = np.linspace(-REGION, REGION, STEPS)
    points = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
    distances = np.linalg.norm(points[:, None] - X[None], axis=2)
    is_far, nearest = distances.min(axis=1) > FAR, y[distances.argmin(axis=1)]
    kernel = Gaussian(0.5)  # width 1
    K, K_points, Y = kernel(X, X), kernel(points, X), np.eye(N_CLASSES)[y]
    with_intercept = [SVC(C=COST, kernel="precomputed").fit(K, label) for label in Y.T]
    scores = {
        "one-vs-all, LIBSVM": np.stack([one.decision_function(K_points) for one in with_intercept], axis=1),
        "one-vs-all, no intercept": OneVsAllSVM(COST, **OPTIONS).fit(K, Y).decision_function(K_points),
        "ranking": LabelRanker(COST, **OPTIONS).fit(K, Y).decision_function(K_points),
    }
    return {name: divide(found.argmax(axis=1), is_far, nearest) for name, found in scores.items()}


def divide(chosen, is_far, nearest):
    return {
        "largest": float(np.bincount(chosen[is_far]).max() / is_far.sum()),
        "far": float(np.mean(chosen[is_far] == nearest[is_far])),
        "near": float(np.mean(chosen[~is_far] == nearest[~is_far])),
    }


def pairs():
    """All pairs of weights but two zeros."""
    return [pair for pair in product(WEIGHTS, repeat=2) if any(pair)]


def read_pictures(name):
    """Two kernels with a mean diagonal of one, of colours and of textures, and the classes."""
    if name == DRAWN:
        rng = np.random.default_rng(0)
        y = np.repeat(np.arange(len(CLASSES)), 2 * N_TRAINING)
        views = [np.abs(rng.normal(size=(len(y), 6)) + (y == label)[:, None]) for label in (0, 2)]
        return [ChiSquared().fit_gram(view)[1] for view in views], np.eye(len(CLASSES))[y]
    whole = load_dataset(name)
    columns = [list(whole.tags).index(tag) for tag in CLASSES]
    rows = np.flatnonzero(dense(whole.Y)[:, columns].any(axis=1))
    features = choose_features([COLOURS, TEXTURES])
    described = describe_pictures(whole.subset(rows), features, cache=False).collection
    grams = [ChiSquared().fit_gram(dense(described.view(view)))[1] for view in (COLOURS, TEXTURES)]
    return grams, dense(described.Y)[:, columns]


def try_weights(kernels, Y, seed):
    """Average precision of each class, in percent, with each pair of weights."""
    rng = np.random.default_rng(seed)
    train = np.concatenate([rng.permutation(np.flatnonzero(label))[:N_TRAINING] for label in Y.T])
    test = np.setdiff1d(np.arange(len(Y)), train)
    found = []
    for weights in pairs():
        K = sum(weight * one for weight, one in zip(weights, kernels, strict=True))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            model = OneVsAllSVM(COST, **OPTIONS).fit(K[np.ix_(train, train)], Y[train])
        scores = model.decision_function(K[np.ix_(test, train)])
        found.append([100 * average_precision_score(*both) for both in zip(Y[test].T, scores.T, strict=True)])
    return found


# Its answers to tables


def answer(table, results):
    return _plane(results) if table == "mlr-figure1" else _weights(results["weights"])


def _plane(results):
    rows = {
        name: tuple(f"{100 * found[key]:.1f}" for key in ("largest", "far", "near"))
        for name, found in results["plane"].items()
    }
    columns = ("far, to one class", "far, to the nearest class", "near, to the nearest class")
    libsvm, plain, ranking = (cells[0] for cells in rows.values())
    return Answer(
        Figures(columns, rows),
        f"Shares (%) of the region, mean of {results['draws']} planes. LIBSVM gives {libsvm} % of the region "
        f"far from all samples to one class, ranking {ranking} %, one-vs-all without an intercept {plain} %.",
    )


def _weights(lines):
    rim = [line for line in lines if max(line["colours"], line["textures"]) == 1]
    rows = {
        f"{line['colours']:g} colours + {line['textures']:g} textures": tuple(
            f"{value:.1f}" for value in line["precisions"]
        )
        for line in sorted(rim, key=lambda line: line["colours"] - line["textures"])
    }
    words = []
    for k, name in enumerate(CLASSES):
        best = max(lines, key=lambda line: line["precisions"][k])
        words.append(f"{name} {best['colours']:g} colours + {best['textures']:g} textures")
    return Answer(Figures(CLASSES, rows), f"The best of all 35 pairs of weights: {', '.join(words)}.")
