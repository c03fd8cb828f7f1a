"""One kernel, their mean or learned weights, with few and many samples, and with kernels of noise.

After tables 2.4 and 2.5 and figures 2.5 and 2.6 of the dissertation: MultipleKernelSVM, each label with
weights of its own, and SharedKernelSVM with weights found on held-out samples. C is chosen on a third of the
training samples, for each method by itself; test samples are looked at once.
"""

import warnings

import numpy as np

from tagrank.estimators import MultipleKernelSVM, SharedKernelSVM
from tagrank.kernels import Gaussian, KernelStack
from tagrank.metrics import category_auc, category_average_precision
from tagrank_papers.catalogue import find_table
from tagrank_papers.figures import Answer, Figures
from tagrank_papers.lines import distinct, mean, where
from tagrank_papers.protocols.data import DRAWN
from tagrank_papers.protocols.kernel_sets import KernelSet, gaussian_stack, read_views, split_samples, varies
from tagrank_papers.text import fill, markdown_table, read_text, show

TEXT = read_text("kernel_choice")
PAGES = ("kernel-choice-results.md",)
QUICK = {"only": (DRAWN,), "sizes": (20, 40), "noise": (0, 2), "draws": 1, "noisy_size": 40}
METHODS = {
    "Single": (MultipleKernelSVM, {"weights": "best"}),
    "Average": (MultipleKernelSVM, {"weights": "uniform"}),
    "L1": (MultipleKernelSVM, {"norm": 1.0}),
    "L2": (MultipleKernelSVM, {"norm": 2.0}),
    "L4": (MultipleKernelSVM, {"norm": 4.0}),
    "Held-out": (SharedKernelSVM, {"weights": "held-out"}),
}
WIDTHS = {"mfeat": (1 / 4, 1, 4)}  # on each view, in means of the distance; of other sets OTHER_WIDTHS
OTHER_WIDTHS = (1 / 4, 1 / 2, 1, 2, 4)
COSTS = (0.1, 1.0, 10.0, 100.0)
N_TEST = 600
N_NOISE_COLUMNS = 10
OPTIONS = {"kernel": "precomputed", "tol": 2e-3, "n_jobs": 1}


def run(
    *,
    only=("mfeat", "emotions", "yeast"),
    sizes=(25, 50, 100, 200, 390),
    noise=(0, 5, 10, 20),
    noisy_size=200,
    draws=3,
):
    warnings.filterwarnings("ignore", message=".*never positive|.*always positive|.*duality gap")
    lines = []
    for name in only:
        views, Y = read_views(name)
        for seed in range(draws):
            cases = [(size, 0) for size in sizes] + [(noisy_size, count) for count in noise]
            drawn = draw(name, views, Y, max(sizes), max(noise), seed)
            for size, n_noise in dict.fromkeys(cases):
                some = without_noise(drawn, max(noise) - n_noise).part(np.arange(size))
                for line in measure(some):
                    lines.append({"data": name, "n_train": size, "noise": n_noise, "draw": seed, **line})
            print(f"{name}, draw {seed}")
        yield {"noisy_size": noisy_size, "lines": lines}


def draw(name, views, Y, n_train, n_noise, seed):
    """Training and test samples with the kernels of the views, and then those of noise."""
    rng = np.random.default_rng(seed)
    n_test = min(N_TEST, len(Y) - n_train)
    rows = rng.permutation(len(Y))[: n_train + n_test]
    stack = gaussian_stack({view: X[rows] for view, X in views.items()}, WIDTHS.get(name, OTHER_WIDTHS))
    matrices = [stack.kernel(j) for j in range(stack.n_kernels)]
    for _ in range(n_noise):
        X = rng.normal(size=(len(rows), N_NOISE_COLUMNS)).astype(np.float32)
        matrices.append(Gaussian().fit(X)(X))
    return split_samples(KernelStack(matrices, trusted=True), Y[rows], n_train, n_test, seed)


def without_noise(drawn, n_kernels):
    """Without the last kernels."""
    kept = range(drawn.stack.n_kernels - n_kernels)
    stack = KernelStack([drawn.stack.kernel(j) for j in kept], trusted=True)
    return KernelSet(stack, KernelStack.between([drawn.test.kernel(j) for j in kept]), drawn.Y, drawn.truth)


