"""What audited samples tell, on simulated labels of which everything is known."""

import numpy as np
import pytest
from scipy.special import expit

from tagrank.estimators import OneVsAllLogistic, ProbabilityRanker
from tagrank.estimators.calibration.audit import (
    FEWEST_AUDITED,
    audit_labels,
    audit_listed,
    bend_to_truth,
    ratio,
    samples_for,
)
from tagrank.estimators.calibration.completeness import Completeness, estimate_completeness
from tagrank.estimators.calibration.decisions import DecisionCurve
from tagrank.estimators.calibration.shared import fit_shared

N_SAMPLES, N_LABELS = 2000, 40


@pytest.fixture(scope="module")
def true():
    """True labels of samples of which some have many, and every one has one."""
    rng = np.random.default_rng(0)
    log_odds = np.sort(rng.normal(-3, 1.2, N_LABELS)) + rng.normal(size=(N_SAMPLES, 1))
    true = rng.random((N_SAMPLES, N_LABELS)) < expit(log_odds + rng.normal(size=(N_SAMPLES, N_LABELS)))
    true[np.arange(N_SAMPLES), rng.integers(0, N_LABELS, N_SAMPLES)] = True
    return true


def hide(true, rule):
    """Listed labels: some of the true ones, by a rule."""
    rng = np.random.default_rng(1)
    order = np.where(true, rng.random(true.shape), 9).argsort(axis=1).argsort(axis=1)
    listed_share = np.linspace(0.95, 0.25, true.shape[1])  # frequent labels come last
    return {
        "nothing": true,
        "at random": true & (rng.random(true.shape) < 0.6),
        "frequent ones": true & (rng.random(true.shape) < listed_share),
        "all but two": true & (order < 2),
        "of some samples all but one": true & ((rng.random((len(true), 1)) < 0.8) | (order < 1)),
    }[rule]


RULES = ("nothing", "at random", "frequent ones", "all but two", "of some samples all but one")


def draws(n_audited, n_draws=60):
    for seed in range(n_draws):
        yield np.random.default_rng(seed).choice(N_SAMPLES, n_audited, replace=False)


@pytest.mark.parametrize("rule", RULES)
def test_the_interval_holds_the_truth_whatever_the_rule_of_hiding(true, rule):
    listed = hide(true, rule)
    share = listed.sum() / true.sum()
    told = [audit_labels(listed[rows], true[rows]).completeness for rows in draws(50)]
    assert np.mean([one.low <= share <= one.high for one in told]) >= 0.9
    assert abs(np.mean([one.share for one in told]) - share) < 0.02
    assert all(one.n_audited == 50 for one in told)


@pytest.mark.parametrize("rule", RULES)
def test_right_and_found_lie_in_their_intervals(true, rule):
    # what is written are labels that are right more often than not, some samples better than others
    rng = np.random.default_rng(2)
    written = np.where(true, rng.random(true.shape) < 0.6, rng.random(true.shape) < 0.03)
    right, found = true[written].mean(), written[true].mean()
    hits = [0, 0]
    for rows in draws(40):
        n_hits = (true & written)[rows].sum(axis=1)
        told = ratio(n_hits, written[rows].sum(axis=1)), ratio(n_hits, true[rows].sum(axis=1))
        hits[0] += told[0].low <= right <= told[0].high
        hits[1] += told[1].low <= found <= told[1].high
    assert min(hits) >= 0.9 * 60


def test_nothing_missing_in_few_samples_is_no_proof():
    few, many = (ratio(np.full(n, 3), np.full(n, 3)) for n in (5, 100))
    assert few.share == many.share == few.high == many.high == 1
    assert few.low < 0.7
    assert 0.95 < many.low < 1
    nothing = ratio(np.zeros(4), np.zeros(4))
    assert np.isnan(nothing.share)
    assert (nothing.low, nothing.high) == (0, 1)


def test_labels_that_stand_and_fall_together_tell_less():
    alone = ratio(np.tile([2, 2, 2, 2], 10), np.full(40, 4))
    together = ratio(np.tile([4, 0, 4, 0], 10), np.full(40, 4))
    assert alone.share == together.share == 0.5
    assert together.high - together.low > 1.6 * (alone.high - alone.low)


