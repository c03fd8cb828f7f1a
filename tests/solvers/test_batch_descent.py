"""Steps with momentum, and what becomes of those that are too long."""

import numpy as np
import pytest

from tagrank.solvers import batch_descent
from tagrank.solvers.batch_descent import Descent, Samples
from tagrank.solvers.factorization_terms import TwoWay

PROBLEM = TwoWay(0.2, 1.0)


@pytest.fixture
def samples():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4)).astype(np.float32)
    states = np.where(X[:, :3] > 0.5, 1, -1).astype(np.int8)
    return Samples(X, states, X)


def begin(step):
    weights = PROBLEM.start(4, 3, 2, np.random.RandomState(0))
    return Descent(PROBLEM, weights, np.zeros_like(weights), step, 30.0, 0.9, 0.01)


def test_steps_are_those_of_momentum(samples):
    descent, order = begin(0.05), np.arange(30)
    weights, velocity = descent.weights.copy(), descent.velocity.copy()
    descent.learn(samples, order, batch_size=12, shrink=0.5)
    for rows in (order[:12], order[12:24], order[24:]):
        slope = 2 * PROBLEM.slope(weights, samples.take(rows))[1] / len(rows) + 2 * 0.01 * weights
        velocity = 0.9 * velocity - 0.5 * 0.05 * slope
        weights = weights + velocity
    np.testing.assert_allclose(descent.weights, weights, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(descent.velocity, velocity, rtol=1e-4, atol=1e-6)


def test_a_step_that_diverges_is_halved_and_made_again(samples):
    diverging, order = begin(64.0), np.arange(30)
    diverging.learn(samples, order, batch_size=10)
    assert diverging.step == 64.0 / 2**diverging.n_halvings
    assert diverging.n_halvings > 0
    sound = begin(diverging.step)
    sound.learn(samples, order, batch_size=10)
    assert sound.n_halvings == 0
    np.testing.assert_array_equal(diverging.weights, sound.weights)


def test_no_end_of_halving_is_an_error(samples, monkeypatch):
    monkeypatch.setattr(batch_descent, "MAX_HALVINGS", 2)
    with pytest.raises(
        ValueError, match=r"diverges even with a step of .* halved 2 times; scale the features"
    ):
        begin(1e20).learn(samples, np.arange(30), batch_size=10)
