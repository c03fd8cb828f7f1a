"""Kernels and numbers about them, as users hand them over."""

import numbers
from collections.abc import Iterable, Mapping

import numpy as np

from tagrank.estimators.compared_rows import ComparedRows
from tagrank.kernels import KernelStack
from tagrank.kernels.stack import Stack


def is_matrix(X):
    """Whether `X` is one matrix, not several."""
    if isinstance(X, list | tuple):
        return len(X) > 0 and np.ndim(X[0]) < 2
    return np.ndim(X) == 2 if not isinstance(X, Stack | Mapping) else False


def as_stack(X):
    """Training similarities of several kernels: a stack, a list of matrices, or an (s, n, n) array."""
    return X if isinstance(X, Stack) else KernelStack(X)


def as_similarities(X, n_kernels, n_training):
    """Similarities of new samples with the training samples by each kernel, as a stack."""
    stack = X if isinstance(X, Stack) else KernelStack.between(X)
    if stack.n_kernels != n_kernels or stack.shape[1] != n_training:
        raise ValueError(
            f"X must hold the similarities to the {n_training} training samples by each of the {n_kernels} "
            f"kernels of the model, got {stack.n_kernels} matrices of shape {stack.shape}"
        )
    return stack


def column_weights(stack, coefficients, weights):
    """Weights (n_labels, n_columns) of the columns of a `LowRankStack`, by which its kernels score.

    Parameters
    ----------
    coefficients : array, shape (n_samples, n_labels)
    weights : array, shape (n_kernels,) or (n_labels, n_kernels)
    """
    by_column = np.repeat(np.atleast_2d(weights), stack.widths, axis=1)
    return by_column * stack.column_weights(coefficients).T


def check_numbers(name, values, n_kernels=None):
    """Numbers that are not negative, one for each kernel, as an array."""
    expected = "numbers that are not negative, one for each kernel"
    if not isinstance(values, Iterable) or isinstance(values, str | Mapping):
        raise ValueError(f"{name} must be {expected}, got {values!r}")
    values = list(values)
    if not all(isinstance(value, numbers.Real) and 0 <= value < np.inf for value in values):
        raise ValueError(f"{name} must be {expected}, got {values!r}")
    if n_kernels is not None and len(values) != n_kernels:
        raise ValueError(f"{name} must be {n_kernels} {expected}, got {len(values)}")
    return np.array(values, dtype=np.float64)


def scales_of(stack, normalization):
    """What each kernel is multiplied with before it is weighed, shape (n_kernels,).

    "trace" brings the mean of the diagonal to one, "variance" the mean squared distance of a sample from the
    mean of all, in the space of the kernel. A kernel without size stays as it is.
    """
    if normalization == "none":
        return np.ones(stack.n_kernels)
    sizes = stack.diagonals().mean(axis=1, dtype=np.float64)
    tiny = 1e-6 * sizes
    if normalization == "variance":
        sizes = sizes - stack.quadratics(np.full((stack.n_samples, 1), 1 / stack.n_samples))
    has_size = sizes > tiny
    return np.where(has_size, 1 / np.where(has_size, sizes, 1), 1.0)


def only_views(X, views):
    """The rows `X` with these views only, where they are views."""
    if isinstance(X, ComparedRows):
        return ComparedRows(only_views(X.X, views), X.kernel, X.K, X.known)
    if isinstance(X, Mapping):
        return {view: rows for view, rows in X.items() if view in views}
    return X
