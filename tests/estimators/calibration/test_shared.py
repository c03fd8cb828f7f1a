"""The curve that all labels share: it recovers what was drawn from it, and rare labels keep close to it."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import expit

from tagrank.estimators.calibration import shared
from tagrank.estimators.calibration.completeness import (
    completeness_by_label,
    estimate_completeness,
    most_listed,
)
from tagrank.estimators.calibration.shared import (
    FREEDOMS,
    SharedCalibration,
    SharedFitting,
    deal_rows,
    fit_shared,
    keep_order,
    levels,
)
from tagrank.labels import labels_from_states
from tagrank.metrics import image_auc, image_average_precision


def draw(n=3000, m=30, *, completeness=1.0, slope=2.0, spread=0.4, seed=0):
    """States, scores and probabilities to be true of labels whose curves differ a little."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, m))
    log_odds = slope * scores - 3 + rng.normal(0, spread, m)
    truth = rng.random((n, m)) < expit(log_odds)
    listed = truth & (rng.random((n, m)) < completeness)
    return np.where(listed, 1, -1).astype(np.int8), scores, expit(log_odds), truth


@pytest.mark.parametrize("completeness", [1.0, 0.5])
def test_recovers_the_probability_of_being_true(completeness):
    states, scores, expected, _ = draw(completeness=completeness)
    found = expit(fit_shared(states, scores, completeness).log_odds(scores))
    assert np.abs(found - expected).mean() < 0.01
    assert np.abs(found - expected).max() < 0.15


def test_a_rare_label_keeps_close_to_the_others():
    states, scores, _, _ = draw(n=2000, m=20)
    states[:, 0] = -1
    best = np.argsort(-scores[:, 0])[:3]
    states[best, 0] = 1
    found = fit_shared(states, scores)
    assert found.slope[0] > 0.5 * np.median(found.slope)
    assert expit(found.log_odds(scores))[best, 0].min() > 0.15


def test_the_level_of_a_sample_is_taken_off():
    states, scores, expected, _ = draw()
    shift = np.random.default_rng(1).normal(0, 2, size=(len(scores), 1))
    found = expit(fit_shared(states, scores + shift).log_odds(scores + shift))
    assert np.abs(found - expected).mean() < 0.05
    without = np.mean(
        np.abs(
            expit(replace(fit_shared(states, scores + shift), level_weight=0.0).log_odds(scores + shift))
            - expected
        )
    )
    assert without > 0.1


def test_log_odds_never_fall_when_a_score_rises():
    states, scores, _, _ = draw(n=500, m=6)
    found = fit_shared(states, scores + np.random.default_rng(1).normal(0, 2, size=(500, 1)))
    before = found.log_odds(scores)
    for label in range(6):
        raised = scores.copy()
        raised[:, label] += np.random.default_rng(label).exponential(size=500)
        assert np.all(found.log_odds(raised)[:, label] >= before[:, label] - 1e-9)


def test_unknown_labels_are_left_out():
    states, scores, _, _ = draw(n=400, m=8)
    states[::3, 2] = 0
    other = scores.copy()
    found = fit_shared(states, scores)
    known = np.delete(states, np.s_[::3], axis=0), np.delete(scores, np.s_[::3], axis=0)
    alone = fit_shared(*known)
    assert np.all(np.isfinite(found.log_odds(other)))
    assert abs(found.offset[2] - alone.offset[2]) < 0.5


@pytest.mark.parametrize("state", [1, -1, 0])
def test_nothing_to_tell_apart(state):
    found = fit_shared(np.full((12, 3), state, np.int8), np.random.default_rng(0).normal(size=(12, 3)))
    odds = found.log_odds(np.zeros((2, 3)))
    assert np.all(np.isfinite(odds))
    assert np.all(np.sign(odds) == state)


def test_equal_scores_give_the_shares():
    states = np.where(np.random.default_rng(0).random((400, 3)) < [0.1, 0.3, 0.6], 1, -1).astype(np.int8)
    found = expit(fit_shared(states, np.zeros((400, 3))).log_odds(np.zeros((1, 3))))
    np.testing.assert_allclose(found[0], (states > 0).mean(axis=0), atol=0.03)


@pytest.mark.parametrize("share_decided", [0, 0.3])
def test_gradient_and_likelihood_agree(share_decided):
    states, scores, _, _ = draw(n=60, m=4, completeness=0.6)
    decided = np.random.default_rng(1).random(states.shape) < share_decided
    pairs = shared._Pairs(states, scores, 2, decided)
    pairs.suppose(np.full(4, 0.6))
    start = np.random.default_rng(0).normal(size=len(pairs.score))
    gradient, _ = pairs._derivatives(expit(start))
    numeric = approx_fprime(start, lambda odds: pairs._likelihood(odds)[0], 1e-6)
    np.testing.assert_allclose(gradient, numeric, atol=1e-3)


