"""Model folders: ``model.json`` and plain ``.npy`` arrays beside it, nothing that can run code.

``model.json`` lists every array with its shape, dtype and SHA-256; a file is read only if it is listed, and
memory is taken only after its header agreed with the list. A zip archive of the folder is read the same way,
without unpacking it to disk.
"""

import hashlib
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tagrank._version import __version__
from tagrank.annotation.model_files.atomic_folder import atomic_folder
from tagrank.annotation.model_files.contents import Fields, format_json, parse_json
from tagrank.annotation.model_files.sources import ModelSource, read_source
from tagrank.array_files import read_array, write_npy
from tagrank.files import MAX_BYTES, FileError

FORMAT = "tagrank model"
VERSION = 3
JSON_NAME = "model.json"
_MAX_JSON_BYTES = 32 * 2**20
_MAX_HEADER_BYTES = 4096
_MAX_LENGTH = 2**40
_DTYPES = {name: np.dtype(name) for name in ("<f8", "<f4", "<i8", "<i4", "|i1", "|b1")}
# what parts of a model that do not fit each other make Python and numpy say
_PROVOKED = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError)
_ARRAY_NAME = re.compile(r"[a-z0-9_]{1,64}(\.[a-z0-9_]{1,64}){0,8}")


class ModelFileError(FileError):
    """A model folder that cannot be used; the message says which part and what to do.

    Parameters
    ----------
    path : the model folder, or the file in it
    message : what is wrong with it, and what to do
    line : int, optional, the line of a text file
    """


class _Listed(NamedTuple):
    """What ``model.json`` says about one array."""

    shape: tuple[int, ...]
    dtype: np.dtype
    sha256: str

    @property
    def n_bytes(self) -> int:
        n_bytes = self.dtype.itemsize
        for length in self.shape:
            n_bytes *= length
        return n_bytes


