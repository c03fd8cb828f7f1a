"""MultipleKernelRanker in units of LabelRanker fits, all solvers side by side, and MKLpy's EasyMKL.

Drawn views of clusters, a third of them noise; kernel="precomputed". Times are whole fits.

- ranker: MultipleKernelRanker beside a LabelRanker on the mean kernel to the same gap, and what one reading
  of all kernels costs, for the weighted sum and for the quadratic forms;
- solvers: every solver to two gaps, on one label, on all labels together and on their ranking;
- peer: MultipleKernelSVM, each label with its own weights, to a gap of 1e-3. EasyMKL, which solves an easier
  problem (one SVM, and weights from its margins), is timed on few labels, and its time scaled.
"""

import warnings
from importlib.util import find_spec

import numpy as np

from tagrank import LabelRanker, MultipleKernelRanker, MultipleKernelSVM, SharedKernelSVM
from tagrank.kernels import KernelStack
from tagrank.solvers.multiple_kernel.solve import methods_for
from tagrank_papers.measuring import best_time
from tagrank_papers.protocols.data import draw_views
from tagrank_papers.text import show

MINUTES = 10
QUICK = {
    "samples": 100, "labels": 4, "kernels": 3, "repeats": 1, "solver_samples": 60, "peer_samples": 60,
    "peer_kernels": 3, "peer_labels": 2, "easymkl": False,
}  # fmt: skip
TOL = 1e-3
FEW_LABELS = 2  # on which the peer is timed
MOST_ROUNDS = 200
NOISE_SHARE = 1 / 3


def run(
    *,
    samples=3000,
    labels=100,
    kernels=15,
    repeats=3,
    solver_samples=1500,
    peer_samples=2000,
    peer_kernels=20,
    peer_labels=10,
    easymkl=True,
):
    if easymkl and find_spec("MKLpy") is None:
        raise SystemExit("MKLpy is not installed: pip install '.[bench]', or run with --no-easymkl")
    lines = list(measure_ranker(samples, labels, kernels, repeats))
    yield lines
    lines += measure_peer(peer_samples, peer_kernels, peer_labels, easymkl, repeats)
    yield lines
    for problem, Estimator, n_labels in PROBLEMS:
        stack, Y = draw(solver_samples, max(n_labels, 10), kernels)
        for norm in (1.0, 2.0):
            lines += compare_solvers(problem, Estimator, stack, Y[:, :n_labels], norm)
            yield lines


PROBLEMS = (
    ("one label", MultipleKernelSVM, 1),
    ("sum of 20 labels", SharedKernelSVM, 20),
    ("ranking of 20 labels", MultipleKernelRanker, 20),
)


def draw(samples, labels, kernels):
    matrices, Y = draw_views(samples, labels, kernels, n_noise=round(NOISE_SHARE * kernels))
    return KernelStack(matrices, trusted=True), Y


def fit(Estimator, X, Y, *, repeats, **options):
    """Time whole fits; those that do not reach their gap in time say so themselves."""
    model = Estimator(kernel="precomputed", random_state=0, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return best_time(model.fit, X, Y, repeats=repeats)


def measure_ranker(samples, labels, kernels, repeats):
    """Lines: the ranker, and the readings of all kernels that it consists of, in units of one plain fit."""
    stack, Y = draw(samples, labels, kernels)
    mean = stack.combined(np.full(kernels, 1 / kernels)).copy()
    warm_up(kernels)
    plain = fit(LabelRanker, mean, Y, tol=TOL, repeats=repeats)
    many = fit(MultipleKernelRanker, stack, Y, tol=TOL, repeats=repeats)
    T = many.answer.dual_coef_
    timed = {
        "whole fit": many,
        "weighted sum": best_time(lambda: stack.scaled(np.ones(kernels)).combined(np.ones(kernels))),
        "quadratic forms": best_time(stack.quadratics, T),
    }
    for name, timing in timed.items():
        line = {
            "part": "ranker",
            "what": name,
            "seconds": timing.seconds,
            "fit_seconds": plain.seconds,
            "ratio_to_label_ranker": timing.seconds / plain.seconds,
            "ratio_of_processor_times": timing.processor_seconds / plain.processor_seconds,
            "rounds": many.answer.n_iter_,
            "gap": many.answer.duality_gap_,
            "active": len(many.answer.active_kernels_),
        }
        show(line, *line)
        yield line


def compare_solvers(problem, Estimator, stack, Y, norm):
    """Lines: every solver, in units of the fastest one."""
    for tol in (1e-2, TOL):
        lines = []
        for solver in ("auto", *methods_for(norm)):
            if solver not in Estimator.solvers:
                continue
            options = {"solver": solver, "norm": norm, "max_iter": MOST_ROUNDS}
            fit(Estimator, stack, Y, tol=0.5, repeats=1, **options)  # compiles
            timing = fit(Estimator, stack, Y, tol=tol, repeats=1, **options)
            lines.append(
                {
                    "part": "solvers",
                    "problem": problem,
                    "norm": norm,
                    "tol": tol,
                    "solver": solver,
                    "seconds": timing.seconds,
                    "processor_seconds": timing.processor_seconds,
                    "rounds": timing.answer.n_iter_,
                    "gap": timing.answer.duality_gap_,
                }
            )
        fastest = min(line["seconds"] for line in lines if line["gap"] <= tol)
        for line in lines:
            line["ratio_to_fastest"] = line["seconds"] / fastest
            show(line, *list(line)[1:])
            yield line


def measure_peer(samples, kernels, labels, easymkl, repeats):
    """A line: ours on all labels, the peer on few of them, and its time scaled to all."""
    stack, Y = draw(samples, labels, kernels)
    fit(MultipleKernelSVM, stack, Y[:, :1], tol=TOL, repeats=1)
    ours = fit(MultipleKernelSVM, stack, Y, tol=TOL, repeats=repeats)
    line = {
        "part": "peer",
        "seconds": ours.seconds,
        "gap": ours.answer.duality_gap_,
        "rounds": ours.answer.n_iter_,
        "ratio_to_peer": None,
    }
    if easymkl:
        few = min(FEW_LABELS, labels)
        matrices = [stack.kernel(j) for j in range(kernels)]
        peer = best_time(train_easymkl, matrices, Y[:, :few], repeats=1)
        line |= {
            "peer_seconds": peer.seconds * labels / few,
            "peer_labels_timed": few,
            "ratio_to_peer": peer.seconds * labels / few / ours.seconds,
            "ratio_of_processor_times": peer.processor_seconds * labels / few / ours.processor_seconds,
        }
    show(line, *line)
    return [line]


def train_easymkl(matrices, Y):
    """MKLpy's EasyMKL with its defaults, label by label."""
    import torch
    from MKLpy.algorithms import EasyMKL

    matrices = [torch.tensor(np.array(K), dtype=torch.float64) for K in matrices]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [EasyMKL().fit(matrices, torch.tensor(labels.astype(int))) for labels in Y.T]


def warm_up(kernels):
    """Compile before anything is timed; large problems take another way than small ones."""
    for samples in (200, 1000):
        stack, Y = draw(samples, 8, kernels)
        fit(LabelRanker, stack.kernel(0), Y, tol=TOL, repeats=1)
        fit(MultipleKernelRanker, stack, Y, tol=TOL, repeats=1)
