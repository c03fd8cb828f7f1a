"""Explicit maps come closer to their kernel with more components, and keep its width."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from tagrank.kernels import ChiSquared, Gaussian, Intersection, Linear
from tagrank.kernels.maps import approximate


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(150, 12))
    X[rng.random(X.shape) < 0.4] = 0
    return X


def error_of(transformer, kernel, X):
    features = transformer.fit(X).transform(X)
    exact = kernel(X)
    return np.sqrt(np.mean((features @ features.T - exact) ** 2) / np.mean(exact**2))


@pytest.mark.parametrize("kernel", [Gaussian(), ChiSquared(), Intersection()], ids=repr)
def test_nystroem_becomes_exact(kernel, X):
    errors = [error_of(approximate(kernel, n_components=n, random_state=0), kernel, X) for n in (10, 60, 150)]
    assert errors[0] > 2 * errors[1]
    assert errors[2] < 1e-6


@pytest.mark.parametrize(("kernel", "reached"), [(Gaussian(), 0.04), (ChiSquared(), 0.09)], ids=repr)
def test_fourier_errors_fall(kernel, reached, X):
    def error(n_components):
        made = approximate(kernel, n_components=n_components, method="fourier", random_state=0)
        return error_of(made, kernel, X)

    errors = [error(20), error(200), error(4000)]
    assert errors[0] > 2 * errors[1] > 4 * errors[2]
    assert errors[2] < reached


@pytest.mark.parametrize("method", ["nystroem", "fourier"])
@pytest.mark.parametrize("kernel", [Gaussian(), ChiSquared()], ids=repr)
def test_same_width_as_the_kernel_for_sparse_rows_too(method, kernel, X):
    made = approximate(kernel, n_components=20, method=method, random_state=0)
    dense = made.fit(X).transform(X[:9])
    assert made.kernel_.gamma == kernel.fit(X).gamma
    rows = sparse.csr_array(X)
    np.testing.assert_allclose(clone(made).fit(rows).transform(rows[:9]), dense, atol=1e-7)


def test_works_in_a_pipeline_and_with_few_rows(X):
    steps = make_pipeline(FunctionTransformer(), approximate(Linear(), n_components=500, random_state=0))
    features = steps.fit_transform(X)
    assert features.shape == (150, 12)
    np.testing.assert_allclose(features @ features.T, X @ X.T, atol=1e-10)


def test_views(X):
    views = {"left": X[:, :6], "right": X[:, 6:]}
    kernel = Gaussian().on("left") + ChiSquared().on("right")
    made = approximate(kernel, n_components=150, random_state=0).fit(views)
    features = made.transform(views)
    np.testing.assert_allclose(features @ features.T, kernel(views), atol=1e-6)


def test_refused():
    with pytest.raises(ValueError, match="method must be one of 'nystroem', 'fourier', got 'random'"):
        approximate(Gaussian(), method="random")
    with pytest.raises(ValueError, match="Fourier features exist for Gaussian"):
        approximate(ChiSquared(whole_vector=True), method="fourier").fit(np.ones((3, 2)))
