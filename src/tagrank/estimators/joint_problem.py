"""The problem of one SVM for all labels, as the engine reads it.

Its Gram matrix is that of the inputs times that of the outputs, entry by entry. Where both are inner products
of rows nothing so large is needed: the model is a matrix of features by labels.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from tagrank.estimators.base import Problem
from tagrank.estimators.label_vectors import LabelVectors
from tagrank.kernels import Linear

MOST_BYTES = 2 * 2**30  # from here on memory decides, and no longer time
VISITS = 50  # of a sample: its scores under the model take as long as so many rows of a Gram matrix
OWN_COST = 40  # of the path by rows, in the same unit


@dataclass
class JointProblem(Problem):
    """The joint problem for C = 1: `bounds` are costs (n_samples, 1)."""

    vectors: LabelVectors
    output: Any
    scale: np.ndarray
    alpha: np.ndarray | None = None


def prefers_rows(X, kernel, output, n_labels, dtype):
    """Whether to train on rows instead of on the Gram matrix of the joint problem.

    It takes a linear kernel of the inputs and one of the outputs. With n samples of z values and m labels, to
    make the Gram matrix costs n^2 (z + m) / 2 products, to train on rows about 25 n z m. If the matrices of
    similarities or the model and its certificate are large, the smaller memory decides.
    """
    if not (isinstance(kernel, Linear) and output.has_features):
        return False
    n_samples, n_features = X.shape
    n_values = max(1.0, X.nnz / n_samples if sparse.issparse(X) else n_features)
    gram_bytes = 2 * n_samples**2 * dtype.itemsize
    model_bytes = n_features * n_labels * (dtype.itemsize + 8)
    if max(gram_bytes, model_bytes) > MOST_BYTES:
        return model_bytes < gram_bytes
    return n_samples > VISITS * (OWN_COST + n_values * n_labels / (n_values + n_labels))


def joint_rows(X, scale, output, V):
    """What makes the engine's holder of rows X and label vectors V, the lengths of both scaled to one."""
    from tagrank.solvers.joint_rows import JointRows

    U = output.prepare(V)
    U *= scale[:, None].astype(U.dtype)
    return partial(JointRows, X, U)


def joint_gram(K, scale, similarities, *, n_jobs):
    """What makes the engine's holder of K / sqrt(k_ii k_jj) times the similarities of outputs."""
    from tagrank.kernels.gram_product import multiply_gram
    from tagrank.solvers.joint_gram import JointGram

    return partial(JointGram, multiply_gram(K, similarities, scale, n_jobs=n_jobs))
