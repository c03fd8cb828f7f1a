"""Weights of kernels on Caltech 101: tables 2.4, 2.6, 3.1 and figures 3.7 to 3.9 of the dissertation.

10, 20 and 30 pictures a class for training, the others for the test. Where solvers solve the same problem to
the same gap, one of them stands for all. The figures: ML-MKL-SA as published, over its steps, with other step
sizes and other parts of the draws that are even over classes.
"""

import warnings

import numpy as np

from tagrank.annotation import describe_pictures
from tagrank.data import load_dataset
from tagrank.estimators import MultipleKernelSVM, SharedKernelSVM
from tagrank.features import PRESETS, choose_features
from tagrank.kernels import KernelStack, make_kernel, stack_of_kernels
from tagrank.kernels.gram import gram
from tagrank.metrics import category_average_precision
from tagrank_papers.figures import Answer, Figures
from tagrank_papers.lines import distinct, mean, where
from tagrank_papers.measuring import best_time
from tagrank_papers.protocols.data import DRAWN, dense
from tagrank_papers.protocols.kernel_sets import KernelSet, draw_views, gaussian_stack, split_samples
from tagrank_papers.text import show

QUICK = {"only": DRAWN, "sizes": (10,), "draws": 1, "steps": (5, 20), "costs": (1.0, 10.0)}
FEATURES = (*PRESETS["papers"], "hog", "phog", "lbp", "covariance")
METHODS = {  # names of the rows in table 2.4, with what stands for each
    "Single": (SharedKernelSVM, {"weights": "best"}),
    "Average": (SharedKernelSVM, {"weights": "uniform"}),
    "VSKL, p = 1": (MultipleKernelSVM, {"solver": "mirror"}),
    "MKL-GL, p = 2": (MultipleKernelSVM, {"norm": 2.0}),
    "MKL-GL, p = 4": (MultipleKernelSVM, {"norm": 4.0}),
    "ML-MKL-Sum": (SharedKernelSVM, {}),
    "ML-MKL-SA": (SharedKernelSVM, {"objective": "worst", "solver": "paper"}),
}
IN_TABLE_3 = {
    "Average": "Average",
    "VSKL, p = 1": "MKL-SIP-L1",
    "MKL-GL, p = 2": "MKL-SIP-L2",
    "ML-MKL-Sum": "ML-MKL-Sum",
    "ML-MKL-SA": "ML-MKL-SA",
}
IN_TABLE_6 = {"Average": "AVG", "VSKL, p = 1": "L1-MKL", "MKL-GL, p = 2": "L2-MKL"}
SETTINGS = {  # of figures 3.7, 3.8 and 3.9
    "delta": [{"eta": 0.01, "delta": delta} for delta in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)],
    "eta": [{"eta": eta, "eta_labels": 1e-4} for eta in (1e-2, 1e-3, 1e-4)],
    "eta_labels": [{"eta": 1e-4, "eta_labels": eta} for eta in (1e-2, 1e-3, 1e-4)],
}
COSTS = tuple(10.0**power for power in range(-2, 5))
OPTIONS = {"kernel": "precomputed", "normalization": "trace", "random_state": 0}


def run(
    *,
    only="caltech101",
    sizes=(10, 20, 30),
    draws=5,
    steps=(100, 300, 1000),
    costs=COSTS,
    methods=tuple(METHODS),
):
    warnings.filterwarnings("ignore", message=".*duality gap|.*never positive")
    results = {"lines": [], "settings": []}
    read = _drawn if only == DRAWN else _pictures(only)
    for size in sizes:
        for draw in range(draws):
            data = read(size, draw)
            C = choose_cost(data, costs)
            for method in methods:
                line = {"data": only, "size": size, "draw": draw, "method": method, "C": C}
                results["lines"].append(line | measure(method, data, C, max(steps)))
                show(results["lines"][-1], "size", "draw", "method", "C", "map", "accuracy")
            yield results
    data, C = read(sizes[-1], 0), where(results["lines"], size=sizes[-1], draw=0)[0]["C"]
    for figure, settings in SETTINGS.items():
        for options in settings:
            results["settings"] += follow(figure, options, data, C, steps)
            yield results


def _pictures(name):
    """A function of pictures a class and draw; features are computed once, with words of all classes."""
    whole = load_dataset(name)
    described = describe_pictures(whole, choose_features(list(FEATURES)), cache=True)
    Y, features = dense(whole.Y), described.features
    kernels = [make_kernel(feature.kernel).on(view) for view, feature in features.items()]

    def read(size, draw):
        rng, chosen = np.random.default_rng(draw), np.zeros(len(Y), bool)
        for label in Y.T:
            chosen[rng.permutation(np.flatnonzero(label))[:size]] = True
        rows, others = np.flatnonzero(chosen), np.flatnonzero(~chosen)
        views, other = ({v: described.collection.view(v)[part] for v in features} for part in (rows, others))
        fitted, stack = stack_of_kernels(kernels, views, names=list(features), dtype=np.float32)
        between = [gram(kernel, other, views, dtype=np.float32) for kernel in fitted]
        return KernelSet(stack, KernelStack.between(between), Y[rows], Y[others])

    return read


