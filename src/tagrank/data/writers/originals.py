"""Files of the user that tagrank changes: the bytes that they had, and what was written, step by step.

All of this lies in the user's state, not beside the pictures: a folder of pictures may come from anybody,
and what is written here decides what is put back and what is taken out. Files that are links, have several
names or are no plain files are never changed.

From this a folder is known as it would be without exports. A tag that somebody accepted goes out into a
sidecar or a list, and is read back with the folder. It must not count as listed then: taken back at the desk,
it would stay present for ever. In the same way a tag that was taken out of the list, because somebody
rejected it, is listed all the same.
"""

import hashlib
import json
import os
import stat
from collections.abc import Collection as Words
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from tagrank.data.collection import Collection
from tagrank.data.readers.marks import Marks, encode_marks, marks_of
from tagrank.data.readers.xmp import existing_sidecars
from tagrank.data.user_folders import state_folder
from tagrank.files import MAX_BYTES, FileError, atomic_write, check_plain, open_bounded

# what is kept of all files together; the oldest goes first
MOST_FILES, MOST_BYTES = 200_000, 2**30
_MOST_STEPS = 20
# what the run is called in which tags of people are written
EXPORT = "export"
_DIGITS = 32
_RECORD = ".json"
_LISTS = (".csv", ".jsonl")
_FLAT = "dc:subject"
_LEVELS = "|"


class FileChange(NamedTuple):
    """One change of a file: the run, and digests of what the file held before (None: no file) and after."""

    run: str
    before: str | None
    after: str


class WrittenTag(NamedTuple):
    """A tag that an export wrote into a sidecar.

    Attributes
    ----------
    entries : the lists and the entries that were added to them
    is_decided : whether the folder did not list it before: only an answer of a person spoke for it
    """

    entries: tuple[tuple[str, str], ...]
    is_decided: bool


@dataclass(frozen=True)
class Record:
    """What tagrank did to a file.

    Attributes
    ----------
    steps : the changes since somebody else changed it
    tags : of a sidecar, what exports wrote into it
    rows, removed : of a list of pictures, by picture, the tags that exports wrote into it for answers of
        people, and those of others that they took out
    """

    steps: tuple[FileChange, ...] = ()
    tags: Mapping[str, WrittenTag] = field(default_factory=dict)
    rows: Mapping[str, Sequence[str]] = field(default_factory=dict)
    removed: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def is_last(self, content: bytes | None) -> bool:
        """Whether `content` is what tagrank wrote last."""
        return bool(self.steps) and content is not None and self.steps[-1].after == digest(content)


def digest(content: bytes) -> str:
    """A word that stands for some bytes."""
    return hashlib.sha256(content).hexdigest()[:_DIGITS]


def plain_content(path: str | os.PathLike, *, max_bytes: int = MAX_BYTES) -> bytes | None:
    """The bytes of a file that may be changed, None where there is none; links and the like are refused."""
    try:
        if check_plain(path) is None:
            return None
        with open_bounded(path, max_bytes=max_bytes) as stream:
            return stream.read()
    except OSError as error:
        raise FileError(path, f"cannot be read ({error.strerror or error})") from None


def read_record(path: str | os.PathLike) -> Record:
    """What tagrank did to a file; nothing where nothing is known."""
    try:
        place = _place(path)
        with open_bounded(place.with_name(f"{place.name}{_RECORD}")) as stream:
            return _parsed(json.loads(stream.read()), os.fspath(_real(path)))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        # it is missing, or was damaged, or the user can keep nothing: then nothing is known
        return Record()


def change_file(
    path: str | os.PathLike, content: bytes, record: Record, *, before: bytes | None, run: str
) -> None:
    """Write `content` in one step, and keep what the file held; `record` says what else is to be noted.

    The note comes first: whatever happens in between, no change is made that is not known of.
    """
    _check_unchanged(path, before)
    is_going_on = bool(record.steps) and record.steps[-1].after == (before is not None and digest(before))
    steps = (*(record.steps if is_going_on else ()), FileChange(run, _keep(path, before), digest(content)))
    _write_record(path, replace(record, steps=steps[-_MOST_STEPS:]))
    _write(path, content)


