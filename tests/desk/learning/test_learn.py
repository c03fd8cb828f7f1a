"""One training: held-out probabilities, warm starts, small archives."""

from dataclasses import replace

import numpy as np
import pytest

from tagrank.annotation import Annotator
from tagrank.data import Collection
from tagrank.desk.learning import choosing
from tagrank.desk.learning.examples import Examples, NothingToLearn
from tagrank.desk.learning.learn import Cancelled, learn
from tagrank.desk.learning.remembered import OUTSIDE, deal
from tagrank.estimators import RidgeRegression

NOTHING = np.zeros(0, dtype=int), np.zeros(0, dtype=int)


def examples(n=120, m=6, *, seed=0, untagged=20, ids=None, decided=NOTHING, labels=None):
    """Rows whose tags can be learned; the last ones are untagged."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 8))
    # with noise: labels that a plane separates ask for an ever larger C
    Y = (X @ rng.normal(size=(8, m)) + 0.5 * rng.normal(size=(n, m)) > 2.0).astype(float)
    Y[~Y.any(axis=1), 0] = 1
    Y[n - untagged :] = np.nan
    Y = Y if labels is None else labels(Y)
    tags = [f"tag {j}" for j in range(Y.shape[1])]
    return Examples(Collection({"rows": X}, Y, tags), np.arange(n) if ids is None else ids, decided)


@pytest.fixture(scope="module")
def first():
    return learn(examples())


def test_every_picture_is_judged(first):
    assert first.probabilities.shape == first.proposed().shape == (120, 6)
    assert np.all(np.isfinite(first.probabilities))
    assert first.metrics["Image-AUC"] > 0.8
    assert first.gap <= 1e-3
    is_tagged = first.solutions.folds != OUTSIDE
    np.testing.assert_array_equal(np.flatnonzero(~is_tagged), np.arange(100, 120))
    truth = examples(untagged=0).rows.labels[100:]
    assert (
        np.mean(first.probabilities[100:][truth > 0]) > np.mean(first.probabilities[100:][truth == 0]) + 0.2
    )


def test_no_model_saw_the_labels_of_the_picture_that_it_judged(first):
    changed = examples(labels=lambda Y: np.vstack([1 - Y[:1], Y[1:]]))
    again = learn(changed, first)
    one = first.solutions.folds[0]
    np.testing.assert_array_equal(again.solutions.folds, first.solutions.folds)
    # the same rows and labels for the model of this fold: only the curve of all tags may differ
    for solution, other in zip(first.solutions.of_folds[one], again.solutions.of_folds[one], strict=True):
        np.testing.assert_allclose(solution.toarray(), other.toarray(), atol=1e-3)


def test_a_later_training_keeps_choice_and_folds_and_finds_the_same(first):
    again = learn(examples(), first)
    assert again.chosen is first.chosen
    assert again.prepared is first.prepared
    np.testing.assert_allclose(again.probabilities, first.probabilities, atol=0.02)
    fresh = learn(examples(), first, fresh=True)
    assert fresh.chosen is not first.chosen


def test_the_folds_have_the_penalty_of_the_last_model(first, monkeypatch):
    penalties, fit = [], RidgeRegression.fit

    def noting(self, X, y):
        fit(self, X, y)
        penalties.append(self.alpha_)
        return self

    monkeypatch.setattr(RidgeRegression, "fit", noting)
    model = replace(first.chosen, estimator=RidgeRegression())
    learned = learn(examples(), replace(first, chosen=model, solutions=first.solutions.only_folds()))
    assert len(penalties) > 2
    assert set(penalties) == {learned.model.estimator_.alpha_}


def test_pictures_and_tags_come_and_go(first):
    kept = np.r_[0:50, 60:120]

    def fewer(Y):
        return np.column_stack(
            [Y[:, 1:], np.where(np.arange(len(Y)) < 3, 1.0, np.where(np.isnan(Y[:, 0]), np.nan, 0))]
        )

    whole = examples(labels=fewer)
    rows = whole.rows.subset(kept).with_labels(
        whole.rows.labels[kept], [f"tag {j}" for j in range(1, 6)] + ["new"]
    )
    again = learn(Examples(rows, kept, NOTHING), first)
    np.testing.assert_array_equal(again.solutions.folds, first.solutions.folds[kept])
    cold = learn(Examples(rows, kept, NOTHING), None)
    assert again.tags[-1] == "new"
    assert again.gap <= 1e-3
    assert again.metrics["Image-AUC"] > cold.metrics["Image-AUC"] - 0.05
    assert again.is_judged[50:, -1].mean() > 0.7


def test_a_decided_no_is_known_and_lowers_nothing_else(first):
    top = np.argwhere((first.states < 0) & (first.proposed() > 0.05))[:30].T
    again = learn(examples(decided=tuple(top)), first)
    assert np.all(again.proposed()[tuple(top)] == np.maximum(again.probabilities, 1e-7)[tuple(top)])
    assert again.missing.estimate < first.missing.estimate


def test_the_model_annotates_and_is_saved(first, tmp_path):
    first.annotator().save(tmp_path / "model")
    loaded = Annotator.load(tmp_path / "model")
    X = examples().rows.view("rows")[100:]
    np.testing.assert_allclose(loaded.probabilities(X), first.probabilities[100:], atol=1e-5)


def test_it_can_be_cancelled():
    with pytest.raises(Cancelled):
        learn(examples(n=40), stop=lambda: True)


def small(labels, n=12):
    X = np.random.default_rng(0).normal(size=(n, 3))
    Y = np.full((n, len(labels[0])), np.nan)
    Y[: len(labels)] = labels
    tags = [f"tag {j}" for j in range(Y.shape[1])]
    return Examples(Collection({"rows": X}, Y, tags), np.arange(n), NOTHING)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (small([[0.0]]), "no picture has a tag yet"),
        (small([[np.nan, np.nan]]), "no picture has a tag yet"),
        (small([[1.0]] * 12), "every picture has every tag"),
        (small([[1.0, 0.0]]), "one picture has tags"),
        (Examples(Collection({"rows": np.zeros((3, 2))}), np.arange(3), NOTHING), "no picture has a tag yet"),
    ],
)
def test_why_there_is_no_model_yet(given, says):
    with pytest.raises(NothingToLearn, match=says):
        learn(given)


@pytest.mark.parametrize(
    "given",
    [
        small([[1.0]] * 3),  # one tag on three pictures
        small([[1.0, 0.0], [0.0, 1.0]]),
        small([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
        small([[1.0], [0.0], [0.0]]),
        small([[1.0, 0.0]] * 6 + [[0.0, 1.0]] * 6),
    ],
)
def test_a_small_archive_has_a_model(given):
    found = learn(given)
    assert np.all(np.isfinite(found.probabilities))
    assert np.any(found.is_judged)
    assert np.all((found.proposed() >= 0) & (found.proposed() <= 1))
    again = learn(given, found)
    np.testing.assert_allclose(again.probabilities, found.probabilities, atol=0.05)


def test_too_many_to_compare_are_learned_by_linear_models(monkeypatch):
    monkeypatch.setattr(choosing, "why_linear", lambda n_rows: "too many")
    found = learn(examples(n=60))
    assert found.chosen.note == "too many"
    assert found.prepared.compared.__class__.__name__ == "PlainRows"
    assert found.metrics["Image-AUC"] > 0.8


def test_folds_stay_and_new_pictures_are_dealt_out_evenly():
    states = np.where(np.random.default_rng(0).random((50, 3)) < 0.3, 1, -1).astype(np.int8)
    folds = deal(states)
    assert np.bincount(folds).tolist() == [10] * 5
    before = folds.copy()
    before[40:] = OUTSIDE
    again = deal(states, before)
    np.testing.assert_array_equal(again[:40], folds[:40])
    assert np.ptp(np.bincount(again)) <= 1
    states[7] = 0
    assert deal(states, before)[7] == OUTSIDE


def test_a_new_tag_is_proposed_from_three_pictures(first):
    whole, truth = examples(), examples(untagged=0).rows.labels[:, 1] > 0
    is_known = first.solutions.folds != OUTSIDE
    has = np.flatnonzero(truth & is_known)[:3]
    column = np.where(is_known, 0.0, np.nan)
    column[has] = 1
    others = [0, 2, 3, 4, 5]
    labels, tags = np.column_stack([whole.rows.labels[:, others], column]), [whole.tags[j] for j in others]
    rows = whole.rows.with_labels(labels, [*tags, "new"])
    found = learn(Examples(rows, whole.ids, (has, np.full(3, 5))), first).proposed()[:, -1]
    rest = np.setdiff1d(np.arange(120), has)
    assert found[rest][truth[rest]].mean() > 1.5 * found[rest][~truth[rest]].mean()
    # that nobody listed them with the tag does not speak against it, as a decision would
    known = np.flatnonzero(is_known)
    decided = learn(Examples(rows, whole.ids, (known, np.full(len(known), 5))), first).proposed()[:, -1]
    assert found[rest].sum() > 1.1 * decided[rest].sum()


def test_what_was_accepted_unmarked_teaches_nothing(first):
    """Else a keeper who only presses Enter would let the model confirm itself."""
    before = examples()
    rows, columns = np.nonzero(before.rows.labels[:100] == 0)
    unmarked = rows[:40], columns[:40]

    def accept(Y):
        Y[unmarked] = 1
        return Y

    given = examples(labels=accept)
    accepted = Examples(given.rows, given.ids, unmarked, unmarked=unmarked)
    np.testing.assert_array_equal(accepted.states(), before.states())
    assert not accepted.decided_mask().any()
    again = learn(accepted, first)
    np.testing.assert_allclose(again.probabilities, first.probabilities, atol=0.02)
    assert again.missing.estimate < first.missing.estimate


def test_a_picture_whose_only_tags_were_accepted_unmarked_is_untagged():
    def accept(Y):
        Y[110] = [1, 0, 0, 0, 0, 0]
        return Y

    given = examples(labels=accept)
    accepted = Examples(given.rows, given.ids, NOTHING, unmarked=(np.array([110]), np.array([0])))
    np.testing.assert_array_equal(accepted.states(), examples().states())
