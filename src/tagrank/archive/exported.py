"""A folder as it would be without the exports of its archive.

A tag that somebody accepted goes out into a sidecar or a list, and is read back with the folder. It must not
count as listed then: taken back at the desk, it would stay present for ever. In the same way a tag that was
taken out of the list, because somebody rejected it, is listed all the same. What exports wrote is known from
the user's state, not from the folder.
"""

import os
import sqlite3
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from tagrank.archive.tag_columns import read_vocabulary
from tagrank.data.collection import Collection
from tagrank.data.readers.marks import Marks, encode_marks, marks_of
from tagrank.data.readers.xmp import existing_sidecars
from tagrank.data.writers.originals import Record, WrittenTag, read_record

_LISTS = (".csv", ".jsonl")
_FLAT = "dc:subject"
_LEVELS = "|"


def read_decided(connection: sqlite3.Connection) -> dict[str, set[str]]:
    """The tags about which somebody ever decided, undone or not, by the name of the picture.

    Those that follow, by the vocabulary, are among them.
    """
    vocabulary = read_vocabulary(connection)
    rows = connection.execute(
        "SELECT DISTINCT pictures.name, tags.name FROM decisions JOIN pictures ON pictures.id = picture "
        "JOIN tags ON tags.id = tag WHERE NOT is_gone"
    )
    decided: dict[str, set[str]] = defaultdict(set)
    for name, tag in rows:
        meant = vocabulary.name(tag)
        decided[name] |= {tag, meant, *vocabulary.above.get(meant, ())}
    return decided


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
    taken = set[str]().union(*(record.taken.get(name, ()) for record in lists)) & decided
    present = tuple(tag for tag in marks.present if tag not in written | levels)
    present += tuple(sorted(taken.difference(present)))
    if present == marks.present:
        return marks
    unknown = frozenset[str]() if marks.unknown is None else marks.unknown.difference(present)
    return Marks(present, unknown) if present else Marks()


def trees_before_exports(
    collection: Collection, folder: str | os.PathLike, decided: Mapping[str, set[str]]
) -> set[str]:
    """All keywords with levels that the files of a folder would hold without exports of decisions."""
    found: set[str] = set()
    for name, trees in collection.trees.items():
        beside = _written_beside(Path(folder) / name) if name in decided else {}
        written = {entry for one in beside.values() for place, entry in one.entries if place != _FLAT}
        found.update(tree for tree in trees if not {tree, tree.replace(_LEVELS, "/")} & written)
    return found


def _written_beside(picture: Path) -> dict[str, WrittenTag]:
    found: dict[str, WrittenTag] = {}
    for sidecar in existing_sidecars(picture):
        found |= read_record(sidecar).tags
    return found


def _exported_lists(folder: Path) -> list[Record]:
    paths = sorted(path for path in folder.iterdir() if path.suffix in _LISTS and path.is_file())
    return [record for path in paths if (record := read_record(path)) != Record()]
