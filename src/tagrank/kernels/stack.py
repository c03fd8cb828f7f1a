"""Many Gram matrices of the same samples as one object, for methods that learn how much each counts."""

import numpy as np

from tagrank.kernels.stack_checks import (
    as_list,
    check_coefficients,
    check_factors,
    check_named_gram,
    check_names,
    check_same_shapes,
    check_similarities,
    check_weights,
    kernel_titles,
    positions,
    split_key,
)
from tagrank.kernels.stack_sums import add_weighted, label_sums, quadratic_sums, take

# how often the weighted sum may be changed by differences before rounding asks for a new one
MAX_DRIFT = 16
NOTHING_SUMMED = {"_buffer": None, "_weights": None, "_drift": 0.0}


class KernelStack:
    """Gram matrices K_1, ..., K_s of the same samples; slicing cuts all of them, and copies none.

    Parameters
    ----------
    matrices : list of arrays of shape (n, n), or array of shape (s, n, n)
        float32 or float64, in memory or memory-mapped.
    names : list of str, optional
        "kernel 0", "kernel 1", ... by default.
    trusted : bool
        Whether the matrices come from kernels and need not be checked to be Gram matrices.

    Attributes
    ----------
    names : tuple of str
    dtype : float32 if all matrices are, else float64
    shape : (n_samples, n_columns); of a part of held-out with training samples they differ
    kind : "gram", what `combined` returns
    """

    kind = "gram"

    def __init__(self, matrices, names=None, *, trusted=False):
        self._hold(matrices, names, trusted, is_gram=True)

    @classmethod
    def between(cls, matrices, names=None):
        """Similarities of other samples with the training samples, s matrices of shape (n_x, n)."""
        stack = cls.__new__(cls)
        stack._hold(matrices, names, False, is_gram=False)
        return stack

    def _hold(self, matrices, names, trusted, is_gram):
        matrices = as_list(matrices, "matrices")
        self.names = check_names(names, len(matrices))
        titles = kernel_titles(names, len(matrices))
        if not trusted:
            check = check_named_gram if is_gram else check_similarities
            matrices = [check(K, title) for K, title in zip(matrices, titles, strict=True)]
        check_same_shapes(matrices, titles)
        self._matrices = [_read_only(K, is_gram) for K in matrices]
        self.shape = self._matrices[0].shape
        self.dtype = np.result_type(*self._matrices)
        self._is_gram, self._rows, self._columns = is_gram, None, None
        self._factors = np.ones(len(matrices))
        self._sizes = None
        self._folder = None
        self.__dict__.update(NOTHING_SUMMED)

    def keep_alive(self, folder):
        """Let `folder`, an object that removes its files when it is collected, live as long as all parts."""
        self._folder = folder

    def _like(self, **changes):
        other = type(self).__new__(type(self))
        other.__dict__.update({**self.__dict__, **changes, **NOTHING_SUMMED})
        return other

    def __getstate__(self):
        return {**self.__dict__, **NOTHING_SUMMED, "_folder": None}  # files are pickled as arrays

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._matrices = [_read_only(K, self._is_gram) for K in self._matrices]

    @property
    def n_kernels(self):
        return len(self._matrices)

    @property
    def n_samples(self):
        return self.shape[0]

    @property
    def is_symmetric(self):
        """Whether rows and columns are the same samples."""
        return self._is_gram and self._rows is self._columns

    def __len__(self):
        return self.shape[0]

    def __repr__(self):
        return f"{type(self).__name__}({self.n_kernels} kernels, shape={self.shape}, dtype={self.dtype})"

    def __array__(self, dtype=None, copy=None):
        raise TypeError(
            f"{self!r} is not one matrix; take stack.combined(weights), or stack.kernel(j) for one of them"
        )

    def __getitem__(self, key):
        """The part `stack[np.ix_(rows, columns)]`, or `stack[rows]` with all columns; nothing is copied."""
        rows, columns = split_key(key)
        rows, columns = positions(rows, self.shape[0]), positions(columns, self.shape[1])
        shape = (len(rows), len(columns))
        rows = rows if self._rows is None else self._rows[rows]
        columns = columns if self._columns is None else self._columns[columns]
        if self._is_gram and np.array_equal(rows, columns):
            columns = rows
        return self._like(shape=shape, _rows=rows, _columns=columns)

    def scaled(self, factors):
        """The same kernels, each times its positive factor."""
        factors = check_factors(factors, self.n_kernels)
        return self._like(_factors=self._factors * factors)

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
            [self._matrices[j] for j in active],
            steps[active],
            self._buffer,
            rows=self._rows,
            columns=self._columns,
            symmetric=self.is_symmetric,
        )
        self._weights, self._drift = weights, drift
        return self._buffer

    def _differences(self, weights):
        """What to add to the last sum and how far rounding has gone; None where a new sum is better."""
        if self._weights is None or not self._is_gram:
            return None, 0.0
        steps = weights - self._weights
        if np.count_nonzero(steps) >= max(np.count_nonzero(weights), 1):
            return None, 0.0
        if self._sizes is None:
            self._sizes = np.array([float(K.diagonal().max()) for K in self._matrices])
        drift = self._drift + (abs(self._weights) + abs(steps)) @ self._sizes
        return (steps, drift) if drift <= MAX_DRIFT * (abs(weights) @ self._sizes) else (None, 0.0)

    def kernel(self, j):
        """The matrix of one kernel; a new array only if it is a part or scaled."""
        K = self._matrices[j]
        if self._rows is not None or self._columns is not None:
            K = take(K, self._rows, self._columns, K.dtype)
        return K if self._factors[j] == 1 else K * K.dtype.type(self._factors[j])

    def diagonals(self):
        """k_j(x, x), array of shape (n_kernels, n_samples)."""
        self._require_symmetric("diagonals")
        at = slice(None) if self._rows is None else self._rows
        diagonals = np.array([K.diagonal()[at] for K in self._matrices], self.dtype)
        return diagonals * self._factors[:, None].astype(self.dtype)

    def quadratics(self, T):
        """<T, K_j T> for `T` of shape (n_samples, n_labels); float64 of shape (n_kernels,)."""
        self._require_symmetric("quadratics")
        T = check_coefficients(T, self.n_samples).astype(self.dtype, copy=False)
        return quadratic_sums(self._matrices, T, rows=self._rows) * self._factors

    def quadratics_by_label(self, T):
        """<t_l, K_j t_l> of every label and kernel, float64 of shape (n_labels, n_kernels)."""
        self._require_symmetric("quadratics_by_label")
        T = check_coefficients(T, self.n_samples).astype(self.dtype, copy=False)
        return label_sums(self._matrices, T, rows=self._rows) * self._factors

    def _require_symmetric(self, method):
        if not self.is_symmetric:
            raise ValueError(
                f"{method} needs the same samples as rows and columns, got a part of shape {self.shape}; "
                "cut it with stack[np.ix_(rows, rows)]"
            )


def _read_only(K, is_gram):
    """A view that compiled code is made for once, whoever owns the array; rows lie together if they can."""
    if is_gram and K.flags.f_contiguous:
        K = K.T
    K = np.asarray(K).view()
    K.flags.writeable = False
    return K
