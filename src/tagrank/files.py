"""Files: read what others send within bounds, write so that nothing half-written stays.

A reader here never allocates more than its `max_bytes`, whatever a header or a compressed stream promises,
and never unpickles. A writer works on a temporary neighbour and renames it at the end.
"""

import gzip
import io
import math
import os
import secrets
import stat
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from tagrank.errors import ArgumentError

MAX_BYTES = 2**30
# What a row of text, with all that is noted about it, and a single word take in memory, about.
ROW_BYTES, WORD_BYTES = 512, 64
_WAY_OUT = "divide it, or, if you trust it, pass a larger max_bytes to its reader"
# Deflate cannot shrink data by more than this; a larger promise is a lie.
_MAX_DEFLATE_RATIO = 1040
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


class FileError(ValueError):
    """A file that cannot be used; the message begins with its path and, where known, the line."""

    def __init__(self, path: str | os.PathLike, message: str, *, line: int | None = None) -> None:
        place = f"{os.fspath(path)}, line {line}" if line is not None else os.fspath(path)
        super().__init__(f"{place}: {message}")


def check_regular(path: str | os.PathLike) -> os.stat_result:
    """What the system knows of the file `path`, which is not opened: a pipe could wait for ever.

    It is a FileError if it is a folder, pipe, socket or device, an OSError if it may not be seen.
    """
    about = os.stat(path)
    if not stat.S_ISREG(about.st_mode):
        raise FileError(path, "is a folder, pipe or device, not a file")
    return about


def check_plain(path: str | os.PathLike) -> os.stat_result | None:
    """What the system knows of a file that came with a folder; None where there is none.

    Anybody may have made it: it must be a plain file with this one name, not a link, which would lead to
    a file that is none of his.
    """
    try:
        about = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    _check_plain(about, path)
    return about


