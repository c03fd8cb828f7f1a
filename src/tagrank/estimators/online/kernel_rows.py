"""A growing model of a stream under any kernel: the samples that were added, and their coefficients."""

from collections.abc import Mapping

import numpy as np
from scipy import sparse

from tagrank.estimators.joint.output_kernels import inverse_roots
from tagrank.kernels.gram import diagonal_of, gram, n_rows, take_rows


class KernelRows:
    """Coefficients A (n_kept, n_labels) of the kept rows X, as the joint perceptron reads and adds them.

    `total` is the sum of the coefficients over all samples, None if no average is wanted.
    """

    def __init__(self, kernel, X, A, total):
        self.kernel = kernel
        self.X = X
        self.A = A
        self.total = total

    def read(self, rows):
        scale = self._inverse_lengths(rows)
        products = gram(self.kernel, rows) * scale[:, None] * scale
        if not len(self.A):
            return np.zeros((len(scale), self.A.shape[1])), products
        return scale[:, None] * (gram(self.kernel, rows, self.X) @ self.A), products

    def add(self, rows, changes, seen):
        updated = np.flatnonzero(np.any(changes != 0, axis=1))
        added = take_rows(rows, updated)
        new = changes[updated] * self._inverse_lengths(added)[:, None]
        if self.total is not None:
            self.total = np.concatenate([self.total + len(seen) * self.A, new * seen[updated, None]])
        self.A = np.concatenate([self.A, new])
        self.X = _stack(self.X, added)

    def _inverse_lengths(self, rows):
        if n_rows(rows) == 0:
            return np.zeros(0)
        return inverse_roots(diagonal_of(self.kernel, rows).astype(np.float64))


def _stack(first, second):
    if isinstance(first, Mapping):
        return {view: _stack(first[view], second[view]) for view in first}
    if n_rows(second) == 0:
        return first
    return sparse.vstack([first, second], "csr") if sparse.issparse(first) else np.vstack([first, second])
