"""A look at the folder: which pictures came, moved, changed or went, and which tags are listed now.

A picture is known again by its name and content together, else by its content (it moved), else by its name
(it changed). What was decided belongs to the picture, whatever it is called.
"""

import os
import sqlite3
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tagrank.annotation.bank.feature_bank import read_keys
from tagrank.annotation.bank.row_store import file_state
from tagrank.archive.decisions import listed_tag_number
from tagrank.archive.pictures import count_present
from tagrank.archive.records import Scan
from tagrank.archive.tag_columns import parents_in, path_of, read_changes, read_listed_parents
from tagrank.data import Collection, read_pictures
from tagrank.data.label_matrix import positive_pairs, unknown_pairs
from tagrank.data.picture_files import read_facts
from tagrank.data.picture_folder import PictureFolder
from tagrank.data.readers.folders.tag_folders import is_tag_folders
from tagrank.data.readers.keyword_memory import KeywordMemory
from tagrank.data.vocabulary import fold
from tagrank.data.writers.originals import before_exports, trees_before_exports
from tagrank.errors import ArgumentError
from tagrank.files import FileError, Problem, ProblemLog
from tagrank.progress import Progress

# a file written so recently could change again without a change of its time stamp
_SETTLED_NS = 2_000_000_000
LAYOUT, DATES = "layout", "dates"
# in the setting DATES; archives from before have the time of the file where the camera noted no date
OF_CAMERA = "camera"


class KnownPicture(NamedTuple):
    """A picture as the database has it."""

    id: int
    name: str
    key: bytes
    file_state: str
    is_gone: bool


class FolderPicture(NamedTuple):
    """A picture as the folder has it, and its row in the collection that was read."""

    name: str
    key: bytes
    file_state: str
    row: int


@dataclass
class PictureMatches:
    """Which pictures of the folder are which of the database."""

    same: list[tuple[KnownPicture, FolderPicture]] = field(default_factory=list)
    moved: list[tuple[KnownPicture, FolderPicture]] = field(default_factory=list)
    changed: list[tuple[KnownPicture, FolderPicture]] = field(default_factory=list)
    added: list[FolderPicture] = field(default_factory=list)
    gone: list[KnownPicture] = field(default_factory=list)


@dataclass(frozen=True)
class FolderState:
    """What a look at the folder found, before it is compared with the database.

    `facts` are width, height and date, by the name of the picture, `parents` tags and their parents, by the
    levels of hierarchical keywords.
    """

    collection: Collection
    pictures: list[FolderPicture]
    facts: dict[str, tuple[int, int, str]]
    problems: tuple[Problem, ...]
    parents: tuple[tuple[str, str], ...] = ()


def read_known(connection: sqlite3.Connection) -> list[KnownPicture]:
    """All pictures that were ever there."""
    return list(
        map(KnownPicture._make, connection.execute("SELECT id, name, key, file_state, is_gone FROM pictures"))
    )


def read_layout(connection: sqlite3.Connection) -> str:
    """How the folder stored its tags when it was looked at last."""
    row = connection.execute("SELECT value FROM settings WHERE key = ?", (LAYOUT,)).fetchone()
    return "" if row is None else str(row[0])


def has_own_dates(connection: sqlite3.Connection) -> bool:
    """Whether all dates come from cameras; else they are read again."""
    row = connection.execute("SELECT value FROM settings WHERE key = ?", (DATES,)).fetchone()
    return row == (OF_CAMERA,)


def as_before(collection: Collection, folder: str | os.PathLike, layout: str, **links: Any) -> Collection:
    """The collection of a folder, read again where its sidecars hide that its sub-folders are tags."""
    is_hidden = (collection.layout, layout) == ("keywords", "tag_folders")
    if not is_hidden or not is_tag_folders(PictureFolder(folder, ProblemLog(), **links)):
        return collection
    return read_pictures(folder, layout=layout, **links)


