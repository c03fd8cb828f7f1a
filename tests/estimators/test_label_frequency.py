"""The baseline counts labels and looks at nothing else."""

import numpy as np
import pytest

from tagrank.estimators import LabelFrequency

Y = np.array([[1, 0, np.nan, 1], [1, 1, 0, np.nan], [1, 0, 1, np.nan], [0, 0, np.nan, 1]])


def test_frequencies_leave_unknown_labels_out():
    baseline = LabelFrequency().fit(np.empty((4, 0)), Y)
    np.testing.assert_allclose(baseline.frequencies_, [0.75, 0.25, 0.5, 1.0])
    np.testing.assert_array_equal(baseline.decision_function(["a.png"]), [baseline.frequencies_])


def test_predicts_as_many_labels_as_a_sample_has_on_average():
    baseline = LabelFrequency().fit([[0]] * 4, np.nan_to_num(Y))
    assert baseline.predict([[0]]).tolist() == [[1, 0, 0, 1]]


def test_sample_weights_count_as_repetitions():
    weights = np.array([2, 1, 0, 3])
    repeated = LabelFrequency().fit(np.zeros(6), np.repeat(Y[:, [0, 1, 3]], weights, axis=0))
    weighted = LabelFrequency().fit(np.zeros(4), Y[:, [0, 1, 3]], sample_weight=weights)
    np.testing.assert_allclose(weighted.frequencies_, repeated.frequencies_)


def test_a_label_never_known_has_frequency_zero():
    with pytest.warns(UserWarning, match="never positive"):
        baseline = LabelFrequency().fit(np.zeros(2), [[1, np.nan], [0, np.nan]])
    assert baseline.frequencies_.tolist() == [0.5, 0.0]


def test_any_rows_will_do():
    for X in ({"gist": np.zeros((4, 2)), "sift": [[1]] * 4}, ["a", "b", "c", "d"], np.full((4, 1), np.nan)):
        baseline = LabelFrequency().fit(X, np.nan_to_num(Y))
        assert baseline.decision_function(X).shape == (4, 4)
        assert 0.5 < baseline.score(X, np.nan_to_num(Y)) <= 1


def test_one_dimensional_classes():
    baseline = LabelFrequency().fit(np.zeros(3), ["b", "a", "b"])
    assert baseline.predict(np.zeros(2)).tolist() == ["b", "b"]
    np.testing.assert_allclose(baseline.decision_function(np.zeros(2)), 1 / 3)


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="X has 3, y has 4"):
        LabelFrequency().fit(np.zeros(3), Y)
