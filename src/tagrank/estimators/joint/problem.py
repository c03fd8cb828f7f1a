"""The problem of one SVM for all labels, as the engine reads it.

Its Gram matrix is that of the inputs times that of the outputs, entry by entry. Where both are inner products
of rows nothing so large is needed: the model is a matrix of features by labels.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tagrank.estimators.joint.label_vectors import LabelVectors
from tagrank.estimators.joint.output_kernels import inverse_roots
from tagrank.estimators.max_margin import Problem
from tagrank.kernels import Linear
from tagrank.kernels.gram import diagonal_of

MOST_BYTES = 2 * 2**30  # from here on memory decides, and no longer time
VISITS = 50  # of a sample: its scores under the model take as long as so many rows of a Gram matrix
OWN_COST = 40  # of the path by rows, in the same unit


@dataclass
class JointProblem(Problem):
    """The joint problem for C = 1: `bounds` are costs (n_samples, 1)."""

    scale: np.ndarray
    by_rows: bool
    vectors: LabelVectors
    output: Any

    @property
    def size(self):
        """By rows it is what the visit of a sample reads: only large ones are worth a thread."""
        return _n_values(self.X) * self.vectors.rows.shape[1] if self.by_rows else self.bounds.size


def hold_jointly(X, kernel, vectors, output, *, fit_gram, dtype, n_jobs):
    """Of a JointProblem: fitted kernel, data, kind, scale and by_rows.

    X : checked rows; vectors : LabelVectors; output : fitted OutputKernel; fit_gram : a function of X, the
    fitted kernel and the Gram matrix; dtype : of the problem
    """
    dtype = np.dtype(dtype)
    by_rows = prefers_rows(X, kernel, output, vectors.rows.shape[1], dtype)
    if by_rows:
        scale = inverse_roots(diagonal_of(kernel, X, dtype=np.float64))
        U = output.prepare(vectors.rows.astype(dtype, copy=False))
        U *= scale[:, None].astype(U.dtype)
        return kernel, (X, U), "joint rows", scale, by_rows
    from tagrank.kernels.gram import multiply_gram

    kernel, K = fit_gram(X)
    scale = inverse_roots(K.diagonal().astype(np.float64))
    K = multiply_gram(K, output.tiles(vectors, dtype), scale.astype(dtype), n_jobs=n_jobs)
    return kernel, K, "joint gram", scale, by_rows


def prefers_rows(X, kernel, output, n_labels, dtype):
    """Whether to train on rows instead of on the Gram matrix of the joint problem.

    It takes a linear kernel of the inputs and one of the outputs. With n samples of z values and m labels, to
    make the Gram matrix costs n^2 (z + m) / 2 products, to train on rows about 25 n z m. If the matrices of
    similarities or the model and its certificate are large, the smaller memory decides.
    """
    if not (isinstance(kernel, Linear) and output.has_features):
        return False
    n_samples, n_features = X.shape
    n_values = _n_values(X)
    gram_bytes = 2 * n_samples**2 * dtype.itemsize
    model_bytes = n_features * n_labels * (dtype.itemsize + 8)
    if max(gram_bytes, model_bytes) > MOST_BYTES:
        return model_bytes < gram_bytes
    return n_samples > VISITS * (OWN_COST + n_values * n_labels / (n_values + n_labels))


def _n_values(X):
    """Stored values of a row, on average and at least one."""
    return max(1.0, X.nnz / X.shape[0]) if sparse.issparse(X) else X.shape[1]