def measure(some):
    """All methods, on the labels that vary among the training samples."""
    some = some.part(np.arange(len(some.Y)), varies(some.Y))
    for method, (Estimator, options) in METHODS.items():
        model = Estimator(**OPTIONS, **options)
        model.set_params(C=choose_cost(model, some)).fit(some.stack, some.Y)
        scores = model.decision_function(some.test)
        line = {
            "method": method,
            "map": 100 * float(category_average_precision(some.truth, scores)),
            "auc": 100 * float(category_auc(some.truth, scores)),
            "C": model.C,
            "active": float(np.count_nonzero(np.atleast_2d(model.kernel_weights_), axis=1).mean()),
            "n_kernels": some.stack.n_kernels,
        }
        show({**line, "n": len(some.Y)}, "n", *line)
        yield line


def choose_cost(model, some):
    """The cost of the highest category MAP on a third of the training samples; of equal ones the smallest."""
    n_held_out = len(some.Y) // 3
    held_out, kept = np.split(np.arange(len(some.Y)), [n_held_out])
    labels = varies(some.Y[kept])
    found = []
    for cost in COSTS:
        model.set_params(C=cost).fit(some.stack[np.ix_(kept, kept)], some.Y[kept][:, labels])
        scores = model.decision_function(some.stack[np.ix_(held_out, kept)])
        found.append(category_average_precision(some.Y[held_out][:, labels], scores))
    return COSTS[int(np.argmax(np.nan_to_num(found)))]


# Its answers to tables


def answer(table, results):
    some = where(results["lines"], noise=0)
    sets, methods = distinct(some, "data"), distinct(some, "method")
    sizes = sorted(distinct(some, "n_train"))
    means = {
        (name, method, size): mean(some, "map", data=name, method=method, n_train=size)
        for name in sets
        for method in methods
        for size in sizes
    }
    rows = {
        f"{name}: {method}": tuple(f"{means[name, method, size]:.1f}" for size in sizes)
        for name in sets
        for method in methods
    }
    figures = Figures(tuple(f"{size} samples" for size in sizes), rows)
    return Answer(figures, _few_and_many(means, sets, sizes))


def _few_and_many(means, sets, sizes):
    few, many = sizes[0], sizes[-1]
    words = []
    for size in (few, many):
        points = {
            method: [means[name, method, size] - means[name, "Average", size] for name in sets]
            for method in ("L1", "L2")
        }
        listed = "; ".join(
            f"{method} {', '.join(f'{value:+.1f}' for value in values)}" for method, values in points.items()
        )
        words.append(f"With {size} samples, points above Average ({', '.join(sets)}): {listed}.")
    return " ".join(words)


# Its page

# Table 2.4 has several solvers of each norm; those that the dissertation names for them
PUBLISHED = {
    "Single": "Single",
    "Average": "Average",
    "L1": "level-MKL, p = 1",
    "L2": "MKL-SIP, p = 2",
    "L4": "MKL-SIP, p = 4",
}


def render(results, machine):
    """Tables by number of samples and of noise kernels, and the published conclusions."""
    lines = results["lines"]
    draws = 1 + max(line["draw"] for line in lines)
    parts = [TEXT.intro.format(draws=draws)]
    names = distinct(lines, "data")
    for data in names:
        parts.append(_sizes(data, lines))
        parts.append(_noise(data, lines, results["noisy_size"]))
    parts.append(_compared(names, lines, results["noisy_size"], draws))
    return {PAGES[0]: fill("".join(parts))}


def _table(some, key, what):
    columns = sorted(distinct(some, key))
    rows = [
        [method, *(_mean_and_spread(where(some, method=method, **{key: column})) for column in columns)]
        for method in distinct(some, "method")
    ]
    return markdown_table([what, *map(str, columns)], rows, numbers=True)


