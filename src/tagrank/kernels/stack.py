"""Many kernels of the same samples as one object, for methods that learn how much each counts.

`KernelStack` holds Gram matrices. `LowRankStack` holds a block of columns Z_j for each kernel, K_j =
Z_j Z_j', and never a Gram matrix: the weighted sum of kernels is the Gram matrix of the rows [sqrt(w_1) Z_1,
..., sqrt(w_s) Z_s], which the solvers take as they are, and <T, K_j T> = |Z_j' T|^2.
"""

from typing import Any, Self

import numpy as np
from numba import get_num_threads

from tagrank.arrays import row_blocks, rows_within
from tagrank.kernels.gram import run_tiles
from tagrank.kernels.stack_checks import (
    as_list,
    check_coefficients,
    check_factors,
    check_named_gram,
    check_names,
    check_same_samples,
    check_similarities,
    check_weights,
    kernel_titles,
    positions,
    split_key,
)
from tagrank.kernels.stack_sums import add_weighted, label_sums, quadratic_sums, take

# how often the weighted sum may be changed by differences before rounding asks for a new one
MAX_DRIFT = 16
BLOCK_MEGABYTES = 4  # of one kernel, for each thread


class Stack:
    """Kernels of the same samples: one array each, read through positions of rows and columns.

    Attributes
    ----------
    names : tuple of str
    dtype : float32 if all arrays are, else float64
    shape : (n_samples, n_columns); of a part of held-out with training samples they differ
    kind : "gram" or "rows", what `combined` returns, as solvers name it
    """

    kind: str
    # what belongs to one object only, not to its parts and copies
    _own = ("_buffer",)

    def _hold(self, arrays, names, shape, is_gram=True):
        self._arrays, self.names, self.shape = arrays, check_names(names, len(arrays)), shape
        self.dtype = np.result_type(*arrays)
        self._is_gram, self._rows, self._columns = is_gram, None, None
        self._factors = np.ones(len(arrays))
        self._folder = None
        self.__dict__.update(dict.fromkeys(self._own))

    def _like(self, **changes):
        other = type(self).__new__(type(self))
        other.__dict__.update({**self.__dict__, **changes, **dict.fromkeys(self._own)})
        return other

    def keep_alive(self, folder):
        """Let `folder`, an object that removes its files when it is collected, live as long as all parts."""
        self._folder = folder

    def __getstate__(self):
        # files are pickled as arrays
        return {**self.__dict__, **dict.fromkeys(self._own), "_folder": None}

    @property
    def n_kernels(self) -> int:
        return len(self._arrays)

    @property
    def n_samples(self) -> int:
        return self.shape[0]

    @property
    def is_symmetric(self):
        """Whether rows and columns are the same samples."""
        return self._is_gram and self._rows is self._columns

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self):
        return f"{type(self).__name__}({self.n_kernels} kernels, shape={self.shape}, dtype={self.dtype})"

    def __array__(self, dtype=None, copy=None):
        raise TypeError(
            f"{self!r} is not one matrix; take stack.combined(weights), or stack.kernel(j) for one of them"
        )

    def __getitem__(self, key) -> Any:
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
        return self._like(_factors=self._factors * check_factors(factors, self.n_kernels))

    def _check_coefficients(self, T):
        self._require_symmetric()
        return check_coefficients(T, self.n_samples).astype(self.dtype, copy=False)

    def _require_symmetric(self):
        if not self.is_symmetric:
            raise ValueError(
                "diagonals and quadratic forms need the same samples as rows and columns, got a part of "
                f"shape {self.shape}; cut it with stack[np.ix_(rows, rows)]"
            )


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

    def __init__(self, matrices, names=None, *, trusted=False) -> None:
        self._fill(matrices, names, trusted, is_gram=True)

    @classmethod
    def between(cls, matrices, names=None) -> Self:
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

    def combined(self, weights) -> Any:
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
        """The same kernels; `combined` then gives (sum_j weights[j] K_j) raised to a whole power."""
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

    def kernel(self, j) -> Any:
        """The matrix of one kernel; a new array only if it is a part or scaled."""
        K = self._arrays[j]
        if self._rows is not None or self._columns is not None:
            K = take(K, self._rows, self._columns, K.dtype)
        return K if self._factors[j] == 1 else K * K.dtype.type(self._factors[j])

    def diagonals(self) -> Any:
        """k_j(x, x), array of shape (n_kernels, n_samples)."""
        self._require_symmetric()
        at = slice(None) if self._rows is None else self._rows
        diagonals = np.array([K.diagonal()[at] for K in self._arrays], self.dtype)
        return diagonals * self._factors[:, None].astype(self.dtype)

    def quadratics(self, T) -> Any:
        """<T, K_j T> for `T` of shape (n_samples, n_labels); float64 of shape (n_kernels,).

        The kernels themselves are used; `exponent` makes no difference.
        """
        T = self._check_coefficients(T)
        return quadratic_sums(self._arrays, T, rows=self._rows) * self._factors

    def quadratics_by_label(self, T) -> Any:
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


