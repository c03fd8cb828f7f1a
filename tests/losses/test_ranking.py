"""The value of the ranking loss: a matching, a smallest hinge loss, and the threshold that reaches it."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from tagrank.losses.ranking import Ranking


def hinge(bounds, scores, threshold):
    return (np.abs(bounds) * np.maximum(1 - np.sign(bounds) * (scores - threshold), 0)).sum()


def measure(bounds, scores):
    """Losses, thresholds and highest scores of all samples."""
    sums, thresholds = Ranking.measure(bounds, np.zeros_like(bounds), np.ascontiguousarray(scores.T))
    assert not sums[1:].any()
    return sums[0], *thresholds


def is_mixed(bounds):
    return (bounds > 0).any(axis=1) & (bounds < 0).any(axis=1)


@pytest.fixture(params=["continuous", "with ties"])
def scores(request):
    scores = np.random.default_rng(0).normal(scale=2, size=(200, 9))
    return scores if request.param == "continuous" else np.round(scores)


@pytest.fixture
def states(scores):
    return np.random.default_rng(1).choice([-1.0, 0.0, 1.0], p=[0.5, 0.2, 0.3], size=scores.shape)


def test_equal_costs_weigh_the_best_matching(states, scores):
    losses, _, _ = measure(3 * states, scores)
    for state, score, loss in zip(states, scores, losses, strict=True):
        violations = np.maximum(2 - score[state > 0][:, None] + score[state < 0], 0)
        matched = violations[linear_sum_assignment(violations, maximize=True)].sum()
        assert loss == pytest.approx(3 * matched, abs=1e-12)


def test_any_costs_smallest_hinge_loss_over_thresholds(states, scores):
    bounds = states * np.random.default_rng(2).choice([0.5, 1.0, 1.7, 4.0], size=states.shape)
    losses, thresholds, highest = measure(bounds, scores)
    np.testing.assert_array_equal(highest, scores.max(axis=1))
    assert is_mixed(bounds).sum() > 150
    for bound, score, loss, threshold in zip(bounds, scores, losses, thresholds, strict=True):
        kinks = score - np.sign(bound)
        smallest = min(hinge(bound, score, kink) for kink in kinks)
        if not is_mixed(bound[None])[0]:
            smallest = 0
        assert loss == pytest.approx(smallest, abs=1e-12)
        assert hinge(bound, score, threshold) == pytest.approx(smallest, abs=1e-12)


def test_separated_labels_cost_nothing_and_the_threshold_lies_between():
    bounds, scores = np.array([[2.0, -1.0, -3.0, 0.0]]), np.array([[5.0, 1.0, -2.0, 9.0]])
    losses, thresholds, highest = measure(bounds, scores)
    assert (losses[0], thresholds[0], highest[0]) == (0, 3, 9)


def test_unknown_labels_have_no_weight(states, scores):
    losses, thresholds, _ = measure(states, scores)
    elsewhere = np.where(states == 0, 100 * scores, scores)
    for one, other in zip((losses, thresholds), measure(states, elsewhere), strict=False):
        np.testing.assert_array_equal(one, other)


def test_sums_of_the_dual(states, scores):
    coefficients = np.random.default_rng(3).normal(size=scores.shape)
    sums, _ = Ranking.measure(states, coefficients, np.ascontiguousarray(scores.T))
    np.testing.assert_allclose(sums[1], np.abs(coefficients).sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(sums[2], (coefficients * scores).sum(axis=1), rtol=1e-9)
