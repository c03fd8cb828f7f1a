"""Estimators on several kernels: the forms in which kernels come, and answers by their weighted sum."""

import numbers
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tagrank.estimators.base import Numbers, Texts, stores
from tagrank.estimators.compared_rows import ComparedRows, GramRows, PlainRows, Similarities
from tagrank.estimators.max_margin import MaxMarginEstimator
from tagrank.kernels import (
    KernelStack,
    LowRankStack,
    Precomputed,
    Sum,
    make_kernel,
    reads_views,
    stack_of_kernels,
)
from tagrank.kernels.kernel import OnView
from tagrank.kernels.stack import Stack
from tagrank.kernels.structure import names_of, views_of
from tagrank.solvers.solution import KernelPoint, TracePoint
from tagrank.validation import check_positive


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


def check_groups(estimator):
    """Raise unless the groups of kernels of an estimator can be, and go with its other parameters."""
    check_positive("group_norm", estimator.group_norm)
    if estimator.group_norm < 2:
        raise ValueError(f"group_norm must be at least 2, got {estimator.group_norm!r}")
    groups = estimator.groups
    if groups is None:
        return
    named = list(groups.values() if isinstance(groups, Mapping) else _listed(groups))
    if not named or not all(isinstance(name, str | numbers.Real) for name in named):
        raise ValueError(f"groups must name the group of each kernel, by text or numbers, got {groups!r}")
    is_learned = isinstance(estimator.weights, str) and estimator.weights == "learned"
    if estimator.norm != 1 or estimator.solver not in ("auto", "mirror") or not is_learned:
        raise ValueError(
            "groups of kernels need norm=1, solver='auto' or 'mirror', and weights='learned', got "
            f"norm={estimator.norm!r}, solver={estimator.solver!r}, weights={estimator.weights!r}"
        )


def _listed(groups):
    return groups if isinstance(groups, Iterable) and not isinstance(groups, str) else ()


def group_numbers(groups, names):
    """The number of the group of each kernel; `groups` has one for each, or is a mapping by their names."""
    if isinstance(groups, Mapping):
        if missing := [name for name in names if name not in groups]:
            raise ValueError(
                f"groups must name every kernel, but {missing[0]!r} is missing; it has "
                f"{', '.join(map(str, groups))}"
            )
        groups = [groups[name] for name in names]
    groups = list(groups)
    if len(groups) != len(names):
        raise ValueError(f"groups must name a group for each of {len(names)} kernels, got {len(groups)}")
    return np.unique([str(group) for group in groups], return_inverse=True)[1].ravel()


def scales_of(stack, normalization):
    """What each kernel is multiplied with before it is weighed, shape (n_kernels,).

    "trace" brings the mean of the diagonal to one, "variance" the mean squared distance of a sample from the
    mean of all, in the space of the kernel. A kernel without size stays as it is. "spherical" has no factor:
    there the kernels themselves have a diagonal of one.
    """
    if normalization in ("none", "spherical"):
        return np.ones(stack.n_kernels)
    sizes = stack.diagonals().mean(axis=1, dtype=np.float64)
    tiny = 1e-6 * sizes
    if normalization == "variance":
        sizes = sizes - stack.quadratics(np.full((stack.n_samples, 1), 1 / stack.n_samples))
    has_size = sizes > tiny
    return np.where(has_size, 1 / np.where(has_size, sizes, 1), 1.0)


def _on_sphere(kernel):
    """The kernel with a diagonal of one; it keeps the name of its view."""
    if isinstance(kernel, OnView):
        return kernel.kernel.unit_diagonal().on(kernel.view)
    return kernel.unit_diagonal()


def only_views(X, views):
    """The rows `X` with these views only, where they are views."""
    if isinstance(X, ComparedRows):
        return ComparedRows(only_views(X.X, views), X.kernel, X.K, X.known)
    if isinstance(X, Mapping):
        return {view: rows for view, rows in X.items() if view in views}
    return X