def look_at_folder(
    folder: Path,
    known: list[KnownPicture],
    layout: str,
    decided: Mapping[str, set[str]],
    *,
    has_dates: bool = True,
    cache: bool | str | os.PathLike,
    progress: Progress | None,
    separator: str | None = None,
    **links: bool,
) -> FolderState:
    """Read tags, contents and, of new pictures, sizes and dates; of all without `has_dates`.

    Nothing is written. `separator` and `links` (`follow_links` and `only_inside`) are options of
    `read_pictures`.
    """
    own: dict[str, Any] = {} if separator is None else {"separator": separator}
    with KeywordMemory.of_cache(cache) as keywords:
        options: dict[str, Any] = links | {"keywords": keywords}
        collection = read_pictures(folder, layout=None, **own, **options)
        collection = as_before(collection, folder, layout, **options)
    parents = parents_in(trees_before_exports(collection, folder, decided))
    collection = before_exports(collection, folder, decided)
    problems = list(collection.problems)
    pictures = _identify(collection, known, cache, problems, progress)
    matches = match_pictures(known, pictures)
    new = [*matches.added, *(picture for _, picture in matches.changed)]
    facts = _read_facts(folder, new if has_dates else pictures, problems, progress)
    return FolderState(collection, pictures, facts, tuple(problems), parents)


def _identify(
    collection: Collection,
    known: list[KnownPicture],
    cache: bool | str | os.PathLike,
    problems: list[Problem],
    progress: Progress | None,
) -> list[FolderPicture]:
    """Every picture with the key of its content; of files that did not change it is known already."""
    there = {picture.name: picture for picture in known if not picture.is_gone}
    names, paths = collection.names or (), collection.view("pictures")
    keys: dict[int, tuple[bytes, str]] = {}
    others = []
    for row, (name, path) in enumerate(zip(names, paths, strict=True)):
        before = there.get(name)
        if not name.isprintable() and _is_no_text(name):
            problems.append(Problem(path, "its name is not Unicode; rename it"))
        elif before is not None and before.file_state and before.file_state == state_of(path):
            keys[row] = before.key, before.file_state
        else:
            others.append(row)
    for row, source in zip(others, read_keys([paths[row] for row in others], cache, progress), strict=True):
        if isinstance(source, OSError):
            problems.append(Problem(paths[row], f"cannot be read ({source.strerror or source})"))
        else:
            keys[row] = source.key, _settled(source.state)
    return [FolderPicture(names[row], *keys[row], row) for row in sorted(keys)]


def _is_no_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return True
    return False


def state_of(path: str) -> str | None:
    """Size, time and number of a file in a word; None if it cannot be seen."""
    try:
        return file_state(path)
    except OSError:
        return None


def _settled(state: str | None) -> str:
    """The state of a file by which it is known again; nothing where it may still be written to."""
    modified = int((state or "0:0:0").split(":")[1])
    return state or "" if modified < time.time_ns() - _SETTLED_NS else ""


def match_pictures(known: Iterable[KnownPicture], present: Iterable[FolderPicture]) -> PictureMatches:
    """Say which picture is which."""
    matches = PictureMatches()
    known = list(known)
    by_name_and_key = {(picture.name, picture.key): picture for picture in known}
    left_known = {picture.id: picture for picture in known}
    left_found = []
    for picture in present:
        same = by_name_and_key.get((picture.name, picture.key))
        if same is not None and left_known.pop(same.id, None) is not None:
            matches.same.append((same, picture))
        else:
            left_found.append(picture)
    left_found = _match_rest(left_found, left_known, matches.moved, lambda picture: picture.key)
    there = {number: picture for number, picture in left_known.items() if not picture.is_gone}
    matches.added = _match_rest(left_found, there, matches.changed, lambda picture: picture.name)
    matches.gone = list(there.values())
    return matches


