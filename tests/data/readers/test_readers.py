"""What all formats share: the ending chooses, and a full disk leaves nothing half-written."""

import errno
import sys
from importlib import import_module

import numpy as np
import pytest
from scipy import sparse

from tagrank import files
from tagrank.data import Collection, read_collection, write_collection
from tagrank.data.formats import FORMATS, Format, writable_endings

NAMES = [
    f"x{ending}{packed}"
    for ending in writable_endings()
    for packed in ("", ".gz")
    if ending + packed not in (".npz.gz", ".npy.gz")
]


def collection(folder, name, n_rows=6):
    """Rows of features, or pictures for a format that holds nothing else."""
    rng = np.random.default_rng(0)
    Y = (rng.random((n_rows, 3)) < 0.5).astype(float)
    Y[0] = 1
    pictures = Collection({"pictures": [str(folder / f"{i}.jpg") for i in range(n_rows)]}, Y, list("abc"))
    rows = Collection({"features": rng.normal(size=(n_rows, 4))}, Y, list("abc"), name="x")
    try:
        write_collection(rows, folder / f"trial-{name}")
    except ValueError:
        return pictures
    finally:
        for trial in folder.glob("trial-*"):
            trial.unlink()
    return rows


@pytest.mark.parametrize("name", NAMES)
def test_every_format_reads_back_what_it_wrote(tmp_path, name):
    whole = collection(tmp_path, name)
    write_collection(whole, tmp_path / name)
    again = read_collection(tmp_path / name)
    X = again.X.toarray() if sparse.issparse(again.X) else again.X
    np.testing.assert_array_equal(X, whole.X)
    np.testing.assert_array_equal(again.states(), whole.states())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n_rows", [1, 2000])
def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, name, n_rows):
    write_collection(collection(tmp_path, name, 1), tmp_path / name)
    large = collection(tmp_path, name, n_rows)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    class FullDisk:
        def __init__(self, file):
            self._file, self._left = file, 20

        def __getattr__(self, attribute):
            return getattr(self._file, attribute)

        def __enter__(self):
            return self

        def __exit__(self, *details):
            self._file.close()

        def write(self, data):
            self._left -= len(data)
            if self._left < 0:
                raise OSError(errno.ENOSPC, "no space left on device")
            return self._file.write(data)

    monkeypatch.setattr(files, "open", lambda *arguments: FullDisk(open(*arguments)), raising=False)  # noqa: SIM115
    with pytest.raises(OSError, match="no space left"):
        write_collection(large, tmp_path / name)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_unknown_endings_are_named(tmp_path):
    with pytest.raises(ValueError, match=r"x\.xls: unknown format '\.xls'; known are \.csv"):
        read_collection(tmp_path / "x.xls")


class Toy:
    """A module with a format of its own: a line for each row, the number of its tag."""

    @staticmethod
    def read(path):
        tags = [int(line) for line in path.read_text().split()]
        return Collection({"features": np.eye(len(tags))}, np.eye(3)[tags], list("abc"))

    @staticmethod
    def write(collection, path):
        path.write_text("".join(f"{tag}\n" for tag in np.argmax(collection.Y, axis=1)))


def test_a_format_is_one_module_and_one_entry(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "toy_format", Toy)
    toy = Format((".toy",), "toy_format", "read", "write")
    monkeypatch.setattr("tagrank.data.formats.FORMATS", [*FORMATS, toy])
    path = tmp_path / "x.toy"
    path.write_text("2\n0\n1\n")
    whole = read_collection(path)
    np.testing.assert_array_equal(whole.Y, np.eye(3)[[2, 0, 1]])
    write_collection(whole, tmp_path / "y.toy")
    assert (tmp_path / "y.toy").read_text() == path.read_text()
    with pytest.raises(ValueError, match=r"known are .*\.toy"):
        read_collection(tmp_path / "x.xls")


def test_every_entry_leads_to_its_functions(tmp_path):
    for entry in FORMATS:
        module = import_module(entry.module)
        assert all(callable(getattr(module, name)) for name in (entry.read, entry.write) if name)
