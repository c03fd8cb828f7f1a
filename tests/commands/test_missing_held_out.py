"""Held-out scores and probabilities: who learns from whom, and that no picture has a say about itself."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.metrics import log_loss

from tagrank.commands.missing.held_out import _calibrate, hold_out
from tagrank.data import Collection, LabelStratifiedKFold
from tagrank.estimators import LabelRanker, OneVsAllSVM, RidgeRegression
from tagrank.estimators.calibration.calibrated import fit_calibration, prior_probabilities

LOG = []


class Witness(BaseEstimator):
    """Notes which rows were learned from, and which were scored; rows are called by their first number."""

    def fit(self, X, Y):
        self.learned_ = set(X[:, 0].tolist())
        return self

    def decision_function(self, X):
        LOG.append((self.learned_, X[:, 0].tolist()))
        return X[:, 1:].copy()


@pytest.fixture
def rows():
    """Sixty numbered rows whose three tags follow the other columns, noisily; the last five untagged."""
    rng = np.random.default_rng(4)
    values = rng.normal(size=(60, 3))
    labels = (values + rng.normal(scale=0.5, size=values.shape) > [0.2, 0.5, 0.8]).astype(float)
    labels[55:] = np.nan
    labels[3, 1] = np.nan
    return Collection({"x": np.column_stack([np.arange(60.0), values])}, labels, ["a", "b", "c"])


def test_every_row_is_scored_once_by_a_model_that_did_not_see_it(rows):
    LOG.clear()
    hold_out(rows, Witness(), folds=4)
    scored = [row for _, some in LOG for row in some]
    assert sorted(scored) == list(range(60))
    assert all(not learned & set(some) for learned, some in LOG)
    assert all(learned <= set(range(55)) for learned, _ in LOG)
    *folds, last = LOG
    assert len(folds) == 4
    assert all(len(learned) in (41, 42) for learned, _ in folds)
    assert last == (set(range(55)), list(range(55, 60)))


def test_scores_are_those_of_models_trained_by_hand(rows):
    tagged = rows.subset(slice(55))
    model = OneVsAllSVM(C=2.0, kernel="rbf", gamma=0.3, tol=1e-6, random_state=0)
    found = hold_out(tagged, model, folds=3, seed=7).scores
    X = (tagged.X - tagged.X.mean(axis=0)) / tagged.X.std(axis=0)
    splitter = LabelStratifiedKFold(3, shuffle=True, random_state=7)
    for train, test in splitter.split(X, tagged.labels):
        by_hand = OneVsAllSVM(C=2.0, kernel="rbf", gamma=0.3, tol=1e-6, random_state=0)
        expected = by_hand.fit(X[train], tagged.labels[train]).decision_function(X[test])
        np.testing.assert_allclose(found[test], expected, atol=2e-3)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_the_penalty_is_chosen_once(rows, kernel):
    tagged = rows.subset(slice(55))
    left_open = hold_out(tagged, RidgeRegression(kernel=kernel), folds=3, seed=7).scores
    X = (tagged.X - tagged.X.mean(axis=0)) / tagged.X.std(axis=0)
    alpha = RidgeRegression(kernel=kernel).fit(X, tagged.labels).alpha_
    given = hold_out(tagged, RidgeRegression(alpha=alpha, kernel=kernel), folds=3, seed=7).scores
    np.testing.assert_allclose(left_open, given, atol=1e-9)


@pytest.mark.parametrize("calibration", ["shared", "platt", "isotonic"])
def test_own_labels_do_not_enter_the_probabilities(rows, calibration):
    states, scores = rows.states()[:55], rows.X[:55, 1:]
    fold = np.arange(55) % 3
    parts = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(3)]
    before = _calibrate(states, scores, parts, calibration, 0.7)
    flipped = np.where((fold == 1)[:, None], -states, states)
    after = _calibrate(flipped, scores, parts, calibration, 0.7)
    np.testing.assert_array_equal(before[fold == 1], after[fold == 1])
    assert np.all(np.any(before[fold == 0] != after[fold == 0], axis=0))


def test_rows_without_tags_use_all_held_out_scores(rows):
    found = hold_out(rows, Witness(), folds=4, calibration="platt")
    learned = fit_calibration(
        found.states[:55],
        found.scores[:55],
        method="platt",
        prior=prior_probabilities(found.states[:55]),
    )
    np.testing.assert_allclose(found.probabilities[55:], learned.probabilities(found.scores[55:]))


@pytest.mark.parametrize("calibration", ["shared", "platt", "isotonic"])
def test_probabilities_agree_with_the_shares(rows, calibration):
    more = {"completeness": 1.0} if calibration == "shared" else {}
    found = hold_out(rows, LabelRanker(C=1.0, random_state=0), folds=5, calibration=calibration, **more)
    known = found.states != 0
    for tag in range(3):
        share = np.mean(found.states[known[:, tag], tag] > 0)
        assert found.probabilities[known[:, tag], tag].mean() == pytest.approx(share, abs=0.05)
    assert np.all((found.probabilities > 0) & (found.probabilities < 1))


def test_a_tag_that_no_other_picture_has_is_not_judged(rows):
    labels = rows.labels.copy()
    labels[:55, 2] = 0
    labels[10, 2] = 1
    found = hold_out(rows.with_labels(labels), Witness(), folds=5)
    assert not found.is_judged[10, 2]
    assert found.is_judged[:, :2].all()
    # the four other folds learn from row 10, and so does the model for rows without tags
    assert found.is_judged[:55, 2].sum() == 44
    assert found.is_judged[55:, 2].all()


def test_cost_is_the_one_whose_probabilities_fit_best(rows):
    told = []
    costs = (0.01, 0.3, 30.0)
    model = OneVsAllSVM(tol=1e-6, random_state=0)
    found = hold_out(
        rows, model, costs=costs, folds=3, progress=lambda done, total, what: told.append((done, total))
    )
    alone = [hold_out(rows, OneVsAllSVM(C=cost, tol=1e-6, random_state=0), folds=3) for cost in costs]
    fits = []
    for one in alone:
        known = one.states != 0
        fits.append(-log_loss((one.states > 0)[known], one.probabilities[known]))
    tried = found.choice.trials[0].scores["log-likelihood"]
    assert len(set(np.round(fits, 2))) == 3
    assert np.argmax(tried) == np.argmax(fits)
    np.testing.assert_allclose(found.scores, alone[int(np.argmax(fits))].scores, atol=0.1)
    assert told == [(0, 1), (0, 3), (1, 3), (2, 3), (3, 3)]


def test_too_few_rows(rows):
    with pytest.raises(ValueError, match="8 folds need at least as many pictures with tags, got 6"):
        hold_out(rows.subset(slice(49, 60)), LabelRanker(), folds=8)


def test_known_tags_speak_for_their_companions():
    """Tags a and b always come together, and rows tell nothing of b."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(400, 3))
    labels = (values + rng.normal(scale=0.5, size=values.shape) > [0.3, 0.3, 0.8]).astype(float)
    labels[:, 1] = labels[:, 0]
    labels[labels.sum(axis=1) == 0, 2] = 1
    hidden = labels.copy()
    forgotten = np.flatnonzero(labels[:, 0] > 0)[::4]
    hidden[forgotten, 1] = 0
    rows = Collection(
        {"x": np.column_stack([values[:, :1], rng.normal(size=400), values[:, 2]])}, hidden, list("abc")
    )
    model = OneVsAllSVM(kernel="rbf", random_state=0)
    alone = hold_out(rows, model, completeness=0.8, known_tags=False)
    given = hold_out(rows, model, completeness=0.8)
    np.testing.assert_array_equal(alone.scores, given.scores)
    is_absent = np.flatnonzero((hidden[:, 0] == 0) & (hidden[:, 2] > 0))
    lead_alone = alone.probabilities[forgotten, 1].mean() - alone.probabilities[is_absent, 1].mean()
    lead_given = given.probabilities[forgotten, 1].mean() - given.probabilities[is_absent, 1].mean()
    assert lead_given > lead_alone + 0.1
