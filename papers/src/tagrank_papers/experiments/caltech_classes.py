"""Weights of kernels on Caltech 101: tables 2.4, 2.6, 3.1, 3.3 and figures 2.5, 3.3 to 3.9.

Pictures of each class are drawn for training, all others are for the test. Kernels follow table 2.3: bags of
words and pyramids, a kernel for each level, and products of the levels. All solvers have 40 rounds at most.
The figures: MAP with more and more kernels; how weights move; and ML-MKL-SA as published, with other step
sizes and other parts of the draws that are even over classes.
"""

import warnings

import numpy as np

from tagrank.estimators import MultipleKernelSVM, SharedKernelSVM
from tagrank.kernels import KernelStack
from tagrank.metrics import category_average_precision
from tagrank.reports.charts import line_chart
from tagrank_papers.figures import Answer, Figures
from tagrank_papers.lines import distinct, mean, where
from tagrank_papers.measuring import best_time
from tagrank_papers.plots import draw_charts
from tagrank_papers.protocols.caltech_pictures import PUBLISHED_KERNELS, open_pictures
from tagrank_papers.protocols.data import DRAWN
from tagrank_papers.text import fill, markdown_table, read_text, show

TEXT = read_text("caltech_classes")
PAGES = ("caltech-results.md", "caltech-kernels.svg", "caltech-steps.svg")
QUICK = {"only": DRAWN, "sizes": (10, 20), "draws": (2, 1), "steps": (5, 20), "costs": (1.0, 10.0)}
QUICK |= {"kernels": (1, 3)}
L1 = {"GMKL": "gradient", "SimpleMKL": "simple", "VSKL": "mirror", "level-MKL": "level"}
L1 |= {"MKL-GL": "group-lasso", "MKL-SIP": "silp"}
BEYOND = {"MKL-GL": "group-lasso", "MKL-SIP": "silp", "MKL-SMO": "smo"}
METHODS = {  # those of table 2.4, and of chapter 3
    "Single": (SharedKernelSVM, {"weights": "best"}),
    "Average": (SharedKernelSVM, {"weights": "uniform"}),
    **{f"{name}, p = 1": (MultipleKernelSVM, {"solver": solver}) for name, solver in L1.items()},
    **{
        f"{name}, p = {norm}": (MultipleKernelSVM, {"solver": solver, "norm": float(norm)})
        for name, solver in BEYOND.items()
        for norm in (2, 4)
    },
    "ML-MKL-Sum": (SharedKernelSVM, {"solver": "silp"}),
    "ML-MKL-SA": (SharedKernelSVM, {"objective": "worst", "solver": "paper"}),
}
RIVALS = ("MKL-SIP, p = 1", "MKL-SIP, p = 2")  # of chapter 3; they solve the problems of other methods again
LEFT_OUT = ("MKL-SIP, p = 4", "MKL-SMO, p = 2", "MKL-SMO, p = 4")  # by default, as these, which do so, too
LEFT_OUT += tuple(f"{name}, p = 1" for name in ("VSKL", "MKL-GL", "GMKL", "SimpleMKL"))
MAIN = tuple(method for method in METHODS if method not in (*RIVALS, *LEFT_OUT))
MOVING = ("level-MKL, p = 1", "MKL-SIP, p = 1", "ML-MKL-Sum", "ML-MKL-SA")  # of figures 3.3 to 3.6
WEIGHED = ("level-MKL, p = 1", "MKL-GL, p = 2", "ML-MKL-Sum", "ML-MKL-SA")
ADDED = ("Average", "level-MKL, p = 1", "MKL-GL, p = 2")  # of figure 2.5
SETTINGS = {  # of figures 3.7, 3.8 and 3.9
    "delta": [{"eta": 0.01, "delta": delta} for delta in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)],
    "eta": [{"eta": eta, "eta_labels": 1e-4} for eta in (1e-2, 1e-3, 1e-4)],
    "eta_labels": [{"eta": 1e-4, "eta_labels": eta} for eta in (1e-2, 1e-3, 1e-4)],
}
COSTS = tuple(10.0**power for power in range(-2, 5))
ROUNDS, TOLERANCE = 40, 1e-2
OPTIONS = {
    "kernel": "precomputed",
    "normalization": "trace",
    "tol": TOLERANCE,
    "random_state": 0,
    "n_jobs": 1,
}


