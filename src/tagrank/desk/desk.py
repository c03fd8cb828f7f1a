"""Desk: what the pages ask for and what they decide, as plain dicts; many threads may use one."""

import os
import sqlite3
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Lock
from typing import Any, Self

from tagrank.annotation.describing import FeatureChoice, name_features
from tagrank.archive import Answer, Archive, ArchivedPicture, Cell
from tagrank.archive.exports import export_lines, tag_list_bytes
from tagrank.archive.imports import import_answers
from tagrank.archive.records import PictureFilter
from tagrank.archive.tag_changes import change_of, read_effects
from tagrank.data.picture_folder import leads_inside
from tagrank.data.vocabulary import TagChange
from tagrank.desk import documents
from tagrank.desk.current import CurrentReview
from tagrank.desk.learning.models import Models, Proposals
from tagrank.desk.learning.trainer import EXAMPLES, TRAIN_AFTER, Learning, Trainer
from tagrank.desk.lending import Lending
from tagrank.desk.queues import Missing, Queue
from tagrank.desk.thumbnails import Thumbnails, thumbnail_folder
from tagrank.errors import ArgumentError
from tagrank.progress import Progress

MOST_ITEMS = 500  # of one page


class Desk:
    """An archive, its queues, and the models that learn from what is decided.

    Open it with `Desk.open`. Errors are LookupError for what is not there, ValueError for what cannot be
    meant, and OSError where the disk refuses.

    Attributes
    ----------
    archive : with the pictures and what was decided
    name : of its folder
    learning : the models, and their trainings
    """

    def __init__(
        self,
        archive: Archive,
        models: Models,
        trainer: Trainer,
        *,
        cache: bool | str | os.PathLike = True,
        train_after: int = TRAIN_AFTER,
        separator: str | None = None,
        follow_links: bool = False,
        only_inside: bool = False,
    ) -> None:
        self.archive = archive
        self._follow_links, self._only_inside = follow_links, only_inside
        self._scan = partial(
            archive.scan, cache=cache, separator=separator, follow_links=follow_links, only_inside=only_inside
        )
        self.name: str = archive.folder.absolute().name
        self._lending, self._explaining = Lending(), Lock()
        self._beside = ThreadPoolExecutor(1, "desk queues")
        self.learning = Learning(archive, models, trainer, on_model=self._use_model, train_after=train_after)
        self._current = CurrentReview(archive, self.learning.current)
        self._thumbnails = Thumbnails(thumbnail_folder(cache))
        archive.add_listener(self._settle)
        if self.learning.current is None and self._current.now().table.n_present.any():
            self.learning.train()
        else:
            self.learning.train_if_due()
        self._warm_up()

    @classmethod
    def open(
        cls,
        folder: str | os.PathLike,
        *,
        database: str | os.PathLike | None = None,
        cache: bool | str | os.PathLike = True,
        features: FeatureChoice = None,
        n_jobs: int | None = None,
        train_after: int = TRAIN_AFTER,
        separator: str | None = None,
        follow_links: bool = False,
        only_inside: bool = False,
        progress: Progress | None = None,
    ) -> Self:
        """The desk of a folder, which is looked at anew.

        Parameters
        ----------
        folder, database : as in `Archive.open`; a second desk of the same archive is refused
        cache : whether features and thumbnails are kept, in the user's cache folder; or another folder
        features, n_jobs : as in `train`
        train_after : train again after so many decisions; 0 for never
        separator : between the tags in the cells of tags.csv, as for `read_pictures`
        follow_links : show what lies behind links to folders, too
        only_inside : show nothing that lies outside of the folder, whatever links lead there
        progress : called with the number of pictures done, the number of pictures, and the name of the work
        """
        name_features(features)  # a misspelt one is said now, not by the first training
        scanning: dict[str, Any] = {
            "cache": cache,
            "separator": separator,
            "follow_links": follow_links,
            "only_inside": only_inside,
        }
        archive = Archive.open(folder, database=database, lock=True)
        try:
            archive.scan(progress, **scanning)
            models = Models(archive.own.folder)
            trainer = Trainer(archive, cache=cache, features=features, n_jobs=n_jobs)
            if models.current is not None:
                trainer.warm_up()
            return cls(archive, models, trainer, train_after=train_after, **scanning)
        except BaseException:
            archive.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End a training that is at work, and let go of the archive."""
        self.learning.close()
        self._beside.shutdown(cancel_futures=True)
        self.archive.close()

    @property
    def identity(self) -> str:
        """A random word for this archive: decisions that wait in a browser are sent to no other.

        It is that of the user: whoever made the archive knows the word that stands in it.
        """
        return str(self.archive.own.folder.name)

    # what to look at

    def overview(self) -> dict[str, Any]:
        """The archive, its progress, its queues, and its model."""
        review = self._current.now()
        return {
            "archive": documents.archive_json(review, self.name),
            "progress": documents.progress_json(review),
            "queues": documents.queue_rows(review),
            "model": self.learning.current_model(),
            "training": self.learning.training(),
        }

    def tags(self, text: str = "") -> dict[str, Any]:
        """All tags, or those that contain a text, with their numbers."""
        return {"tags": documents.tag_rows(self._current.now(), text)}

    def complete(self, text: str = "") -> dict[str, Any]:
        """Tags that a text may become, whether it is one, what it is a synonym of, and what is near it."""
        return documents.completions_json(self._current.now(), text)

    def wall(
        self, queue: Queue | None = None, *, who: str = "", cursor: str = "", limit: int = 60
    ) -> dict[str, Any]:
        """A page of pairs of picture and tag, lent to `who`; a first page frees what they had before.

        "rule" says what becomes of pairs that nobody marks ("accept": they are accepted; "mark": they stay
        undecided; "keep": they keep their tags), and "right" how many of them are right, by the model. Where
        there is no pair, "nothing" says why.

        Parameters
        ----------
        queue : with its filters; by default what is probably missing
        who : who looks at it
        cursor : of the page before, "" for the first
        limit : how many pairs at most
        """
        review = self._current.now()
        queue = review.named(queue)
        _check_limit(limit)
        page = self._lending.page(review, queue, who=who, cursor=cursor, limit=limit)
        return documents.page_json(review, self.archive, page, queue)

    def next(self, queue: Queue | None = None, *, who: str = "", after: int | None = None) -> dict[str, Any]:
        """The next picture of a queue, lent to `who`.

        What they had before is free again, but for `after`: a page asks ahead while it is looked at.
        """
        review = self._current.now()
        queue = review.named(queue)
        picture = self._lending.next_picture(review, queue, who=who, after=after)
        if picture is None:
            return documents.no_picture_json(review, queue)
        return documents.picture_tags_json(review, self.archive, picture, queue)

    def picture(self, picture: int) -> dict[str, Any]:
        """One picture with its tags."""
        return documents.picture_tags_json(self._current.now(), self.archive, picture, Missing())

    def pictures(
        self, chosen: PictureFilter | None = None, *, limit: int = 60, cursor: str = ""
    ) -> dict[str, Any]:
        """Pictures by their numbers, with filters; `cursor` is the last number of the page before."""
        review, chosen = self._current.now(), chosen or PictureFilter()
        _check_limit(limit)
        if cursor and not (cursor.isascii() and cursor.isdecimal() and len(cursor) < 19):
            raise ArgumentError(f"cursor must be the one of the previous page, got {cursor[:40]!r}")
        review.column(review.vocabulary.name(chosen.tag or ""))  # an unknown tag is said to be unknown
        ids = self.archive.select(chosen, after=int(cursor) if cursor else None, limit=limit)
        return {
            "items": documents.picture_rows(review, self.archive, ids),
            "cursor": str(ids[-1]) if len(ids) == limit else None,
            "total": self.archive.count(chosen),
        }

    def thumbnail(self, picture: int, side: int = 256) -> tuple[bytes, str]:
        """A JPEG of a picture, and a word that changes with its content."""
        served = self._served(picture)
        return self._thumbnails.read(served.path, served.key, side, n_pixels=served.width * served.height)

    def why(self, picture: int, tag: str) -> dict[str, Any]:
        """What speaks for and against a tag, by the current model."""
        review, served = self._current.now(), self._served(picture)
        if review.proposals is None:
            raise LookupError("there is no model yet; give some pictures tags, then train")
        if tag not in review.proposals.tags:
            raise LookupError(
                f"the model does not know the tag {tag!r} yet; it learns it in the next training"
            )
        ids = dict(zip(review.pictures.names, review.pictures.ids.tolist(), strict=True))
        with self._explaining:
            known = documents.known_tags(review, picture)
            return documents.why_json(review.proposals.annotator(), served.path, tag, ids, known)

    # what is decided

    def decide(
        self,
        answers: Sequence[Answer] = (),
        *,
        who: str,
        request: str,
        queue: str = "",
        model: int | None = None,
        reviewed: Sequence[int] = (),
        is_unmarked: bool = False,
        shown: Queue | None = None,
    ) -> dict[str, Any]:
        """Record answers in one step; when this returns they are on disk.

        Parameters
        ----------
        answers : what was said about tags of pictures
        who : who said it
        request : a word for this step: sent again, it does not count again
        queue : the name of the queue in which it was asked
        model : the one that proposed; by default the one that answers now
        reviewed : pictures that this person is done with
        is_unmarked : whether these are all of a page that accepts by itself, and nobody marked anything
        shown : what the page shows; the answer then tells how much is left of it
        """
        review = self._current.now()
        self._current.expect(answers, is_unmarked=is_unmarked)
        batch = self.archive.decide(
            answers,
            who=who,
            request=request,
            queue=queue,
            model=review.probabilities.number if model is None else model,
            reviewed=reviewed,
            is_unmarked=is_unmarked,
        )
        if batch.is_new:
            self._current.mark_reviewed(reviewed)
            self._lending.settle((picture, None) for picture in reviewed)
            self.learning.count(len(answers))
            tags = [answer.tag for answer in answers if answer.answer == "yes"]
            if any(self._current.now().is_new_tag(tag, EXAMPLES) for tag in tags):
                self.learning.train_soon()
        n_decided = self._current.now().table.n_decided
        told = {"batch": batch.batch, "decisions": n_decided, "due_in": self.learning.due_in}
        return told | self._left(shown, answers)

    def undo(
        self, *, who: str, request: str, batch: int | None = None, shown: Queue | None = None
    ) -> dict[str, Any]:
        """Take back the last step of a person, or the one that is named; "said" tells which it was."""
        undone = self.archive.undo(who=who, request=request, batch=batch)
        if undone.is_new:
            self._current.mark_reviewed(undone.reviewed)
            self.learning.count(-len(undone.restored))
            if undone.changes:
                self._read_tags()
        return documents.undone_json(self.archive, undone) | self._left(shown)

    def _left(self, shown: Queue | None, answers: Sequence[Answer] = ()) -> dict[str, Any]:
        """How much is left of what a page shows, and what is proposed for the one picture of the answers."""
        if shown is None:
            return {}
        review = self._current.now()
        queue = review.named(shown)
        left = {"total": review.total(queue), "left": review.n_pictures(queue)}
        return left | documents.moved_json(review, queue, {answer.picture for answer in answers})

    def steps(self, *, who: str = "", limit: int = 30, before: int | None = None) -> dict[str, Any]:
        """What people did at once, the latest first, and the number of what `who` would take back next."""
        steps = self.archive.steps(limit, before=before)
        return {"steps": [documents.step_json(step) for step in steps], "next": self.archive.last_step(who)}

    def history(
        self, *, limit: int = 100, before: int | None = None, who: str | None = None
    ) -> dict[str, Any]:
        """Decisions, the latest first."""
        return {"decisions": documents.decision_rows(self.archive, limit=limit, before=before, who=who)}

    # what tags mean

    def vocabulary(self) -> dict[str, Any]:
        """Tags with synonyms, parents and descriptions; conflicts between answers; and what was changed."""
        return self.archive.tag_overview().to_dict()

    def change_tags(
        self, verb: str, tag: str, other: str = "", *, who: str, request: str, dry_run: bool = False
    ) -> dict[str, Any]:
        """Change what a tag means, or only tell what would become of the pictures."""

        def read(connection: sqlite3.Connection) -> tuple[TagChange, list[str]]:
            change = change_of(connection, verb, tag, other)
            return change, read_effects(connection, [change])

        change, effects = self.archive.read(read)
        if not dry_run:
            self.archive.change_tags([change], who=who, request=request)
            self._read_tags()
        return {"effects": effects, "applied": not dry_run}

    def _read_tags(self) -> None:
        """Take over what tags mean now; a model that knows it is trained at once."""
        self._current.read_archive()
        self._warm_up()
        if self._current.now().table.n_present.any():
            self.learning.train_soon()

    # the archive

    def scan(self) -> dict[str, Any]:
        """Look for added, moved, changed and vanished pictures."""
        report = self._scan()
        self._current.read_archive()
        self._warm_up()
        return report.to_dict()

    def export(self, format: str) -> bytes:
        """A file: decisions as "csv" or "jsonl", or all "tags" as a list."""
        if format == "tags":
            return tag_list_bytes(self.archive)
        return "".join(export_lines(self.archive, format)).encode()

    def write_sidecars(self, *, style: str = "full", dry_run: bool = False) -> dict[str, Any]:
        """Write all tags beside the pictures, or only tell what would be written."""
        return documents.sidecars_json(
            self.archive, style=style, dry_run=dry_run, follow_links=self._follow_links
        )

    def write_tag_list(self, *, dry_run: bool = False) -> dict[str, Any]:
        """Write all tags into the list of the folder, or only tell what would be written."""
        return documents.tag_list_json(self.archive, dry_run=dry_run, tells_place=not self._only_inside)

    def import_(self, content: bytes, format: str, *, dry_run: bool, who: str) -> dict[str, Any]:
        """Take decisions from the bytes of a file, or tell what they would change."""
        taken_over = import_answers(self.archive, content, format=format, who=who, dry_run=dry_run)
        if not dry_run:
            self.learning.count(len(taken_over.changes))
        return taken_over.to_dict()

    def _served(self, picture: int) -> ArchivedPicture:
        """A picture that may be opened: one that a scan found, not one that a database only tells of."""
        served = self.archive.picture(picture)
        is_inside = not self._only_inside or leads_inside(self.archive.folder, served.path)
        if served.is_gone or not is_inside:
            raise LookupError(f"picture {picture} is no longer in the folder")
        return served

    def _settle(self, cells: list[Cell]) -> None:
        self._lending.settle((cell.picture, cell.tag) for cell in cells)

    def _use_model(self, proposals: Proposals) -> None:
        self._current.use(proposals)
        self._warm_up()

    def _warm_up(self) -> None:
        """Order the queues before somebody asks for them."""
        self._beside.submit(documents.queue_rows, self._current.now())


def _check_limit(limit: int) -> None:
    if not 1 <= limit <= MOST_ITEMS:
        raise ArgumentError(f"limit must be from 1 to {MOST_ITEMS}, got {limit}")
