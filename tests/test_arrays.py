"""Walking over rows in blocks; other array libraries are tested with the solvers."""

import numpy as np
import pytest

from tagrank.arrays import namespace_of, row_blocks, rows_within, to_host, written_zeros


@pytest.mark.parametrize("n_rows", [0, 1, 4, 5, 6, 11])
def test_blocks_cover_all_rows_once(n_rows):
    blocks = list(row_blocks(n_rows, 5))
    assert np.concatenate(
        [np.empty(0, int), *(np.arange(n_rows)[block] for block in blocks)]
    ).tolist() == list(range(n_rows))
    assert all(0 < block.stop - block.start <= 5 for block in blocks)
    assert all(block.stop <= n_rows for block in blocks)


def test_rows_within_a_budget():
    assert rows_within(1024, megabytes=1) == 128
    assert rows_within(1024, itemsize=4, megabytes=1) == 256
    assert rows_within(10**12) == 1
    assert rows_within(0) > 1


def test_numpy_is_the_common_case():
    for array in (np.ones(2), [1, 2], np.float64(1)):
        assert namespace_of(array) is np
    assert isinstance(to_host([1, 2]), np.ndarray)


def test_written_zeros():
    zeros = written_zeros((3, 2), np.float32)
    assert zeros.dtype == np.float32
    np.testing.assert_array_equal(zeros, np.zeros((3, 2)))