def run(
    *,
    only="caltech101",
    sizes=(10, 20, 30),
    draws=(1, 1, 1),
    methods=MAIN,
    rivals=RIVALS,
    steps=(10, 30, 100, 300),
    kernels=(2, 5, 10, 15, 20, 28),
    costs=COSTS,
):
    """`draws` of each size; `rivals`, of the first size and draw, solve the problems of `methods` again."""
    warnings.filterwarnings("ignore", message=".*duality gap|.*never positive")
    results = {"lines": [], "moved": [], "added": [], "settings": []}
    read = open_pictures(only)
    for draw in range(max(draws)):
        read.draw(draw, max(sizes))
        for size, n_draws in zip(sizes, draws, strict=True):
            if draw < n_draws:
                data = read.part(size)
                C = choose_cost(data, costs)
                for line in compare(methods, data, C, max(steps)):
                    results["lines"].append({"size": size, "draw": draw} | line)
                    yield results
        if draw == 0:
            data, C = read.part(sizes[0]), where(results["lines"], size=sizes[0])[0]["C"]
            for line in compare(rivals, data, C, max(steps)):
                results["lines"].append({"size": sizes[0], "draw": 0} | line)
                yield results
            results["moved"] = [move(method, data, C, max(steps)) for method in MOVING]
            results["added"] = list(add_kernels(data, C, kernels, results["lines"]))
            yield results
            for figure, settings in SETTINGS.items():
                for options in settings:
                    results["settings"] += follow(figure, options, data, C, steps)
                yield results


# What is measured