def earlier_contents(
    path: str | os.PathLike, record: Record, content: bytes | None, runs: Words[str]
) -> Iterator[tuple[bytes | None, Record]]:
    """What a file held before its last step, the one before and so on, as long as these are steps of `runs`.

    None stands for no file. Nothing comes if anybody else changed the file since.
    """
    if not record.is_last(content):
        return
    steps = record.steps
    while steps and steps[-1].run in runs:
        last, steps = steps[-1], steps[:-1]
        kept = None if last.before is None else _kept(path, last.before)
        if (kept is None) != (last.before is None):
            return
        yield kept, replace(record, steps=steps)
        if steps and steps[-1].after != last.before:
            return


def put_back(path: str | os.PathLike, content: bytes | None, record: Record, *, before: bytes | None) -> None:
    """Give a file the bytes that it had, or delete it; `record` is what is known of it then."""
    _check_unchanged(path, before)
    if content is None:
        try:
            os.unlink(path)
        except OSError as error:
            raise FileError(path, f"cannot be deleted ({error.strerror or error})") from None
    else:
        _write(path, content)
    _write_record(path, record)


def kept_at(path: str | os.PathLike) -> Path | None:
    """Where the bytes lie that a file had before it was changed last; None if it was not there."""
    steps = read_record(path).steps
    return _kept_place(path, steps[-1].before) if steps and steps[-1].before else None


def prune_originals(*, most_files: int = MOST_FILES, most_bytes: int = MOST_BYTES) -> None:
    """Forget the oldest of what is kept, where it has become too much."""
    with suppress(OSError, FileError):
        files = [
            (about.st_mtime_ns, about.st_size, place)
            for place in state_folder("originals").glob("??/*")
            if stat.S_ISREG((about := place.lstat()).st_mode)
        ]
        n_files, n_bytes = len(files), sum(size for _, size, _ in files)
        for _, size, place in sorted(files):
            if n_files <= most_files and n_bytes <= most_bytes:
                return
            place.unlink(missing_ok=True)
            n_files, n_bytes = n_files - 1, n_bytes - size


def _real(path: str | os.PathLike) -> Path:
    """The path without links on the way; the file itself is none."""
    return Path(os.path.realpath(Path(path).parent)) / Path(path).name


def _place(path: str | os.PathLike) -> Path:
    name = digest(os.fsencode(_real(path)))
    return state_folder("originals", name[:2]) / name


def _kept_place(path: str | os.PathLike, word: str) -> Path:
    place = _place(path)
    return place.with_name(f"{place.name}-{word}{Path(path).suffix}")


def _keep(path: str | os.PathLike, content: bytes | None) -> str | None:
    if content is None:
        return None
    word = digest(content)
    if _kept(path, word) is None:
        with atomic_write(_kept_place(path, word)) as stream:
            stream.write(content)
    return word


def _kept(path: str | os.PathLike, word: str) -> bytes | None:
    """Bytes that were kept; None if they are gone, or not those any more."""
    try:
        content = _kept_place(path, word).read_bytes()
    except OSError:
        return None
    return content if digest(content) == word else None


def _check_unchanged(path: str | os.PathLike, before: bytes | None) -> None:
    if plain_content(path) != before:
        raise FileError(path, "was changed by another program just now, and stays as it is; try again")


def _write(path: str | os.PathLike, content: bytes) -> None:
    with atomic_write(path) as stream:
        stream.write(content)