def test_dependence_on_frequency_and_on_the_number_of_labels_is_told_where_it_is_there(true):
    found = {}
    for rule in ("at random", "frequent ones", "all but two"):
        listed = hide(true, rule)
        audits = [
            audit_labels(listed[rows], true[rows], frequencies=listed.sum(axis=0)) for rows in draws(60, 20)
        ]
        found[rule] = np.mean([[one.by_frequency < 0, one.by_count < 0] for one in audits], axis=0)
    assert found["frequent ones"][0] >= 0.9
    assert found["all but two"][1] == 1
    assert found["at random"].max() <= 0.2
    assert found["all but two"][0] <= 0.2


def test_completeness_of_labels_is_drawn_to_that_of_all(true):
    alike, differing = (hide(true, rule) for rule in ("at random", "frequent ones"))
    rows = next(draws(60))
    of_alike = audit_labels(alike[rows], true[rows], frequencies=alike.sum(axis=0))
    assert np.ptp(of_alike.by_label) < 0.3
    told = audit_labels(differing[rows], true[rows], frequencies=differing.sum(axis=0))
    shares, weights = differing.sum(axis=0) / true.sum(axis=0), true.sum(axis=0)
    off = np.average(np.abs(told.by_label - shares), weights=weights)
    assert off < 0.75 * np.average(np.abs(told.completeness.share - shares), weights=weights)


def test_counts_and_unknown_labels():
    listed = np.array([[1, 0, 1], [1, 0, 0]], dtype=bool)
    true = np.array([[1, 1, 0], [1, 0, 1]], dtype=bool)
    audit = audit_labels(listed, true)
    assert (audit.n_samples, audit.n_true, audit.n_missing, audit.n_wrong) == (2, 4, 2, 1)
    known = np.array([[1, 0, 1], [1, 1, 1]], dtype=bool)
    audit = audit_labels(listed, true, known=known)
    assert (audit.n_true, audit.n_missing, audit.completeness.share) == (3, 1, 2 / 3)


def test_more_samples_make_the_interval_as_narrow_as_was_said(true):
    listed = hide(true, "at random")
    rows = next(draws(40))
    audit = audit_labels(listed[rows], true[rows])
    n_more = audit.samples_for(audit.half_width / 2)
    assert n_more == pytest.approx(120, abs=1)
    assert audit.samples_for(0.9) == 0
    larger = audit_labels(*(labels[next(draws(40 + n_more))] for labels in (listed, true)))
    assert larger.half_width == pytest.approx(audit.half_width / 2, rel=0.2)
    assert samples_for(audit.completeness, 40, audit.half_width) == 0


@pytest.mark.parametrize("noise", [1.2, 1.5, 2.0])
@pytest.mark.parametrize("rule", RULES)
def test_without_an_audit_the_interval_is_wide_enough(true, rule, noise):
    listed = hide(true, rule)
    scores = np.where(true, 1.0, -1.0) + noise * np.random.default_rng(6).normal(size=true.shape)
    states = np.where(listed, 1, -1).astype(np.int8)
    told = estimate_completeness(states, fit_shared(states, scores).straight(scores))
    assert told.low <= listed.sum() / true.sum() <= told.high


def test_too_few_samples_tell_nothing():
    states = np.where(np.eye(20, 6) > 0, 1, -1).astype(np.int8)
    audited = np.arange(20) < FEWEST_AUDITED - 1
    assert audit_listed(states, None, audited) is None
    assert audit_listed(states, None, None) is None
    assert audit_listed(states, None, np.arange(20) < FEWEST_AUDITED).n_samples == FEWEST_AUDITED


def test_the_curve_is_bent_as_far_as_audited_samples_say(true):
    rng = np.random.default_rng(3)
    scores = np.where(true, 1.0, -1.0) + rng.normal(size=true.shape)
    states = np.where(hide(true, "at random"), 1, -1).astype(np.int8)
    wrong = fit_shared(states, scores)
    claimed, share = expit(wrong.log_odds(scores)), true.mean()
    assert claimed.mean() < 0.7 * share
    truth = np.where(true, 1, -1).astype(np.int8)
    rows = next(draws(100))
    told = Completeness(0.6, 0.5, 0.7)
    bent = bend_to_truth(wrong, truth[rows], scores[rows], told)
    assert expit(bent.log_odds(scores)).mean() == pytest.approx(share, rel=0.1)
    order = np.argsort(wrong.log_odds(scores).ravel())
    assert np.all(np.diff(bent.log_odds(scores).ravel()[order]) >= -1e-9)
    few = bend_to_truth(wrong, truth[rows[:1]], scores[rows[:1]], told)
    assert np.all(np.abs(few.bend - wrong.bend) <= np.abs(bent.bend - wrong.bend) + 0.5)
    # where all was listed, the truth was known before
    complete = bend_to_truth(wrong, truth[rows], scores[rows], Completeness(1.0, 0.97, 1.0))
    assert abs(complete.bend[2] - wrong.bend[2]) < 0.3 * abs(bent.bend[2] - wrong.bend[2])
    nothing = bend_to_truth(wrong, np.zeros((2, N_LABELS), dtype=np.int8), scores[:2], told)
    assert nothing is wrong