class ManyKernels(MaxMarginEstimator):
    """Scores by kernels that have a weight each; trains on their stack.

    A subclass has the parameter `power`, to which the weighted sum is raised. Once fitted, the model reads
    the kernels that have a weight, and nothing else.
    """

    stored = stores(
        kernel_names_=Texts("n_kernels"),
        kernel_weights_=Numbers("f", ("n_kernels",)),
        kernel_scales_=Numbers("f", ("n_kernels",)),
        weight_path_=Numbers("f", (None, "n_kernels")),
        trace_=Numbers("f", (None, None)),
    )
    visits_rows = False  # the kernels are weighed by all of their entries

    @property
    def active_kernels_(self):
        """Indices of the kernels that have a weight."""
        return np.flatnonzero(np.atleast_2d(self.kernel_weights_).any(axis=0))

    def compare(self, X) -> Any:
        if isinstance(X, PlainRows) or not isinstance(self._kernel_for(X), Precomputed):
            return super().compare(X)
        return GramRows(as_stack(X))

    def _kernel_for(self, X):
        """The kernels to weigh, as one sum; a kernel by name is one kernel on each view of a mapping."""
        kernel = make_kernel(self.kernel, gamma=self.gamma)
        is_plain = not isinstance(kernel, Sum) and kernel.combines and not reads_views(kernel)
        if is_plain and isinstance(X, Mapping) and not hasattr(X, "format"):
            kernel = Sum(tuple(kernel.on(view) for view in X), (1.0,) * len(X))
        return self._normalized(kernel)

    def _normalized(self, kernel):
        """The kernels with a diagonal of one, if that is asked for."""
        if getattr(self, "normalization", "none") != "spherical":
            return kernel
        if isinstance(kernel, Precomputed):
            raise ValueError(
                "normalization='spherical' needs kernels, got similarities; divide each by the square "
                "roots of its diagonal, as Kernel.unit_diagonal() does"
            )
        parts = tuple(_on_sphere(term) for _, term in kernel.terms)
        return parts[0] if len(parts) == 1 else Sum(parts, tuple(weight for weight, _ in kernel.terms))

    def raised_kernel(self, power):
        """Its kernels, each to a power, not fitted."""
        kernel = self._normalized(make_kernel(self.kernel, gamma=self.gamma))
        parts = tuple(term**power for _, term in kernel.terms)
        return Sum(parts, (1.0,) * len(parts))

    def _check_rows(self, X, *, reset):
        inside = X.X if type(X) in (PlainRows, GramRows) else X
        kernel = self._kernel_for(inside) if reset else self.kernel_
        if isinstance(kernel, Precomputed) and not isinstance(X, ComparedRows | Similarities):
            if reset and not is_matrix(inside):
                stack = as_stack(inside)
                self.n_features_in_ = sum(stack.widths) if stack.kind == "rows" else stack.shape[1]
                return stack
            if isinstance(inside, LowRankStack):
                return super()._check_rows(inside.combined(np.ones(inside.n_kernels)), reset=reset)
            if not reset and not is_matrix(inside):
                return Similarities(as_similarities(inside, len(self.kernel_names_), self.n_features_in_))
        if not reset and isinstance(inside, Mapping) and not hasattr(inside, "format"):
            X = {view: rows for view, rows in inside.items() if view in views_of(kernel)}
        return super()._check_rows(X, reset=reset)

    def _fit_gram(self, X, **more):
        if isinstance(X, ComparedRows):
            return X.kernel, X.K
        if isinstance(X, Stack):
            return Precomputed(), X
        kernel = self._kernel_for(X)
        if len(kernel.terms) == 1:
            fitted, K = super()._fit_gram(X, **more)
            return (fitted, K) if self.power == 1 else (fitted**self.power, K**self.power)
        kernels = [term for _, term in kernel.terms]
        fitted, stack = stack_of_kernels(
            kernels, X, names=names_of(kernels), dtype=self.gram_dtype, n_jobs=self.n_jobs
        )
        return Sum(tuple(fitted), kernel.weights), stack

    def _keep_weights(self, names, weights, scales, path):
        self.kernel_names_ = list(names)
        self.kernel_weights_ = weights
        self.kernel_scales_ = scales
        self.weight_path_ = path

    def _with_active_kernels(self, problem):
        """The problem with the kernels and the views that the fitted model reads."""
        if isinstance(problem.kernel, Precomputed):
            return problem
        active = self.active_kernels_ if len(self.active_kernels_) else [0]
        weights = self._weights_in_kernel()
        kernel = Sum(
            tuple(problem.kernel.kernels[j] for j in active), tuple(float(weights[j]) for j in active)
        )
        views = views_of(kernel)
        kernel = kernel if self.power == 1 else kernel**self.power
        return replace(problem, kernel=kernel, X=only_views(problem.X, views))

    def _weights_in_kernel(self):
        """Of each kernel in `kernel_`."""
        return self.kernel_weights_ * self.kernel_scales_

    def _similarities(self, X, block=slice(None)):
        if not (isinstance(X, Similarities) and isinstance(X.K, KernelStack)):
            return super()._similarities(X, block)
        rows = np.arange(len(X))[block]
        part = X.K[np.ix_(rows, self.support_)].with_raised_sum(self.power)
        return part.combined(self.kernel_weights_ * self.kernel_scales_)

    @staticmethod
    def _trace_row(point):
        return [*point[: len(TracePoint._fields)], *getattr(point, "weights", ())]

    @staticmethod
    def _trace_point(row):
        n_known = len(TracePoint._fields)
        return KernelPoint(int(row[0]), *map(float, row[1:n_known]), row[n_known:])
