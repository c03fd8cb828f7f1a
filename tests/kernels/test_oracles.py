"""Values and widths against scikit-learn and the formulas as they are written."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import pairwise

from tagrank.kernels import ChiSquared, Gaussian, Hellinger, Intersection, Linear, Polynomial
from tagrank.kernels.gram import evaluate


def draw(n_samples, n_features=70, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.exponential(size=(n_samples, n_features))
    X[rng.random(X.shape) < 0.6] = 0
    return X


def minima(X, Z):
    return np.minimum(X[:, None], Z).sum(axis=2)


def whole_vector(X, Z):
    D = ((X[:, None] - Z) ** 2).sum(axis=2) / ((X[:, None] + Z) ** 2).sum(axis=2)
    return np.exp(-0.4 * D)


ORACLES = [
    (Linear(), pairwise.linear_kernel),
    (Polynomial(), pairwise.polynomial_kernel),
    (Polynomial(2, 0.4, 0.0), lambda X, Z: pairwise.polynomial_kernel(X, Z, degree=2, gamma=0.4, coef0=0)),
    (Gaussian(0.4), lambda X, Z: pairwise.rbf_kernel(X, Z, gamma=0.4)),
    (ChiSquared(0.4), lambda X, Z: pairwise.chi2_kernel(X, Z, gamma=0.4)),
    (ChiSquared(0.4, whole_vector=True), whole_vector),
    (Intersection(), minima),
    (Hellinger(), lambda X, Z: np.sqrt(X) @ np.sqrt(Z).T),
]


@pytest.mark.parametrize(("kernel", "oracle"), ORACLES, ids=[repr(kernel) for kernel, _ in ORACLES])
def test_values(kernel, oracle):
    X, Z = draw(41), draw(20, seed=1)
    np.testing.assert_allclose(kernel.fit(X)(X, Z), oracle(X, Z), rtol=1e-12)
    np.testing.assert_allclose(kernel(X), oracle(X, X), rtol=1e-12)


@pytest.mark.parametrize("n_features", [1, 63, 64, 1024, 1025, 2100])
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-6), (np.float64, 1e-14)])
def test_chi_square_distances(n_features, dtype, tolerance):
    X = draw(9, n_features).astype(dtype)
    D = evaluate(ChiSquared().distances, X)
    exact = -pairwise.additive_chi2_kernel(X.astype(np.float64))
    np.testing.assert_allclose(D, exact, atol=tolerance * 2 * X.sum(axis=1).max())


@pytest.mark.parametrize("scale", [1e-33, 1e-6, 1e6, 1e25])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_chi_square_distances_of_any_magnitude(scale, dtype):
    X = (scale * draw(9)).astype(dtype)
    # bins that are tiny beside others, as in a few long-tailed counts
    X[:, ::3] *= dtype(1e-7)
    exact = -pairwise.additive_chi2_kernel(X.astype(np.float64))
    D = evaluate(ChiSquared().distances, X)
    np.testing.assert_allclose(D, exact, atol=(1e-6 if dtype is np.float32 else 1e-14) * exact.max())


@pytest.mark.parametrize("kernel", [Gaussian(), ChiSquared(), ChiSquared(whole_vector=True)], ids=repr)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_width_is_the_mean_distance_of_different_rows(kernel, kind):
    X = draw(30)
    distances = evaluate(kernel.distances, X)
    width = distances[~np.eye(30, dtype=bool)].mean()
    assert kernel.fit(kind(X)).gamma == pytest.approx(1 / width, rel=1e-12)
    assert kernel.fit_gram(kind(X))[0].gamma == pytest.approx(1 / width, rel=1e-12)


def test_gaussian_width_of_many_tiles_of_chi_square():
    X = draw(1100, 5)
    distances = -pairwise.additive_chi2_kernel(X)
    assert ChiSquared().fit(X).gamma == pytest.approx(1100 * 1099 / distances.sum(), rel=1e-12)


def test_gaussian_far_from_the_origin_in_float32():
    X = draw(30)
    exact = Gaussian(0.4)(X)
    shifted = Gaussian(0.4)((X + 1000).astype(np.float32))
    np.testing.assert_allclose(shifted, exact, atol=5e-3)


@pytest.mark.parametrize("kernel", [Gaussian(), ChiSquared(), ChiSquared(whole_vector=True)], ids=repr)
@pytest.mark.parametrize("value", [0.0, 3.0])
def test_constant_data_have_similarity_one(kernel, value):
    X = np.full((6, 5), value)
    fitted = kernel.fit(X)
    assert np.isfinite(fitted.gamma)
    np.testing.assert_allclose(fitted(X), np.ones((6, 6)), atol=1e-12)


@pytest.mark.parametrize("kernel", [ChiSquared(), Intersection(), Hellinger()], ids=repr)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_histograms_refuse_negative_numbers(kernel, kind):
    X = draw(6)
    X[2, 3] = -0.25
    with pytest.raises(ValueError, match=r"negative numbers, got -0\.25"):
        kernel(kind(X))