def _drawn(size, draw):
    """Classes that are drawn: the strongest label of each sample."""
    views, Y = draw_views(seed=draw)
    return split_samples(gaussian_stack(views), Y, 4 * size, 40, draw)


def choose_cost(data, costs):
    """The C of the best MAP of the mean kernel by two folds, for all methods alike."""
    order, found = np.random.default_rng(0).permutation(len(data.Y)), []
    halves = order[: len(order) // 2], order[len(order) // 2 :]
    for cost in costs:
        model = SharedKernelSVM(cost, weights="uniform", tol=1e-2, **OPTIONS)
        scores = [
            category_average_precision(
                data.Y[b],
                model.fit(data.stack[np.ix_(a, a)], data.Y[a]).decision_function(data.stack[np.ix_(b, a)]),
            )
            for a, b in (halves, halves[::-1])
        ]
        found.append(np.mean(scores))
    return costs[int(np.argmax(found))]


def measure(method, data, C, steps):
    Estimator, options = METHODS[method]
    model = Estimator(C, **OPTIONS, **options)
    if options.get("solver") == "paper":
        model.set_params(max_iter=steps)
    training = best_time(model.fit, data.stack, data.Y, repeats=1)
    scores = model.decision_function(data.test)
    best = data.truth[np.arange(len(scores)), scores.argmax(axis=1)]
    by_class = [best[data.truth[:, label] > 0].mean() for label in range(data.truth.shape[1])]
    return {
        "map": 100 * float(category_average_precision(data.truth, scores)),
        "accuracy": 100 * float(np.mean(by_class)),
        "gap": float(model.duality_gap_),
        "seconds": training.seconds,
        "active": len(model.active_kernels_),
        "weights": np.atleast_2d(model.kernel_weights_).mean(axis=0).round(5).tolist(),
    }


def follow(figure, options, data, C, steps):
    """MAP of models on the mean of the weights of so many steps."""
    model = SharedKernelSVM(C, objective="worst", solver="paper", max_iter=max(steps), **OPTIONS, **options)
    path = model.fit(data.stack, data.Y).weight_path_[:-1]
    for step in steps:
        weights = path[:step].mean(axis=0)
        some = SharedKernelSVM(C, weights=weights, **OPTIONS).fit(data.stack, data.Y)
        score = 100 * float(category_average_precision(data.truth, some.decision_function(data.test)))
        yield {"figure": figure, "options": options, "step": step, "map": score}


# Its answers to tables


def answer(table, results):
    lines = results["lines"]
    if table == "ml-mkl-figure3.7":
        return _figures(results["settings"])
    if table == "mkl-table2.6":
        last = [line for line in lines if line["size"] == max(distinct(lines, "size"))]
        rows = {
            title: (f"{mean(last, 'accuracy', method=method):.1f}",) for method, title in IN_TABLE_6.items()
        }
        return Answer(Figures(("Caltech 101",), rows), _verdict(lines))
    titles = IN_TABLE_3 if table == "ml-mkl-table3.1" else {name: name for name in METHODS}
    sizes = distinct(lines, "size")
    rows = {
        title: tuple(_spread(where(lines, method=method, size=size)) for size in sizes)
        for method, title in titles.items()
        if where(lines, method=method)
    }
    return Answer(Figures(tuple(f"{size} a class" for size in sizes), rows), _verdict(lines))


def _spread(lines):
    values = [line["map"] for line in lines]
    return f"{np.mean(values):.1f} ± {np.std(values):.1f}"


def _verdict(lines):
    """Who is the best for each number of pictures."""
    words = []
    for size in distinct(lines, "size"):
        means = {name: mean(lines, "map", size=size, method=name) for name in distinct(lines, "method")}
        best = max(means, key=means.get)
        words.append(f"{best} with {size} ({means[best]:.1f}, the mean kernel {means['Average']:.1f})")
    return f"Highest category MAP: {', '.join(words)}."


def _figures(settings):
    steps = distinct(settings, "step")
    rows = {}
    for line in settings:
        options = ", ".join(f"{name} = {value:g}" for name, value in line["options"].items())
        rows.setdefault(f"{line['figure']}: {options}", []).append(f"{line['map']:.1f}")
    last = {name: float(cells[-1]) for name, cells in rows.items()}
    words = []
    for figure in distinct(settings, "figure"):
        some = [value for name, value in last.items() if name.startswith(f"{figure}:")]
        words.append(f"{max(some) - min(some):.1f} points over {figure}")
    figures = Figures(
        tuple(f"{step:,} steps" for step in steps), {name: tuple(cells) for name, cells in rows.items()}
    )
    return Answer(figures, f"After the last step the MAP differs by {', '.join(words)}.")