def _match_rest(
    present: list[FolderPicture],
    known: dict[int, KnownPicture],
    matched: list[tuple[KnownPicture, FolderPicture]],
    what: Callable[[KnownPicture | FolderPicture], bytes | str],
) -> list[FolderPicture]:
    """Pair what is the same in one respect, pictures that are there first; the answer is what is left."""
    candidates: dict[bytes | str, list[KnownPicture]] = defaultdict(list)
    for picture in sorted(known.values(), key=lambda picture: (not picture.is_gone, -picture.id)):
        candidates[what(picture)].append(picture)
    left = []
    for new in present:
        if same := candidates.get(what(new)):
            matched.append((known.pop(same.pop().id), new))
        else:
            left.append(new)
    return left


def _read_facts(
    folder: Path, new: list[FolderPicture], problems: list[Problem], progress: Progress | None
) -> dict[str, tuple[int, int, str]]:
    facts = {}
    for number, picture in enumerate(new, 1):
        path = folder / picture.name
        try:
            facts[picture.name] = read_facts(path)
        except FileError as error:
            problems.append(Problem(str(path), str(error).removeprefix(f"{path}: ")))
            facts[picture.name] = (0, 0, "")
        if progress is not None:
            progress(number, len(new), "reading sizes and dates")
    return facts


def listed_cells(collection: Collection, tags: dict[str, int], ids: np.ndarray) -> np.ndarray:
    """Picture, tag and state of all cells that a collection lists; rows whose number is -1 are left out."""
    numbers = np.array([tags[tag] for tag in collection.tags], dtype=np.int64)
    stored = collection.label_matrix.stored
    pieces = []
    for (rows, columns), state in ((positive_pairs(stored), 1), (unknown_pairs(stored), 0)):
        pieces.append(np.column_stack([ids[rows], numbers[columns], np.full(len(rows), state)]))
    cells = np.concatenate(pieces)
    cells = cells[cells[:, 0] >= 0]
    return cells[np.lexsort((cells[:, 1], cells[:, 0]))]


def record_scan(connection: sqlite3.Connection, state: FolderState) -> Scan:
    """Bring pictures, tags and listed cells to what the folder holds; decisions stay as they are."""
    matches = match_pictures(read_known(connection), state.pictures)
    _record_pictures(connection, matches, state)
    _record_listed(connection, state)
    problems = (*state.problems, *_record_parents(connection, state))
    connection.executemany(
        "INSERT OR REPLACE INTO settings VALUES (?, ?)",
        [(LAYOUT, state.collection.layout), (DATES, OF_CAMERA)],
    )
    return Scan(
        added=[picture.name for picture in matches.added],
        moved=[(old.name, new.name) for old, new in matches.moved],
        changed=[new.name for _, new in matches.changed],
        gone=[old.name for old in matches.gone],
        returned=[new.name for old, new in matches.same if old.is_gone],
        problems=problems,
        n_pictures=len(state.pictures),
    )


def _record_pictures(connection: sqlite3.Connection, matches: PictureMatches, state: FolderState) -> None:
    connection.executemany(
        "UPDATE pictures SET is_gone = 1 WHERE id = ?", [(old.id,) for old in matches.gone]
    )
    renewed = [pair for pair in matches.same if pair[0].is_gone or pair[0].file_state != pair[1].file_state]
    for old, new in (*renewed, *matches.moved, *matches.changed):
        _renew(connection, old, new)
    again = [pair for pair in (*matches.same, *matches.moved) if pair[1].name in state.facts]
    connection.executemany(
        "UPDATE pictures SET date = ? WHERE id = ?",
        [(state.facts[new.name][-1], old.id) for old, new in again],
    )
    for old, new in matches.changed:
        width, height, date = state.facts[new.name]
        connection.execute(
            "UPDATE pictures SET is_changed = 1, width = ?, height = ?, date = ? WHERE id = ?",
            (width, height, date, old.id),
        )
    rows = []
    for new in matches.added:
        width, height, date = state.facts[new.name]
        rows.append((new.name, _folder(new.name), new.key, new.file_state, date, width, height))
    connection.executemany(
        "INSERT INTO pictures (name, folder, key, file_state, date, width, height) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        rows,
    )


