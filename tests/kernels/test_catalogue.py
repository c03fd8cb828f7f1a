"""What holds for every kernel, by property."""

import inspect
import json
import pickle
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from tagrank import kernels
from tagrank.kernels import (
    KERNELS_BY_NAME,
    ChiSquared,
    Gaussian,
    Hellinger,
    Intersection,
    Kernel,
    Polynomial,
    Precomputed,
    kernel_from_dict,
    make_kernel,
)
from tagrank.kernels.gram import gram


def needs_nothing(kind):
    """Whether `kind` is a kernel of rows that can be made without arguments."""
    if not (inspect.isclass(kind) and issubclass(kind, Kernel)) or kind in (Kernel, Precomputed):
        return False
    return all(p.default is not p.empty for p in inspect.signature(kind).parameters.values())


KERNELS = [
    *(kind() for kind in vars(kernels).values() if needs_nothing(kind)),
    Polynomial(degree=2, gamma=0.5, coef0=0.0),
    Gaussian(gamma=0.7),
    ChiSquared(gamma=0.7),
    ChiSquared(whole_vector=True),
    0.5 * Gaussian() + 2 * ChiSquared(),
    Gaussian() * Intersection(),
    Intersection().unit_diagonal(),
    Polynomial().unit_trace(),
    0.3 * Gaussian().on(slice(0, 9)) + Hellinger().on([9, 11, 10]).unit_diagonal(),
]
# |x - z|^2 / |x + z|^2 is not of negative type for all vectors; the papers use it nevertheless
PROVEN = [kernel for kernel in KERNELS if not getattr(kernel, "whole_vector", False)]

every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=repr)


def draw_histograms(n_samples, n_features=23, seed=0, zeros=0.5):
    rng = np.random.default_rng(seed)
    X = rng.exponential(size=(n_samples, n_features))
    X[rng.random(X.shape) < zeros] = 0
    X[0] = 0
    X.flags.writeable = False
    return X


@pytest.fixture
def small_tiles(monkeypatch):
    """Tiles of 7 rows, so that few rows make many tiles."""
    monkeypatch.setattr(sys.modules["tagrank.kernels.gram"], "TILE", 7)
    monkeypatch.setattr(sys.modules["tagrank.kernels.vectors"], "TILE", 7)


@pytest.mark.parametrize("name", KERNELS_BY_NAME)
def test_every_named_kernel_is_in_the_catalogue(name):
    kind = type(make_kernel(name))
    assert kind is Precomputed or any(type(kernel) is kind for kernel in KERNELS)


@every_kernel
def test_symmetric(kernel):
    K = kernel(draw_histograms(31))
    np.testing.assert_array_equal(K, K.T)


@pytest.mark.parametrize("kernel", PROVEN, ids=repr)
def test_positive_semidefinite(kernel):
    eigenvalues = np.linalg.eigvalsh(kernel(draw_histograms(31)))
    assert eigenvalues[0] >= -1e-12 * eigenvalues[-1]


@every_kernel
def test_tiles_equal_the_whole(kernel, small_tiles):
    X, Z = draw_histograms(31), draw_histograms(18, seed=1)
    kernel = kernel.fit(X)
    np.testing.assert_allclose(gram(kernel, X), kernel.compute(X, X), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(gram(kernel, X, Z), kernel.compute(X, Z), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(gram(kernel, X, X), gram(kernel, X), rtol=1e-12, atol=1e-13)


@every_kernel
def test_diagonal(kernel):
    X = draw_histograms(40)
    kernel = kernel.fit(X)
    values = kernel.diagonal(X)
    assert values.shape == (40,)
    np.testing.assert_allclose(values, kernel.compute(X, X.copy()).diagonal(), rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(values, kernel(X).diagonal())
    np.testing.assert_allclose(Kernel.diagonal(kernel, X), values, rtol=1e-12, atol=1e-13)


@every_kernel
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_float32_stays_float32_and_close_to_float64(kernel, n_jobs):
    X, Z = draw_histograms(31), draw_histograms(18, seed=1)
    kernel = kernel.fit(X)
    exact = gram(kernel, X, Z)
    single = gram(kernel, X.astype(np.float32), Z.astype(np.float32), n_jobs=n_jobs)
    assert exact.dtype == np.float64
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, exact, rtol=2e-5, atol=1e-6 * exact.max())


@every_kernel
def test_fit_fixes_the_kernel_and_leaves_the_old_one_alone(kernel):
    X = draw_histograms(31)
    before = repr(kernel)
    fitted = kernel.fit(X)
    assert repr(kernel) == before
    assert fitted.fixed
    assert fitted.fit(draw_histograms(12, seed=3)) == fitted
    np.testing.assert_allclose(kernel(X), fitted(X), rtol=1e-12, atol=1e-13)
    same, K = kernel.fit_gram(X)
    np.testing.assert_allclose(same(X), K, rtol=1e-12, atol=1e-13)
    if not kernel.fixed:
        with pytest.raises(ValueError, match=r"call kernel\.fit"):
            kernel(X, X)


@every_kernel
def test_dictionary_pickle_and_clone_round_trips(kernel):
    for original in (kernel, kernel.fit(draw_histograms(31))):
        rebuilt = kernel_from_dict(json.loads(json.dumps(original.to_dict())))
        for copy in (rebuilt, pickle.loads(pickle.dumps(original)), clone(original)):
            assert copy == original
            assert copy is not original
            assert hash(copy) == hash(original)


@every_kernel
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
def test_sparse_equals_dense(kernel, kind):
    X, Z = draw_histograms(31), draw_histograms(18, seed=1)
    fitted = kernel.fit(kind(X))
    np.testing.assert_allclose(fitted(kind(X), kind(Z)), kernel.fit(X)(X, Z), rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(kernel(kind(X)), kernel(X), rtol=1e-11, atol=1e-13)


@every_kernel
def test_memory_layout_does_not_matter(kernel):
    X = draw_histograms(31)
    wide = np.repeat(X, 2, axis=1)[:, ::2]
    np.testing.assert_allclose(kernel(np.asfortranarray(X)), kernel(X), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(kernel(wide), kernel(X), rtol=1e-12, atol=1e-13)


@every_kernel
def test_one_row_and_equal_rows(kernel):
    X = np.ones((4, 12))
    assert np.isfinite(kernel(X[:1])).all()
    K = kernel(X)
    np.testing.assert_allclose(K, K[0, 0])


@every_kernel
def test_squared_distances_have_the_order_of_the_kernel(kernel):
    """What is inside an exponential, or what the similarities themselves say."""
    X, Z = draw_histograms(9), draw_histograms(8, seed=1)
    fitted = kernel.fit(X)
    squares, K = fitted.squared_distances(X, Z), gram(fitted, X, Z)
    assert squares.min() >= 0
    if hasattr(fitted, "distances"):
        np.testing.assert_allclose(np.exp(-fitted.gamma * squares), K, rtol=1e-9)
    else:
        expected = fitted.diagonal(X)[:, None] + fitted.diagonal(Z) - 2 * K
        np.testing.assert_allclose(squares, np.maximum(expected, 0), atol=1e-9)


def test_squared_distances_of_a_view():
    X = {"a": draw_histograms(5), "b": draw_histograms(5, seed=1)}
    expected = ((X["b"][:, None] - X["b"][None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(Gaussian(1.0).on("b").squared_distances(X, X), expected, atol=1e-9)
