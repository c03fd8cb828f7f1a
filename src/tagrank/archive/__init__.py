"""An archive of pictures: what lies in its folder, and what people decided about its tags, in one file."""

from tagrank.archive.archive import Archive
from tagrank.archive.overlay import decided_collection
from tagrank.archive.records import (
    ANSWERS,
    Answer,
    ArchivedPicture,
    Batch,
    Cell,
    Conflict,
    DecidedCollection,
    Decision,
    PictureFilter,
    PictureTable,
    Scan,
    SparseStates,
    Step,
    TagCounts,
    TagState,
    Undone,
)
from tagrank.archive.storage.place import ArchiveInUse, database_path

__all__ = [
    "ANSWERS",
    "Answer",
    "Archive",
    "ArchiveInUse",
    "ArchivedPicture",
    "Batch",
    "Cell",
    "Conflict",
    "DecidedCollection",
    "Decision",
    "PictureFilter",
    "PictureTable",
    "Scan",
    "SparseStates",
    "Step",
    "TagCounts",
    "TagState",
    "Undone",
    "database_path",
    "decided_collection",
]