def test_newton_reaches_the_maximum():
    states, scores, _, _ = draw(n=300, m=4, completeness=0.7)
    pairs = shared._Pairs(states, scores, 2, None)
    pairs.suppose(np.full(4, 0.7))
    spread = np.array([0.3, 1.0])
    common, own, _ = pairs._climb(np.array([1.0, 0, -2]), np.zeros((2, 4)), spread, 50)

    def value(point):
        return pairs._value(point[:3], point[3:].reshape(2, 4), spread)[0]

    point = np.concatenate([common, own.ravel()])
    assert np.abs(approx_fprime(point, value, 1e-6)).max() < 0.2
    rng = np.random.default_rng(0)
    assert all(value(point) > value(point + 0.05 * rng.normal(size=11)) for _ in range(50))


def test_drawn_pairs_stand_for_all(monkeypatch):
    states, scores, _, _ = draw(n=2000, m=30)
    whole = fit_shared(states, scores)
    monkeypatch.setattr(shared, "MOST_PAIRS", 20_000)
    drawn = fit_shared(states, scores)
    assert np.abs(expit(whole.log_odds(scores)) - expit(drawn.log_odds(scores))).max() < 0.1


def test_levels():
    scores = np.array([[5.0, 1, 4, 2, 3], [0, 0, 0, 0, 1]])
    np.testing.assert_allclose(levels(scores, 2), [3, 0])
    np.testing.assert_allclose(levels(scores, 5), [1, 0])
    np.testing.assert_allclose(levels(scores, 9), [1, 0])
    np.testing.assert_allclose(levels(scores, 4), [1.5, 0])


@pytest.mark.parametrize("share", [1.0, 0.7, 0.5, 0.35])
def test_completeness_is_found(share):
    states, scores, _, truth = draw(n=4000, completeness=share, slope=4.0)
    straight = fit_shared(states, scores).straight(scores)
    found = estimate_completeness(states, straight)
    true_share = np.count_nonzero(states > 0) / np.count_nonzero(truth)
    assert abs(found.share - true_share) < 0.1
    assert found.low <= found.share <= found.high


def test_poor_scores_leave_completeness_open():
    states, scores, _, _ = draw(n=1000, m=10, completeness=0.5, slope=0.3)
    found = estimate_completeness(states, fit_shared(states, scores).straight(scores))
    assert found.high - found.low > 0.3


def test_nothing_listed_says_nothing_of_completeness():
    assert estimate_completeness(np.full((5, 2), -1, np.int8), np.zeros((5, 2)))[:3] == (1, 0, 1)


def test_completeness_of_single_labels_is_drawn_to_that_of_all():
    shares = np.where(np.arange(30) < 15, 0.3, 0.8)
    states, scores, _, _ = draw(n=6000, completeness=shares, slope=4.0)
    odds = fit_shared(states, scores, shares).log_odds(scores)
    found = completeness_by_label(states, odds, 0.55)
    assert np.abs(found - shares).mean() < 0.08
    few = np.zeros_like(states)
    few[:20] = states[:20]
    assert np.abs(completeness_by_label(few, odds, 0.55) - 0.55).max() < 0.35
    same, _, _, _ = draw(n=6000, completeness=0.55, slope=4.0)
    assert completeness_by_label(same, odds, 0.55).std() < 0.05


def test_bent_curves_keep_the_order():
    scores = np.sort(np.random.default_rng(0).normal(size=(40, 1)), axis=0)
    bent = SharedCalibration(np.ones(1), np.zeros(1), 0.0, 1, np.array([1.3, 0.4, 0.2])).log_odds(scores)
    assert np.all(np.diff(bent[:, 0]) > 0)


def decide_the_best(states, scores, truth, n=1500):
    """States after somebody looked at the best pairs that are not listed; and which these are."""
    best = np.unravel_index(np.argsort(np.where(states < 0, scores, -np.inf), axis=None)[-n:], states.shape)
    decided = np.zeros(states.shape, dtype=bool)
    decided[best] = True
    return np.where(decided, np.where(truth, 1, -1), states).astype(np.int8), decided


