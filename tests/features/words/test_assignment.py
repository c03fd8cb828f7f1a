"""Nearest words against plain distances."""

import numpy as np
import pytest

from tagrank.features.words.vocabulary import nearest_words, squared_distances


@pytest.mark.parametrize("n_points", [0, 1, 700])
@pytest.mark.parametrize("n_nearest", [1, 4])
def test_nearest_words_are_the_nearest_in_order(n_points, n_nearest):
    rng = np.random.default_rng(0)
    points, centres = rng.random((n_points, 16), np.float32), rng.random((40, 16), np.float32)
    words = nearest_words(points, centres, n_nearest=n_nearest)
    distances = ((points[:, None].astype(float) - centres) ** 2).sum(axis=2)
    np.testing.assert_array_equal(words, np.argsort(distances, axis=1)[:, :n_nearest])


def test_all_words_can_be_asked_for():
    rng = np.random.default_rng(1)
    words = nearest_words(rng.random((9, 3), np.float32), rng.random((5, 3), np.float32), n_nearest=5)
    assert (np.sort(words, axis=1) == np.arange(5)).all()


def test_small_distances_far_from_the_origin_are_exact():
    centres = np.float32([[1000, 1000], [3000, 0]])
    points = np.float32([[1000.125, 1000]])
    np.testing.assert_array_equal(squared_distances(points, centres, np.array([[0]])), [[0.125**2]])
