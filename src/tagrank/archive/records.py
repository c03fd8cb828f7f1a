"""What an archive is asked and answers: pictures, answers, decisions, states, in plain words."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tagrank.data.collection import Collection
from tagrank.data.vocabulary import TagChange, TagVocabulary
from tagrank.files import Problem

PRESENT, ABSENT, UNKNOWN = "present", "absent", "unknown"
STATE_WORDS = {1: PRESENT, -1: ABSENT, 0: UNKNOWN}
STATES = {word: state for state, word in STATE_WORDS.items()}
ANSWERS = {"yes": 1, "no": -1, "skip": 0}
ANSWER_WORDS = {state: answer for answer, state in ANSWERS.items()}


class Answer(NamedTuple):
    """What a person says about one tag of one picture: "yes", "no" or "skip"."""

    picture: int
    tag: str
    answer: str


class Cell(NamedTuple):
    """The state of one tag of one picture after something changed."""

    picture: int
    tag: str
    state: str
    is_decided: bool
    is_implied: bool = False


class TagState(NamedTuple):
    """What is known of a tag of a picture: state, answer, whose it was, whether the folder lists it.

    `because` is the tag from which the state follows, None where it was said of the tag itself.
    """

    state: str
    answer: str | None
    who: str | None
    is_listed: bool
    because: str | None = None


@dataclass(frozen=True)
class ArchivedPicture:
    """One picture.

    Attributes
    ----------
    name, path, folder : relative to the archive, with ``/`` between; in the file system; "" at the top
    date : day on which it was taken, as 2024-05-01; empty where the camera noted none
    key : 16 bytes that stand for its content
    width, height : of the upright picture; 0 if it cannot be read
    is_gone, is_reviewed, is_changed : not in the folder any more; marked by a person; its content is another
        than it was when it was first seen
    """

    id: int
    name: str
    path: Path
    folder: str
    date: str
    key: bytes
    width: int
    height: int
    is_tagged: bool
    is_gone: bool
    is_reviewed: bool
    is_changed: bool


@dataclass(frozen=True)
class PictureTable:
    """All pictures that are there, by their numbers; every field has an entry for each."""

    ids: np.ndarray
    names: list[str]
    keys: list[bytes]
    dates: list[str]
    is_tagged: np.ndarray
    is_reviewed: np.ndarray
    is_changed: np.ndarray
    is_audited: np.ndarray


@dataclass(frozen=True)
class PictureFilter:
    """Which pictures are meant; what is None does not matter.

    Attributes
    ----------
    tag : those that have it; with `state` those in which it is "present", "absent" or "unknown"
    folder : in it, or below it
    state : also "tagged", "untagged", "reviewed", "unreviewed" or "changed", of the picture
    start, end : first and last day, as 2024-05-01; pictures without a date are left out
    text : in the name, or in the name of a tag that is present
    """

    tag: str | None = None
    folder: str | None = None
    state: str | None = None
    start: str | None = None
    end: str | None = None
    text: str | None = None


@dataclass(frozen=True)
class SparseStates:
    """The cells that are listed or decided, or follow from others that are, ordered by picture and column.

    Attributes
    ----------
    pictures, columns : int64 arrays, numbers of pictures and places in `Archive.tags()`
    states : int8 array, +1 present, -1 absent, 0 unknown
    is_decided, is_listed : bool arrays; what follows from a decision is decided
    is_implied : bool array, whether the state follows from other tags of the picture; default: nowhere
    """

    pictures: np.ndarray
    columns: np.ndarray
    states: np.ndarray
    is_decided: np.ndarray
    is_listed: np.ndarray
    is_implied: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=bool))

    def __post_init__(self) -> None:
        if len(self.is_implied) != len(self.states):
            object.__setattr__(self, "is_implied", np.zeros(len(self.states), dtype=bool))


class Contents(NamedTuple):
    """What an archive holds at a moment; the columns of `states` are those of `tags`."""

    pictures: PictureTable
    tags: list[str]
    states: SparseStates
    vocabulary: TagVocabulary


@dataclass(frozen=True)
class TagCounts:
    """For each tag, in the order of `Archive.tags()`, in how many pictures it is present, and its answers."""

    tags: list[str]
    present: np.ndarray
    yes: np.ndarray
    no: np.ndarray
    skip: np.ndarray


class DecidedCollection(NamedTuple):
    """Pictures with labels in three states, their numbers, and rows and columns of what was decided."""

    collection: Collection
    ids: np.ndarray
    decided: tuple[np.ndarray, np.ndarray]

    def only_known(self) -> "DecidedCollection":
        """The pictures about which anything is known, or was decided."""
        rows, columns = self.decided
        chosen = self.collection.known_rows()
        chosen[rows] = True
        place = np.cumsum(chosen) - 1
        return DecidedCollection(self.collection.subset(chosen), self.ids[chosen], (place[rows], columns))


@dataclass(frozen=True)
class Batch:
    """Answers that were recorded in one step.

    Attributes
    ----------
    batch : its number
    decisions : the number of its last decision
    cells : the states that it left
    is_new : False where the request had been answered before
    """

    batch: int
    decisions: int
    cells: tuple[Cell, ...] = ()
    is_new: bool = True


@dataclass(frozen=True)
class Undone:
    """A batch that was taken back.

    Attributes
    ----------
    batch : which one
    restored : cells as they are again
    kept : cells that were decided anew later, as they are
    reviewed : pictures whose mark went
    changes : what was said of tags and holds no longer
    """

    batch: int
    restored: tuple[Cell, ...]
    kept: tuple[Cell, ...] = ()
    reviewed: tuple[int, ...] = ()
    is_new: bool = True
    changes: tuple[TagChange, ...] = ()


class Conflict(NamedTuple):
    """A tag and one that it implies, of which people said that the first is present and the second absent.

    Attributes
    ----------
    picture, name : which picture
    present, present_by : the tag, and who said so; None where the folder lists it
    absent, absent_by : the tag above it, and who said so
    holds : "present" or "absent": which of both was said later
    """

    picture: int
    name: str
    present: str
    present_by: str | None
    absent: str
    absent_by: str
    holds: str


@dataclass(frozen=True)
class Decision:
    """One answer, as it was recorded; `before` is the state it found, `undone_by` who took it back."""

    id: int
    batch: int
    picture: int
    name: str
    tag: str
    answer: str
    before: str
    who: str
    at: str
    queue: str
    model: int | None
    undone_by: str | None

    @property
    def is_undone(self) -> bool:
        """Whether it was taken back."""
        return self.undone_by is not None


@dataclass(frozen=True)
class Step:
    """What one person did at once, and takes back at once; of large steps only numbers and some examples.

    Attributes
    ----------
    batch, who, at, queue : its number, whose it was, when, and what was looked at
    answers : how often each answer was given, "yes", "no" and "skip"
    tags, n_tags : some of the tags that were answered about, and how many there are
    decisions : the first of its answers
    reviewed, n_reviewed : numbers and names of some pictures that were marked as done, and how many
    undone_by : who took it back
    changes : of tags
    """

    batch: int
    who: str
    at: str
    queue: str
    answers: dict[str, int]
    tags: tuple[str, ...]
    n_tags: int
    decisions: tuple[Decision, ...]
    reviewed: tuple[tuple[int, str], ...]
    n_reviewed: int
    undone_by: str | None
    changes: tuple[TagChange, ...] = ()


@dataclass(frozen=True)
class Scan:
    """What a look at the folder found.

    Attributes
    ----------
    added, changed, gone, returned : names
    moved : pairs of the old and the new name
    problems : files that were left out or not wholly understood, and why
    n_pictures : how many are there now
    """

    added: Sequence[str] = ()
    moved: Sequence[tuple[str, str]] = ()
    changed: Sequence[str] = ()
    gone: Sequence[str] = ()
    returned: Sequence[str] = ()
    problems: Sequence[Problem] = field(default_factory=tuple)
    n_pictures: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "added": list(self.added),
            "changed": list(self.changed),
            "gone": list(self.gone),
            "moved": [list(pair) for pair in self.moved],
            "problems": [{"path": one.path, "reason": one.reason} for one in self.problems],
            "pictures": self.n_pictures,
        }
