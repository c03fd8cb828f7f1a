"""Two-way factorization: value and slope beside the plain formula, and finite differences of it."""

import numpy as np
import pytest
from scipy import sparse

from tagrank.solvers.batch_descent import Samples, answer_error, find_step
from tagrank.solvers.factorization_terms import TwoWay

ALPHA, DELTA = 0.3, 0.7
N_SAMPLES, N_FEATURES, N_LABELS = 12, 7, 5
# components: fewer than labels, and more than labels and features
sizes = pytest.mark.parametrize("n_components", [3, 9])
unknowns = pytest.mark.parametrize("unknown", [0.0, 0.3], ids=["all known", "some unknown"])
forms = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])


def draw(n_components, unknown=0.0, seed=0):
    """Rows, states and weights in double precision."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_SAMPLES, N_FEATURES)) * (rng.random((N_SAMPLES, N_FEATURES)) < 0.6)
    states = np.where(rng.random((N_SAMPLES, N_LABELS)) < 0.3, 1, -1).astype(np.int8)
    states[rng.random(states.shape) < unknown] = 0
    return X, states, rng.normal(size=(N_FEATURES + N_LABELS, 2 * n_components))


def plain_loss(X, states, weights):
    """As published, summed over samples; unknown labels have no residual."""
    r = weights.shape[1] // 2
    Wx, Dx, Wt, Dt = (part for rows in np.split(weights, [X.shape[1]]) for part in (rows[:, :r], rows[:, r:]))
    T, known = (states > 0).astype(float), states != 0
    features = np.sum((X - X @ Wx @ Dx.T) ** 2)
    labels = np.sum((T - T @ Wt @ Dt.T)[known] ** 2)
    across = np.sum((T - X @ Wx @ Dt.T)[known] ** 2)
    return ALPHA * features + (1 - ALPHA) * labels + DELTA * across


def take_all(X, states, weights, form=np.asarray):
    samples = Samples(form(X), states, weights)
    # batches are read in single precision, but for what a test gives
    batch = samples.take(np.arange(N_SAMPLES))
    return batch._replace(T=batch.T.astype(float))


@sizes
@unknowns
@forms
def test_value_is_the_published_loss(n_components, unknown, form):
    X, states, weights = draw(n_components, unknown)
    value, _ = TwoWay(ALPHA, DELTA).slope(weights, take_all(X, states, weights, form))
    assert value == pytest.approx(plain_loss(X, states, weights), rel=1e-6)
    nothing = TwoWay(ALPHA, DELTA).of_nothing(take_all(X, states, weights, form))
    assert nothing == pytest.approx(plain_loss(X, states, 0 * weights))


@sizes
@unknowns
@forms
def test_slope_by_finite_differences(n_components, unknown, form):
    X, states, weights = draw(n_components, unknown)
    _, slope = TwoWay(ALPHA, DELTA).slope(weights, take_all(X, states, weights, form))
    rng = np.random.default_rng(1)
    for _ in range(5):
        direction, h = rng.normal(size=weights.shape), 1e-5
        ahead, behind = (plain_loss(X, states, weights + sign * h * direction) for sign in (1, -1))
        assert 2 * np.sum(slope * direction) == pytest.approx((ahead - behind) / (2 * h), rel=1e-6)


@unknowns
def test_error_of_the_answers(unknown):
    X, states, weights = draw(3, unknown)
    samples = Samples(X, states, weights)
    difference = (states > 0) - X @ weights[:N_FEATURES, :3] @ weights[N_FEATURES:, 3:].T
    expected = np.sum(difference[states != 0] ** 2) / N_SAMPLES
    assert answer_error(TwoWay(ALPHA, DELTA), weights, samples) == pytest.approx(expected, rel=1e-6)


def test_step_is_the_inverse_of_the_largest_curvature():
    X, states, weights = draw(2)
    problem, batch = TwoWay(ALPHA, DELTA), take_all(X, states, weights)
    columns = []
    for unit in np.eye(weights.size):
        nudge = 1e-5 * unit.reshape(weights.shape)
        difference = problem.slope(weights + nudge, batch)[1] - problem.slope(weights - nudge, batch)[1]
        columns.append(difference.ravel() / 1e-5 / N_SAMPLES)
    largest = np.abs(np.linalg.eigvalsh(np.array(columns))).max()
    step = find_step(problem, weights, Samples(X, states, weights), beta=0.5)
    assert step == pytest.approx(1 / (largest + 1), rel=0.1)
