"""Tags given to each sample: ties at the cut, absent tags, unknown labels."""

import numpy as np
import pytest

from tagrank.metrics import annotation_scores
from tagrank.metrics.predictions import top_shares


def test_a_tie_at_the_cut_is_shared():
    states = np.array([[1, -1, -1, 1, 0], [1, 1, 0, 0, 0], [1, -1, 1, -1, 1]], dtype=np.int8)
    scores = np.array([[5.0, 3, 3, 3, 9], [1, 2, 3, 4, 5], [1, 2, 3, 4, 5]])
    expected = [[1, 1 / 3, 1 / 3, 1 / 3, 0], [1, 1, 0, 0, 0], [0, 0, 0, 1, 1]]
    np.testing.assert_allclose(top_shares(states, scores, 2), expected)
    np.testing.assert_allclose(top_shares(states, scores, 2).sum(axis=1), 2)
    np.testing.assert_array_equal(top_shares(states, scores, 7), states != 0)


def test_a_sample_with_fewer_known_labels_than_places_gets_them_all():
    states = np.array([[0, 0, -1, 0], [1, 0, -1, -1]], dtype=np.int8)
    scores = np.array([[4.0, 3, 2, 1], [4, 3, 2, 1]])
    np.testing.assert_array_equal(top_shares(states, scores, 2), [[0, 0, 1, 0], [1, 0, 1, 0]])


def test_n_plus_counts_only_sure_hits():
    Y = np.array([[1, 1, 0, 0]])
    tied = annotation_scores(Y, np.zeros((1, 4)), n_tags=2)
    assert tied.recall == 0.5
    assert tied.n_plus == 0
    assert annotation_scores(Y, np.array([[2.0, 2, 1, 1]]), n_tags=2).n_plus == 2


def test_f1_is_that_of_the_means():
    # tag 0: P = 1, R = 1/2; tag 1: P = 1/3, R = 1
    Y = np.array([[1, 0], [1, 0], [0, 1], [0, 0]])
    P = np.array([[1, 0], [0, 1], [0, 1], [0, 1]])
    found = annotation_scores(Y, predictions=P)
    assert found.precision == pytest.approx(2 / 3)
    assert found.recall == pytest.approx(3 / 4)
    assert found.f1 == pytest.approx(2 * (2 / 3) * (3 / 4) / (2 / 3 + 3 / 4))


def test_no_hit_at_all_is_zero_not_nan():
    found = annotation_scores([[1, 0]], predictions=[[0, 1]])
    assert (found.precision, found.recall, found.f1, found.n_plus) == (0, 0, 0, 0)


def test_clear_errors():
    Y, F = [[1, 0]], [[1.0, 0]]
    with pytest.raises(ValueError, match="either scores F or predictions"):
        annotation_scores(Y)
    with pytest.raises(ValueError, match="either scores F or predictions"):
        annotation_scores(Y, F, predictions=Y)
    with pytest.raises(ValueError, match="n_tags must be a positive integer, got 0"):
        annotation_scores(Y, F, n_tags=0)
    with pytest.raises(ValueError, match="absent_tags must be one of 'drop', 'zero'"):
        annotation_scores(Y, F, absent_tags="ignore")
    with pytest.raises(ValueError, match=r"0 or 1, got 0\.5"):
        annotation_scores(Y, predictions=[[0.5, 1]])
