"""The sentence of quality: its numbers, how they read, and where they come from."""

import numpy as np
import pytest

from tagrank.annotation import Annotator
from tagrank.data import Collection
from tagrank.estimators.calibration.completeness import Completeness
from tagrank.reports.quality import QualityNote, measured_quality, model_quality


@pytest.mark.parametrize(
    ("right", "found", "sentence"),
    [
        (0.712, 0.64, "Of 100 tags that it would write, about 71 are right; it finds 64 of 100."),
        (0.01, 0.01, "Of 100 tags that it would write, about 1 is right; it finds 1 of 100."),
        (1.0, 1.0, "Of 100 tags that it would write, all are right; it finds 100 of 100."),
        (
            0.999,
            0.999,
            "Of 100 tags that it would write, more than 99 are right; it finds more than 99 of 100.",
        ),
        (
            0.001,
            0.001,
            "Of 100 tags that it would write, fewer than 1 is right; it finds fewer than 1 of 100.",
        ),
        (0.0, 0.0, "Of 100 tags that it would write, none is right; it finds 0 of 100."),
        (np.nan, 0.0, "It would write no tag at all: none is probable enough."),
        (0.0, np.nan, "Of 100 tags that it would write, none is right."),
    ],
)
def test_the_sentence_reads_well(right, found, sentence):
    assert QualityNote(right, found, "on 10 pictures").sentence == sentence


def test_what_is_listed_is_told_where_figures_allow_for_it():
    half = QualityNote(0.7, 0.6, "on 9 pictures", Completeness(0.5, 0.45, 0.6))
    assert half.words.endswith(
        "Measured on 9 pictures. About 45 to 60 % of the true tags are listed; figures allow for that."
    )
    assert QualityNote(0.7, 0.6, "on 9 pictures", Completeness(1, 0.9, 1)).origin == "Measured on 9 pictures."


def test_shares_are_counted_over_what_is_known():
    Y = [[1, 1, 0], [0, np.nan, 1], [0, 0, 1]]
    predictions = np.array([[1, 0, 1], [1, 1, 1], [0, 0, 0]])
    note = measured_quality(Y, predictions, "here")
    assert (note.right, note.found) == (2 / 4, 2 / 4)
    assert np.isnan(measured_quality(Y, np.zeros((3, 3)), "here").right)


def test_a_model_knows_what_its_tags_are_worth():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    Y = (X + 0.4 * rng.normal(size=X.shape) > 0).astype(float)
    annotator = Annotator("one-vs-all").fit(Collection({"x": X}, Y, ["a", "b", "c"]))
    note = model_quality(annotator, kind="row")
    assert (note.right, note.found) == annotator.estimator_.quality_[:2]
    assert note.measured == "on 90 rows by models that did not see them"
    sure, most = annotator.deciding(0.95), annotator.deciding(0.05)
    assert model_quality(sure).right > note.right > model_quality(most).right
    assert model_quality(sure).found < note.found < model_quality(most).found
    assert model_quality(annotator, min_probability=0.95) == model_quality(sure)
    assert np.isnan(model_quality(annotator.deciding(1.0)).right)
    plain = Annotator(annotator.estimator_.estimator).fit(annotator.training_)
    assert model_quality(plain) is None
