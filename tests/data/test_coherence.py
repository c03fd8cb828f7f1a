"""Probabilities are moved as little as possible until no tag exceeds one that it implies."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from tagrank.data.coherence import coherent_log_odds, make_coherent

PAIRS = np.array([(0, 1), (0, 2), (1, 2), (3, 2)])  # 0 implies 1 implies 2, and 3 implies 2


@pytest.mark.parametrize("seed", range(8))
def test_it_is_the_nearest_by_a_general_solver(seed):
    given = np.random.default_rng(seed).random(4)
    constraints = [{"type": "ineq", "fun": lambda p, a=a, b=b: p[b] - p[a]} for a, b in PAIRS]
    nearest = minimize(lambda p: np.sum((p - given) ** 2), given, constraints=constraints, method="SLSQP")
    found = make_coherent(given[None], PAIRS)[0]
    np.testing.assert_allclose(found, nearest.x, atol=2e-3)
    assert all(found[a] <= found[b] for a, b in PAIRS)


def test_it_leads_no_further_from_the_truth():
    generator = np.random.default_rng(0)
    true = np.sort(generator.random((500, 4)), axis=1)[:, [0, 1, 3, 2]]
    given = np.clip(true + 0.3 * generator.standard_normal(true.shape), 0, 1)
    found = make_coherent(given, PAIRS)
    assert np.all(np.sum((found - true) ** 2, axis=1) <= np.sum((given - true) ** 2, axis=1) + 1e-3)


def test_what_is_not_known_stays_so_and_what_is_right_stays():
    given = np.array([[0.9, np.nan, 0.4, 0.1], [0.1, 0.2, 0.3, 0.2]], dtype=np.float32)
    found = make_coherent(given, PAIRS)
    assert np.isnan(found[0, 1])
    assert found[0, 0] <= found[0, 2]
    np.testing.assert_array_equal(found[1], given[1])
    assert make_coherent(given, np.zeros((0, 2), dtype=int)) is given


@pytest.mark.parametrize("width", [2, 50, 1000])
def test_log_odds_say_the_same(width):
    """Also where probabilities round to 0 and 1, and to log-odds without end."""
    scores = width * np.random.default_rng(1).standard_normal((200, 4))
    found = coherent_log_odds(scores, PAIRS)
    assert np.isfinite(found).all()
    assert all(np.all(found[:, a] <= found[:, b]) for a, b in PAIRS)
    np.testing.assert_allclose(expit(found), make_coherent(expit(scores), PAIRS), atol=1e-12)
    is_right = np.all([scores[:, a] <= scores[:, b] for a, b in PAIRS], axis=0)
    assert is_right.any()
    np.testing.assert_array_equal(found[is_right], scores[is_right])
