"""One sentence means one thing, whichever command says it: of the tags written, the share that is true."""

import numpy as np
import pytest

from tagrank import Collection, annotate, draw_pictures, evaluate, train
from tagrank.data import hide_labels, split_collection

SEED = 0
HIDDEN = 0.4


def draw_truth(n=3600, m=12):
    """Rows with three tags of twelve on average; two thirds are for no training."""
    rng = np.random.default_rng(SEED)
    X = rng.normal(size=(n, 12))
    strength = X @ rng.normal(size=(12, m)) / 2 + 0.5 * rng.normal(size=(n, m))
    Y = (strength > np.quantile(strength, 0.75)).astype(float)
    Y[np.arange(n), strength.argmax(axis=1)] = 1
    return Collection({"x": X}, Y, names=[str(i) for i in range(n)], name="drawn")


@pytest.fixture(scope="module")
def everything():
    return draw_truth()


@pytest.fixture(scope="module")
def truth(everything):
    return everything.subset(slice(0, 1200))


@pytest.fixture(scope="module")
def others(everything):
    return everything.subset(slice(1200, None))


@pytest.fixture(scope="module")
def listed(truth):
    return truth.with_labels(hide_labels(truth.Y, HIDDEN, random_state=SEED), truth.tags)


@pytest.fixture(scope="module")
def training(listed):
    return train(listed, method="one-vs-all", C=1.0, test_size=0.25, seed=SEED, refit=False)


def shares(annotator, rows):
    """What is right and found, by the truth."""
    written, true = annotator.predict(rows) > 0, np.asarray(rows.Y) > 0
    hits = np.count_nonzero(written & true)
    return hits / np.count_nonzero(written), hits / np.count_nonzero(true)


def test_all_commands_say_the_same_about_incomplete_tags_and_it_is_true(truth, others, listed, training):
    rest = split_collection(listed, test_size=0.25, random_state=SEED).test
    true_rest = truth.subset([int(name) for name in rest.names])
    counted = np.asarray(rest.Y)[training.annotator.predict(rest) > 0].mean()
    said = {
        "train": (training.quality, true_rest),
        "evaluate": (evaluate(training.annotator, rest, part="all").quality, true_rest),
        # this is about whatever pictures may come
        "annotate": (annotate(training.annotator, rest).quality, others),
    }
    for command, (note, rows) in said.items():
        right, found = shares(training.annotator, rows)
        assert note.kind == "estimated", command
        # 4 of 10 true tags are hidden: counting them as errors would be 30 points too low
        assert note.right > counted + 0.2, command
        assert note.right_interval.low <= right <= note.right_interval.high, command
        assert note.found_interval.low <= found <= note.found_interval.high, command
        # of 900 pairs written 95 % lie within 3 points; completeness is told within 8 % of itself
        assert note.right == pytest.approx(right, abs=0.08), command
        assert note.found == pytest.approx(found, abs=0.05), command
    assert said["train"][0].right == said["evaluate"][0].right


def test_complete_tags_are_counted_as_they_are(truth, others, training):
    """A model that learned from incomplete tags meets complete ones: nothing is added to what is listed."""
    note = evaluate(training.annotator, others, part="all").quality
    right, found = shares(training.annotator, others)
    assert (note.kind, note.right, note.found) == ("at least", right, found)
    told = train(truth, method="one-vs-all", C=1.0, completeness=1.0, seed=SEED).annotator
    assert evaluate(told, others, part="all").quality.kind == "estimated"


def test_what_a_model_without_probabilities_writes_is_right_at_least_so_often(listed):
    plain = train(listed, method="one-vs-all", C=1.0, calibration=None, test_size=0.25)
    assert plain.quality.kind == "at least"
    assert annotate(plain.annotator, listed).quality is None


def test_drawn_pictures_have_all_their_tags():
    drawn = draw_pictures(60)
    known = train(drawn, features="hsv", method="one-vs-all", C=1.0, completeness=1.0)
    assert known.quality.kind == "estimated"
