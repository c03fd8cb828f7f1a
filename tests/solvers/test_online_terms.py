"""Online factorization: codes, value and slope beside least squares for each sample."""

import numpy as np
import pytest
from scipy import sparse

from tagrank.solvers.batch_descent import Samples
from tagrank.solvers.factorization_terms import Online

ALPHA, BETA = 0.3, 0.05
N_SAMPLES, N_FEATURES, N_LABELS = 10, 6, 5
unknowns = pytest.mark.parametrize("unknown", [0.0, 0.4], ids=["all known", "some unknown"])
forms = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])


def draw(unknown, n_components, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_SAMPLES, N_FEATURES))
    states = np.where(rng.random((N_SAMPLES, N_LABELS)) < 0.4, 1, -1).astype(np.int8)
    states[rng.random(states.shape) < unknown] = 0
    return X, states, rng.normal(size=(N_FEATURES + N_LABELS, n_components))


def best_codes(X, states, weights):
    """Each by least squares over its known entries; returns the sum of what is left, and the codes."""
    total, codes, r = 0.0, [], weights.shape[1]
    for x, state in zip(X, states, strict=True):
        known = state != 0
        A = np.vstack(
            [
                np.sqrt(ALPHA) * weights[:N_FEATURES],
                np.sqrt(1 - ALPHA) * weights[N_FEATURES:][known],
                np.sqrt(BETA) * np.eye(r),
            ]
        )
        b = np.concatenate([np.sqrt(ALPHA) * x, np.sqrt(1 - ALPHA) * (state[known] > 0), np.zeros(r)])
        codes.append(np.linalg.lstsq(A, b)[0])
        total += np.sum((A @ codes[-1] - b) ** 2)
    return total, np.array(codes)


@unknowns
@forms
@pytest.mark.parametrize("n_components", [3, 8])
def test_value_and_slope(unknown, form, n_components):
    X, states, weights = draw(unknown, n_components)
    batch = Samples(form(X), states, weights).take(np.arange(N_SAMPLES))
    value, slope = Online(ALPHA, BETA).slope(weights, batch)
    assert value == pytest.approx(best_codes(X, states, weights)[0], rel=1e-6)
    rng = np.random.default_rng(1)
    for _ in range(5):
        direction, h = rng.normal(size=weights.shape), 1e-5
        ahead, behind = (best_codes(X, states, weights + sign * h * direction)[0] for sign in (1, -1))
        assert 2 * np.sum(slope * direction) == pytest.approx((ahead - behind) / (2 * h), rel=1e-5)


def test_curvature_is_not_below_that_of_the_loss():
    X, states, weights = draw(0.0, 3)
    problem, batch = Online(ALPHA, BETA), Samples(X, states, weights).take(np.arange(N_SAMPLES))
    columns = []
    for unit in np.eye(weights.size):
        nudge = 1e-5 * unit.reshape(weights.shape)
        difference = problem.slope(weights + nudge, batch)[1] - problem.slope(weights - nudge, batch)[1]
        columns.append(difference.ravel() / 2e-5)
    assert np.linalg.eigvalsh(np.array(columns)).max() <= problem.curvature(weights, batch) * (1 + 1e-6)


def test_scores_are_of_codes_without_labels():
    X, states, weights = draw(0.0, 3)
    encoder, decoder = Online(ALPHA, BETA).coders(weights, N_FEATURES)
    _, codes = best_codes(X, np.zeros_like(states), weights)
    np.testing.assert_allclose(X @ encoder @ decoder.T, codes @ weights[N_FEATURES:].T, rtol=1e-8)
