"""Gram matrices: outputs, formats, a kernel of one's own, precomputed matrices, grid search, products."""

import threading
import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.model_selection import GridSearchCV

from tagrank.kernels import ChiSquared, Gaussian, Kernel, Linear, Precomputed
from tagrank.kernels.gram import gram, multiply_gram, multiply_tile


class Cosine(Kernel):
    """The least that a subclass must write."""

    def __init__(self, shift=0.0):
        self.shift = shift

    def compute(self, X, Z):
        return (X / np.linalg.norm(X, axis=1, keepdims=True)) @ (
            Z / np.linalg.norm(Z, axis=1, keepdims=True)
        ).T


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((1100, 4))


def test_writes_into_out(X):
    out = np.empty((1100, 1100), np.float32)
    assert gram(Gaussian(0.3), X, out=out, dtype=np.float32) is out
    np.testing.assert_allclose(out, Gaussian(0.3)(X), atol=1e-5)
    with pytest.raises(ValueError, match=r"out must have shape \(1100, 1100\), got \(3, 3\)"):
        gram(Gaussian(0.3), X, out=np.empty((3, 3)))


def test_threads_do_not_change_the_answer(X):
    np.testing.assert_array_equal(gram(Gaussian(0.3), X, n_jobs=1), gram(Gaussian(0.3), X, n_jobs=2))
    np.testing.assert_array_equal(gram(ChiSquared(0.3), abs(X), n_jobs=1), gram(ChiSquared(0.3), abs(X)))


def test_called_from_several_threads(X):
    expected = ChiSquared(0.3)(abs(X))
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(ChiSquared(0.3)(abs(X)))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 3
    for K in answers:
        np.testing.assert_array_equal(K, expected)


def test_symmetric_halves_are_computed_once(X):
    seen = []

    class Counting(Linear):
        def compute(self, left, right):
            seen.append(left.shape[0] * right.shape[0])
            return super().compute(left, right)

    np.testing.assert_allclose(Counting()(X), X @ X.T, atol=1e-12)
    assert sum(seen) < 0.75 * 1100**2


def test_memory_is_the_output_and_a_few_tiles():
    X = np.random.default_rng(0).random((2500, 3))
    kernel = 0.5 * Gaussian(0.3) + ChiSquared(0.3)
    tracemalloc.start()
    K = gram(kernel, X, n_jobs=2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * K.nbytes


def test_a_kernel_of_ones_own(X):
    kernel = Cosine(shift=1.0)
    K = (0.5 * kernel + Gaussian(0.2))(X)
    np.testing.assert_allclose(K.diagonal(), 1.5)
    assert kernel == Cosine(1.0)
    assert repr(kernel) == "Cosine(shift=1.0)"
    with pytest.raises(NotImplementedError, match=r"must define compute\(X, Z\)"):
        Kernel()(X)


@pytest.mark.parametrize(
    ("X", "Z", "message"),
    [
        (np.ones(3), None, "two dimensions"),
        (np.ones((3, 2)), np.ones((3, 4)), r"same number of columns, got \(3, 2\) and \(3, 4\)"),
    ],
)
def test_shapes_are_checked(X, Z, message):
    with pytest.raises(ValueError, match=message):
        Linear()(X, Z)


def test_lists_and_integers_are_taken():
    np.testing.assert_array_equal(Linear()([[200, 100], [0, 1]]), [[50000, 100], [100, 1]])
    small = np.array([[200, 100], [0, 1]], np.uint8)
    np.testing.assert_array_equal(Linear()(small), [[50000, 100], [100, 1]])


def test_unknown_dtype():
    with pytest.raises(ValueError, match="dtype must be float32 or float64, got int64"):
        gram(Linear(), np.ones((2, 2)), dtype=np.int64)


def test_precomputed_passes_through():
    K = np.eye(4)
    kernel, same = Precomputed().fit_gram(K)
    assert same is K
    np.testing.assert_array_equal(kernel(K[:2], K), K[:2])
    with pytest.raises(ValueError, match=r"K must be square, got shape \(3, 4\)"):
        Precomputed().fit_gram(np.ones((3, 4)))
    with pytest.raises(TypeError, match="cannot be combined"):
        (0.5 * Precomputed())(K)


class KernelMean(BaseEstimator):
    """An estimator that holds a kernel."""

    def __init__(self, kernel=None):
        self.kernel = kernel

    def fit(self, X, y=None):
        self.mean_ = self.kernel(X).mean()
        return self

    def score(self, X, y=None):
        return self.mean_


def test_kernels_in_a_grid(X):
    grid = {"kernel": [Gaussian(5.0), Gaussian(0.1), 0.5 * Gaussian(0.1) + Linear()]}
    search = GridSearchCV(KernelMean(), grid, cv=2).fit(X[:30])
    assert search.best_params_["kernel"] == Gaussian(0.1)
    nested = GridSearchCV(KernelMean(Gaussian(1.0)), {"kernel__gamma": [3.0, 0.2]}, cv=2).fit(X[:30])
    assert nested.best_params_ == {"kernel__gamma": 0.2}


@pytest.mark.parametrize("n_samples", [1, 40, 1100])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_product_of_two_gram_matrices(n_samples, dtype, n_jobs):
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(n_samples, 7)), rng.normal(size=(n_samples, 3))
    K, L, scale = X @ X.T, Z @ Z.T, rng.uniform(0.1, 1, n_samples)
    scale[0] = 0
    product = multiply_gram(K, lambda rows, columns: L[rows, columns], scale.astype(dtype), n_jobs=n_jobs)
    assert product.dtype == dtype
    tolerance = 1e-4 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(product, K * L * np.outer(scale, scale), rtol=0, atol=tolerance)
    np.testing.assert_allclose(product, product.T, rtol=0, atol=tolerance)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("other", [0.0, 1.0])
def test_what_is_not_finite_is_found(value, other):
    K = np.ones((600, 600))
    K[550, 20] = K[20, 550] = value

    def constant(rows, columns):
        return np.full((rows.stop - rows.start, columns.stop - columns.start), other)

    with pytest.raises(ValueError, match="K must be finite"):
        multiply_gram(K, constant, np.ones(600))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_tiles_of_products_with_sparse_rows(dtype):
    rng = np.random.default_rng(0)
    X = sparse.random_array((50, 30), density=0.2, rng=rng, format="csr", dtype=dtype)
    W = rng.normal(size=(30, 90)).astype(dtype)
    tile = slice(7, 31), slice(3, 88)
    np.testing.assert_allclose(multiply_tile(X, W, *tile), (X @ W)[tile], rtol=0, atol=1e-5)
