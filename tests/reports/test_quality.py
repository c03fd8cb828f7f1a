"""The sentence of quality: its numbers, how they read, and where they come from."""

import numpy as np
import pytest
from scipy.stats import binomtest

from tagrank.annotation import Annotator
from tagrank.data import Collection
from tagrank.estimators.calibration.completeness import Completeness
from tagrank.reports.quality import (
    Interval,
    QualityNote,
    held_out_quality,
    measured_quality,
    model_quality,
)


@pytest.mark.parametrize(
    ("right", "found", "sentence"),
    [
        (0.712, 0.64, "Of 100 predicted tags, about 71 are right; of 100 true tags, 64 are predicted."),
        (0.01, 0.01, "Of 100 predicted tags, about 1 is right; of 100 true tags, 1 is predicted."),
        (1.0, 1.0, "Of 100 predicted tags, all are right; of 100 true tags, 100 are predicted."),
        (
            0.999,
            0.999,
            "Of 100 predicted tags, more than 99 are right; of 100 true tags, more than 99 are predicted.",
        ),
        (
            0.001,
            0.001,
            "Of 100 predicted tags, fewer than 1 is right; of 100 true tags, fewer than 1 is predicted.",
        ),
        (0.0, 0.0, "Of 100 predicted tags, none is right; of 100 true tags, 0 are predicted."),
        (np.nan, 0.0, "The model predicts no tags: none is probable enough."),
        (0.0, np.nan, "Of 100 predicted tags, none is right."),
    ],
)
def test_the_sentence_reads_well(right, found, sentence):
    assert QualityNote(right, found, "on 10 pictures").sentence == sentence


def test_what_is_listed_is_told_where_figures_allow_for_it():
    half = QualityNote(0.7, 0.6, "on 9 pictures", Completeness(0.5, 0.45, 0.6))
    assert half.words.endswith(
        "Measured on 9 pictures. About 45 to 60 % of the true tags are listed; the figures account for that."
    )
    assert QualityNote(0.7, 0.6, "on 9 pictures", Completeness(1, 0.9, 1)).origin == "Measured on 9 pictures."


@pytest.mark.parametrize(
    ("right", "sentence"),
    [
        (0.712, "at least 71 are right (60 to 80)"),
        (0.01, "at least 1 is right (0 to 5)"),
        (0.0, "at least 0 are right (0 to 4)"),
        (0.001, "fewer than 1 is right (0 to 4)"),
        (1.0, "all are right (96 to 100)"),
    ],
)
def test_where_only_listed_tags_count_it_says_so(right, sentence):
    low, high = (float(number) / 100 for number in sentence[sentence.index("(") + 1 : -1].split(" to "))
    note = QualityNote(right, 0.64, "here", None, True, Interval(low, high), Interval(0.6, 0.68))
    assert (
        note.sentence == f"Of 100 predicted tags, {sentence}; of 100 true tags, 64 are predicted (60 to 68)."
    )
    assert note.origin == "Measured here. Only listed tags count as right."
    assert note.to_dict()["kind"] == "at least"


def test_an_interval_that_rounds_to_one_number_is_not_told():
    note = QualityNote(0.5, 0.5, "here", None, False, Interval(0.499, 0.501), Interval(0.4, 0.6))
    assert note.sentence.endswith("about 50 are right; of 100 true tags, 50 are predicted (40 to 60).")


def test_shares_are_counted_over_what_is_known():
    Y = [[1, 1, 0], [0, np.nan, 1], [0, 0, 1]]
    predictions = np.array([[1, 0, 1], [1, 1, 1], [0, 0, 0]])
    note = measured_quality(Y, predictions, "here")
    assert (note.right, note.found, note.kind) == (2 / 4, 2 / 4, "at least")
    assert np.isnan(measured_quality(Y, np.zeros((3, 3)), "here").right)


class Trained:
    """What a fitted estimator knows of the completeness of its training."""

    def __init__(self, share, low, high, n_tags):
        self.completeness_ = Completeness(share, low, high)
        self.label_completeness_ = np.full(n_tags, share)


def draw(share, seed, n=400, m=8):
    """Probabilities, the truth, what of it is listed, and what is written."""
    rng = np.random.default_rng(seed)
    probabilities = rng.beta(0.4, 1.6, size=(n, m))
    truth = rng.random((n, m)) < probabilities
    return probabilities, truth, truth & (rng.random((n, m)) < share), probabilities > 0.4


def test_the_interval_holds_the_share_that_is_true():
    """19 of 20 times, at least; the completeness is told with the error that its interval allows."""
    n_right = n_found = 0
    for seed in range(60):
        probabilities, truth, listed, written = draw(0.6, seed)
        told = 0.6 + 0.025 * np.random.default_rng(seed).normal()
        note = measured_quality(
            listed.astype(float),
            written,
            "here",
            estimator=Trained(told, told - 0.05, told + 0.05, 8),
            probabilities=probabilities,
        )
        assert note.kind == "estimated"
        n_right += note.right_interval.low <= truth[written].mean() <= note.right_interval.high
        found = np.count_nonzero(written & truth) / np.count_nonzero(truth)
        n_found += note.found_interval.low <= found <= note.found_interval.high
    # 57 are expected; 53 or fewer of 60 would come in 5 of 100 trials
    assert min(n_right, n_found) >= 54