def open_plain(path: str | os.PathLike, flags: int) -> int:
    """The descriptor of a file that came with a folder, see `check_plain`; it never waits for a pipe."""
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    check_plain(path)  # where the system knows no O_NOFOLLOW
    descriptor = os.open(path, flags, 0o666)
    try:
        _check_plain(os.fstat(descriptor), path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _check_plain(about: os.stat_result, path: str | os.PathLike) -> None:
    if stat.S_ISLNK(about.st_mode):
        raise FileError(path, "is a link, expected a plain file; remove the link")
    if not stat.S_ISREG(about.st_mode):
        raise FileError(path, "is a folder, pipe or device, expected a plain file; remove it")
    if about.st_nlink > 1:
        raise FileError(path, "has another name elsewhere (a hard link), expected a plain file; copy it")


@contextmanager
def naming(path: str | os.PathLike) -> Iterator[None]:
    """Errors in the content of `path` begin with it."""
    try:
        yield
    except (FileError, ArgumentError):
        raise
    except (ValueError, TypeError, OverflowError) as error:
        raise FileError(path, str(error)) from None


@contextmanager
def atomic_write(path: str | os.PathLike, *, text: bool = False) -> Iterator[IO[Any]]:
    """A file that appears under `path` only when the block ends without an error.

    The content goes to a hidden neighbour first, so a full disk or a crash leaves the old file as it was. A
    path that ends in ``.gz`` is compressed.
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    try:
        with open(temporary, "xb") as file:
            with _encoded(file, compress=path.suffix == ".gz", text=text) as stream:
                yield stream
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            name_culprit(error, temporary, path)
        if isinstance(error, UnicodeEncodeError):
            # names of files may be any bytes
            word = error.object[max(0, error.start - 20) : error.end + 20]
            raise FileError(path, f"{word!r} is not Unicode; rename it, or write .jsonl instead") from None
        raise


def name_culprit(error: OSError, temporary: Path, path: Path) -> None:
    """Let an error name `path`: a full disk names no file, and that of the neighbour would puzzle."""
    culprit = temporary if error.filename is None else error.filename
    if error.errno and isinstance(culprit, str | Path) and Path(culprit).is_relative_to(temporary):
        error.filename = str(path)


@contextmanager
def _encoded(file: IO[bytes], *, compress: bool, text: bool) -> Iterator[IO[Any]]:
    # mtime 0: the same content gives the same bytes
    stream: Any = gzip.GzipFile("", "wb", 6, file, mtime=0) if compress else file
    writer = io.TextIOWrapper(stream, encoding="utf-8", newline="\n") if text else stream
    try:
        yield writer
        writer.flush()
    finally:
        if text:
            writer.detach()
        if compress:
            stream.close()


class MemoryBound:
    """Adds up what is made of a file, and stops before it is more than `max_bytes`."""

    def __init__(self, path: str | os.PathLike, max_bytes: int = MAX_BYTES) -> None:
        self._path, self._max_bytes, self._left = path, max_bytes, max_bytes

    def add(self, n_bytes: int) -> None:
        """Count bytes that are about to be taken."""
        self._left -= n_bytes
        if self._left < 0:
            raise FileError(self._path, f"takes more than {self._max_bytes:,} bytes in memory; {_WAY_OUT}")


class _BoundedStream(io.RawIOBase):
    """Raw bytes of `source`, with an error once more than `max_bytes` came out of it."""

    def __init__(self, source: IO[bytes], path: Path, max_bytes: int) -> None:
        self._source, self._path, self._left, self._max_bytes = source, path, max_bytes, max_bytes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            count = self._source.readinto(buffer)  # type: ignore[attr-defined]
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise FileError(self._path, f"damaged or truncated compressed file ({error})") from None
        self._left -= count
        if self._left < 0:
            raise FileError(self._path, f"holds more than {self._max_bytes:,} bytes; {_WAY_OUT}")
        return count

    def close(self) -> None:
        self._source.close()
        super().close()


def open_bounded(path: str | os.PathLike, *, max_bytes: int = MAX_BYTES) -> io.BufferedReader:
    """`path` opened for reading bytes, decompressed if it ends in ``.gz``, never more than `max_bytes`."""
    path = Path(path)
    check_regular(path)
    source: Any = gzip.GzipFile(path, "rb") if path.suffix == ".gz" else path.open("rb", buffering=0)
    return io.BufferedReader(_BoundedStream(source, path, max_bytes), buffer_size=2**18)


def longest_line(max_bytes: int) -> int:
    """How many characters a line may have in a file of at most `max_bytes`: what is made of it is larger."""
    return max(2**16, max_bytes // 32)


class _BoundedLines(io.TextIOWrapper):
    """Text whose lines are not longer than a share of what its file may hold."""

    def __init__(self, path: str | os.PathLike, max_bytes: int, **options: Any) -> None:
        super().__init__(open_bounded(path, max_bytes=max_bytes), **options)
        self._path, self._longest = path, longest_line(max_bytes)

    def __next__(self) -> str:
        line = self.readline(self._longest + 1)
        if len(line) > self._longest:
            raise FileError(self._path, f"has a line of more than {self._longest:,} characters; {_WAY_OUT}")
        if not line:
            raise StopIteration
        return line


@contextmanager
def open_text(
    path: str | os.PathLike,
    *,
    encoding: str = "utf-8-sig",
    newline: str | None = None,
    max_bytes: int = MAX_BYTES,
) -> Iterator[IO[str]]:
    """`path` opened for reading text within bounds; bytes that are not text become a `FileError`."""
    with _BoundedLines(path, max_bytes, encoding=encoding, newline=newline) as stream:
        try:
            yield stream
        except UnicodeDecodeError as error:
            raise FileError(
                path,
                f"is not {error.encoding} text; save it as UTF-8, or pass encoding='latin-1' to its reader",
            ) from None


def load_npy(path: str | os.PathLike, *, max_bytes: int = MAX_BYTES) -> np.ndarray:
    """One array from a ``.npy`` file whose header agrees with its size."""
    size = check_regular(path).st_size
    with open(path, "rb") as stream:
        return read_array(stream, size, os.fspath(path), max_bytes)


def map_npy(path: str | os.PathLike, expected: tuple[tuple[int, ...], np.dtype]) -> np.ndarray:
    """The array of a ``.npy`` file of `expected` shape and dtype, left on disk until it is looked at."""
    size = check_regular(path).st_size
    with open(path, "rb") as stream:
        shape, fortran, dtype, header_size = _checked_header(stream, size, os.fspath(path), expected)
    return np.asarray(np.memmap(path, dtype, "r", header_size, shape, "F" if fortran else "C"))


def write_npy(file: IO[bytes], shape: tuple[int, ...], dtype: np.dtype, parts: Iterable[np.ndarray]) -> None:
    """Write an array as ``.npy``, given in parts one below the other, such as its rows or all of it.

    Unlike numpy's own way of writing, this says that the disk is full.
    """
    header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    for part in parts:
        file.write(np.ascontiguousarray(part, dtype=dtype).reshape(-1).view(np.uint8).data)


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
