"""Histograms that are mostly empty become sparse rows, block after block."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from tagrank import array_files, choose_features, draw_pictures
from tagrank.annotation import describing
from tagrank.array_files import is_mapped


def draw_histograms(n_rows, n_columns, share):
    rng = np.random.default_rng(0)
    rows = rng.random((n_rows, n_columns), dtype=np.float32)
    return np.where(rng.random(rows.shape) < share, rows, np.float32(0))


@pytest.mark.parametrize("share", [0, 0.1, 0.24])
def test_sparse_rows_are_those_of_scipy(share, monkeypatch):
    monkeypatch.setattr(array_files, "BLOCK_BYTES", 700)
    rows = draw_histograms(90, 31, share)
    found, expected = describing._compact(rows), sparse.csr_array(rows)
    assert sparse.issparse(found)
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    assert found.dtype == np.float32
    found.check_format(full_check=True)


def test_full_rows_stay_as_they_are():
    rows = draw_histograms(20, 10, 0.5)
    assert describing._compact(rows) is rows


def test_rows_of_a_file_stay_there_where_memory_is_short(tmp_path, monkeypatch):
    rows = draw_histograms(50, 40, 0.1)
    np.save(tmp_path / "x.npy", rows)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert sparse.issparse(describing._compact(mapped))
    monkeypatch.setattr(describing, "available_memory", lambda: 1000)
    assert describing._compact(mapped) is mapped


def test_memory_of_compact_rows_is_that_of_their_entries():
    rows = np.zeros((10_000, 1_000), dtype=np.float32)
    rows[:, ::20] = 1
    tracemalloc.start()
    try:
        found = describing._compact(rows)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    own = found.data.nbytes + found.indices.nbytes + found.indptr.nbytes
    assert peak < 2 * own + 4 * array_files.BLOCK_BYTES


def test_described_pictures_are_mapped_from_the_size_that_is_named(tmp_path):
    pictures = draw_pictures(6, size=32)
    features = choose_features(["hsv", "gist"])
    options = {"cache": tmp_path, "n_jobs": 1}
    usual = describing.describe_pictures(pictures, features, **options)
    mapped = describing.describe_pictures(pictures, features, mapped_from=0, **options)
    assert (is_mapped(usual.views["gist"]), is_mapped(mapped.views["gist"])) == (False, True)
    part = mapped.collection.subset(slice(1, 5)).view("gist")
    assert np.shares_memory(part, mapped.views["gist"])
    np.testing.assert_array_equal(part, usual.views["gist"][1:5])
