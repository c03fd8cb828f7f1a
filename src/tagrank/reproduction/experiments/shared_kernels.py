"""Weights of kernels shared by all labels, or of each label, or none (tables 3.1 to 3.4, 6.1 to 6.9).

Quality and times of all methods on photographs and rows; time as the labels grow; how weights move; and
himalaya's MultipleKernelRidgeCV as a peer. C is chosen on a third of the training samples. On one core,
processor seconds.
"""

import warnings

import numpy as np

from tagrank.data import load_dataset
from tagrank.estimators import MultipleKernelRanker, MultipleKernelSVM, SharedKernelSVM
from tagrank.metrics import category_auc, category_average_precision, image_auc, image_average_precision
from tagrank.reproduction.pages.shared_conclusions import GROWING_TOLERANCE
from tagrank.reproduction.pages.shared_kernels import draw_labels, draw_weights, render_page
from tagrank.reproduction.protocols.data import DRAWN, dense
from tagrank.reproduction.protocols.kernel_sets import (
    PHOTOGRAPHS,
    gaussian_stack,
    read_kernels,
    read_photographs,
    read_views,
)
from tagrank.reproduction.protocols.ridge_peer import rank_by_ridge
from tagrank.reproduction.protocols.timing import best_time
from tagrank.reproduction.text import show

PAGES = ("shared-kernel-results.md", "shared-kernel-labels.svg", "shared-kernel-weights.svg")
QUICK = {"only": (DRAWN,), "tags": DRAWN, "labels": (2, 4), "rows": 60, "seconds": 1.0, "peer": False}
METHODS = {
    "SK-SVM": (SharedKernelSVM, {"weights": "best"}),
    "AVG-SVM": (SharedKernelSVM, {"weights": "uniform"}),
    "MKL L1": (MultipleKernelSVM, {}),
    "MKL L2": (MultipleKernelSVM, {"norm": 2.0}),
    "ML-MKL-Sum": (SharedKernelSVM, {}),
    "ML-MKL worst, exact": (SharedKernelSVM, {"objective": "worst"}),
    "ML-MKL-SA": (SharedKernelSVM, {"objective": "worst", "solver": "stochastic"}),
    "SK-MLR": (MultipleKernelRanker, {"weights": "best"}),
    "AVG-MLR": (MultipleKernelRanker, {"weights": "uniform"}),
    "MK-MLR": (MultipleKernelRanker, {}),
    "MLR, held-out weights": (MultipleKernelRanker, {"weights": "held-out"}),
}
GROWN = {
    "sum": {},
    "worst, exact": {"objective": "worst"},
    "worst, stochastic": {"objective": "worst", "solver": "stochastic"},
}
FOLLOWED = {
    "ML-MKL-Sum, level": {"solver": "level"},
    "ML-MKL-Sum, silp": {"solver": "silp"},
    "worst, exact": {"objective": "worst"},
    "ML-MKL-SA": {"objective": "worst", "solver": "stochastic"},
}
COSTS = (1.0, 10.0, 100.0)
TOLERANCE = 1e-3
CHOOSING_TOLERANCE = 1e-2
PATIENCE = 5  # times the seconds of other trainings, where labels grow
WIDTHS = (1 / 4, 1 / 2, 1, 2, 4)
OPTIONS = {"kernel": "precomputed", "n_jobs": 1}


def run(
    *,
    only=(PHOTOGRAPHS, "yeast"),
    rows=1000,
    tags="delicious",
    labels=(10, 20, 50, 100, 200, 500),
    seconds=30.0,
    peer=True,
):
    warnings.filterwarnings("ignore", message=".*never positive|.*always positive|.*duality gap")
    results = {"lines": [], "grown": [], "followed": [], "seconds": seconds}
    for name in only:
        data = read_photographs(rows, 50) if name == PHOTOGRAPHS else read_kernels(name, WIDTHS, rows)
        for method in METHODS:
            line = {"data": name, "method": method, **describe(data), **measure(method, data, seconds)}
            results["lines"].append(line)
            show(line, *(key for key in line if key != "active_names"))
        if name == only[0]:
            results["followed"] = [follow(name, options, data, seconds) for name, options in FOLLOWED.items()]
            if peer:
                results["lines"].append({"data": name, **describe(data), **measure_peer(data)})
                show(results["lines"][-1], "method", "image_auc", "image_map", "seconds")
        yield results
    for line in grow(tags, rows, labels, seconds):
        results["grown"].append(line)
        show(line, *line)
    yield results


def render(results, machine):
    texts = render_page(results, machine), draw_labels(results), draw_weights(results)
    return dict(zip(PAGES, texts, strict=True))


