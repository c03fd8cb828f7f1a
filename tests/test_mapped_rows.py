"""Rows that are mapped from files: what is made of them lies in a file, too, where it is large."""

import errno
import os
import tempfile
import tracemalloc

import numpy as np
import pytest

from tagrank import array_files
from tagrank.array_files import blocks_of_rows, hold_rows, is_mapped, join_columns, take_rows


@pytest.fixture
def rows():
    return np.random.default_rng(0).standard_normal((300, 7)).astype(np.float32)


@pytest.fixture
def mapped(rows, tmp_path):
    np.save(tmp_path / "rows.npy", rows)
    return np.load(tmp_path / "rows.npy", mmap_mode="r")


@pytest.fixture
def everything_is_large(monkeypatch):
    monkeypatch.setattr(array_files, "LARGEST_IN_MEMORY", 0)
    monkeypatch.setattr(array_files, "BLOCK_BYTES", 500)


def test_parts_of_a_file_are_told_from_memory(mapped, rows):
    assert is_mapped(mapped)
    assert is_mapped(np.asarray(mapped)[3:].T)
    assert not is_mapped(rows)
    assert not is_mapped(np.array(mapped))
    assert not is_mapped([1, 2])


def test_blocks_are_all_rows(mapped, rows, everything_is_large):
    blocks = list(blocks_of_rows(mapped))
    assert len(blocks) > 10
    assert all(np.shares_memory(block, mapped) for block in blocks)
    np.testing.assert_array_equal(np.concatenate(blocks), rows)
    assert list(blocks_of_rows(rows[:0])) == []


def test_rows_that_follow_each_other_are_not_copied(mapped, rows):
    part = take_rows(mapped, np.arange(20, 90))
    assert np.shares_memory(part, mapped)
    np.testing.assert_array_equal(part, rows[20:90])
    # who might write to them gets a copy, as of rows in memory
    assert not np.shares_memory(take_rows(rows, np.arange(20, 90)), rows)


@pytest.mark.parametrize("chosen", [[], [5], [5, 4, 3], [-3, -2, -1, 0], [0, 0, 299], list(range(0, 300, 2))])
def test_any_rows_go_to_a_file_where_they_are_large(mapped, rows, everything_is_large, chosen):
    chosen = np.array(chosen, dtype=np.intp)
    part = take_rows(mapped, chosen)
    assert is_mapped(part) or not len(chosen)
    np.testing.assert_array_equal(part, rows[chosen])


def test_columns_are_joined_in_a_file(mapped, rows, everything_is_large):
    joined = join_columns([mapped, rows.astype(np.float64)])
    assert is_mapped(joined)
    np.testing.assert_array_equal(joined, np.hstack([rows, rows.astype(np.float64)]))
    assert not is_mapped(join_columns([rows, rows]))


def test_rows_in_memory_stay_in_memory(rows, everything_is_large):
    assert not is_mapped(hold_rows([rows], rows.shape, rows.dtype, made_of=[rows]))


def test_the_file_has_no_name(mapped, everything_is_large, monkeypatch, tmp_path):
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    part = take_rows(mapped, np.arange(299, -1, -1))
    assert is_mapped(part)
    assert os.listdir(place) == []


def test_a_full_disk_is_an_error_that_says_where(mapped, everything_is_large, monkeypatch):
    def refuse(*_args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(array_files, "write_npy", refuse)
    with pytest.raises(OSError, match=r"No space left on device: rows of shape \(2, 7\) go to .*TMPDIR"):
        take_rows(mapped, np.array([2, 0]))


def test_memory_does_not_grow_with_the_rows(tmp_path, monkeypatch):
    """What is allocated for 40 MB of rows out of 80: less than 16 MB."""
    monkeypatch.setattr(array_files, "LARGEST_IN_MEMORY", 0)
    rows = np.lib.format.open_memmap(tmp_path / "x.npy", "w+", np.float32, (20_000, 1000))
    rows.flush()
    rows.flags.writeable = False
    tracemalloc.start()
    try:
        part = take_rows(rows, np.arange(0, 20_000, 2))
        joined = join_columns([part, part])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert joined.shape == (10_000, 2000)
    assert peak < 16e6
