"""Training, test and third parts of a data set in which labels go together differently (M3L, section 6.2)."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler, normalize

from tagrank.data import load_dataset
from tagrank.kernels import Gaussian, Linear
from tagrank.reproduction.protocols.data import dense, draw_rows

BIAS = 0.8  # share of the training part from the first group, and of the other two from the second


@dataclass
class Split:
    """Gram matrices and labels of one cut into training, test and third part."""

    rows: np.ndarray
    K: np.ndarray
    K_test: np.ndarray
    Y: np.ndarray
    Y_test: np.ndarray
    Y_third: np.ndarray
    X: object
    X_test: object


def load(name):
    """Rows fit for the kernel of the data set, labels as 0 and 1 without labels of fewer than 20 rows."""
    if name == "drawn":
        return *draw_rows(400, 8), Gaussian()
    collection = load_dataset(name)
    X, Y = collection.X, dense(collection.Y)
    Y = Y[:, Y.sum(axis=0) >= 20]
    X = normalize(X) if sparse.issparse(X) else StandardScaler().fit_transform(X)
    return X, Y, Linear() if name == "rcv1_subset1" else Gaussian()


def draw_parts(Y, n_rows, seed):
    """Three disjoint sets of row indices, `n_rows` each or less: training, test, third."""
    rng = np.random.default_rng(seed)
    components = PCA(2, svd_solver="full").fit_transform(Y)
    go_together = np.prod(components - np.median(components, axis=0), axis=1) > 0
    first, second = (rng.permutation(np.flatnonzero(go_together == g)) for g in (True, False))
    if len(first) > len(second):  # two parts are drawn mostly from the second
        first, second = second, first
    n_rows = min(n_rows, int(len(first) / (BIAS + 2 * (1 - BIAS))), int(len(second) / (2 * BIAS + 1 - BIAS)))
    many, few = round(BIAS * n_rows), n_rows - round(BIAS * n_rows)
    train = np.concatenate([first[:many], second[:few]])
    test = np.concatenate([first[many : many + few], second[few : few + many]])
    third = np.concatenate([first[many + few : many + 2 * few], second[few + many : few + 2 * many]])
    return train, test, third


def make_split(X, Y, kernel, n_rows, seed):
    train, test, third = draw_parts(Y, n_rows, seed)
    seen = Y[train].any(axis=0)  # a label never seen is lost for every method alike
    Y = Y[:, seen]
    kernel, K = kernel.fit_gram(X[train])
    return Split(train, K, kernel(X[test], X[train]), Y[train], Y[test], Y[third], X[train], X[test])
