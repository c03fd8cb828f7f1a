"""The vocabulary of an archive as it stands, and the columns that its tags have."""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from tagrank.archive.names import checked_tag
from tagrank.data.vocabulary import MOST_CHANGES, TagChange, TagVocabulary, fold
from tagrank.errors import ArgumentError
from tagrank.files import FileError

# of a batch that neither was taken back nor takes another back
STANDS = "undoes IS NULL AND NOT EXISTS (SELECT 1 FROM batches AS other WHERE other.undoes = batches.id)"
_CHANGES = f"""
    SELECT kind, tag, tag_changes.other FROM tag_changes JOIN batches ON batches.id = batch
    WHERE {STANDS} ORDER BY at, tag_changes.id LIMIT {MOST_CHANGES + 1}
"""
_LISTED = f"SELECT tag, parent FROM listed_parents ORDER BY tag, parent LIMIT {MOST_CHANGES + 1}"
# trees of people have few levels; hostile ones may have any number
MOST_LEVELS = 32
MOST_PARENTS = 20_000
_LEVEL = "|"
# digiKam keeps its labels and ratings among the keywords
_OF_DIGIKAM = "_digikam"


def read_vocabulary(connection: sqlite3.Connection) -> TagVocabulary:
    """What the tags mean now."""
    changes, listed = read_changes(connection), read_listed_parents(connection)
    try:
        return _folded(changes, listed)
    except ArgumentError as error:
        raise FileError(path_of(connection), f"its tags cannot be used: {error}") from None


_folded = lru_cache(maxsize=4)(fold)


def read_changes(connection: sqlite3.Connection) -> tuple[TagChange, ...]:
    """The changes that stand, in the order of their time."""
    return tuple(map(TagChange._make, connection.execute(_CHANGES)))


def read_listed_parents(connection: sqlite3.Connection) -> tuple[tuple[str, str], ...]:
    """Tags and their parents as the files of the folder have them."""
    return tuple(connection.execute(_LISTED))


def read_words(connection: sqlite3.Connection) -> set[str]:
    """All tags and synonyms, deleted ones too."""
    vocabulary = read_vocabulary(connection)
    above = (tag for tags in vocabulary.above.values() for tag in tags)
    used = (name for (name,) in connection.execute("SELECT name FROM tags"))
    return {*used, *vocabulary.synonyms, *vocabulary.synonyms.values(), *vocabulary.above, *above}


def path_of(connection: sqlite3.Connection) -> str:
    """The file of a connection, for messages."""
    return str(connection.execute("PRAGMA database_list").fetchone()[2]) or "the archive"


@dataclass(frozen=True)
class Columns:
    """Where the tags of an archive stand in arrays.

    Attributes
    ----------
    vocabulary : what they mean
    names : the tags that are no synonyms and not deleted, in a fixed order to which new ones are appended
    column_of : int64 array, for the number of each tag in the database its column, or -1
    starts, above : the columns above column j are ``above[starts[j] : starts[j + 1]]``, int64 arrays
    """

    vocabulary: TagVocabulary
    names: list[str]
    column_of: np.ndarray
    starts: np.ndarray
    above: np.ndarray

    def turned(self) -> tuple[np.ndarray, np.ndarray]:
        """`starts` and `below`, the same for the columns below each column."""
        owners = np.repeat(np.arange(len(self.names)), np.diff(self.starts))
        order = np.argsort(self.above, kind="stable")
        counts = np.bincount(self.above, minlength=len(self.names))
        return np.concatenate([[0], np.cumsum(counts)]), owners[order]

    def related(self, columns: Iterable[int]) -> np.ndarray:
        """These columns with all above and below them."""
        chosen = np.zeros(len(self.names), dtype=bool)
        chosen[list(columns)] = True
        starts, below = self.turned()
        related = [self.above[expanded(self.starts, np.flatnonzero(chosen))[1]]]
        related.append(below[expanded(starts, np.flatnonzero(chosen))[1]])
        chosen[np.concatenate(related)] = True
        return np.flatnonzero(chosen)

    def numbers(self, columns: np.ndarray) -> list[int]:
        """The numbers in the database of the tags and synonyms of these columns."""
        return np.flatnonzero(np.isin(self.column_of, columns)).tolist()


def expanded(starts: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All places in the stretches ``starts[j] : starts[j + 1]`` of chosen j, and whose they are."""
    sizes = starts[chosen + 1] - starts[chosen]
    owners = np.repeat(np.arange(len(chosen)), sizes)
    first = np.cumsum(sizes) - sizes
    return owners, np.arange(len(owners)) - first[owners] + starts[chosen][owners]


def read_columns(connection: sqlite3.Connection) -> Columns:
    """The columns of all tags."""
    rows = connection.execute("SELECT id, name FROM tags ORDER BY id").fetchall()
    if [number for number, _ in rows] != list(range(1, len(rows) + 1)):
        raise FileError(path_of(connection), "is damaged (tags are missing); restore it from a copy")
    return columns_of([name for _, name in rows], read_vocabulary(connection))


def columns_of(words: list[str], vocabulary: TagVocabulary) -> Columns:
    """The columns of tags with these words, numbered from 1 on."""
    names = words
    if not vocabulary.is_plain:
        parents = (tag for above in vocabulary.above.values() for tag in above)
        meant = {*map(vocabulary.name, words), *parents} - vocabulary.deleted
        own = [word for word in words if word in meant]
        names = own + sorted(meant.difference(own))
    column = {name: j for j, name in enumerate(names)}
    column_of = [-1, *(column.get(vocabulary.name(word), -1) for word in words)]
    above = [sorted(column[tag] for tag in vocabulary.above.get(name, ()) if tag in column) for name in names]
    return Columns(
        vocabulary,
        names,
        np.array(column_of, dtype=np.int64),
        np.cumsum([0, *map(len, above)]),
        np.array([j for columns in above for j in columns], dtype=np.int64),
    )


def parents_in(trees: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Pairs of a tag and its parent in keywords with levels, in the order of the alphabet.

    A word that stands below several others means several things, so nothing is said of it. At most
    `MOST_PARENTS` are taken.
    """
    parents: dict[str, set[str]] = {}
    for tree in trees:
        for parent, tag in pairwise(_levels(tree)):
            if tag.casefold() != parent.casefold():
                parents.setdefault(tag, set()).add(parent)
    single = ((tag, *above) for tag, above in sorted(parents.items()) if len(above) == 1)
    pairs = [(tag, parent) for tag, parent in single if _is_name(tag) and _is_name(parent)]
    return tuple(pairs[:MOST_PARENTS])


def _levels(tree: str) -> list[str]:
    levels = [level.strip() for level in tree.split(_LEVEL, MOST_LEVELS)]
    is_meant = len(levels) <= MOST_LEVELS and not any(
        level.casefold().startswith(_OF_DIGIKAM) for level in levels
    )
    return [level for level in levels if level] if is_meant else []


def _is_name(level: str) -> bool:
    try:
        return checked_tag(level) == level
    except ArgumentError:
        return False
