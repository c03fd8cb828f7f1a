"""Arrays in ``.npy`` and ``.npz`` files: read within bounds and never unpickled, as in `files`.

Rows that are mapped from a file may be larger than the memory. What is made of them, such as some of them or
all of them scaled, is made in blocks, and lies in a file, too, where it is large.
"""

import math
import os
import tempfile
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from tagrank.arrays import row_blocks
from tagrank.files import MAX_BYTES, FileError, atomic_write, check_regular
from tagrank.resources import available_memory

# Deflate cannot shrink data by more than this; a larger promise is a lie.
_MAX_DEFLATE_RATIO = 1040
# What is made of mapped rows is in memory up to so many bytes, and so large a share of what is free.
LARGEST_IN_MEMORY, LARGEST_SHARE = 2**31, 0.25
BLOCK_BYTES = 2**22
# What numpy's header parser lets through when the header is nonsense.
_HEADER_ERRORS = (
    KeyError,
    ValueError,
    TypeError,
    SyntaxError,
    EOFError,
    MemoryError,
    OverflowError,
    RecursionError,
    tokenize.TokenError,
)


def load_npy(path: str | os.PathLike, *, max_bytes: int = MAX_BYTES) -> np.ndarray:
    """One array from a ``.npy`` file whose header agrees with its size."""
    size = check_regular(path).st_size
    with open(path, "rb") as stream:
        return read_array(stream, size, os.fspath(path), max_bytes)


def map_npy(path: str | os.PathLike, expected: tuple[tuple[int, ...], np.dtype] | None = None) -> np.ndarray:
    """The array of a ``.npy`` file, of `expected` shape and dtype, left on disk until it is looked at."""
    size = check_regular(path).st_size
    with open(path, "rb") as stream:
        shape, fortran, dtype, header_size = _checked_header(stream, size, os.fspath(path), expected)
    if size == header_size:
        raise FileError(path, f"an array of shape {shape} has no rows or no columns")
    return np.asarray(np.memmap(path, dtype, "r", header_size, shape, "F" if fortran else "C"))


def write_npy(file: IO[bytes], shape: tuple[int, ...], dtype: np.dtype, parts: Iterable[np.ndarray]) -> None:
    """Write an array as ``.npy``, given in parts one below the other, such as its rows or all of it.

    Unlike numpy's own way of writing, this says that the disk is full.
    """
    header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    for part in parts:
        file.write(np.ascontiguousarray(part, dtype=dtype).reshape(-1).view(np.uint8).data)


def is_mapped(array: Any) -> bool:
    """Whether an array, or a part of one, lies in a file and not in memory."""
    while isinstance(array, np.ndarray) and not isinstance(array, np.memmap):
        array = array.base
    return isinstance(array, np.memmap)


