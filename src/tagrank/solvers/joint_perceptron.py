"""The joint perceptron: one pass over samples whose labels are vectors, a block at a time, exactly.

Samples x_i and label vectors v_i have unit length. The model is W, and sample i asks that

    beta_i = <v_i, W x_i> / |W|  >=  margin           (beta = 0 while W = 0)

Where it does not hold, W += v_i x_i', and |W|^2 += 1 + 2 |W| beta_i; a step size would only scale W. The rule
looks at one sample after the other. Here a block of samples is read with one product, <v_i, W x_i> for all of
them, and the similarities inside the block, (x_i' x_j) (v_i' v_j), tell what each update means for those that
follow: the answer is that of one sample after the other, up to rounding, and nearly all work is in products.

What holds W has `read(rows)`, the answers W x (n_rows, n_labels) and the products of rows with each other,
both for rows scaled to unit length, and `add(rows, changes, seen)` for rows whose changes (n_rows, n_labels)
are in W for `seen` samples each.
"""

import numpy as np
from numba import njit
from scipy import sparse

from tagrank.validation import check_magnitude


def learn_block(weights, rows, V, squared_norm, margin):
    """Visit the samples of one block in their order; returns the number of updates, and |W|^2 after it.

    `rows` are what `weights` reads. V (n_rows, n_labels) are label vectors of unit length; of zeros nothing
    can be learned. `squared_norm` is |W|^2 before the block.
    """
    answers, products = weights.read(rows)
    scores = np.einsum("ij,ij->i", answers, V, dtype=np.float64)
    updated = np.zeros(len(V), np.bool_)
    squared_norm = _visit(scores, products * (V @ V.T), squared_norm, margin, updated)
    weights.add(rows, V * updated[:, None], np.arange(len(V), 0, -1))
    return int(updated.sum()), squared_norm


@njit(cache=True)
def _visit(scores, corner, squared_norm, margin, updated):
    for i in range(scores.shape[0]):
        if corner[i, i] > 0 and (squared_norm <= 0 or scores[i] < margin * np.sqrt(squared_norm)):
            updated[i] = True
            squared_norm = max(squared_norm + corner[i, i] + 2 * scores[i], 0.0)
            for j in range(i + 1, scores.shape[0]):
                scores[j] += corner[i, j]
    return squared_norm


class LinearWeights:
    """W itself, (n_features, n_labels): as much memory after a million samples as after one.

    `total` is the sum of W over all samples seen, None if no average is wanted.
    """

    def __init__(self, n_features, n_labels, dtype, *, averaged):
        self.W = np.zeros((n_features, n_labels), dtype)
        self.total = np.zeros((n_features, n_labels)) if averaged else None

    def read(self, rows):
        check_magnitude("X", rows, rows.dtype)
        products = rows @ rows.T
        products = products.toarray() if sparse.issparse(products) else products
        scale = _inverse_norms(rows).astype(self.W.dtype)
        return scale[:, None] * (rows @ self.W), scale[:, None] * products * scale

    def add(self, rows, changes, seen):
        changes = changes * _inverse_norms(rows)[:, None]
        if self.total is not None:
            self.total += len(seen) * self.W
            self.total += rows.T @ (changes * seen[:, None]).astype(self.W.dtype)
        self.W += rows.T @ changes.astype(self.W.dtype)

    def squared_norm(self):
        return float(np.einsum("ij,ij->", self.W, self.W, dtype=np.float64))


class GramCoefficients:
    """W as coefficients A (n_samples, n_labels) of samples whose Gram matrix K is at hand; rows are indices.

    `total` is the sum of A over all samples seen, None if no average is wanted.
    """

    def __init__(self, K, n_labels, *, averaged):
        self.K = K
        self.scale = _inverse_roots(K.diagonal().astype(np.float64))
        self.A = np.zeros((len(K), n_labels))
        self.total = np.zeros((len(K), n_labels)) if averaged else None

    def read(self, rows):
        K, scale = self.K[rows], self.scale[rows]
        return scale[:, None] * (K @ self.A), scale[:, None] * K[:, rows] * scale

    def add(self, rows, changes, seen):
        changes = changes * self.scale[rows, None]
        if self.total is not None:
            self.total += len(seen) * self.A
            self.total[rows] += changes * seen[:, None]
        self.A[rows] += changes


def _inverse_roots(squares):
    """1 / sqrt, and 0 for a sample without length."""
    return np.divide(1, np.sqrt(np.maximum(squares, 0)), out=np.zeros(len(squares)), where=squares > 0)


def _inverse_norms(rows):
    squares = rows.multiply(rows).sum(axis=1) if sparse.issparse(rows) else np.einsum("ij,ij->i", rows, rows)
    return _inverse_roots(np.asarray(squares, dtype=np.float64).ravel())
