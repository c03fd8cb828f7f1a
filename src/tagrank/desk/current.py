"""The review of the moment: it follows the archive and the models."""

from collections.abc import Iterable
from threading import RLock

import numpy as np

from tagrank.archive import Answer, Archive, Cell
from tagrank.archive.audits import read_audited
from tagrank.archive.records import PictureTable
from tagrank.data.vocabulary import TagVocabulary
from tagrank.desk.learning.models import Proposals
from tagrank.desk.review import Review
from tagrank.desk.states import StateTable


class CurrentReview:
    """Holds a `Review`, puts another in its place in one step, and tells it what is decided."""

    def __init__(self, archive: Archive, proposals: Proposals | None = None) -> None:
        self._archive, self._lock, self._making = archive, RLock(), RLock()
        self._during: list[Cell] | None = None  # what was decided while a table is read
        self._review: Review | None = None
        self._unheard: set[tuple[int, str]] = set()
        archive.add_listener(self._follow)
        self.read_archive(proposals)

    def now(self) -> Review:
        """What is known now."""
        assert self._review is not None
        return self._review

    def read_archive(self, proposals: Proposals | None = None) -> None:
        """Read pictures and states anew, as after a scan; by default for the same model."""
        with self._making:
            with self._lock:
                self._during = []
            pictures, tags, states, vocabulary = self._archive.contents()
            table = StateTable(
                pictures.ids, tags, states, names=pictures.names, is_audited=pictures.is_audited.copy()
            )
            if proposals is None and self._review is not None:
                proposals = self._review.proposals
            self._replace(pictures, table, pictures.is_reviewed.copy(), proposals, vocabulary)

    def use(self, proposals: Proposals) -> None:
        """Another model answers from now on."""
        with self._making:
            now = self.now()
            self._replace(now.pictures, now.table, now.is_reviewed, proposals, now.vocabulary)

    def _replace(
        self,
        pictures: PictureTable,
        table: StateTable,
        is_reviewed: np.ndarray,
        proposals: Proposals | None,
        vocabulary: TagVocabulary,
    ) -> None:
        with self._lock:
            table.apply(self._during or ())
        review = Review(self._archive, pictures, table, is_reviewed, proposals, vocabulary)
        with self._lock:
            table.apply(self._during or ())
            self._during, self._review = None, review

    def mark_reviewed(self, pictures: Iterable[int]) -> None:
        """Take over whether somebody is done with these pictures, or called them complete."""
        review, pictures = self.now(), list(pictures)
        audited = set(self._archive.read(read_audited).tolist()) if pictures else set()
        for picture in pictures:
            row = review.table.row(picture)
            review.is_reviewed[row] = self._archive.picture(picture).is_reviewed
            review.table.is_audited[row] = picture in audited

    def expect(self, answers: Iterable[Answer], *, is_unmarked: bool) -> None:
        """Be told before answers are recorded whether they come with a page on which nobody marked anything.

        Whether somebody looked at such tags is not known, so they do not speak for other tags.
        """
        meant = self.now().vocabulary.name
        pairs = {(answer.picture, meant(answer.tag)) for answer in answers}
        with self._lock:
            self._unheard = self._unheard | pairs if is_unmarked else self._unheard - pairs

    def _follow(self, cells: list[Cell]) -> None:
        with self._lock:
            if self._during is not None:
                self._during.extend(cells)
            if (review := self._review) is not None:
                changes = review.table.apply(cells)
                review.estimate.follow(changes)
                review.hear([self._as_heard(review, *change) for change in changes])

    def _as_heard(
        self, review: Review, row: int, column: int, before: int, now: int
    ) -> tuple[int, int, int, int]:
        """A change as it speaks to other tags: one that is not to be heard left all as it was."""
        pair = int(review.table.ids[row]), review.table.tags[column]
        return row, column, before, before if pair in self._unheard else now
