"""Precomputed matrices: what passes untouched, what is repaired, what is refused."""

import tracemalloc

import numpy as np
import pytest

from tagrank.kernels import Gaussian, Linear, check_gram


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((300, 5))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", [Linear(), Gaussian(), 1e-30 * Gaussian(), 1e20 * Linear()], ids=repr)
def test_a_gram_matrix_is_returned_as_it_is(kernel, dtype, X):
    K = kernel(X.astype(dtype))
    assert check_gram(K) is K
    read_only = np.asfortranarray(K)
    read_only.flags.writeable = False
    assert check_gram(read_only) is read_only


@pytest.mark.parametrize("K", [np.zeros((3, 3)), np.ones((1, 1)), np.eye(2), np.ones((5, 5))])
def test_degenerate_matrices_pass(K):
    np.testing.assert_array_equal(check_gram(K), K)


def test_integers_become_float64():
    assert check_gram(np.eye(3, dtype=int)).dtype == np.float64


def test_no_second_copy(X):
    K = Gaussian()(np.tile(X, (6, 1)))
    check_gram(K)
    tracemalloc.start()
    check_gram(K, n_jobs=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.25 * K.nbytes


def test_slight_asymmetry_is_averaged_in_a_copy(X):
    K = Gaussian()(X)
    tilted = K.copy()
    tilted[10, 20] += 1e-8
    repaired = check_gram(tilted)
    np.testing.assert_array_equal(repaired, repaired.T)
    np.testing.assert_allclose(repaired, K, atol=1e-8)
    assert tilted[10, 20] != tilted[20, 10]


def test_asymmetry_is_refused(X):
    K = Gaussian()(X)
    K[10, 280] += 1e-3
    with pytest.raises(ValueError, match=r"K must be symmetric, .* differ by 0.001"):
        check_gram(K)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [(0, 0), (10, 280)])
def test_not_finite_is_refused(value, place, X):
    K = Gaussian()(X)
    K[place] = K[place[::-1]] = value
    with pytest.raises(ValueError, match="K must be finite"):
        check_gram(K)


@pytest.mark.parametrize("shape", [(3, 4), (3,), (2, 2, 2), (0, 0)])
def test_not_square_is_refused(shape):
    with pytest.raises(ValueError, match="got shape"):
        check_gram(np.ones(shape))


def indefinite_matrices():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5))
    squares = ((X[:, None] - X) ** 2).sum(axis=2)
    noise = rng.standard_normal((300, 300))
    negative = np.eye(300)
    negative[280, 280] = -0.5
    basis = np.linalg.qr(noise)[0]
    spectrum = np.linspace(0.2, 2, 300)
    spectrum[0] = -1
    matrices = {
        "distances": squares,
        "noise": noise + noise.T,
        "negative diagonal": negative,
        "negative gaussian": -Gaussian()(X),
        "shifted gaussian": Gaussian()(X) - 0.5,
        "one negative direction": (basis * spectrum) @ basis.T,
    }
    return [pytest.param((K + K.T) / 2, id=name) for name, K in matrices.items()]


@pytest.mark.parametrize("K", indefinite_matrices())
def test_clearly_indefinite_is_refused_with_an_honest_bound(K):
    with pytest.raises(ValueError, match="positive semidefinite") as caught:
        check_gram(K)
    bound = float(str(caught.value).split("at most ")[1].split(";")[0])
    assert np.linalg.eigvalsh(K)[0] <= bound + 1e-3 * abs(bound)