def test_decisions_on_the_best_pairs_do_not_bend_the_curve():
    states, scores, expected, truth = draw(completeness=0.5, spread=0.0)
    states, decided = decide_the_best(states, scores, truth)
    found = expit(fit_shared(states, scores, 0.5, decided).log_odds(scores))
    assert np.abs(found - expected).max() < 0.05
    blind = expit(fit_shared(states, scores, 0.5).log_odds(scores))
    assert np.abs(blind - expected).max() > 0.1


def test_decisions_tell_how_complete_the_other_labels_are():
    states, scores, _, truth = draw(completeness=0.5, slope=3.0)
    states, decided = decide_the_best(states, scores, truth)
    straight = fit_shared(states, scores, decided=decided).straight(scores)
    assert abs(estimate_completeness(states, straight, decided).share - 0.5) < 0.05
    assert estimate_completeness(states, straight).share > 0.7


def test_a_fitting_that_goes_on_is_as_good_as_a_new_one():
    states, scores, expected, _ = draw(completeness=0.6)
    fitting = shared.SharedFitting(states, scores)
    fitting.fit(1.0, bends=False)
    again, new = fitting.fit(0.6), fit_shared(states, scores, 0.6)
    errors = [np.abs(expit(found.log_odds(scores)) - expected) for found in (again, new)]
    assert errors[0].mean() < errors[1].mean() + 5e-4
    assert errors[0].max() < errors[1].max() + 0.02


def test_a_label_that_was_never_listed_is_not_taken_for_complete():
    states, scores, _, truth = draw(m=12, completeness=0.6, spread=0.0)
    # the last label came up when somebody found it in a few samples
    found = np.flatnonzero(truth[:, -1])[:8]
    states[:, -1] = -1
    states[found, -1] = 1
    decided = np.zeros(states.shape, dtype=bool)
    decided[found, -1] = True
    most = most_listed(states, decided)
    assert np.all(most[:-1] == 1)
    assert most[-1] < 0.1
    share = np.minimum(most, 0.6)
    claimed = expit(fit_shared(states, scores, share, decided).log_odds(scores))[:, -1]
    taken_for_complete = expit(fit_shared(states, scores, 0.6, decided).log_odds(scores))[:, -1]
    assert abs(np.log(claimed.sum() / truth[:, -1].sum())) < 1
    assert taken_for_complete.sum() < 0.1 * truth[:, -1].sum()


def draw_lengths(n=900, m=25, seed=3):
    """States and scores of rows that differ in length: scores tell the order, their size tells the length."""
    rng = np.random.default_rng(seed)
    strength = rng.normal(size=(n, m)) + rng.normal(0, 0.5, m)
    truth = rng.gumbel(size=(n, m)) + 2.5 * strength
    states = np.where(truth >= np.sort(truth, axis=1)[:, [-2]], 1, -1).astype(np.int8)
    # the longer the row, the larger its scores; of single labels in other measure
    return states, strength * np.exp(rng.normal(0, 1.2, (n, 1)))


def test_labels_keep_their_own_curves_where_these_help():
    states, scores, _, _ = draw(spread=1.5)
    freedom, log_odds = keep_order(states, scores, deal_rows(len(states)))
    assert freedom == FREEDOMS[0]
    labels = labels_from_states(states)
    assert image_auc(labels, log_odds) > image_auc(labels, scores) + 0.01


def test_the_order_of_scores_is_kept_where_labels_would_spoil_it():
    states, scores = draw_lengths()
    half = len(states) // 2
    freedom, log_odds = keep_order(states[:half], scores[:half], deal_rows(half))
    labels = labels_from_states(states)
    for measure in (image_auc, image_average_precision):
        assert measure(labels[:half], log_odds) >= measure(labels[:half], scores[:half]) - shared.MOST_LOST
        later = SharedFitting(states[:half], scores[:half], freedom=freedom).fit().log_odds(scores[half:])
        assert measure(labels[half:], later) > measure(labels[half:], scores[half:]) - 0.005
    # with all their freedom the labels do spoil it
    assert freedom != FREEDOMS[0]


def test_without_freedom_log_odds_have_the_order_of_scores():
    states, scores, _, _ = draw(n=400, m=8, spread=1.5)
    found = SharedFitting(states, scores, freedom=FREEDOMS[-1]).fit().log_odds(scores)
    assert np.array_equal(np.argsort(found, axis=1), np.argsort(scores, axis=1))


@pytest.mark.parametrize("state", [1, -1, 0])
def test_nothing_to_rank_by_leaves_all_freedom(state):
    scores = np.random.default_rng(0).normal(size=(12, 3))
    freedom, log_odds = keep_order(np.full((12, 3), state, np.int8), scores, deal_rows(12))
    assert freedom == FREEDOMS[0]
    assert np.all(np.isfinite(log_odds))
