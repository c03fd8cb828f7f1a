"""Files: read what others send within bounds, write so that nothing half-written stays.

A reader here never allocates more than its `max_bytes`, whatever a header or a compressed stream promises,
and never unpickles; `array_files` has those of arrays. A writer works on a temporary neighbour and renames
it at the end. A file that cannot be used is a `Problem`: one bad file does not stop a collection.
"""

import gzip
import io
import os
import secrets
import stat
import zlib
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from tagrank.errors import ArgumentError, warn

MAX_BYTES = 2**30
# What a row of text, with all that is noted about it, and a single word take in memory, about.
ROW_BYTES, WORD_BYTES = 512, 64
_SHOWN = 3
# Characters of a name that stay in that of its neighbour: at most 200 of the 255 bytes that a name may have.
_NAMED = 50
_WAY_OUT = "split it, or, if you trust it, pass a larger max_bytes to its reader"


class FileError(ValueError):
    """A file that cannot be used; the message begins with its path and, where known, the line."""

    def __init__(self, path: str | os.PathLike, message: str, *, line: int | None = None) -> None:
        place = f"{os.fspath(path)}, line {line}" if line is not None else os.fspath(path)
        super().__init__(f"{place}: {message}")


@dataclass(frozen=True)
class Problem:
    """A file that was skipped or not fully understood, and why.

    Attributes
    ----------
    path : the file
    reason : a sentence
    """

    path: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


class ProblemWarning(UserWarning):
    """Files were skipped or not fully understood; the work continues without them."""


class ProblemLog:
    """Gathers problems; a strict one raises the first as a `FileError`."""

    def __init__(self, *, strict: bool = False) -> None:
        self.strict = strict
        self._found: dict[Problem, None] = {}

    def add(self, path: str | os.PathLike, reason: str) -> None:
        """Note a problem with `path`."""
        if self.strict:
            raise FileError(path, reason)
        self._found[Problem(os.fspath(path), reason)] = None

    def add_error(self, path: str | os.PathLike, error: Exception) -> None:
        """Note an error whose message may begin with the path already, perhaps with the line."""
        reason = str(error)
        for beginning in (": ", ", "):
            reason = reason.removeprefix(f"{os.fspath(path)}{beginning}")
        self.add(path, reason)

    def listed(self) -> tuple[Problem, ...]:
        """All problems, each once, in the order in which they were met."""
        return tuple(self._found)


def warn_of_problems(problems: Sequence[Problem], way_out: str) -> None:
    """Name the first problems, if there are any, at the line of the caller; `way_out` ends the sentence."""
    if problems:
        shown = "; ".join(map(str, problems[:_SHOWN])) + ("; ..." if len(problems) > _SHOWN else "")
        what = "1 picture was" if len(problems) == 1 else f"{len(problems):,} pictures were"
        warn(f"{what} skipped: {shown} ({way_out})", ProblemWarning)


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
        raise FileError(path, "has a second name elsewhere (a hard link), expected a plain file; copy it")


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
    # a name may be as long as the system allows, that of the neighbour must not be longer
    temporary = path.with_name(f".{path.name[:_NAMED]}.{secrets.token_hex(6)}.part")
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
            raise FileError(self._path, f"needs more than {self._max_bytes:,} bytes of memory; {_WAY_OUT}")


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
            raise FileError(self._path, f"has more than {self._max_bytes:,} bytes; {_WAY_OUT}")
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
        stream = open_bounded(path, max_bytes=max_bytes)
        try:
            # "Unicode text" of spreadsheet programs
            if options["encoding"] == "utf-8-sig" and stream.peek(2)[:2] in (BOM_UTF16_LE, BOM_UTF16_BE):
                options["encoding"] = "utf-16"
            super().__init__(stream, **options)
        except BaseException:
            stream.close()
            raise
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
                f"is not {error.encoding} text; save it as UTF-8, or, in Python, name its encoding to the "
                "reader, such as encoding='latin-1'",
            ) from None