def write_model(path: str | os.PathLike, content: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Write a model folder; an older model under `path` stays whole until the new one is complete.

    A folder that is neither new nor empty nor an older model is left alone. `content` holds plain JSON
    values; names of arrays are of lower case letters, digits, ``_`` and ``.``.
    """
    path = Path(os.path.realpath(path))
    check_replaceable(path)
    stored = {name: _as_stored(name, array) for name, array in arrays.items()}
    listed = {
        name: {"shape": list(array.shape), "dtype": array.dtype.str, "sha256": _digest(array)}
        for name, array in stored.items()
    }
    text = format_json({"format": FORMAT, "version": VERSION, **content, "arrays": listed})
    if len(text) > _MAX_JSON_BYTES:
        raise ValueError(f"model.json would hold {len(text):,} bytes, more than {_MAX_JSON_BYTES:,} are read")
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_folder(path) as folder:
        for name, array in stored.items():
            with open(folder / f"{name}.npy", "xb") as file:
                write_npy(file, array.shape, array.dtype, [array])
        (folder / JSON_NAME).write_bytes(text)
        # writing takes a while, in which something else may have come there
        check_replaceable(path)


def read_model(
    path: str | os.PathLike, *, max_bytes: int | None = None
) -> tuple[Fields, dict[str, np.ndarray]]:
    """The content and the arrays of a model folder, or of a zip archive of one.

    All arrays together may have `max_bytes`, 4 GiB by default, less for an archive that shrank more than
    models do.
    """

    def read(source: ModelSource) -> tuple[Fields, dict[str, np.ndarray]]:
        content = _read_content(source)
        listed = {name: _read_listed(name, entry) for name, entry in content.mapping("arrays").items()}
        total = sum(entry.n_bytes for entry in listed.values())
        limit = source.max_bytes() if max_bytes is None else max_bytes
        if total > limit:
            raise ValueError(
                f"its arrays hold {total:,} bytes, more than max_bytes={limit:,}; "
                "pass a larger max_bytes if you trust it: Annotator.load(path, max_bytes=...)"
            )
        return content, {name: _read_listed_array(source, name, entry) for name, entry in listed.items()}

    with model_errors(path):
        return read_source(Path(path), read)


@contextmanager
def model_errors(path: str | os.PathLike) -> Iterator[None]:
    """Whatever a damaged or hostile model provokes, as a ModelFileError that begins with `path`."""
    try:
        yield
    except ModelFileError:
        raise
    except FileNotFoundError as error:
        missing = error.filename if error.filename is not None else path
        if Path(missing) == Path(path):
            raise
        name = Path(missing).name
        what = "is not a model, or is incomplete: " if name == JSON_NAME else ""
        raise ModelFileError(path, f"{what}{name} is missing; copy the whole model again") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise ModelFileError(path, f"damaged or truncated archive ({error}); copy it again") from None
    except MemoryError:
        raise ModelFileError(path, "needs more memory than is free") from None
    except _PROVOKED as error:
        raise ModelFileError(path, str(error)[:1000] or type(error).__name__) from None


def _read_json(source: ModelSource) -> Fields:
    size = source.size(JSON_NAME)
    if size > _MAX_JSON_BYTES:
        raise ValueError(f"{JSON_NAME} holds {size:,} bytes, more than {_MAX_JSON_BYTES:,} are read")
    with source.open(JSON_NAME) as stream:
        return parse_json(stream.read(size), where=JSON_NAME)


def _read_content(source: ModelSource) -> Fields:
    content = _read_json(source)
    if content.take("format", str, default="") != FORMAT:
        raise ValueError(f"not a tagrank model: {JSON_NAME} does not say 'format': {FORMAT!r}")
    version = content.take("version", int)
    if version != VERSION:
        raise ValueError(
            f"a model of format version {version}; tagrank {__version__} reads {VERSION}. "
            "Open it with the tagrank that wrote it, or train it again"
        )
    return content


def _read_listed(name: str, entry: Any) -> _Listed:
    if not _ARRAY_NAME.fullmatch(name):
        raise ValueError(f"{name!r} cannot be the name of an array: only a-z, 0-9, _ and single dots can")
    fields = Fields(entry, where=f"arrays[{name!r}]")
    shape, dtype, sha256 = fields.take("shape", list), fields.take("dtype", str), fields.take("sha256", str)
    fields.finish()
    if len(shape) > 2 or not all(type(n) is int and 0 <= n <= _MAX_LENGTH for n in shape):
        raise ValueError(f"array {name!r} has the impossible shape {str(shape)[:80]}")
    if dtype not in _DTYPES:
        raise ValueError(f"array {name!r} has the dtype {dtype[:20]!r}; {', '.join(_DTYPES)} are read")
    return _Listed(tuple(shape), _DTYPES[dtype], sha256)


def _read_listed_array(source: ModelSource, name: str, listed: _Listed) -> np.ndarray:
    file_name = f"{name}.npy"
    size = source.size(file_name)
    if not 0 < size - listed.n_bytes <= _MAX_HEADER_BYTES:
        raise ValueError(
            f"{file_name} holds {size:,} bytes, but {listed.dtype} of shape {listed.shape} needs "
            f"{listed.n_bytes:,} and a header: it is truncated or was exchanged; copy the model again"
        )
    with source.open(file_name) as stream:
        expected = (listed.shape, listed.dtype)
        # the header must agree with the list, which was counted before; an empty array takes nothing
        array = read_array(stream, size, file_name, max(listed.n_bytes, MAX_BYTES), expected=expected)
    if _digest(array) != listed.sha256:
        raise ValueError(f"{file_name} is not the array that was saved (its SHA-256 differs); copy it again")
    return array


def _as_stored(name: str, array: Any) -> np.ndarray:
    array = np.ascontiguousarray(array)
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    if not _ARRAY_NAME.fullmatch(name) or little.dtype.str not in _DTYPES or array.ndim > 2:
        raise TypeError(f"cannot store array {name!r} of {array.dtype} with shape {array.shape}")
    return little


def _digest(array: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(array)).hexdigest()  # type: ignore[arg-type]


def check_replaceable(path: str | os.PathLike) -> None:
    """Raise a ModelFileError unless there is nothing at `path`, an older model or an empty folder."""
    path = Path(os.path.realpath(path))
    try:
        if not stat.S_ISDIR(os.stat(path).st_mode):
            raise ModelFileError(path, "is a file; a model is saved as a folder: choose another name")
        others = read_source(path, _other_files)
    except ModelFileError:
        raise
    except (OSError, ValueError, RecursionError) as error:
        if isinstance(error, FileNotFoundError) and error.filename == str(path):
            return
        raise ModelFileError(path, "exists and is not a model; choose another name") from None
    if others:
        raise ModelFileError(
            path, f"holds files that are no part of the model ({', '.join(others[:3])}): move them first"
        )


def _other_files(source: ModelSource) -> list[str]:
    """Files that are no part of the model, which may be of any version."""
    names = source.names()
    if not names:
        return []
    content = _read_json(source)
    if content.take("format", str, default="") != FORMAT:
        raise ValueError("not a model")
    return sorted({*names} - {JSON_NAME, *(f"{name}.npy" for name in content.mapping("arrays"))})
