"""Weighted sums and quadratic forms of many kernels against one numpy expression a kernel.

Coefficients of all samples are nonzero for `quadratics`, a stated share of them for `quadratics_by_label`.
"""

import numpy as np

from tagrank.kernels import Gaussian, KernelStack
from tagrank_papers.measuring import best_time
from tagrank_papers.text import show

MINUTES = 1
QUICK = {"samples": 60, "labels": 5, "kernels": 3}


def run(*, samples=4500, labels=260, kernels=15):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((samples, 50)).astype(np.float32)
    lines = []
    for dtype in (np.float32, np.float64):
        matrices = [Gaussian(gamma=0.01 * (1 + j))(X).astype(dtype) for j in range(kernels)]
        T = rng.standard_normal((samples, labels)).astype(dtype)
        lines += [{"dtype": np.dtype(dtype).name, **line} for line in compare(matrices, T, rng)]
    yield {"n_samples": samples, "n_labels": labels, "n_kernels": kernels, "lines": lines}


def compare(matrices, T, rng):
    """One line for each operation."""
    stack, weights = KernelStack(matrices, trusted=True), rng.random(len(matrices))
    scarce = T * (rng.random(T.shape) < 0.02)
    operations = {
        "combined": (lambda: stack.scaled(np.ones(len(matrices))).combined(weights), add_all, weights),
        "quadratics": (lambda: stack.quadratics(T), sum_forms, T),
        "quadratics_by_label, 2 %": (lambda: stack.quadratics_by_label(scarce), sum_forms_by_label, scarce),
        "quadratics_by_label, all": (lambda: stack.quadratics_by_label(T), sum_forms_by_label, T),
    }
    for name, (call, peer, argument) in operations.items():
        call()
        ours, plain = best_time(call), best_time(peer, matrices, argument, repeats=1)
        difference = np.abs(ours.answer - plain.answer).max() / np.abs(plain.answer).max()
        line = {
            "operation": name,
            "numpy_seconds": plain.seconds,
            "seconds": ours.seconds,
            "ratio": plain.seconds / ours.seconds,
            "largest_difference": float(difference),
        }
        show(line, *line)
        yield line


def add_all(matrices, weights):
    total = np.zeros_like(matrices[0])
    for K, weight in zip(matrices, weights, strict=True):
        total += K.dtype.type(weight) * K
    return total


def sum_forms(matrices, T):
    return np.array([np.sum(T * (K @ T), dtype=np.float64) for K in matrices])


def sum_forms_by_label(matrices, T):
    return np.array([np.sum(T * (K @ T), axis=0, dtype=np.float64) for K in matrices]).T
