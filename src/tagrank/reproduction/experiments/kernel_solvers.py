"""All solvers of several kernels on the same problems: objective, gap, rounds, seconds (tables 2.7 to 2.11).

One label against the rest at a time, hinge loss, the same C and the same gap asked of all, on one core;
processor seconds. A training that takes longer than `seconds` of the clock ends there, and tells the gap that
it reached.
"""

import warnings

import numpy as np

from tagrank.estimators import MultipleKernelSVM
from tagrank.reproduction.pages.kernel_solvers import draw_growth, render_page
from tagrank.reproduction.protocols.data import DRAWN
from tagrank.reproduction.protocols.kernel_sets import (
    PHOTOGRAPHS,
    gaussian_stack,
    read_photographs,
    read_views,
)
from tagrank.reproduction.protocols.timing import best_time
from tagrank.reproduction.text import show

PAGES = ("kernel-solver-results.md", "kernel-solvers.svg")
QUICK = {
    "only": (DRAWN,),
    "grown": DRAWN,
    "samples": (40, 80),
    "widths": (1, 2),
    "labels": 1,
    "seconds": 1.0,
}
L1 = ("silp", "simple", "gradient", "mirror", "level", "group-lasso")
BEYOND = ("silp", "group-lasso", "smo")
CASES = [(name, 1.0) for name in L1] + [(name, norm) for norm in (2.0, 4.0) for name in BEYOND]
WIDTHS = {"mfeat": 1}  # on each view; of other sets OTHER_WIDTHS
OTHER_WIDTHS = 5
WIDTHS_OF_SAMPLES = 2  # where the number of samples grows
MOST_SAMPLES = 1000  # where it does not
C = 10.0
TOLERANCE = 1e-3


def run(
    *,
    only=("mfeat", "yeast", "emotions", PHOTOGRAPHS),
    grown="mfeat",
    samples=(250, 500, 1000, 2000),
    widths=(1, 2, 4, 8, 16),
    labels=3,
    seconds=30.0,
):
    warnings.filterwarnings("ignore", message=".*duality gap")
    results = {"seconds": seconds, "lines": [], "kernels": [], "samples": []}
    for name in only:
        stack, Y = read_data(name)
        results["lines"].append({"data": name, **compare(stack, Y, labels, seconds)})
        yield results
    views, Y = read_views(grown)
    for n_widths in widths:
        stack, labels_of_rows = make_stack(views, Y, MOST_SAMPLES, n_widths)
        results["kernels"].append({"data": grown, **compare(stack, labels_of_rows, 1, seconds)})
    for n_samples in samples:
        stack, labels_of_rows = make_stack(views, Y, n_samples, WIDTHS_OF_SAMPLES)
        results["samples"].append({"data": grown, **compare(stack, labels_of_rows, 1, seconds)})
    yield results


def render(results, machine):
    return dict(zip(PAGES, (render_page(results, machine), draw_growth(results)), strict=True))


def read_data(name):
    """Kernels and labels of at most MOST_SAMPLES training samples."""
    if name == PHOTOGRAPHS:
        photographs = read_photographs(MOST_SAMPLES)
        return photographs.stack, photographs.Y
    return make_stack(*read_views(name), MOST_SAMPLES, WIDTHS.get(name, OTHER_WIDTHS))


def make_stack(views, Y, n_samples, n_widths):
    """Gaussians of several widths, from a quarter to four times the mean distance, on drawn samples."""
    rows = np.random.default_rng(0).permutation(len(Y))[:n_samples]
    widths = np.geomspace(1 / 4, 4, n_widths) if n_widths > 1 else (1.0,)
    return gaussian_stack({view: X[rows] for view, X in views.items()}, widths), Y[rows]


def compare(stack, Y, n_labels, seconds):
    """Every solver on the most frequent labels, one by one."""
    labels = np.argsort(-Y.sum(axis=0), kind="stable")[:n_labels]
    line = {"n_samples": stack.n_samples, "n_kernels": stack.n_kernels, "cases": []}
    for solver, norm in CASES:
        model = MultipleKernelSVM(C, kernel="precomputed", solver=solver, norm=norm, tol=TOLERANCE, n_jobs=1)
        model.set_params(max_iter=30).fit(stack, Y[:, labels[:1]])  # compiles what is not compiled yet
        model.set_params(max_iter=100_000, max_seconds=seconds)
        line["cases"].append({"solver": solver, "norm": norm, **measure(model, stack, Y[:, labels])})
        show(line | line["cases"][-1], "n_samples", "n_kernels", *line["cases"][-1])
    return line


def measure(model, stack, Y):
    """Means over the labels; of the gap the largest, and how many labels reached the one asked for."""
    found = []
    for y in np.hsplit(Y, Y.shape[1]):
        timing = best_time(model.fit, stack, y, repeats=1)
        found.append(
            {
                "objective": float(model.primal_objective_),
                "rounds": int(model.trace_[-1].n_iter),
                "seconds": timing.processor_seconds,
                "active": len(model.active_kernels_),
                "gap": float(model.duality_gap_),
            }
        )
    means = {key: float(np.mean([line[key] for line in found])) for key in found[0]}
    gaps = [line["gap"] for line in found]
    return means | {"gap": max(gaps), "reached": sum(gap <= TOLERANCE for gap in gaps), "labels": len(gaps)}