def _renew(connection: sqlite3.Connection, old: KnownPicture, new: FolderPicture) -> None:
    connection.execute(
        "UPDATE pictures SET name = ?, folder = ?, key = ?, file_state = ?, is_gone = 0 WHERE id = ?",
        (new.name, _folder(new.name), new.key, new.file_state, old.id),
    )


def _folder(name: str) -> str:
    return name.rpartition("/")[0]


def _record_listed(connection: sqlite3.Connection, state: FolderState) -> None:
    """Write down the listed tags, as far as they differ from what is written."""
    collection = state.collection
    ids = np.full(len(collection), -1, dtype=np.int64)
    numbers = dict(connection.execute("SELECT name, id FROM pictures WHERE NOT is_gone"))
    for picture in state.pictures:
        ids[picture.row] = numbers[picture.name]
    tags = {tag: listed_tag_number(connection, tag) for tag in collection.tags}
    cells = listed_cells(collection, tags, ids)
    listed = connection.execute(
        "SELECT picture, tag, listed FROM cells WHERE listed IS NOT NULL AND picture IN "
        "(SELECT id FROM pictures WHERE NOT is_gone)"
    )
    # cells are many: each as a tuple of its own would fill the memory
    before = np.fromiter(chain.from_iterable(listed), dtype=np.int64).reshape(-1, 3)
    old, new = _differing(before, cells)
    connection.executemany(
        "UPDATE cells SET listed = NULL WHERE picture = ? AND tag = ?", (row.tolist() for row in old[:, :2])
    )
    connection.executemany(
        "INSERT INTO cells (picture, tag, listed) VALUES (?, ?, ?) ON CONFLICT (picture, tag) "
        "DO UPDATE SET listed = excluded.listed",
        (row.tolist() for row in new),
    )
    connection.execute("DELETE FROM cells WHERE listed IS NULL AND answer IS NULL")
    _record_known_rows(connection, ids, collection.known_rows())
    count_present(connection, np.unique(np.concatenate([old[:, 0], new[:, 0]])).tolist())


def _differing(old: np.ndarray, new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows of each array, none there twice, that the other one has not, in their order."""
    both = np.concatenate([old, new])
    order = np.lexsort(both.T[::-1])
    is_pair = (both[order[1:]] == both[order[:-1]]).all(axis=1)
    is_shared = np.zeros(len(both), dtype=bool)
    is_shared[order[1:][is_pair]] = is_shared[order[:-1][is_pair]] = True
    return old[~is_shared[: len(old)]], new[~is_shared[len(old) :]]


def _record_parents(connection: sqlite3.Connection, state: FolderState) -> list[Problem]:
    """Write down what the levels of keywords say of tags, if there is room for all of it."""
    parents, problems = state.parents, list[Problem]()
    try:
        fold(read_changes(connection), parents)
    except ArgumentError as error:
        reason = f"the parents in hierarchical keywords are ignored: {error}"
        parents, problems = (), [Problem(path_of(connection), reason)]
    old, new = set(read_listed_parents(connection)), set(parents)
    connection.executemany("DELETE FROM listed_parents WHERE tag = ? AND parent = ?", sorted(old - new))
    connection.executemany("INSERT INTO listed_parents VALUES (?, ?)", sorted(new - old))
    return problems


def _record_known_rows(connection: sqlite3.Connection, ids: np.ndarray, is_known: np.ndarray) -> None:
    before = dict(connection.execute("SELECT id, is_known FROM pictures WHERE NOT is_gone"))
    rows = zip(ids.tolist(), is_known.tolist(), strict=True)
    changed = [(int(known), number) for number, known in rows if number >= 0 and before[number] != known]
    connection.executemany("UPDATE pictures SET is_known = ? WHERE id = ?", changed)
