"""NPZ: everything of a collection reads back; archives from elsewhere are checked."""

import re
import zipfile

import numpy as np
import pytest
from scipy import sparse

from tagrank.array_files import save_npz
from tagrank.data.collection import Collection
from tagrank.data.readers.npz import read_matrix, read_npz, write_npz
from tagrank.files import FileError

Y = np.array([[1, 0, np.nan], [0, 1, 1], [np.nan, np.nan, np.nan]])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_everything_reads_back(tmp_path, kind):
    whole = Collection(
        views={
            "features": kind(np.eye(3)),
            "gist": np.ones((3, 2), dtype=np.float32),
            "pictures": list("abc"),
        },
        labels=kind(Y),
        tags=["sky", "été", "sea"],
        names=["x", "y", "z"],
        part=["train", "train", "test"],
        name="coast",
        feature_names={"gist": ["g0", "g1"]},
    )
    write_npz(whole, tmp_path / "x.npz")
    again = read_npz(tmp_path / "x.npz")
    assert repr(again) == repr(whole)
    assert (again.tags, again.names, again.feature_names) == (whole.tags, whole.names, whole.feature_names)
    assert list(again.part) == list(whole.part)
    assert again.view("pictures") == list("abc")
    assert again.view("gist").dtype == np.float32
    np.testing.assert_array_equal(sparse.csr_array(again.view("features")).toarray(), np.eye(3))
    np.testing.assert_array_equal(again.states(), whole.states())
    assert sparse.issparse(again.labels) == sparse.issparse(whole.labels)


def test_archives_of_others(tmp_path):
    np.savez(tmp_path / "x.npz", X=np.eye(3), Y=np.eye(3, dtype=np.uint8))
    collection = read_npz(tmp_path / "x.npz")
    assert collection.tags == ["0", "1", "2"]
    np.testing.assert_array_equal(collection.X, np.eye(3))


def test_one_sparse_matrix(tmp_path):
    matrix = sparse.random_array((5, 4), density=0.4, rng=0, format="csr")
    sparse.save_npz(tmp_path / "m.npz", matrix)
    assert (read_matrix(tmp_path / "m.npz") != matrix).nnz == 0
    sparse.save_npz(tmp_path / "m.npz", matrix.tocoo())
    with pytest.raises(ValueError, match="expected one sparse matrix in csr format"):
        read_matrix(tmp_path / "m.npz")


def csr(**changes):
    parts = {"data": [1.0], "indices": [0], "indptr": [0, 1], "shape": [1, 2]} | changes
    return {f"X.{part}": np.array(value) for part, value in parts.items()}


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": np.eye(2), "Y": -np.eye(2)}, "Y contains -1"),
        ({"X": np.eye(2), "Y": np.eye(3)}, "rows differ"),
        ({"X": np.eye(2), "Y": np.ones(2)}, "two dimensions"),
        ({"X": np.eye(2), "Y": np.eye(2), "tags": np.array(["a", "a"])}, "duplicate tag names: a"),
        ({"X": np.array([[np.inf]])}, "'X' holds nan or inf"),
        ({"X": np.ones(3)}, "expected views of numbers with two dimensions"),
        ({"X": np.array([["a"]])}, "expected views of numbers"),
        ({}, "at least one view"),
        (csr(indices=[7]), "indices"),
        (csr(indptr=[0, 5]), "index pointer"),
        (csr(indptr=[0, 1, 1]), "3 row pointers"),
        (csr(shape=[10**15, 2]), "row pointers"),
        ({"X.indptr": np.array([0])}, "needs data, indices, indptr, shape"),
        (
            {"X": np.eye(1), **{k.replace("X", "Y"): v for k, v in csr(shape=[1, 10**15]).items()}},
            "tags, and 1,048,576",
        ),
        (csr(shape=[1, 10**9]), "needs more than .*larger max_bytes"),
        (csr(shape=[1, np.inf]), "infinity"),
        ({"X": np.eye(2), "Y": np.array([["1", "0"], ["0", "1"]])}, "not real numbers .dtype <U1"),
        ({"X": np.eye(2), "names": np.eye(2)}, "expected one text a row or column, got 'names'"),
    ],
)
def test_archives_that_do_not_fit_are_refused(tmp_path, arrays, message):
    save_npz(tmp_path / "x.npz", arrays)
    with pytest.raises(ValueError, match=f"x.npz.*{message}"):
        read_npz(tmp_path / "x.npz")


def test_bytes_are_text(tmp_path):
    arrays = {
        "X": np.eye(2),
        "Y": np.eye(2),
        "tags": np.array([b"sky", "été".encode()]),
        "names": [b"a", b"b"],
    }
    save_npz(tmp_path / "x.npz", arrays)
    collection = read_npz(tmp_path / "x.npz")
    assert (collection.tags, collection.names) == (["sky", "été"], ["a", "b"])


def test_nothing_can_have_any_length(tmp_path):
    """Arrays whose elements have no bytes, or no columns, take none in a file."""
    for name, shape, descr in (("names", (10**9,), "|S0"), ("X", (10**9, 0), "<f8")):
        header = {"descr": descr, "fortran_order": False, "shape": shape}
        with (
            zipfile.ZipFile(tmp_path / "x.npz", "w") as archive,
            archive.open(f"{name}.npy", "w") as stream,
        ):
            np.lib.format.write_array_header_1_0(stream, header)
        with pytest.raises(FileError, match=rf"x\.npz:{name}\.npy: .*refused"):
            read_npz(tmp_path / "x.npz")


READ = """
import sys
from tagrank.data import read_collection
try:
    print(read_collection(sys.argv[1]))
except ValueError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("name", "shape", "descr", "answer"),
    [
        ("X", (3, 10**8), "|u1", "3 rows"),
        ("Y", (3, 10**8), "|u1", "needs more than .*larger max_bytes"),
        ("names", (3 * 10**8,), "|S1", "needs more than .*larger max_bytes"),
    ],
)
def test_zeros_that_unpack_to_much(tmp_path, run_within, name, shape, descr, answer):
    header = {"descr": descr, "fortran_order": False, "shape": shape}
    with (
        zipfile.ZipFile(tmp_path / "x.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open(f"{name}.npy", "w") as stream,
    ):
        np.lib.format.write_array_header_1_0(stream, header)
        for _ in range(300):
            stream.write(bytes(10**6))
    assert re.search(answer, run_within(480, READ, tmp_path / "x.npz"))


def test_nan_in_features_can_be_kept(tmp_path):
    save_npz(tmp_path / "x.npz", {"X": np.array([[np.nan]])})
    assert np.isnan(read_npz(tmp_path / "x.npz", missing="nan").X).all()


@pytest.mark.parametrize("name", ["Y", "tags", "a.b", "../up"])
def test_names_of_views_that_would_clash(tmp_path, name):
    with pytest.raises(ValueError, match="rename it"):
        write_npz(Collection(views={name: np.eye(2)}), tmp_path / "x.npz")