def _write_record(path: str | os.PathLike, record: Record) -> None:
    place = _place(path)
    about = place.with_name(f"{place.name}{_RECORD}")
    kept = {step.before for step in record.steps if step.before is not None}
    if record != Record():
        document = {
            "path": os.fspath(_real(path)),
            "steps": [step._asdict() for step in record.steps],
            "tags": {tag: written._asdict() for tag, written in record.tags.items()},
            "rows": record.rows,
            "taken": record.removed,
        }
        with atomic_write(about, text=True) as stream:
            json.dump(document, stream)
    else:
        about.unlink(missing_ok=True)
    for old in place.parent.glob(f"{place.name}-*"):
        if old.stem.rpartition("-")[2] not in kept:
            old.unlink(missing_ok=True)


def _parsed(document: Mapping[str, Any], path: str) -> Record:
    if document["path"] != path:
        return Record()
    return Record(
        tuple(FileChange(step["run"], step["before"], step["after"]) for step in document["steps"]),
        {
            tag: WrittenTag(tuple((name, entry) for name, entry in one["entries"]), bool(one["is_decided"]))
            for tag, one in document["tags"].items()
        },
        {name: list(map(str, tags)) for name, tags in document["rows"].items()},
        {name: list(map(str, tags)) for name, tags in document.get("taken", {}).items()},
    )


def before_exports(
    collection: Collection, folder: str | os.PathLike, decided: Mapping[str, set[str]]
) -> Collection:
    """The pictures of a folder with the tags that it would list without exports of decisions."""
    if not decided:
        return collection
    lists = _exported_lists(Path(folder))
    rows, is_changed = list[Marks](), False
    for name, marks in zip(collection.names or (), marks_of(collection), strict=True):
        if name in decided:
            before = marks
            marks = _before(marks, _written_beside(Path(folder) / name), lists, name, decided[name])
            is_changed = is_changed or marks != before
        rows.append(marks)
    if not is_changed:
        return collection
    there = {tag for marks in rows for tag in (*marks.present, *(marks.unknown or ()))}
    listed = {tag for marks in marks_of(collection) for tag in marks.present}
    # tags that occur in no picture were there before, too
    tags = [tag for tag in collection.tags if tag in there or tag not in listed]
    labels, tags = encode_marks(rows, [*tags, *sorted(there.difference(tags))])
    return collection.replaced(labels=labels, tags=tags)


def _before(
    marks: Marks, beside: Mapping[str, WrittenTag], lists: list[Record], name: str, decided: set[str]
) -> Marks:
    """What would be known of a picture without exports."""
    written = {tag for tag, one in beside.items() if one.is_decided}
    written = written.union(*(record.rows.get(name, ()) for record in lists)) & decided
    # of places|rome a sidecar also has rome, which nobody gave
    levels = {
        entry
        for tag, one in beside.items()
        for place, entry in one.entries
        if place == _FLAT and entry != tag
    }
    lost = set[str]().union(*(record.removed.get(name, ()) for record in lists)) & decided
    present = tuple(tag for tag in marks.present if tag not in written | levels)
    present += tuple(sorted(lost.difference(present)))
    if present == marks.present:
        return marks
    unknown = frozenset[str]() if marks.unknown is None else marks.unknown.difference(present)
    return Marks(present, unknown) if present else Marks()


def trees_before_exports(
    collection: Collection, folder: str | os.PathLike, decided: Mapping[str, set[str]]
) -> set[str]:
    """All keywords with levels that the files of a folder would hold without exports of decisions."""
    own_trees: set[str] = set()
    for name, trees in collection.trees.items():
        beside = _written_beside(Path(folder) / name) if name in decided else {}
        written = {entry for one in beside.values() for place, entry in one.entries if place != _FLAT}
        own_trees.update(tree for tree in trees if not {tree, tree.replace(_LEVELS, "/")} & written)
    return own_trees


def _written_beside(picture: Path) -> dict[str, WrittenTag]:
    written: dict[str, WrittenTag] = {}
    for sidecar in existing_sidecars(picture):
        written |= read_record(sidecar).tags
    return written


def _exported_lists(folder: Path) -> list[Record]:
    paths = sorted(path for path in folder.iterdir() if path.suffix in _LISTS and path.is_file())
    return [record for path in paths if (record := read_record(path)) != Record()]
