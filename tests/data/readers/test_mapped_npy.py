"""Rows in a .npy file stay on disk; the rest of the collection is in the .npz beside it."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from tagrank.array_files import is_mapped, save_npz
from tagrank.data import Collection, read_collection, write_collection
from tagrank.files import FileError

ROWS = np.arange(12, dtype=np.float32).reshape(4, 3)
Y = np.array([[1, 0], [0, 1], [np.nan, 1], [np.nan, np.nan]])


@pytest.fixture
def whole():
    return Collection(
        {"features": ROWS},
        Y,
        ["sky", "sea"],
        names=list("abcd"),
        part=["train", "train", "test", "test"],
        name="coast",
        feature_names={"features": ["r", "g", "b"]},
    )


def test_everything_reads_back_and_the_rows_stay_on_disk(tmp_path, whole):
    write_collection(whole, tmp_path / "x.npy")
    again = read_collection(tmp_path / "x.npy")
    assert is_mapped(again.X)
    assert not again.X.flags.writeable
    assert repr(again) == repr(whole)
    assert (again.tags, again.names, again.feature_names) == (whole.tags, whole.names, whole.feature_names)
    assert list(again.part) == list(whole.part)
    np.testing.assert_array_equal(again.X, ROWS)
    np.testing.assert_array_equal(again.states(), whole.states())
    assert again.subset(slice(1, 3)).X.base is not None


def test_files_of_numpy(tmp_path):
    np.save(tmp_path / "x.npy", ROWS.astype(np.float16))
    assert read_collection(tmp_path / "x.npy").tags == []
    np.savez(tmp_path / "x.npz", Y=np.nan_to_num(Y), tags=["sky", "sea"])
    collection = read_collection(tmp_path / "x.npy")
    assert collection.tags == ["sky", "sea"]
    assert collection.X.dtype == np.float16


@pytest.mark.parametrize(
    ("rows", "beside", "message"),
    [
        (ROWS, {"X": ROWS, "Y": Y}, r"x\.npz.*holds an array X, but the rows are in .*x\.npy"),
        (ROWS, {"Y": Y[:2]}, r"x\.npy.*rows differ"),
        (ROWS, {"Y": Y + 3}, r"x\.npy.*labels"),
        (ROWS + np.inf, {"Y": Y}, "nan or inf"),
        (ROWS[0], {"Y": Y}, "two dimensions"),
        (ROWS[:0], {}, "no rows or no columns"),
        (np.empty((10**6, 0)), {}, "no rows or no columns"),
        (np.array([["a"]]), {}, "expected views of numbers"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path, rows, beside, message):
    np.save(tmp_path / "x.npy", rows)
    if beside:
        save_npz(tmp_path / "x.npz", beside)
    with pytest.raises(FileError, match=message):
        read_collection(tmp_path / "x.npy")


def test_what_is_no_dense_matrix_is_not_written(tmp_path):
    for view in (sparse.eye_array(4, format="csr"), ["a.jpg"] * 4):
        with pytest.raises(ValueError, match=r"write .*NPZ instead"):
            write_collection(Collection({"x": view}, Y), tmp_path / "x.npy")
    assert not list(tmp_path.iterdir())


def test_memory_does_not_grow_with_the_rows(tmp_path):
    """A collection of 80 MB is written, read and checked within 12 MB."""
    rows = np.lib.format.open_memmap(tmp_path / "given.npy", "w+", np.float32, (20_000, 1000))
    tracemalloc.start()
    try:
        write_collection(Collection({"features": rows}, np.zeros((20_000, 1))), tmp_path / "x.npy")
        collection = read_collection(tmp_path / "x.npy")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert collection.X.shape == (20_000, 1000)
    assert peak < 12e6
