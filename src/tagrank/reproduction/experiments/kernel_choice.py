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
from tagrank.reproduction.pages.kernel_choice import render_page
from tagrank.reproduction.protocols.data import DRAWN
from tagrank.reproduction.protocols.kernel_sets import (
    KernelSet,
    gaussian_stack,
    read_views,
    split_samples,
    varies,
)
from tagrank.reproduction.text import show

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


def render(results, machine):
    return {PAGES[0]: render_page(results)}


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
