"""What a desk holds in memory, and how it follows the archive and the models.

One `View` is what all requests of a moment read. A scan or a new model makes another and puts it in its place
in one step; decisions go into the table of the view as they are recorded.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from threading import RLock
from typing import Any

import numpy as np

from tagrank.archive.records import PictureTable
from tagrank.data.vocabulary import TagVocabulary
from tagrank.desk.book import Book
from tagrank.desk.estimate import Estimate
from tagrank.desk.judged import Judged
from tagrank.desk.reader import Reader
from tagrank.desk.states import Change, StateTable


@dataclass(frozen=True)
class View:
    """What is known at a time.

    Attributes
    ----------
    pictures : those that are there
    table : what is known of each pair
    is_reviewed : whether somebody was done with a picture; follows decisions, as `table` does
    proposals : of the current model, None before the first
    judged, book, reader : its probabilities, the orders of its queues, and how they are read
    estimate : how many tags are missing
    vocabulary : what the tags mean
    """

    pictures: PictureTable
    table: StateTable
    is_reviewed: np.ndarray
    proposals: Any
    judged: Judged
    book: Book
    reader: Reader
    estimate: Estimate
    vocabulary: TagVocabulary


class Memory:
    """The current view of an archive."""

    def __init__(self, archive: Any, proposals: Any = None) -> None:
        self._archive, self._lock, self._making = archive, RLock(), RLock()
        self._during: list[Change] | None = None  # what was decided while a table is read
        self._view: View | None = None
        archive.add_listener(self._follow)
        self.read_archive(proposals)

    @property
    def view(self) -> View:
        """What is known now."""
        assert self._view is not None
        return self._view

    def read_archive(self, proposals: Any = None) -> None:
        """Read pictures and states anew, as after a scan; by default for the same model."""
        with self._making:
            with self._lock:
                self._during = []
            pictures, tags, states, vocabulary = self._archive.contents()
            table = StateTable(pictures.ids, tags, states)
            proposals = self._view.proposals if proposals is None and self._view is not None else proposals
            self._replace(pictures, table, pictures.is_reviewed.copy(), proposals, vocabulary)

    def use(self, proposals: Any) -> None:
        """Another model answers from now on."""
        with self._making:
            view = self.view
            self._replace(view.pictures, view.table, view.is_reviewed, proposals, view.vocabulary)

    def _replace(
        self,
        pictures: PictureTable,
        table: StateTable,
        is_reviewed: np.ndarray,
        proposals: Any,
        vocabulary: TagVocabulary,
    ) -> None:
        with self._lock:
            table.apply(self._during or ())
        judged = Judged(proposals, table, vocabulary)
        book = Book(self._archive, table, judged)
        estimate = Estimate(judged, table, None if proposals is None else proposals.facts.get("missing"))
        reader = Reader(book, is_reviewed)
        view = View(pictures, table, is_reviewed, proposals, judged, book, reader, estimate, vocabulary)
        with self._lock:
            table.apply(self._during or ())
            self._during, self._view = None, view

    def mark_reviewed(self, pictures: Iterable[int]) -> None:
        """Take over from the archive whether somebody is done with these pictures."""
        view = self.view
        for picture in pictures:
            view.is_reviewed[view.table.row(picture)] = self._archive.picture(picture).is_reviewed

    def _follow(self, changes: list[Change]) -> None:
        with self._lock:
            if self._during is not None:
                self._during.extend(changes)
            if self._view is not None:
                self._view.estimate.follow(self._view.table.apply(changes))