def choose_cost(data, costs):
    """The C of the best MAP of the mean kernel by two folds, for all methods alike."""
    order, found = np.random.default_rng(0).permutation(len(data.Y)), []
    halves = order[: len(order) // 2], order[len(order) // 2 :]
    for cost in costs:
        model = SharedKernelSVM(cost, weights="uniform", **OPTIONS)
        scores = [
            category_average_precision(
                data.Y[b],
                model.fit(data.stack[np.ix_(a, a)], data.Y[a]).decision_function(data.stack[np.ix_(b, a)]),
            )
            for a, b in (halves, halves[::-1])
        ]
        found.append(np.mean(scores))
    return costs[int(np.argmax(found))]


def make_model(method, C, steps):
    Estimator, options = METHODS[method]
    is_published = options.get("solver") == "paper"
    return Estimator(C, **OPTIONS, **options, max_iter=steps if is_published else _rounds(options))


def _rounds(options):
    """Of weights; a training of given weights ends at its gap."""
    return 1000 if "weights" in options or options["solver"] == "smo" else ROUNDS


def compare(methods, data, C, steps):
    for method in methods:
        line = {"method": method, "C": C} | measure(method, data, C, steps)
        show(line, "method", "C", "map", "accuracy", "seconds", "gap", "active")
        yield line


def measure(method, data, C, steps):
    """How good a model is, and how fast its training."""
    model = make_model(method, C, steps)
    training = best_time(model.fit, data.stack, data.Y, repeats=1)
    scores = model.decision_function(data.test)
    best = data.truth[np.arange(len(scores)), scores.argmax(axis=1)]
    by_class = [best[label > 0].mean() for label in data.truth.T]
    weights = np.atleast_2d(model.kernel_weights_)
    return {
        "map": rate(data, scores),
        "accuracy": 100 * float(np.mean(by_class)),
        "gap": float(model.duality_gap_),
        "seconds": training.processor_seconds,
        "active": float(np.count_nonzero(weights, axis=1).mean()),
        "weights": dict(zip(model.kernel_names_, weights.mean(axis=0).round(5).tolist(), strict=True)),
    }


def rate(data, scores):
    return 100 * float(category_average_precision(data.truth, scores))


def move(method, data, C, steps):
    """How the weights of kernels move; where each label has its own, those of the first one."""
    labels = slice(1) if METHODS[method][0] is MultipleKernelSVM else slice(None)
    path = make_model(method, C, steps).fit(data.stack, data.Y[:, labels]).weight_path_
    path = path / path.sum(axis=1, keepdims=True)
    return {
        "method": method,
        "rounds": len(path),
        "way": float(np.abs(np.diff(path, axis=0)).sum()),
        "first": float(np.abs(np.diff(path[:6], axis=0)).sum()),
        "weights": path[:ROUNDS].round(4).tolist(),
    }


def add_kernels(data, C, numbers, lines):
    """MAP with more and more kernels, in the order of their mean weights by level-MKL, as figure 2.5."""
    weights = where(lines, method=ADDED[1])[0]["weights"]
    order = sorted(range(data.stack.n_kernels), key=lambda j: -weights[data.stack.names[j]])
    for number in numbers:
        stack = KernelStack([data.stack.kernel(j) for j in order[:number]], trusted=True)
        test = KernelStack.between([data.test.kernel(j) for j in order[:number]])
        some = data._replace(stack=stack, test=test)
        for method in ADDED:
            yield {"kernels": number, "method": method, "map": measure(method, some, C, 1)["map"]}


def follow(figure, options, data, C, steps):
    """MAP of models on the mean of the weights of so many steps."""
    model = make_model("ML-MKL-SA", C, max(steps)).set_params(**options)
    path = model.fit(data.stack, data.Y).weight_path_[:-1]
    for step in steps:
        weights = path[:step].mean(axis=0)
        some = SharedKernelSVM(C, weights=weights, **OPTIONS).fit(data.stack, data.Y)
        yield {
            "figure": figure,
            "options": options,
            "step": step,
            "map": rate(data, some.decision_function(data.test)),
        }


# Its answers to tables

IN_TABLE_6 = {"Average": "AVG", "level-MKL, p = 1": "L1-MKL", "MKL-GL, p = 2": "L2-MKL"}
IN_TABLE_3_1 = {
    "Average": "Average",
    "level-MKL, p = 1": "MKL-Level",
    "MKL-SIP, p = 1": "MKL-SIP-L1",
    "MKL-GL, p = 2": "MKL-SIP-L2",  # the same problem
    "ML-MKL-Sum": "ML-MKL-Sum",
    "ML-MKL-SA": "ML-MKL-SA",
}
IN_TABLE_3_3 = {
    "level-MKL, p = 1": "level-MKL",
    "MKL-SIP, p = 1": "MKL-SIP-L1",
    "MKL-SIP, p = 2": "MKL-SIP-L2",
    "MKL-GL, p = 2": "MKL-GL-L2",
    "ML-MKL-Sum": "ML-MKL-Sum",
    "ML-MKL-SA": "ML-MKL-SA",
}
COMPARED = ("Single", "level-MKL, p = 1", "MKL-GL, p = 2", "MKL-GL, p = 4", "ML-MKL-Sum", "ML-MKL-SA")
IN_TABLES = {"ml-mkl-table3.1": IN_TABLE_3_1, "ml-mkl-table3.3": IN_TABLE_3_3}
IN_TABLES["mkl-table2.4"] = {name: name for name in METHODS if not name.startswith("ML-")}


def answer(table, results):
    lines = results["lines"]
    if table == "ml-mkl-figure3.7":
        return _settings(results["settings"])
    if table == "ml-mkl-figure3.3":
        return _moved(results["moved"])
    if table == "mkl-figure2.5":
        return _added(results["added"])
    if table == "mkl-table2.6":
        size = max(distinct(lines, "size"))
        last, column = (
            where(lines, size=size),
            "Caltech 101" if size == 30 else f"Caltech 101, {size} a class",
        )
        rows = {
            title: (f"{mean(last, 'accuracy', method=method):.2f}",) for method, title in IN_TABLE_6.items()
        }
        return Answer(Figures((column,), rows), _verdict(lines, "accuracy"))
    key = "seconds" if table == "ml-mkl-table3.3" else "map"
    figures = _by_size(lines, IN_TABLES[table], key)
    return Answer(figures, _times(lines) if key == "seconds" else _verdict(lines, key))


def _by_size(lines, titles, key):
    sizes = distinct(lines, "size")
    rows = {
        title: tuple(_spread(where(lines, method=method, size=size), key) for size in sizes)
        for method, title in titles.items()
    }
    return Figures(tuple(f"{size} a class" for size in sizes), rows)


def _spread(lines, key):
    """Mean, and deviation if there are several draws; empty where nothing was measured."""
    values = [line[key] for line in lines]
    spread = f" ± {np.std(values):.1f}" if len(values) > 1 else ""
    return f"{np.mean(values):.1f}{spread}" if values else ""


def _verdict(lines, key):
    """How far learned weights are from the mean kernel, for each number of pictures."""
    words = []
    for size in distinct(lines, "size"):
        means = _means(lines, size, key)
        listed = ", ".join(f"{method} {means[method] - means['Average']:+.1f}" for method in COMPARED)
        words.append(f"{listed} with {size} a class")
    what = "Accuracy" if key == "accuracy" else "Category MAP"
    return f"{what} above that of the mean kernel, in points: {'; '.join(words)}."


def _means(lines, size, key):
    some = where(lines, size=size)
    return {method: mean(some, key, method=method) for method in distinct(some, "method")}


def _times(lines):
    words = []
    for size in distinct(lines, "size"):
        means = _means(lines, size, "seconds")
        listed = ", ".join(
            f"{title} {means[method] / means['ML-MKL-Sum']:.1f}"
            for method, title in IN_TABLE_3_3.items()
            if method in means and method != "ML-MKL-Sum"
        )
        words.append(f"{listed} with {size} a class")
    return f"Processor seconds of training in units of those of ML-MKL-Sum: {'; '.join(words)}."


def _moved(moved):
    rows = {
        line["method"]: (str(line["rounds"]), f"{line['way']:.2f}", f"{line['first']:.2f}") for line in moved
    }
    figures = Figures(("rounds", "way", "way of the first 5 rounds"), rows)
    return Answer(figures, "The way is the sum of all changes of the weights, which sum to 1 in each round.")


def _added(added):
    numbers = distinct(added, "kernels")
    rows = {
        method: tuple(f"{mean(added, 'map', kernels=number, method=method):.1f}" for number in numbers)
        for method in ADDED
    }
    words = []
    for method in ADDED:
        values = {number: mean(added, "map", kernels=number, method=method) for number in numbers}
        best = max(values, key=values.get)
        words.append(f"{method} {values[best]:.1f} with {best}, {values[numbers[-1]]:.1f} with all")
    return Answer(
        Figures(tuple(f"{number} kernels" for number in numbers), rows), f"Highest MAP: {'; '.join(words)}."
    )


def _settings(settings):
    steps = distinct(settings, "step")
    rows, words = {}, []
    for line in settings:
        options = ", ".join(f"{name} = {value:g}" for name, value in line["options"].items())
        rows.setdefault(f"{line['figure']}: {options}", []).append(f"{line['map']:.1f}")
    for figure in distinct(settings, "figure"):
        last = [line["map"] for line in where(settings, figure=figure, step=steps[-1])]
        words.append(f"{max(last) - min(last):.1f} points over {figure}")
    figures = Figures(
        tuple(f"{step:,} steps" for step in steps), {name: tuple(cells) for name, cells in rows.items()}
    )
    return Answer(figures, f"After the last step the MAP differs by {', '.join(words)}.")


# Its page


def render(results, machine):
    """Tables of quality and seconds, the kernels, and the drawings."""
    lines, moved, settings = results["lines"], results["moved"], results["settings"]
    titles = dict(zip(METHODS, METHODS, strict=True))
    shown = {key: _by_size(lines, titles, key) for key in ("map", "accuracy", "seconds")} | {
        "added": _added(results["added"]).figures,
        "moved": _moved(moved).figures,
        "settings": _settings(settings).figures,
    }
    names = list(lines[0]["weights"])
    weights = [
        [name, *(f"{_weight(lines, method, name):.3f}" for method in WEIGHED)]
        for name in sorted(names, key=lambda name: -_weight(lines, WEIGHED[0], name))
    ]
    page = TEXT.page.format(
        machine=machine["processor"],
        draws=", ".join(f"{count} with {size}" for size, count in _draws(lines).items()),
        costs=", ".join(f"{line['C']:g}" for line in where(lines, method="Average")),
        kernels=markdown_table(["number", "published", "ours"], PUBLISHED_KERNELS),
        n_kernels=len(names),
        tolerance=TOLERANCE,
        steps=max(distinct(settings, "step")),
        smallest=min(distinct(lines, "size")),
        verdict=_verdict(lines, "map"),
        times=_times(lines),
        weights=markdown_table(["", *WEIGHED], weights, numbers=True),
        **{key: figures.to_markdown() for key, figures in shown.items()},
    )
    return dict(zip(PAGES, (fill(page), draw_kernels(results), draw_steps(settings)), strict=True))


def _draws(lines):
    return {size: len(distinct(where(lines, size=size), "draw")) for size in distinct(lines, "size")}


def _weight(lines, method, name):
    """The mean weight in the first draw with the most pictures."""
    (line,) = where(lines, method=method, draw=0, size=max(distinct(lines, "size")))
    return line["weights"][name] / sum(line["weights"].values())


def draw_kernels(results):
    """MAP over the number of kernels, as figure 2.5, as SVG."""
    lines = {method: where(results["added"], method=method) for method in ADDED}
    return _draw(lines, "kernels", "kernels")


def draw_steps(settings):
    """MAP over the steps of ML-MKL-SA for each delta, as figure 3.7, as SVG."""
    some = where(settings, figure="delta")
    options = [line["options"] for line in where(some, step=some[0]["step"])]
    return _draw({f"delta {one['delta']:g}": where(some, options=one) for one in options}, "step", "steps")


def _draw(lines, key, what):
    series = [
        (name, [one[key] for one in some], [one["map"] for one in some]) for name, some in lines.items()
    ]
    return draw_charts([line_chart("MAP (%)", series, description="", x_label=what)])
