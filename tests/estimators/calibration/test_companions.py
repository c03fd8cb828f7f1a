"""Labels that know each other: what was drawn is found, what is not there is not, rare pairs stay near 0."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import approx_fprime
from scipy.special import expit

from tagrank.estimators.calibration import companions
from tagrank.estimators.calibration.companions import (
    Companions,
    cross_fitted,
    fit_companions,
    known_of,
)


def draw(n=1500, m=12, *, strength=2.0, completeness=1.0, seed=0):
    """States, log-odds by the sample alone, and the truth; labels 0 and 1, 4 and 5 attract, 2 and 3 repel."""
    rng = np.random.default_rng(seed)
    ties = np.zeros((m, m))
    for place, label in enumerate(range(0, m - 1, 2)):
        ties[label, label + 1] = ties[label + 1, label] = strength * (1 if place % 2 == 0 else -1)
    log_odds = rng.normal(-1.5, 1.2, size=(n, m))
    truth = rng.random((n, m)) < expit(log_odds)
    for _ in range(40):
        for label in range(m):
            given = log_odds[:, label] + (truth - expit(log_odds)) @ ties[:, label]
            truth[:, label] = rng.random(n) < expit(given)
    listed = truth & (rng.random((n, m)) < completeness)
    return np.where(listed, 1, -1).astype(np.int8), log_odds, truth


def log_loss(truth, log_odds):
    return float(np.mean(np.logaddexp(0, np.where(truth, -log_odds, log_odds))))


def test_pairs_that_attract_and_repel_are_found():
    found = fit_companions(*draw()[:2])
    off = ~np.eye(12, dtype=bool)
    drawn = np.zeros((12, 12), dtype=bool)
    drawn[np.arange(0, 12, 2), np.arange(1, 12, 2)] = True
    drawn |= drawn.T
    assert np.abs(found.ties[drawn]).min() > 3 * np.abs(found.ties[off & ~drawn]).mean()
    assert found.ties[0, 1] > 0.8
    assert found.ties[2, 3] < -0.5
    np.testing.assert_array_equal(found.ties, found.ties.T)
    assert not np.diag(found.ties).any()


@pytest.mark.parametrize("completeness", [1.0, 0.6])
def test_samples_that_had_no_say_are_foretold_better(completeness):
    states, log_odds, _ = draw(completeness=completeness)
    other, other_odds, truth = draw(seed=1, completeness=completeness)
    found = fit_companions(states, log_odds, completeness)
    is_tagged = np.any(other > 0, axis=1)
    asked = is_tagged[:, None] & (other < 0)
    given = found.log_odds(other_odds, known_of(other))
    # of labels that are not listed, by their log-odds given that
    shift = np.log(max(1 - completeness, 1e-3))
    if completeness < 1:
        assert log_loss(truth[asked], given[asked] + shift) < 0.99 * log_loss(
            truth[asked], other_odds[asked] + shift
        )
    else:
        rows = is_tagged[:, None] & (companions._count_others(known_of(other)) > 0)
        assert log_loss(truth[rows], given[rows]) < 0.97 * log_loss(truth[rows], other_odds[rows])


@pytest.mark.parametrize("seed", range(4))
def test_independent_labels_do_not_know_each_other(seed):
    states, log_odds, _ = draw(strength=0.0, seed=seed)
    assert fit_companions(states, log_odds) is None


def test_the_order_of_labels_and_samples_does_not_matter():
    states, log_odds, _ = draw()
    order = np.random.default_rng(3).permutation(12)
    found, permuted = fit_companions(states, log_odds), fit_companions(states[:, order], log_odds[:, order])
    np.testing.assert_allclose(permuted.ties, found.ties[np.ix_(order, order)], atol=1e-8)
    assert permuted.scale == pytest.approx(found.scale)


def test_labels_shuffled_among_samples_do_not_know_each_other():
    states, _, _ = draw()
    rng = np.random.default_rng(0)
    shuffled = np.column_stack([rng.permutation(column) for column in states.T])
    rates = np.mean(shuffled > 0, axis=0)
    log_odds = np.broadcast_to(np.log(rates / (1 - rates)), states.shape)
    assert fit_companions(shuffled, log_odds) is None


def test_a_rare_pair_stays_near_nothing():
    states, log_odds, _ = draw()
    states, log_odds = (
        np.hstack([states, -np.ones((1500, 2), np.int8)]),
        np.hstack([log_odds, np.full((1500, 2), -6.5)]),
    )
    states[7, 12:] = 1  # seen together once
    found = fit_companions(states, log_odds)
    together = fit_companions(*draw()[:2]).ties[0, 1]
    assert 0 < found.ties[12, 13] < together


def test_a_known_label_raises_its_companion_and_a_rejected_one_lowers_it():
    states, log_odds, _ = draw()
    found, alone = fit_companions(states, log_odds), np.full((1, 12), -1.0)
    accepted, rejected = np.zeros((2, 1, 12), dtype=np.int8)
    accepted[0, 0], rejected[0, 0] = 1, -1
    nothing = found.log_odds(alone, np.zeros((1, 12), dtype=np.int8))
    np.testing.assert_array_equal(nothing, alone)
    assert found.log_odds(alone, rejected)[0, 1] < alone[0, 1] < found.log_odds(alone, accepted)[0, 1]
    # what is known of a label does not speak for itself
    assert found.log_odds(alone, rejected)[0, 0] == alone[0, 0]
    voices = found.voices(alone[0], rejected[0])
    np.testing.assert_allclose(voices.sum(axis=0), (found.log_odds(alone, rejected) - alone)[0])


def test_unknown_and_undecided_labels_say_nothing():
    states = np.array([[1, -1, 0], [1, -1, -1]], dtype=np.int8)
    decided = np.array([[False, False, False], [False, True, False]])
    np.testing.assert_array_equal(known_of(states), [[1, 0, 0], [1, 0, 0]])
    np.testing.assert_array_equal(known_of(states, decided), [[1, 0, 0], [1, -1, 0]])


def test_decided_labels_are_learned_from_in_full():
    states, log_odds, truth = draw(completeness=0.5)
    decided = np.random.default_rng(5).random(states.shape) < 0.3
    states = np.where(decided, np.where(truth, 1, -1), states).astype(np.int8)
    found = fit_companions(states, log_odds, 0.5, decided)
    assert found.ties[0, 1] > 0.5
    assert found.ties[2, 3] < -0.3


def test_no_sample_has_a_say_about_itself():
    states, log_odds, _ = draw(600)
    parts = np.arange(600) % 3
    before = cross_fitted(states, log_odds, parts)
    row = 5
    flipped = states.copy()
    flipped[row, 3] *= -1
    after = cross_fitted(flipped, log_odds, parts)
    same_part = (parts == parts[row]) & (np.arange(600) != row)
    np.testing.assert_array_equal(before[same_part], after[same_part])
    # nor is what is known of a label evidence for it, but through the number of labels of others
    assert after[row, 3] == before[row, 3]


def test_samples_outside_keep_their_log_odds():
    states, log_odds, _ = draw(600)
    parts = np.where(np.arange(600) < 20, -1, np.arange(600) % 3)
    found = cross_fitted(states, log_odds, parts)
    np.testing.assert_array_equal(found[:20], log_odds[:20])
    assert np.any(found[20:] != log_odds[20:])


@pytest.mark.parametrize(
    "states",
    [
        np.ones((40, 1)),
        -np.ones((40, 3)),
        np.zeros((40, 3)),
        np.ones((40, 3)),
        np.ones((3, 5)),
        np.eye(40)[:, :5] * 2 - 1,
    ],
)
def test_where_there_is_nothing_to_learn_nothing_is(states):
    log_odds = np.random.default_rng(0).normal(size=states.shape)
    assert fit_companions(states.astype(np.int8), log_odds) is None


def test_extreme_log_odds_stay_finite():
    states, log_odds, _ = draw(400)
    found = fit_companions(states, 40 * log_odds)
    if found is not None:
        assert np.all(np.isfinite(found.log_odds(1e4 * log_odds, known_of(states))))
    given = Companions(np.zeros((12, 12)), np.zeros((12, 12)), 1.0, 0.0, 0.0).log_odds(
        1e6 * log_odds, known_of(states)
    )
    np.testing.assert_array_equal(given, 1e6 * log_odds)


@pytest.mark.parametrize("listed", [1.0, 0.6])
@pytest.mark.parametrize("present", [True, False])
def test_derivatives_are_those_of_the_likelihood(listed, present):
    def likelihood(log_odds):
        share = listed * expit(log_odds[0])
        return np.log(share if present else 1 - share)

    for point in (-3.0, 0.2, 2.0):
        slope, curvature = companions._slopes(expit(point), listed, present)
        assert slope == pytest.approx(approx_fprime([point], likelihood, 1e-7)[0], abs=1e-5)
        assert curvature >= 0


def test_pairs_drawn_from_many_stand_for_all(monkeypatch):
    states, log_odds, _ = draw()
    whole = fit_companions(states, log_odds)
    monkeypatch.setattr(companions, "MOST_PAIRS", 8000)
    some = fit_companions(states, log_odds)
    assert some.count_weight == pytest.approx(whole.count_weight, abs=0.1)
    assert np.corrcoef(some.ties.ravel(), whole.ties.ravel())[0, 1] > 0.99


def test_evidence_has_few_entries():
    known = np.array([[1, 0, -1], [0, 0, 0]], dtype=np.int8)
    found = companions._evidence(np.zeros((2, 3)), known)
    assert sparse.issparse(found)
    np.testing.assert_allclose(found.toarray(), [[0.5, 0, -0.5], [0, 0, 0]])
