"""Outliers are far from all others; a pair of near-duplicates is no company."""

import numpy as np
import pytest
from scipy import sparse

from tagrank.annotation.likeness.outliers import (
    far_out,
    isolation,
    nearest_others,
    unit_rows,
    unlike_their_tags,
)


@pytest.fixture(scope="module")
def rows():
    """200 rows in two clouds, two strangers, and a near copy of the first stranger."""
    rng = np.random.default_rng(0)
    centres = 4 * rng.normal(size=(2, 30))
    cloud = centres[np.arange(200) % 2] + rng.normal(size=(200, 30))
    strangers = 9 * rng.normal(size=(2, 30))
    return np.float32(np.r_[cloud, strangers, strangers[:1] + 0.01])


def test_strangers_are_outliers(rows):
    neighbours, distances = nearest_others(rows, 20)
    groups = np.arange(len(rows))
    groups[202] = 200
    far, relative = far_out(isolation(neighbours, distances, groups))
    assert set(far[:3].tolist()) == {200, 201, 202}
    assert relative[far[0]] > 2
    assert np.median(relative) == pytest.approx(1)
    # without knowing of the copy it is company
    alone = isolation(neighbours, distances, np.arange(len(rows)))
    assert alone[200] < isolation(neighbours, distances, groups)[200]


def test_isolation_is_the_mean_distance_to_those_outside_of_the_group():
    neighbours = np.array([[1, 2, 3], [0, 2, 3], [0, 1, 3], [2, 1, 0]])
    distances = np.array([[1.0, 2, 4], [1, 3, 5], [2, 3, 7], [7, 5, 4]])
    alone = isolation(neighbours, distances, np.array([0, 0, 2, 3]))
    assert alone.tolist() == [3, 4, 4, pytest.approx(16 / 3)]
    assert np.isnan(isolation(neighbours, distances, np.zeros(4, int))).all()


def test_few_pictures_or_equal_ones_have_no_outliers():
    assert len(far_out(np.array([1.0, 1, 9]))[0]) == 0
    assert len(far_out(np.zeros(50))[0]) == 0
    assert len(far_out(np.ones(50))[0]) == 0


def test_pictures_unlike_their_tags(rows):
    states = np.zeros((len(rows), 2), int)
    states[:200:2, 0] = states[1:200:2, 1] = 1
    # one of the first cloud is said to be of the second
    states[10, 1] = 1
    told = []
    found = unlike_their_tags(rows, states, progress=lambda done, total: told.append((done, total)))
    assert found[0][:2] == (10, 1)
    assert told == [(1, 2), (2, 2)]
    assert unlike_their_tags(rows, states[:, :0]) == []


def test_unit_rows_join_views():
    rng = np.random.default_rng(3)
    dense, counts = rng.normal(size=(50, 7)).astype(np.float32), rng.poisson(0.2, (50, 9)).astype(np.float32)
    counts[4] = 0
    joined = unit_rows([dense, sparse.csr_array(counts)])
    assert joined.shape == (50, 16)
    np.testing.assert_allclose(np.linalg.norm(joined[:, :7], axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(joined[5, 7:]), 1 if counts[5].any() else 0, rtol=1e-6)
    assert not joined[4, 7:].any()
