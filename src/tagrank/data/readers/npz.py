"""NPZ: a collection as plain numpy arrays, dense or sparse; nothing in it is unpickled.

Arrays of the archive: ``X`` (the view "features") or one array for each view under its own name; ``Y``; and,
if known, ``tags``, ``names``, ``part``, ``name`` and ``<view>.columns`` (feature names). A sparse matrix M is
stored as ``M.data``, ``M.indices``, ``M.indptr`` and ``M.shape``. Picture paths are an array of text.

Rows that are larger than the memory stand in a file of their own, ``rows.npy``, as ``numpy.save`` writes it,
and all else in the archive of the same name beside it, ``rows.npz``.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from tagrank.array_files import blocks_of_rows, load_npz, map_npy, save_npz, write_npy
from tagrank.data.collection import Collection, only_features
from tagrank.data.label_matrix import Matrix
from tagrank.files import MAX_BYTES, WORD_BYTES, FileError, MemoryBound, atomic_write, naming
from tagrank.validation import check_choice

_ABOUT = ("Y", "tags", "names", "part", "name")
_SPARSE = ("data", "indices", "indptr", "shape")
_TEXTS = ("tags", "names", "part")
# A label is held as a byte and a number while it is checked.
_LABEL_BYTES = 10


def read_npz(path: str | os.PathLike, *, missing: str = "error", max_bytes: int = MAX_BYTES) -> Collection:
    """Read a collection from an ``.npz`` archive.

    Parameters
    ----------
    path : the archive
    missing : {"error", "nan"}, whether nan or inf in a view is refused
    max_bytes : how large the arrays may be when unpacked, and in memory; headers are checked first
    """
    check_choice("missing", missing, ("error", "nan"))
    arrays = load_npz(path, max_bytes=max_bytes)
    with naming(path):
        _check_memory(arrays, MemoryBound(path, max_bytes))
        return _assemble(arrays, path, missing)


def read_mapped(path: str | os.PathLike, *, missing: str = "error", max_bytes: int = MAX_BYTES) -> Collection:
    """Read rows from a ``.npy`` file, which are left there until they are looked at.

    Labels, tags and names come from the ``.npz`` archive of the same name beside it, if there is one.

    Parameters
    ----------
    path : the rows
    missing : {"error", "nan"}, whether nan or inf among them is refused
    max_bytes : how large the arrays of the archive may be, as for `read_npz`; the rows take no memory
    """
    check_choice("missing", missing, ("error", "nan"))
    rows, beside = map_npy(path), Path(path).with_suffix(".npz")
    arrays = load_npz(beside, max_bytes=max_bytes) if beside.exists() else {}
    if any(_view_name(key.partition(".")[0]) == "features" and key != "X.columns" for key in arrays):
        raise FileError(beside, f"holds an array X, but the rows are in {os.fspath(path)}; leave one out")
    with naming(beside):
        _check_memory(arrays, MemoryBound(beside, max_bytes))
    with naming(path):
        return _assemble(arrays | {"X": rows}, path, missing)


def _check_memory(arrays: dict[str, np.ndarray], bound: MemoryBound) -> None:
    """Count what grows when it is taken out of the archive: text, labels, and columns of sparse matrices."""
    for key, array in arrays.items():
        if array.dtype.kind in "US":
            bound.add(array.size * (WORD_BYTES + array.itemsize))
        elif key == "Y":
            bound.add(array.size * _LABEL_BYTES)
        elif key.endswith(".shape") and key != "Y.shape":
            bound.add(WORD_BYTES * int(array.ravel()[-1:].sum()))


def _assemble(arrays: dict[str, np.ndarray], path: str | os.PathLike, missing: str) -> Collection:
    matrices, columns = _join(arrays)
    about: dict[str, Any] = {key: matrices.pop(key) for key in _ABOUT if key in matrices}
    about |= {key: _texts(key, about[key]) for key in _TEXTS if key in about}
    return Collection(
        views={_view_name(key): _view(key, array, missing) for key, array in matrices.items()},
        labels=about.get("Y"),
        tags=about.get("tags", ()),
        names=about.get("names"),
        part=about.get("part"),
        name=str(about.get("name", Path(path).stem)),
        feature_names={_view_name(key): _texts(key, names) for key, names in columns.items()},
    )


def _join(arrays: dict[str, np.ndarray]) -> tuple[dict[str, Matrix], dict[str, np.ndarray]]:
    """The matrices, sparse ones put together, and the column names, each by its key."""
    parts: dict[str, dict[str, np.ndarray]] = {}
    for key, array in arrays.items():
        base, _, part = key.partition(".")
        parts.setdefault(base, {})[part] = array
    columns = {key: pieces.pop("columns") for key, pieces in parts.items() if "columns" in pieces}
    matrices = {
        key: pieces[""] if "" in pieces else _sparse_matrix(pieces, key) for key, pieces in parts.items()
    }
    return matrices, columns


def _texts(key: str, array: Matrix) -> list[str]:
    if array.ndim != 1 or array.dtype.kind not in "USbiu":
        raise ValueError(f"expected one text a row or column, got {key!r}: {array.dtype}, {array.shape}")
    return [value.decode() if isinstance(value, bytes) else str(value) for value in array.tolist()]


def _view(key: str, array: Matrix, missing: str) -> Any:
    if array.dtype.kind == "U" and array.ndim == 1:
        return array.tolist()
    if array.dtype.kind not in "biuf" or array.ndim < 2:
        raise ValueError(
            f"expected views of numbers with two dimensions, got {key!r}: {array.dtype}, {array.shape}"
        )
    values = array.data if sparse.issparse(array) else array
    is_checked = missing == "error" and array.dtype.kind == "f"
    if is_checked and not all(np.isfinite(block).all() for block in blocks_of_rows(values)):
        raise ValueError(
            f"{key!r} holds nan or inf; repair it, or pass missing='nan' to read_npz to keep nan"
        )
    return array


def _view_name(key: str) -> str:
    return "features" if key == "X" else key


def _key(view_name: str) -> str:
    return "X" if view_name == "features" else view_name


def _sparse_matrix(parts: dict[str, np.ndarray], name: str) -> Matrix:
    if not parts.keys() >= set(_SPARSE):
        raise ValueError(f"the sparse matrix {name!r} needs {', '.join(_SPARSE)}")
    shape = tuple(int(length) for length in np.ravel(parts["shape"]))
    if len(shape) != 2 or shape[0] + 1 != len(parts["indptr"]):
        raise ValueError(
            f"the sparse matrix {name!r} has shape {shape} but {len(parts['indptr'])} row pointers"
        )
    matrix = sparse.csr_array((parts["data"], parts["indices"], parts["indptr"]), shape=shape)
    matrix.check_format(full_check=True)
    return matrix


def read_matrix(path: str | os.PathLike, *, max_bytes: int = MAX_BYTES) -> Matrix:
    """One sparse matrix as `scipy.sparse.save_npz` writes it (format csr), within bounds."""
    arrays = load_npz(path, max_bytes=max_bytes)
    if arrays.get("format") != b"csr":
        raise FileError(path, "expected one sparse matrix in csr format, as scipy.sparse.save_npz writes it")
    with naming(path):
        return _sparse_matrix(arrays, "matrix")


def write_mapped(collection: Collection, path: str | os.PathLike) -> None:
    """Write the rows of a collection to a ``.npy`` file, and all else to the ``.npz`` archive beside it."""
    rows, _ = only_features(collection, "NPY")
    if sparse.issparse(rows):
        raise ValueError("NPY holds dense rows, got sparse ones; write NPZ instead")
    beside = _arrays_of(collection.replaced(views={"features": rows}, feature_names={}))
    del beside["X"]
    for names in collection.feature_names.values():
        beside["X.columns"] = np.array(names)
    with atomic_write(path) as file:
        write_npy(file, rows.shape, rows.dtype, blocks_of_rows(rows))
        # both or none, but for what may happen between two renamings
        save_npz(Path(path).with_suffix(".npz"), beside)


def write_npz(collection: Collection, path: str | os.PathLike) -> None:
    """Write all of a collection to a compressed ``.npz`` archive."""
    save_npz(path, _arrays_of(collection))


def _arrays_of(collection: Collection) -> dict[str, Any]:
    arrays: dict[str, Any] = {"name": np.array(collection.name), "tags": np.array(collection.tags, dtype=str)}
    for name, view in collection.views.items():
        if _key(name) in _ABOUT or "." in name or "/" in name:
            raise ValueError(f"a view called {name!r} cannot be stored; rename it")
        arrays |= _arrays(_key(name), view)
    arrays |= _arrays("Y", collection.labels)
    arrays |= {f"{_key(name)}.columns": np.array(names) for name, names in collection.feature_names.items()}
    if collection.names is not None:
        arrays["names"] = np.array(collection.names, dtype=str)
    if collection.part is not None:
        arrays["part"] = collection.part
    return arrays


def _arrays(key: str, view: Any) -> dict[str, Any]:
    if sparse.issparse(view):
        return {f"{key}.{part}": np.asarray(getattr(view, part)) for part in _SPARSE}
    if isinstance(view, list):
        return {key: np.array([os.fspath(entry) for entry in view], dtype=str)}
    return {key: np.asarray(view)}