def blocks_of_rows(array: np.ndarray) -> Iterator[np.ndarray]:
    """All rows of an array in blocks of a few megabytes; nothing is copied."""
    step = max(1, BLOCK_BYTES // max(1, array[:1].nbytes))
    return (array[block] for block in row_blocks(len(array), step))


def hold_rows(
    parts: Iterable[np.ndarray], shape: tuple[int, ...], dtype: np.dtype, *, made_of: Sequence[Any]
) -> np.ndarray:
    """An array, given in blocks of its rows.

    It is in memory, but where it is large and `made_of` arrays that are mapped from files: then it is mapped,
    read-only, from a file without a name in the folder for temporary ones, which goes with it.
    """
    n_bytes = math.prod(shape, start=np.dtype(dtype).itemsize)
    is_large = n_bytes > min(LARGEST_IN_MEMORY, LARGEST_SHARE * available_memory())
    if is_large and any(map(is_mapped, made_of)):
        return _in_nameless_file(parts, shape, dtype)
    held, start = np.empty(shape, dtype), 0
    for part in parts:
        held[start : start + len(part)] = part
        start += len(part)
    return held


def take_rows(array: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Some rows of an array, by their numbers.

    Rows of a file that follow each other are not copied, unless somebody might write to them.
    """
    if not is_mapped(array) or array.ndim < 2:
        return array[rows]
    if array.flags.writeable is False and len(rows) and rows[0] >= 0 and np.all(np.diff(rows) == 1):
        return array[rows[0] : rows[-1] + 1]
    step = max(1, BLOCK_BYTES // max(1, array[:1].nbytes))
    parts = (array[rows[block]] for block in row_blocks(len(rows), step))
    return hold_rows(parts, (len(rows), *array.shape[1:]), array.dtype, made_of=[array])


def join_columns(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Matrices side by side."""
    if not any(map(is_mapped, arrays)):
        return np.hstack(arrays)
    n_rows, width = len(arrays[0]), sum(array.shape[1] for array in arrays)
    dtype = np.result_type(*arrays)
    step = max(1, BLOCK_BYTES // max(1, width * dtype.itemsize))
    parts = (np.hstack([array[block] for array in arrays]) for block in row_blocks(n_rows, step))
    return hold_rows(parts, (n_rows, width), dtype, made_of=arrays)


def large_files_folder() -> Path:
    """Where files go that memory cannot hold: where temporary ones go, unless that is memory itself."""
    usual, lasting = Path(tempfile.gettempdir()), Path("/var/tmp")
    if "TMPDIR" not in os.environ and is_in_memory(usual) and os.access(lasting, os.W_OK | os.X_OK):
        return lasting
    return usual


def is_in_memory(folder: str | os.PathLike) -> bool:
    """Whether the files of a folder are in memory, which Linux tells."""
    try:
        about = os.stat(folder)
        lines = Path("/proc/self/mountinfo").read_text().splitlines()
    except OSError:
        return False
    device = f"{os.major(about.st_dev)}:{os.minor(about.st_dev)}"
    kinds = [line.split(" - ")[1].split()[0] for line in lines if line.split()[2] == device and " - " in line]
    return any(kind in ("tmpfs", "ramfs") for kind in kinds)


def _in_nameless_file(parts: Iterable[np.ndarray], shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    folder = large_files_folder()
    try:
        with tempfile.TemporaryFile(prefix="tagrank-rows-", dir=folder) as file:
            # written, not mapped meanwhile: a full disk is an error then, and not the end of the process
            write_npy(file, shape, np.dtype(dtype), parts)
            file.flush()
            n_bytes = math.prod(shape, start=np.dtype(dtype).itemsize)
            return np.asarray(np.memmap(file, dtype, "r", file.tell() - n_bytes, shape))
    except OSError as error:
        if error.errno is None:
            raise
        reason = error.strerror
        raise OSError(
            error.errno,
            f"{reason}: rows of shape {shape} go to {folder}; make room, or set TMPDIR to another",
        ) from error


def load_npz(path: str | os.PathLike, *, max_bytes: int = MAX_BYTES) -> dict[str, np.ndarray]:
    """All arrays of a ``.npz`` archive, whose headers must agree with their sizes, `max_bytes` in all."""
    check_regular(path)
    try:
        with zipfile.ZipFile(path) as archive:
            members = [checked_member(member, path) for member in archive.infolist()]
            if sum(member.file_size for member in members) > max_bytes:
                raise FileError(
                    path,
                    f"unpacks to more than {max_bytes:,} bytes; divide it, or pass a larger max_bytes to its "
                    "reader",
                )
            arrays = {}
            for member in members:
                with archive.open(member) as stream:
                    where = f"{os.fspath(path)}:{member.filename}"
                    array = read_array(stream, member.file_size, where, max_bytes)
                    arrays[member.filename.removesuffix(".npy")] = array
            return arrays
    except FileError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, OSError) as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise
        raise FileError(path, f"damaged or truncated npz archive ({str(error)[:200]})") from None


def save_npz(path: str | os.PathLike, arrays: Mapping[str, Any]) -> None:
    """Write a compressed ``.npz`` archive atomically; arrays of objects are refused."""
    with atomic_write(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, np.asanyarray(array), allow_pickle=False)


def checked_member(member: zipfile.ZipInfo, path: str | os.PathLike) -> zipfile.ZipInfo:
    """`member` of the archive `path`, refused if its promises cannot be kept."""
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or member.flag_bits & 1:
        raise FileError(path, f"{member.filename} is encrypted or compressed in an unusual way")
    if member.file_size > _MAX_DEFLATE_RATIO * (member.compress_size + 64):
        raise FileError(path, f"{member.filename} promises {member.file_size:,} bytes, more than it can hold")
    return member


def read_array(
    stream: IO[bytes],
    size: int,
    where: str,
    max_bytes: int = MAX_BYTES,
    *,
    expected: tuple[tuple[int, ...], np.dtype] | None = None,
) -> np.ndarray:
    """The array in a ``.npy`` stream of `size` bytes; nothing is allocated before its header is checked.

    `where` is how messages call it; `expected` are the shape and dtype that the header must state, if known.
    """
    shape, fortran, dtype, header_size = _checked_header(stream, size, where, expected)
    n_bytes = size - header_size
    # nothing at all can still have any length
    if n_bytes > max_bytes or (n_bytes == 0 and 8 * max(shape) > max_bytes):
        raise FileError(
            where,
            f"shape {shape} of {dtype} is refused; if you trust it, pass more than max_bytes={max_bytes:,}",
        )
    data = bytearray(n_bytes)
    view, filled = memoryview(data), 0
    while filled < n_bytes:
        # in pieces: an archive makes a copy of what it is asked for
        count = stream.readinto(view[filled : filled + 2**20])  # type: ignore[attr-defined]
        if not count:
            raise FileError(where, f"ends after {filled:,} of {n_bytes:,} bytes")
        filled += count
    flat = np.frombuffer(data, dtype) if n_bytes else np.empty(int(np.prod(shape)), dtype)
    return flat.reshape(shape, order="F" if fortran else "C")


def _checked_header(
    stream: IO[bytes], size: int, where: str, expected: tuple[tuple[int, ...], np.dtype] | None
) -> tuple[tuple[int, ...], bool, np.dtype, int]:
    """Shape, order, dtype and length of a header that agrees with `expected` and with `size`."""
    shape, fortran, dtype, header_size = _read_header(stream, where)
    if expected is not None and (shape, dtype) != expected:
        raise FileError(
            where, f"expected {expected[1]} of shape {expected[0]}, found {dtype} of shape {shape}"
        )
    n_bytes = math.prod(shape, start=dtype.itemsize)
    if n_bytes != size - header_size:
        raise FileError(
            where, f"shape {shape} of {dtype} needs {n_bytes:,} bytes, found {size - header_size:,}"
        )
    return shape, fortran, dtype, header_size


def _read_header(stream: IO[bytes], where: str) -> tuple[tuple[int, ...], bool, np.dtype, int]:
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    try:
        read_header = readers[np.lib.format.read_magic(stream)]
        # numpy warns of some damaged headers before it refuses them
        with warnings.catch_warnings(action="ignore"):
            shape, fortran, dtype = read_header(stream)
    except _HEADER_ERRORS as error:
        raise FileError(where, f"not a plain numpy array ({error})") from None
    if dtype.hasobject or dtype.names is not None or dtype.itemsize == 0 or min(shape, default=0) < 0:
        raise FileError(where, f"an array of {dtype} is refused: only plain numbers and text are read")
    return shape, fortran, dtype, stream.tell()
