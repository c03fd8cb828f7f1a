"""Groups of near-duplicates: exact copies, planted relatives, and nothing where there is nothing."""

import numpy as np
import pytest
from scipy.stats import false_discovery_control

from tagrank.annotation.likeness.near_duplicates import (
    adjusted,
    certainties,
    find_groups,
    first_of_content,
    tail_probabilities,
)
from tagrank.annotation.likeness.outliers import nearest_others
from tests.annotation.likeness.test_alignment import CHANGES, photograph, rows_of


def groups_of(pictures, keys=None, **named):
    rows = rows_of(*pictures)
    first = first_of_content(keys or [bytes([number]) for number in range(len(rows))])
    distinct = np.unique(first)
    layout = rows[distinct] - rows[distinct].mean(axis=1, keepdims=True)
    neighbours, _ = nearest_others(layout, 20)
    return find_groups(rows, neighbours, first, **named)


@pytest.fixture(scope="module")
def archive():
    """60 photographs, and after them one relative of each of the first ones."""
    pictures = [photograph(seed, side=128) for seed in range(60)]
    return pictures + [change(pictures[number]) for number, change in enumerate(CHANGES.values())]


def test_planted_relatives_are_found_and_nothing_else(archive):
    found = {tuple(group.rows.tolist()) for group in groups_of(archive)}
    assert found == {(number, 60 + number) for number in range(len(CHANGES))}


def test_an_archive_without_relatives_has_no_groups(archive):
    assert groups_of(archive[:60]) == []


def test_copies_are_found_by_content(archive):
    keys = [bytes([number]) for number in range(59)] + [bytes([3])]
    copies = [*archive[:59], archive[3]]
    (group,) = groups_of(copies, keys)
    assert group.rows.tolist() == [3, 59]
    assert group.is_copy.all()
    assert group.likeness.tolist() == group.certainty.tolist() == [1, 1]


@pytest.mark.parametrize("n_pictures", [1, 2, 3, 12])
def test_few_pictures(archive, n_pictures):
    assert groups_of(archive[:n_pictures]) == []
    twice = [*archive[:n_pictures], archive[0]]
    (group,) = groups_of(twice)
    assert group.rows.tolist() == [0, n_pictures]
    assert not group.is_copy.any()


def test_every_picture_the_same():
    (group,) = groups_of([photograph(0)] * 30, [b"same"] * 30)
    assert len(group.rows) == 30


def test_series_are_one_group():
    """More relatives than a picture has candidates: the rest is found through others."""
    pictures = [photograph(seed, side=128) for seed in range(20)]
    series = [photograph(99, side=128).crop((one, 0, 118 + one, 128)) for one in range(10)]
    found = [group.rows.tolist() for group in groups_of([*pictures, *series])]
    assert found == [list(range(20, 30))]


def test_q_values_are_those_of_scipy():
    chances = np.random.default_rng(0).uniform(size=200) ** 3
    np.testing.assert_allclose(adjusted(chances), false_discovery_control(chances))
    assert len(adjusted(np.zeros(0))) == 0


def test_tail_probabilities_hold_for_the_law_they_assume():
    rng = np.random.default_rng(1)
    sample, new = (np.tanh(rng.exponential(0.1, size) + 0.2) for size in (4000, 40_000))
    for chance in (0.05, 0.01, 0.002):
        share = np.mean(tail_probabilities(new, sample) <= chance)
        assert share == pytest.approx(chance, rel=0.35)


def test_accidents_are_rarely_called_near_duplicates():
    """of collections without any, one in a hundred may have a false pair; and true ones are found."""
    rng = np.random.default_rng(2)
    n_false = 0
    for _ in range(40):
        accidents = [np.tanh(rng.normal(0.2, 0.15, 800)) for _ in range(2)]
        likeness = np.tanh(rng.normal(0.2, 0.15, 2000))
        n_false += bool(certainties(likeness, accidents).any())
        with_true = np.r_[likeness, np.full(50, 0.9)]
        assert np.all(certainties(with_true, accidents)[2000:] > 0.99)
    assert n_false <= 3


def test_without_accidents_to_learn_from_only_sure_pairs_count():
    certainty = certainties(np.array([0.5, 0.8, 0.9, 0.96, 1.0]), [np.zeros(3)])
    assert (certainty > 0).tolist() == [False, False, False, True, True]