def describe(data):
    n_train, n_labels = data.Y.shape
    sizes = {"n_train": n_train, "n_test": len(data.truth), "n_labels": n_labels}
    return sizes | {"n_kernels": data.stack.n_kernels}


def measure(method, data, seconds):
    """One method: chosen on a third of the training samples, trained on all, measured on the test samples."""
    Estimator, options = METHODS[method]
    model = Estimator(**OPTIONS, **options, max_seconds=None if Estimator is MultipleKernelSVM else seconds)
    choosing = best_time(choose_cost, model, data, repeats=1)
    model.set_params(C=choosing.answer, tol=TOLERANCE)
    training = best_time(model.fit, data.stack, data.Y, repeats=1)
    predicting = best_time(model.decision_function, data.test)
    return {
        **rate(data.truth, predicting.answer),
        "C": model.C,
        "gap": float(model.duality_gap_),
        "choosing_seconds": choosing.processor_seconds,
        "seconds": training.processor_seconds,
        "predicting_seconds": predicting.processor_seconds,
        "active": len(model.active_kernels_),
        "active_a_label": float(np.count_nonzero(np.atleast_2d(model.kernel_weights_), axis=1).mean()),
        "support": float(np.count_nonzero(model.dual_coef_) / model.dual_coef_.size),
        "active_names": [model.kernel_names_[j] for j in model.active_kernels_],
    }


def rate(truth, scores):
    measures = {
        "image_auc": image_auc,
        "image_map": image_average_precision,
        "category_auc": category_auc,
        "category_map": category_average_precision,
    }
    return {name: 100 * float(measure(truth, scores)) for name, measure in measures.items()}


def choose_cost(model, data):
    """The cost of the highest sum of image AUC and MAP on a third of the training samples."""
    held_out, kept = np.split(np.random.default_rng(0).permutation(len(data.Y)), [len(data.Y) // 3])
    model.set_params(tol=CHOOSING_TOLERANCE)
    found = []
    for cost in COSTS:
        model.set_params(C=cost).fit(data.stack[np.ix_(kept, kept)], data.Y[kept])
        scores = model.decision_function(data.stack[np.ix_(held_out, kept)])
        found.append(image_auc(data.Y[held_out], scores) + image_average_precision(data.Y[held_out], scores))
    return COSTS[int(np.argmax(found))]


def measure_peer(data):
    """The peer chooses its weights and penalties by cross-validation inside its training."""
    timing = best_time(rank_by_ridge, data, repeats=1)
    scores, settings = timing.answer
    return {"method": "himalaya", **rate(data.truth, scores), "seconds": timing.processor_seconds, **settings}


def follow(name, options, data, seconds):
    """How the weights of SharedKernelSVM move, C = 10."""
    model = SharedKernelSVM(10.0, **OPTIONS, **options, tol=TOLERANCE, max_seconds=seconds)
    model.fit(data.stack, data.Y)
    weights = [point.weights.round(4).tolist() for point in model.trace_]
    return {
        "method": name,
        "kernels": model.kernel_names_,
        "rounds": [point.n_iter for point in model.trace_],
        "weights": weights,
        "gap": float(model.duality_gap_),
        "moved": float(np.abs(np.diff(weights, axis=0)).sum()),
    }


def grow(tags, n_rows, numbers, seconds):
    """Training time of SharedKernelSVM on the most frequent labels, more and more of them."""
    stack, Y = read_tags(tags, n_rows, max(numbers))
    for method, options in GROWN.items():
        for n_labels in numbers:
            model = SharedKernelSVM(
                **OPTIONS, **options, tol=GROWING_TOLERANCE, max_seconds=PATIENCE * seconds
            )
            timing = best_time(model.fit, stack, Y[:, :n_labels], repeats=1)
            yield {
                "data": tags,
                "method": method,
                "n_samples": len(Y),
                "n_kernels": stack.n_kernels,
                "n_labels": n_labels,
                "seconds": timing.processor_seconds,
                "gap": float(model.duality_gap_),
                "rounds": int(model.trace_[-1].n_iter),
            }


def read_tags(name, n_rows, n_labels):
    """Gaussians of several widths on drawn rows, and their most frequent labels first."""
    if name == DRAWN:
        views, Y = read_views(name)
    else:
        train = load_dataset(name).train
        views, Y = {"words": dense(train.X)}, dense(train.Y)
    rows = np.random.default_rng(0).permutation(len(Y))[:n_rows]
    frequent = np.argsort(-Y[rows].sum(axis=0), kind="stable")[:n_labels]
    return gaussian_stack({view: X[rows] for view, X in views.items()}, WIDTHS), Y[np.ix_(rows, frequent)]