def _sizes(data, lines):
    some = where(lines, data=data, noise=0)
    best = []
    for size in sorted(distinct(some, "n_train")):
        means = _maps(some, n_train=size)
        best.append(f"{max(means, key=means.get)} ({size})")
    largest = max(line["n_train"] for line in some)
    active = mean(some, "active", method="L1", n_train=largest)
    sentence = f"Best, by number of samples: {', '.join(best)}.\n"
    sentence += f"L1 gives {active:.1f} kernels a label a weight with {largest} samples."
    return TEXT.sizes.format(
        data=data,
        n_kernels=some[0]["n_kernels"],
        table=_table(some, "n_train", "samples"),
        sentence=sentence,
    )


def _noise(data, lines, noisy_size):
    some = where(lines, data=data, n_train=noisy_size)
    losses = _losses(some)
    return TEXT.noise.format(
        data=data,
        noisy_size=noisy_size,
        table=_table(some, "noise", "kernels of noise"),
        most=max(line["noise"] for line in some),
        sentence=", ".join(f"{method} {-loss:+.2f}" for method, loss in losses.items()) + " points",
    )


def _losses(some):
    """Points of MAP that the largest number of noise kernels costs each method."""
    most = max(line["noise"] for line in some)
    without, noisy = _maps(some, noise=0), _maps(some, noise=most)
    return {method: without[method] - noisy[method] for method in without}


def _compared(names, lines, noisy_size, draws):
    plain, noisy = where(lines, noise=0), where(lines, n_train=noisy_size)
    of_sets = [_losses(where(noisy, data=data)) for data in names]
    losses = {method: np.mean([one[method] for one in of_sets]) for method in distinct(lines, "method")}
    published = find_table("mkl-table2.4").published
    rows = [
        [method, *(cell.split(" ± ")[0] for cell in published.rows[name])]
        for method, name in PUBLISHED.items()
    ]
    return TEXT.compared.format(
        table=markdown_table(["", "10", "20", "30"], rows, numbers=True),
        few=_few_or_many(plain, names, min),
        many=f"{_few_or_many(plain, names, max)} {_seen(plain, names)}",
        single=_single(plain, names),
        most=max(line["noise"] for line in noisy),
        losses=", ".join(f"{method} {loss:.2f}" for method, loss in losses.items()),
        draws=draws,
    )


def _few_or_many(plain, names, pick):
    size = pick(line["n_train"] for line in plain)
    ours = [f"{method} is {_against(plain, names, pick, method)}" for method in ("L1", "L2")]
    return f"With {size} samples, in points from Average, {'; '.join(ours)}."


def _seen(plain, names):
    """On how many sets the conclusion holds."""
    few, many = (pick(line["n_train"] for line in plain) for pick in (min, max))
    below, best = {"L1": 0, "L2": 0}, 0
    for data in names:
        means = {size: _maps(where(plain, data=data), n_train=size) for size in (few, many)}
        below = {
            method: count + (means[few][method] < means[few]["Average"]) for method, count in below.items()
        }
        best += max(means[many], key=means[many].get) == "L1"
    return (
        f"So L1 is below Average with few samples on {below['L1']} of {len(names)} sets, L2 on "
        f"{below['L2']}; "
        f"with many samples L1 is the best on {best}."
    )


def _against(plain, names, pick, method):
    """Points of MAP above Average on each data set, with the fewest or the most samples."""
    size = pick(line["n_train"] for line in plain)
    values = []
    for data in names:
        maps = _maps(where(plain, data=data), n_train=size)
        values.append(f"{maps[method] - maps['Average']:+.1f} ({data})")
    return ", ".join(values)


def _single(plain, names):
    better, total = 0, 0
    for data in names:
        some = where(plain, data=data)
        for size in distinct(some, "n_train"):
            maps = _maps(some, n_train=size)
            single = maps.pop("Single")
            better += sum(other > single for other in maps.values())
            total += len(maps)
    return f"So in {better} of {total} cells of the tables above."


def _maps(lines, **values):
    """Method to its mean MAP."""
    return {method: mean(lines, "map", method=method, **values) for method in distinct(lines, "method")}


def _mean_and_spread(lines):
    values = [line["map"] for line in lines]
    return f"{np.mean(values):.1f} ± {np.std(values):.1f}"