@pytest.fixture(scope="module")
def trained():
    """Rows, true labels, listed ones without the frequent ones, and audited samples."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(600, 8))
    weights = rng.normal(size=(8, 12))
    true = X @ weights + rng.normal(size=(600, 12)) > np.linspace(4, 1, 12)
    listed_share = np.linspace(0.9, 0.2, 12)
    listed = true & (rng.random(true.shape) < listed_share)
    audited = np.zeros(600, dtype=bool)
    audited[rng.choice(600, 80, replace=False)] = True
    return X, true, listed, audited


def fit(X, true, listed, audited, **options):
    Y = np.where(audited[:, None], true, listed).astype(float)
    estimator = OneVsAllLogistic(kernel="linear", random_state=0)
    decided = audited[:, None] & true & ~listed
    model = ProbabilityRanker(estimator, random_state=0, **options)
    return model.fit(X, Y, decided=decided, audited=audited)


def test_a_model_claims_what_is_right_by_its_audit(trained):
    X, true, listed, _audited = trained
    estimator = OneVsAllLogistic(kernel="linear", random_state=0)
    without = ProbabilityRanker(estimator, random_state=0).fit(X, listed.astype(float))
    model = fit(*trained)
    share = listed.sum() / true.sum()
    assert model.completeness_.low <= share <= model.completeness_.high
    assert model.completeness_.n_audited == 80
    assert model.label_completeness_[0] > model.label_completeness_[-1] + 0.2
    rng = np.random.default_rng(5)
    X_test = rng.normal(size=(2000, 8))
    weights = np.random.default_rng(4)
    weights.normal(size=(600, 8))
    true_test = X_test @ weights.normal(size=(8, 12)) + rng.normal(size=(2000, 12)) > np.linspace(4, 1, 12)
    offs = []
    for one in (without, model):
        written = one.predict(X_test) > 0
        offs.append(abs(one.predict_proba(X_test)[written].mean() - true_test[written].mean()))
    assert offs[1] < 0.05 < offs[0]
    written = model.predict(X_test) > 0
    (low, high), (found_low, found_high) = model.curve_.intervals(model.threshold_)
    assert low <= true_test[written].mean() <= high
    assert found_low <= written[true_test].mean() <= found_high
    assert low <= model.quality_.right <= high
    assert found_low <= model.quality_.found <= found_high


def test_completeness_that_is_given_stands_beside_an_audit(trained):
    model = fit(*trained, completeness=0.5)
    assert model.completeness_ == Completeness(0.5, 0.5, 0.5)
    assert model.curve_.is_audited


def test_audited_must_be_a_mask(trained):
    X, true, _, _ = trained
    model = ProbabilityRanker(OneVsAllLogistic(kernel="linear"))
    with pytest.raises(ValueError, match="a bool for each of the 600 samples"):
        model.fit(X, true.astype(float), audited=[1, 2, 3])


def test_a_curve_without_an_audit_has_no_intervals():
    states = np.array([[1, -1], [-1, 1]], dtype=np.int8)
    curve = DecisionCurve.measured(states, np.array([[0.9, 0.1], [0.2, 0.8]]), np.ones(2))
    assert not curve.is_audited
    assert curve.intervals(0.5) is None
    audited = curve.audited(states > 0, np.array([[0.9, 0.1], [0.2, 0.8]]))
    assert audited.is_audited
    assert audited.quality(0.5)[:2] == (1, 1)
    assert audited.intervals(0.5)[0][0] < 0.6
    assert audited.intervals(1.5) is None
    np.testing.assert_array_equal(audited.points[:, [0, 1, 4]], curve.points[:, [0, 1, 4]])