class LowRankStack(Stack):
    """Blocks of columns Z_j (n, r_j), one a kernel; slicing cuts rows of all, and copies none.

    Parameters
    ----------
    blocks : list of arrays of shape (n, r_j), float32 or float64, in memory or memory-mapped
    names : list of str, optional
        "kernel 0", "kernel 1", ... by default.
    """

    kind = "rows"

    def __init__(self, blocks, names=None) -> None:
        blocks = as_list(blocks, "blocks")
        titles = kernel_titles(names, len(blocks))
        blocks = [check_similarities(Z, title) for Z, title in zip(blocks, titles, strict=True)]
        check_same_samples(blocks, titles, 1)
        self._hold(blocks, names, (len(blocks[0]), len(blocks[0])))

    @property
    def widths(self):
        """The number of columns of each kernel."""
        return tuple(Z.shape[1] for Z in self._arrays)

    def combined(self, weights) -> Any:
        """[sqrt(weights[j]) Z_j] of the active kernels, in an array that the next call overwrites.

        If no kernel is active, one column of zeros. Of a part with other columns, the rows of its rows.
        """
        weights = check_weights(weights, self.n_kernels, allow_negative=False) * self._factors
        active = np.flatnonzero(weights)
        ends = np.cumsum([0, *(self.widths[j] for j in active)])
        rows = self._empty_rows(max(ends[-1], 1))
        if not ends[-1]:
            rows[:] = 0

        def fill(block):
            for j, start, end in zip(active, ends, ends[1:], strict=False):
                root = self.dtype.type(np.sqrt(weights[j]))
                np.multiply(self._block(j, block), root, out=rows[block, start:end])

        run_tiles(fill, self._row_blocks(), get_num_threads())
        return rows

    def _empty_rows(self, width):
        """The first part of one buffer, so that its rows lie together whatever is active."""
        if self._buffer is None:
            self._buffer = np.empty(self.n_samples * max(sum(self.widths), 1), self.dtype)
        return self._buffer[: self.n_samples * width].reshape(self.n_samples, width)

    def _row_blocks(self):
        widest = max(*self.widths, 1)
        return list(
            row_blocks(
                self.n_samples, rows_within(widest, itemsize=self.dtype.itemsize, megabytes=BLOCK_MEGABYTES)
            )
        )

    def _block(self, j, rows):
        return self._arrays[j][rows if self._rows is None else self._rows[rows]]

    def kernel(self, j) -> Any:
        """The Gram matrix of one kernel, which takes n x n numbers."""
        left = self._block(j, slice(None))
        columns = slice(None) if self._columns is None else self._columns
        right = left if self.is_symmetric else self._arrays[j][columns]
        return left @ right.T * left.dtype.type(self._factors[j])

    def diagonals(self) -> Any:
        """k_j(x, x), array of shape (n_kernels, n_samples)."""
        self._require_symmetric()
        rows = slice(None)
        squares = [np.einsum("ij,ij->i", Z, Z) for Z in (self._block(j, rows) for j in range(self.n_kernels))]
        return np.array(squares, self.dtype) * self._factors[:, None].astype(self.dtype)

    def quadratics(self, T) -> Any:
        """<T, K_j T> for `T` of shape (n_samples, n_labels); float64 of shape (n_kernels,)."""
        return self.quadratics_by_label(T).sum(axis=0)

    def quadratics_by_label(self, T) -> Any:
        """<t_l, K_j t_l> of every label and kernel, float64 of shape (n_labels, n_kernels)."""
        squares = [np.einsum("cl,cl->l", image, image) for image in self._images(T)]
        return np.transpose(squares) * self._factors

    def column_weights(self, T):
        """Weights w (n_columns, n_labels) of the columns of all kernels: sum_j K_j T = [Z_1, ...] w."""
        return np.vstack(
            [factor * image for factor, image in zip(self._factors, self._images(T), strict=True)]
        )

    def _images(self, T):
        """Z_j' T of every kernel, without its factor."""
        T = self._check_coefficients(T)

        def image_of(j):
            image = np.zeros((self.widths[j], T.shape[1]))
            for block in self._row_blocks():
                image += self._block(j, block).T @ T[block]
            return image

        return run_tiles(image_of, range(self.n_kernels), get_num_threads())
