"""Many kernels of many samples: a block of columns Z_j for each, K_j = Z_j Z_j', and never a Gram matrix.

The weighted sum of kernels is the Gram matrix of the rows [sqrt(w_1) Z_1, ..., sqrt(w_s) Z_s], which the
solvers take as they are, and <T, K_j T> = |Z_j' T|^2.
"""

import numpy as np
from numba import get_num_threads

from tagrank.arrays import row_blocks, rows_within
from tagrank.kernels.gram import run_tiles
from tagrank.kernels.stack.base import Stack
from tagrank.kernels.stack.checks import (
    as_list,
    check_same_samples,
    check_similarities,
    check_weights,
    kernel_titles,
)

BLOCK_MEGABYTES = 4  # of one kernel, for each thread


class LowRankStack(Stack):
    """Blocks of columns Z_j (n, r_j), one a kernel; slicing cuts rows of all, and copies none.

    Parameters
    ----------
    blocks : list of arrays of shape (n, r_j), float32 or float64, in memory or memory-mapped
    names : list of str, optional
        "kernel 0", "kernel 1", ... by default.
    """

    kind = "rows"

    def __init__(self, blocks, names=None):
        blocks = as_list(blocks, "blocks")
        titles = kernel_titles(names, len(blocks))
        blocks = [check_similarities(Z, title) for Z, title in zip(blocks, titles, strict=True)]
        check_same_samples(blocks, titles, 1)
        self._hold(blocks, names, (len(blocks[0]), len(blocks[0])))

    @property
    def widths(self):
        """The number of columns of each kernel."""
        return tuple(Z.shape[1] for Z in self._arrays)

    def combined(self, weights):
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

    def kernel(self, j):
        """The Gram matrix of one kernel, which takes n x n numbers."""
        left = self._block(j, slice(None))
        columns = slice(None) if self._columns is None else self._columns
        right = left if self.is_symmetric else self._arrays[j][columns]
        return left @ right.T * left.dtype.type(self._factors[j])

    def diagonals(self):
        """k_j(x, x), array of shape (n_kernels, n_samples)."""
        self._require_symmetric()
        rows = slice(None)
        squares = [np.einsum("ij,ij->i", Z, Z) for Z in (self._block(j, rows) for j in range(self.n_kernels))]
        return np.array(squares, self.dtype) * self._factors[:, None].astype(self.dtype)

    def quadratics(self, T):
        """<T, K_j T> for `T` of shape (n_samples, n_labels); float64 of shape (n_kernels,)."""
        return self.quadratics_by_label(T).sum(axis=0)

    def quadratics_by_label(self, T):
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
