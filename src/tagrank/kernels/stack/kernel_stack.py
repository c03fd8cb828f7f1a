"""Many Gram matrices of the same samples as one object, for methods that learn how much each counts."""

import numpy as np

from tagrank.kernels.stack.base import Stack
from tagrank.kernels.stack.checks import (
    as_list,
    check_named_gram,
    check_same_samples,
    check_similarities,
    check_weights,
    kernel_titles,
)
from tagrank.kernels.stack.sums import add_weighted, label_sums, quadratic_sums, take

# how often the weighted sum may be changed by differences before rounding asks for a new one
MAX_DRIFT = 16


class KernelStack(Stack):
    """Gram matrices K_1, ..., K_s of the same samples; slicing cuts all of them, and copies none.

    Parameters
    ----------
    matrices : list of arrays of shape (n, n), or array of shape (s, n, n)
        float32 or float64, in memory or memory-mapped.
    names : list of str, optional
        "kernel 0", "kernel 1", ... by default.
    trusted : bool
        Whether the matrices come from kernels and need not be checked to be Gram matrices.
    """

    kind = "gram"
    exponent = 1
    _own = (*Stack._own, "_weights", "_raised")

    def __init__(self, matrices, names=None, *, trusted=False):
        self._fill(matrices, names, trusted, is_gram=True)

    @classmethod
    def between(cls, matrices, names=None):
        """Similarities of other samples with the training samples, s matrices of shape (n_x, n)."""
        stack = cls.__new__(cls)
        stack._fill(matrices, names, False, is_gram=False)
        return stack

    def _fill(self, matrices, names, trusted, is_gram):
        matrices = as_list(matrices, "matrices")
        titles = kernel_titles(names, len(matrices))
        if not trusted:
            check = check_named_gram if is_gram else check_similarities
            matrices = [check(K, title) for K, title in zip(matrices, titles, strict=True)]
        check_same_samples(matrices, titles, 2)
        self._hold([_read_only(K, is_gram) for K in matrices], names, matrices[0].shape, is_gram)
        self._sizes, self._drift = None, 0.0

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._arrays = [_read_only(K, self._is_gram) for K in self._arrays]

    def combined(self, weights):
        """sum_j weights[j] K_j, in an array that the next call overwrites; only active kernels are read.

        Where fewer weights changed than are active, the last sum is changed by differences.
        """
        weights = check_weights(weights, self.n_kernels) * self._factors
        steps, drift = self._differences(weights)
        if steps is None:
            if self._buffer is None:
                self._buffer = np.empty(self.shape, self.dtype)
            self._buffer[:] = 0
            steps, drift = weights, 0.0
        self._weights = None  # until the sum is whole: it may be interrupted
        active = np.flatnonzero(steps)
        add_weighted(
            [self._arrays[j] for j in active],
            steps[active],
            self._buffer,
            rows=self._rows,
            columns=self._columns,
            symmetric=self.is_symmetric,
        )
        self._weights, self._drift = weights, drift
        return self._buffer if self.exponent == 1 else self._raise_sum()

    def with_raised_sum(self, exponent):
        """The same kernels, of which `combined` answers (sum_j weights[j] K_j) to a whole power."""
        return self._like(exponent=exponent)

    def slopes(self, weights):
        """The derivatives of `combined(weights)` by each weight, but for the factor `exponent`, in turn."""
        self.combined(weights)
        sharper = None if self.exponent == 1 else self._buffer ** (self.exponent - 1)
        for j in range(self.n_kernels):
            yield self.kernel(j) if sharper is None else sharper * self.kernel(j)

    def _raise_sum(self):
        if self._raised is None:
            self._raised = np.empty_like(self._buffer)
        return np.power(self._buffer, self.exponent, out=self._raised)

    def _differences(self, weights):
        """What to add to the last sum and how far rounding has gone; None where a new sum is better."""
        if self._weights is None or not self._is_gram:
            return None, 0.0
        steps = weights - self._weights
        if np.count_nonzero(steps) >= max(np.count_nonzero(weights), 1):
            return None, 0.0
        if self._sizes is None:
            self._sizes = np.array([float(K.diagonal().max()) for K in self._arrays])
        drift = self._drift + (abs(self._weights) + abs(steps)) @ self._sizes
        return (steps, drift) if drift <= MAX_DRIFT * (abs(weights) @ self._sizes) else (None, 0.0)

    def kernel(self, j):
        """The matrix of one kernel; a new array only if it is a part or scaled."""
        K = self._arrays[j]
        if self._rows is not None or self._columns is not None:
            K = take(K, self._rows, self._columns, K.dtype)
        return K if self._factors[j] == 1 else K * K.dtype.type(self._factors[j])

    def diagonals(self):
        """k_j(x, x), array of shape (n_kernels, n_samples)."""
        self._require_symmetric()
        at = slice(None) if self._rows is None else self._rows
        diagonals = np.array([K.diagonal()[at] for K in self._arrays], self.dtype)
        return diagonals * self._factors[:, None].astype(self.dtype)

    def quadratics(self, T):
        """<T, K_j T> for `T` of shape (n_samples, n_labels); float64 of shape (n_kernels,).

        Of the kernels as they are, whatever `exponent` the sum has.
        """
        T = self._check_coefficients(T)
        return quadratic_sums(self._arrays, T, rows=self._rows) * self._factors

    def quadratics_by_label(self, T):
        """<t_l, K_j t_l> of every label and kernel, float64 of shape (n_labels, n_kernels)."""
        T = self._check_coefficients(T)
        return label_sums(self._arrays, T, rows=self._rows) * self._factors


def _read_only(K, is_gram):
    """A view that compiled code is made for once, whoever owns the array; rows lie together if they can."""
    if is_gram and K.flags.f_contiguous:
        K = K.T
    K = np.asarray(K).view()
    K.flags.writeable = False
    return K