def test_data_that_are_more_complete_than_the_training_are_counted_as_they_are():
    probabilities, truth, listed, written = draw(0.6, 0)
    asked = {"estimator": Trained(0.6, 0.55, 0.65, 8), "probabilities": probabilities}
    complete = measured_quality(truth.astype(float), written, "here", **asked)
    assert (complete.kind, complete.right) == ("at least", truth[written].mean())
    assert measured_quality(listed.astype(float), written, "here", **asked).kind == "estimated"
    surely = {"estimator": Trained(1.0, 1.0, 1.0, 8), "probabilities": probabilities}
    assert measured_quality(truth.astype(float), written, "here", **surely).kind == "estimated"
    # nearly all are listed, as far as can be told: some more may be right
    nearly = measured_quality(truth.astype(float), written, "here", estimator=Trained(1.0, 0.9, 1.0, 8))
    assert nearly.kind == "estimated"
    assert nearly.right_interval.high > nearly.right / 0.9
    unknown = measured_quality(truth.astype(float), written, "here", estimator=Trained(1.0, 0.3, 1.0, 8))
    assert unknown.kind == "at least"


def test_what_was_found_by_decisions_is_not_counted_as_listed():
    probabilities, truth, listed, written = draw(0.6, 1)
    found = truth & ~listed & (np.random.default_rng(0).random(truth.shape) < 0.5)
    asked = {"estimator": Trained(0.6, 0.55, 0.65, 8), "probabilities": probabilities}
    before = measured_quality(listed.astype(float), written, "here", **asked)
    after = measured_quality((listed | found).astype(float), written, "here", decided=found, **asked)
    assert after == before


def test_tags_of_one_picture_that_stand_or_fall_together_widen_the_interval():
    rng = np.random.default_rng(0)
    alone = (rng.random((200, 6)) < 0.5).astype(float)
    together = np.repeat((rng.random((200, 1)) < 0.5).astype(float), 6, axis=1)
    one, other = (measured_quality(Y, np.ones(Y.shape), "here").right_interval for Y in (alone, together))
    assert (other.high - other.low) > 2 * (one.high - one.low)


class HeldOut:
    """What an estimator measured on held-out samples: three tags a sample, four in five of them right."""

    threshold_, is_audited = 0.5, False
    completeness_ = Completeness(1, 1, 1)

    def __init__(self, n):
        self.n_held_out_, self.curve_ = n, self

    def quality(self, threshold):
        return 0.8, 0.6, 3.0


@pytest.mark.parametrize(("n", "n_trials"), [(20, 10), (50, 25), (400, 1_200), (2_000, 6_000)])
def test_few_samples_count_as_few_trials_and_many_by_their_tags(n, n_trials):
    note = held_out_quality(HeldOut(n), "here")
    of_trials = binomtest(round(0.8 * n_trials), n_trials).proportion_ci(method="wilson")
    assert tuple(note.right_interval) == pytest.approx((of_trials.low, of_trials.high), abs=1e-4)


def test_the_interval_of_what_is_found_is_wide_for_few_samples_too():
    told = [held_out_quality(HeldOut(n), "here").found_interval for n in (20, 50, 400)]
    # 0.6 of the listed tags, which are four a sample, are found
    counted = [binomtest(round(2.4 * n), 4 * n).proportion_ci(method="wilson") for n in (20, 50, 400)]
    widths = [[one.high - one.low for one in intervals] for intervals in (told, counted)]
    wider = np.divide(*widths)
    assert wider[:2].min() > 2
    assert wider[2] == pytest.approx(1, abs=1e-3)


def test_a_model_knows_what_its_tags_are_worth():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    Y = (X + 0.4 * rng.normal(size=X.shape) > 0).astype(float)
    annotator = Annotator("one-vs-all").fit(Collection({"x": X}, Y, ["a", "b", "c"]))
    note = model_quality(annotator, kind="row")
    assert (note.right, note.found) == annotator.estimator_.quality_[:2]
    assert note.measured == "on 90 rows, with models that were not trained on them"
    sure, most = annotator.deciding(0.95), annotator.deciding(0.05)
    assert model_quality(sure).right > note.right > model_quality(most).right
    assert model_quality(sure).found < note.found < model_quality(most).found
    assert model_quality(annotator, min_probability=0.95) == model_quality(sure)
    assert np.isnan(model_quality(annotator.deciding(1.0)).right)
    plain = Annotator(annotator.estimator_.estimator).fit(annotator.training_)
    assert model_quality(plain) is None
