"""Archive: a folder of pictures, and the file with all that people decided about their tags."""

import os
import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Concatenate, ParamSpec, Self, TypeVar

import numpy as np

from tagrank.archive.decisions import (
    count_decisions,
    count_people,
    last_batch,
    last_decision,
    list_decisions,
    list_steps,
    read_decided,
    record_answers,
    take_back,
)
from tagrank.archive.names import Request, checked_answers
from tagrank.archive.pictures import (
    read_contents,
    read_labels,
    read_picture_table,
    read_picture_tags,
    read_pictures_of,
    read_tag_counts,
    read_tag_states,
    read_tags,
)
from tagrank.archive.records import (
    Answer,
    ArchivedPicture,
    Batch,
    Cell,
    Conflict,
    Contents,
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
from tagrank.archive.scan import has_own_dates, look_at_folder, read_known, read_layout, record_scan
from tagrank.archive.selection import count_pictures, select_pictures
from tagrank.archive.storage.database import Database
from tagrank.archive.storage.own_state import OwnState, Settings
from tagrank.archive.storage.place import DeskLock, check_home, database_path, lock_database, make_home
from tagrank.archive.storage.writer import Writer
from tagrank.archive.tag_changes import (
    ArchiveTags,
    checked_changes,
    read_entries,
    record_changes,
)
from tagrank.archive.tag_columns import read_vocabulary
from tagrank.archive.tag_states import read_conflicts, read_states
from tagrank.data.vocabulary import TagChange, TagVocabulary
from tagrank.data.writers.tags import PictureTags
from tagrank.files import FileError, check_plain
from tagrank.progress import Progress

_MOST_NAMES = 5
Listener = Callable[[list[Cell]], None]
Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")


class Archive:
    """Pictures of a folder and decisions about their tags; many threads may use one.

    Open it with `Archive.open`. What `decide` and `undo` return is on disk.
    """

    def __init__(self, folder: Path, database: Database, lock: DeskLock | None) -> None:
        self.folder, self.database = folder, database.path
        self._database, self._lock = database, lock
        self._writer = None if database.read_only else Writer(database.writer(), database.path)
        self._listeners: list[Listener] = []
        self._scanning = threading.Lock()
        self.settings = Settings(self.read, self._write)
        self.own = OwnState(database.path, self.settings)

    @classmethod
    def open(
        cls,
        folder: str | os.PathLike,
        *,
        database: str | os.PathLike | None = None,
        create: bool = True,
        read_only: bool = False,
        lock: bool = False,
    ) -> Self:
        """The archive of a folder.

        Parameters
        ----------
        folder : with the pictures; none of them is ever written to
        database : the file with the decisions; default: ``.tagrank/desk.sqlite`` in the folder
        create : make the file if it is missing
        read_only : write nothing at all; several may read while one writes
        lock : refuse where another has the lock, see `ArchiveInUse`
        """
        folder = Path(folder)
        if not folder.is_dir():
            raise FileError(folder, "is not a folder; expected a folder of pictures")
        path = database_path(folder, database)
        if database is None:
            check_home(path.parent)
        is_there = check_plain(path) is not None
        if (read_only or not create) and not is_there:
            raise FileNotFoundError(f"{path}: no decisions found; 'tagrank desk' creates this file")
        if not read_only:
            make_home(path)
        held = lock_database(path) if lock else None
        try:
            archive = cls(folder, Database(path, read_only=read_only), held)
        except BaseException:
            if held is not None:
                held.close()
            raise
        if not is_there:
            archive.own.remember()
        return archive

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write what waits, and let go of the file and of the lock."""
        if self._writer is not None:
            self._writer.close()
        self._database.close()
        if self._lock is not None:
            self.own.forget_address()
            self._lock.close()
            self._lock = None

    @property
    def home(self) -> Path:
        """The folder of the database."""
        return self.database.parent

    @property
    def network_kind(self) -> str | None:
        """The kind of network drive that holds the database, None on a drive of this machine."""
        return self._database.network_kind

    def people(self) -> dict[str, int]:
        """How many decisions that stand each person made, most first."""
        return self.read(count_people)

    def told_of_others(self) -> str:
        """A sentence about the decisions in an archive that this user did not open before; "" for others."""
        people = {} if self.own.is_known else self.people()
        if not people:
            return ""
        # names from the file are not shown as they are: they may hold anything
        shown = [
            f"{name if name.isprintable() else ascii(name)} ({n:,})"[:80]
            for name, n in list(people.items())[:_MOST_NAMES]
        ]
        n_more = len(people) - len(shown)
        names = ", ".join(shown) + (f" and {n_more:,} more" if n_more else "")
        return (
            f"{self.database} was made by somebody else or by an older tagrank; it has "
            f"{sum(people.values()):,} decisions by {names}"
        )

    def scan(
        self,
        progress: Progress | None = None,
        *,
        cache: bool | str | os.PathLike = True,
        separator: str | None = None,
        follow_links: bool = False,
        only_inside: bool = False,
    ) -> Scan:
        """Look at the folder: which pictures came, moved, changed or went, and which tags are listed.

        Parameters
        ----------
        progress : called with the number of pictures done, the number of pictures, and the name of the work
        cache : where contents of files are known from, as for `describe_pictures`
        separator, follow_links, only_inside : as for `read_pictures`
        """
        with self._scanning:
            known, layout, decided, has_dates = self.read(
                lambda connection: (
                    read_known(connection),
                    read_layout(connection),
                    read_decided(connection),
                    has_own_dates(connection),
                )
            )
            state = look_at_folder(
                self.folder,
                known,
                layout,
                decided,
                has_dates=has_dates,
                cache=cache,
                progress=progress,
                separator=separator,
                follow_links=follow_links,
                only_inside=only_inside,
            )
            # all pictures there ever were, which are read anew where they are written
            del known
            return self._write(lambda connection: record_scan(connection, state))

    def pictures(self) -> PictureTable:
        """All pictures that are there, by their numbers."""
        return self.read(read_picture_table)

    def picture(self, number: int) -> ArchivedPicture:
        """One picture; LookupError if there never was one of that number."""
        return self.pictures_of([number])[0]

    def pictures_of(self, numbers: Sequence[int]) -> list[ArchivedPicture]:
        """Several pictures, in that order."""
        return self.read(read_pictures_of, numbers, self.folder)

    def select(
        self, chosen: PictureFilter | None = None, *, after: int | None = None, limit: int | None = None
    ) -> list[int]:
        """The numbers of the pictures that are meant, ascending, above `after`, at most `limit`."""
        return self.read(select_pictures, chosen or PictureFilter(), after, limit)

    def count(self, chosen: PictureFilter | None = None) -> int:
        """How many pictures are meant."""
        return self.read(count_pictures, chosen or PictureFilter())

    def tags(self) -> list[str]:
        """All tags but synonyms and deleted ones, in a fixed order.

        New ones are appended; `change_tags` may take some out, or bring some back.
        """
        return self.read(read_tags)

    def tag_counts(self) -> TagCounts:
        """In how many pictures each tag is present, and how it was answered."""
        return self.read(read_tag_counts)

    def states(self, ids: Sequence[int] | np.ndarray | None = None) -> SparseStates:
        """The cells that are listed or decided, of all pictures that are there or of some."""
        return self.read(read_states, ids)

    def states_of(self, picture: int) -> dict[str, TagState]:
        """What is listed or decided of one picture, by tag."""
        return self.read(read_tag_states, picture)

    def contents(self) -> Contents:
        """Pictures, tags, states and vocabulary of one moment."""
        return self.read(read_contents)

    def picture_tags(self) -> list[PictureTags]:
        """Every picture that is there with its tags, as they leave the archive."""
        return self.read(read_picture_tags)

    def collection(self, *, only_known: bool = False) -> DecidedCollection:
        """All pictures with their labels in three states; with `only_known` those with any known label."""
        whole = self.read(read_labels, self.folder)
        return whole.only_known() if only_known else whole

    def vocabulary(self) -> TagVocabulary:
        """What the tags mean: synonyms, parents, descriptions, and which are deleted."""
        return self.read(read_vocabulary)

    def change_tags(self, changes: Sequence[TagChange], *, who: str, request: str) -> Batch:
        """Change what tags mean in one step, which `undo` takes back as it does answers.

        Parameters
        ----------
        changes : see `TagChange`; parents that go in a circle are refused
        who, request : as for `decide`
        """
        step, checked = Request(request, who, queue="tags"), checked_changes(changes)
        return self._write(lambda connection: record_changes(connection, checked, step))

    def tag_history(self, limit: int = 100, *, before: int | None = None) -> list[Step]:
        """Changes of tags, the latest first: batches with a number below `before`."""
        return self.read(list_steps, limit=limit, before=before, who=None, n_shown=0, only_tags=True)

    def conflicts(self, limit: int = 1000) -> tuple[list[Conflict], int]:
        """What people said that cannot both be true, the latest first; and how many there are."""
        return self.read(read_conflicts, limit)

    def tag_overview(self) -> ArchiveTags:
        """The tags with what they mean, conflicts between answers, and the latest changes."""
        conflicts, n_conflicts = self.conflicts()
        entries, circles = self.read(read_entries), self.vocabulary().circles
        return ArchiveTags(entries, conflicts, n_conflicts, circles, self.tag_history())

    def decide(
        self,
        answers: Sequence[Answer],
        *,
        who: str,
        request: str,
        queue: str = "",
        model: int | None = None,
        reviewed: Sequence[int] = (),
        is_unmarked: bool = False,
    ) -> Batch:
        """Record answers in one step; all of them, or an error and none.

        Parameters
        ----------
        answers : at most 1,000; a tag of a new name is made
        who : the person
        request : a word for this step; what is asked again with the same word changes nothing
        queue, model : from where, and by the proposals of which model
        reviewed : pictures that are marked as looked at; undone with the answers
        is_unmarked : whether these are proposals that were accepted together, without a mark on any of them;
            a model does not learn from them, as it would confirm itself if nobody looked
        """
        step = Request(request, who, queue=queue, model=model, reviewed=reviewed, is_unmarked=is_unmarked)
        checked = checked_answers(answers)
        return self._write(lambda connection: record_answers(connection, checked, step), self._tell)

    def undo(self, *, who: str, request: str, batch: int | None = None) -> Undone:
        """Take a batch back, by default the last one of this person; LookupError if there is none.

        Called again, it takes back the one before. Cells that were decided anew since are kept.
        """
        step = Request(request, who)
        return self._write(lambda connection: take_back(connection, step, batch), self._tell)

    def write_answers(self, work: Callable[[sqlite3.Connection], Sequence[Batch]]) -> None:
        """Record the batches that `work` makes in one step; all of them, or an error and none."""
        self._write(work, lambda batches: self._tell(*batches))

    def write(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """The answer of `work`, once what it wrote is on disk; listeners hear nothing of it."""
        return self._write(work)

    def history(
        self, limit: int = 100, *, before: int | None = None, who: str | None = None
    ) -> list[Decision]:
        """Decisions, the latest first: those with a number below `before`, of one person."""
        return self.read(list_decisions, limit=limit, before=before, who=who)

    def steps(
        self, limit: int = 30, *, before: int | None = None, who: str | None = None, n_shown: int = 14
    ) -> list[Step]:
        """What people did at once, the latest first: batches with a number below `before`, of one person."""
        return self.read(list_steps, limit=limit, before=before, who=who, n_shown=n_shown)

    def last_step(self, who: str) -> int | None:
        """The number of what a person would take back next, if there is anything."""
        return self.read(last_batch, who)

    def last_decision(self) -> int:
        """A number that grows with every decision and every one taken back."""
        return self.read(last_decision)

    def n_decisions(self, since: int = 0) -> int:
        """How many decisions stand that were made after `since`, a number of `last_decision`."""
        return self.read(count_decisions, since)

    def add_listener(self, listener: Listener) -> None:
        """Let `listener` be called with the cells that change, once they are on disk; it may not write."""
        self._listeners.append(listener)

    def read(
        self,
        work: Callable[Concatenate[sqlite3.Connection, Arguments], Result],
        *arguments: Arguments.args,
        **options: Arguments.kwargs,
    ) -> Result:
        """The answer of `work`, all of whose queries see the same moment."""
        with self._database.reading() as connection:
            return work(connection, *arguments, **options)

    def _write(
        self, work: Callable[[sqlite3.Connection], Result], after: Callable[[Result], None] = lambda _: None
    ) -> Result:
        if self._writer is None:
            raise OSError(f"{self.database} was opened for reading only")
        return self._writer.run(work, after)

    def _tell(self, *answers: Batch | Undone) -> None:
        pieces = [(a.cells if isinstance(a, Batch) else a.restored) for a in answers if a.is_new]
        cells = [cell for piece in pieces for cell in piece]
        for listener in self._listeners if cells else ():
            listener(cells)
