"""Thresholds against exhaustive search."""

import numpy as np
import pytest

from tagrank.estimators.calibration.decisions import (
    cardinality_threshold,
    f1_thresholds,
    global_threshold,
    predict_top,
)
from tagrank.metrics import f_measure


@pytest.fixture(params=[0, 1, 2])
def problem(request):
    """States with unknown entries, and coarse scores, so that many are equal."""
    rng = np.random.default_rng(request.param)
    states = rng.choice([-1, -1, 1, 0], size=(40, 7)).astype(np.int8)
    return states, np.round(rng.normal(size=states.shape) + states, 1)


def labels(states):
    return np.where(states == 0, np.nan, states > 0)


def test_f1_thresholds_equal_exhaustive_search(problem):
    states, scores = problem
    found = f1_thresholds(states, scores)
    for label in range(states.shape[1]):
        column = labels(states[:, [label]])
        best = max(f_measure(column, scores[:, [label]] >= cut) for cut in np.unique(scores))
        assert f_measure(column, scores[:, [label]] >= found[label]) == pytest.approx(best)


def test_global_threshold_equals_exhaustive_search(problem):
    states, scores = problem
    best = max(f_measure(labels(states), scores >= cut) for cut in np.unique(scores))
    assert f_measure(labels(states), scores >= global_threshold(states, scores)) == pytest.approx(best)


def test_cardinality_threshold_is_the_nearest_possible(problem):
    states, scores = problem
    known, wanted = states != 0, np.count_nonzero(states > 0)
    nearest = min(abs(np.count_nonzero(scores[known] >= cut) - wanted) for cut in np.unique(scores))
    found = np.count_nonzero(scores[known] >= cardinality_threshold(states, scores))
    assert abs(found - wanted) == nearest


def test_unknown_entries_do_not_count(problem):
    states, scores = problem
    changed = np.where(states == 0, 1e6, scores)
    for find in (f1_thresholds, global_threshold, cardinality_threshold):
        np.testing.assert_array_equal(find(states, scores), find(states, changed))


def test_threshold_lies_half_way():
    states, scores = np.array([[1], [1], [-1]], dtype=np.int8), np.array([[3.0], [2.0], [1.0]])
    for find in (f1_thresholds, global_threshold, cardinality_threshold):
        assert np.ravel(find(states, scores)) == [1.5]


def test_neighbouring_floats_are_told_apart():
    upper = 1.0
    scores = np.array([[upper], [np.nextafter(upper, 0)]])
    threshold = f1_thresholds(np.array([[1], [-1]], dtype=np.int8), scores)
    assert (scores >= threshold).tolist() == [[True], [False]]


def test_labels_that_teach_nothing_take_the_fallback():
    states = np.array([[-1, -1, 0], [-1, 1, 0], [-1, -1, 0]], dtype=np.int8)
    scores = np.array([[1.0, 5.0, 0.0], [2.0, 5.0, 0.0], [3.0, 5.0, 0.0]])
    assert f1_thresholds(states, scores, fallback=7.0).tolist() == [7.0, 7.0, 7.0]


def test_nothing_present_predicts_nothing():
    states = np.array([[-1, 0], [-1, -1]], dtype=np.int8)
    assert global_threshold(states, np.zeros((2, 2))) == np.inf
    assert cardinality_threshold(states, np.zeros((2, 2))) == np.inf


def test_predict_top():
    scores = np.array([[1.0, 3.0, 2.0, 3.0], [0.0, 0.0, 0.0, 0.0]])
    assert predict_top(scores, 3).tolist() == [[0, 1, 1, 1], [1, 1, 1, 0]]
    assert predict_top(scores, 9).sum() == 8
    assert predict_top(scores, 0).sum() == 0
