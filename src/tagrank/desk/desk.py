"""Desk: what the pages ask for and what they decide, as plain dicts; many threads may use one."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any, Self

from tagrank.annotation.describing import name_features
from tagrank.archive import Answer, Archive, ArchivedPicture, Cell
from tagrank.archive.exchange import (
    export_lines,
    export_sidecars,
    export_tags,
    import_answers,
    list_path,
    tag_list_bytes,
)
from tagrank.archive.tag_changes import change_of, read_effects
from tagrank.commands.tags import read_tag_list
from tagrank.data.picture_folder import leads_inside
from tagrank.data.vocabulary import TagChange
from tagrank.desk.leases import Leases
from tagrank.desk.memory import Memory
from tagrank.desk.progress import (
    archive_json,
    completions,
    model_rows,
    progress_json,
    queue_rows,
    step_json,
    tag_rows,
    undone_words,
)
from tagrank.desk.review import Review
from tagrank.desk.schedule import EXAMPLES, TRAIN_AFTER, Schedule
from tagrank.desk.thumbnails import Thumbnails, thumbnail_folder
from tagrank.desk.why import why_json
from tagrank.errors import nearest
from tagrank.progress import Progress

NO_MODEL = "there is no model yet: it is trained once some pictures have tags"


class Desk:
    """An archive, its queues, and the models that learn from what is decided.

    Open it with `Desk.open`. Errors are LookupError for what is not there, ValueError for what cannot be
    meant, and OSError where the disk refuses.
    """

    def __init__(
        self,
        archive: Any,
        models: Any,
        trainer: Any,
        *,
        cache: bool | str | os.PathLike = True,
        train_after: int = TRAIN_AFTER,
        separator: str | None = None,
        follow_links: bool = False,
        only_inside: bool = False,
    ) -> None:
        self.archive, self._models, self._trainer = archive, models, trainer
        self._links = {"follow_links": follow_links, "only_inside": only_inside}
        self._separator = separator
        self.name: str = archive.folder.absolute().name
        self._cache, self._leases, self._explaining = cache, Leases(), Lock()
        self._beside = ThreadPoolExecutor(1, "desk queues")
        proposals = None if models.current is None else models.open(models.current)
        self._memory = Memory(archive, proposals)
        self._review = Review(archive, self._memory, self._leases)
        self._thumbnails = Thumbnails(thumbnail_folder(cache))
        since = 0 if proposals is None else int(proposals.facts["last_decision"])
        self._schedule = Schedule(trainer, train_after, archive.n_decisions(since))
        archive.add_listener(self._settle)
        trainer.on_finished = self._take_over
        if proposals is None and self._memory.view.table.n_present.any():
            self._schedule.start()
        else:
            self._schedule.check()
        self._warm_up()

    @classmethod
    def open(
        cls,
        folder: str | os.PathLike,
        *,
        database: str | os.PathLike | None = None,
        cache: bool | str | os.PathLike = True,
        features: Any = None,
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
        progress : called with how many pictures were looked at, how many there are, and what is being done
        """
        from tagrank.desk.learning import Models, Trainer

        name_features(features)  # a misspelt one is said now, not by the first training
        archive = Archive.open(folder, database=database, lock=True)
        try:
            links = {"follow_links": follow_links, "only_inside": only_inside}
            archive.scan(progress, cache=cache, separator=separator, **links)
            models = Models(archive.own.folder)
            trainer = Trainer(archive, cache=cache, features=features, n_jobs=n_jobs)
            if models.current is not None:
                trainer.warm_up()
            return cls(
                archive,
                models,
                trainer,
                cache=cache,
                train_after=train_after,
                separator=separator,
                **links,
            )
        except BaseException:
            archive.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End a training that is at work, and let go of the archive."""
        self._trainer.close()
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
        view = self._memory.view
        return {
            "archive": archive_json(view, self.name),
            "progress": progress_json(view),
            "queues": queue_rows(view),
            "model": None if view.proposals is None else self._model_json(view.proposals.number),
            "training": self.training(),
        }

    def tags(self, text: str = "") -> dict[str, Any]:
        """All tags, or those that contain a text, with their numbers."""
        return {"tags": tag_rows(self._memory.view, text)}

    def complete(self, text: str = "") -> dict[str, Any]:
        """Tags that a text may become, whether it is one, what it is a synonym of, and what is near it."""
        view, tag = self._memory.view, text.strip()
        meant, is_known = view.vocabulary.synonyms.get(tag), view.table.column(tag) is not None
        near = [] if is_known or not tag else nearest(tag, list(view.table.tags))
        return {"tags": completions(view, text), "known": is_known, "near": near, "meant": meant}

    def wall(self, **asked: Any) -> dict[str, Any]:
        """A page of a queue, see `Review.wall`."""
        return self._review.wall(**asked)

    def next(self, **asked: Any) -> dict[str, Any]:
        """The next picture of a queue, see `Review.next`."""
        return self._review.next(**asked)

    def pictures(self, **asked: Any) -> dict[str, Any]:
        """Pictures by their numbers, see `Review.pictures`."""
        return self._review.pictures(**asked)

    def picture(self, picture: int) -> dict[str, Any]:
        """One picture with its tags."""
        return self._review.picture(picture)

    def thumbnail(self, picture: int, side: int = 256) -> tuple[bytes, str]:
        """A JPEG of a picture, and a word that changes with its content."""
        found = self._served(picture)
        return self._thumbnails.read(found.path, found.key, side, n_pixels=found.width * found.height)

    def why(self, picture: int, tag: str) -> dict[str, Any]:
        """What speaks for and against a tag, by the current model."""
        proposals, names = self._memory.view.proposals, self._memory.view.pictures
        found = self._served(picture)
        if proposals is None:
            raise LookupError(NO_MODEL)
        if tag not in proposals.tags:
            raise LookupError(f"the model does not know the tag {tag!r} yet; it will after the next training")
        ids = dict(zip(names.names, names.ids.tolist(), strict=True))
        with self._explaining:
            return why_json(proposals.annotator(), found.path, tag, ids)

    # what is decided

    def decide(self, body: dict[str, Any], who: str) -> dict[str, Any]:
        """Record answers in one step; when this returns they are on disk.

        With "shown", the queue and filters of a page, the answer also tells how much is left of them. Answers
        to a page that accepts by itself and on which nobody marked anything are "unmarked".
        """
        answers = [Answer(one["picture"], one["tag"], one["answer"]) for one in body.get("answers", ())]
        reviewed = list(body.get("reviewed", ()))
        batch = self.archive.decide(
            answers,
            who=who,
            request=body["request"],
            queue=body.get("queue", ""),
            model=body.get("model", self._memory.view.judged.number),
            reviewed=reviewed,
            is_unmarked=body.get("unmarked", False),
        )
        if batch.is_new:
            self._memory.mark_reviewed(reviewed)
            self._leases.settle((picture, None) for picture in reviewed)
            self._schedule.count(len(answers))
            meant = self._memory.view.vocabulary.name
            if any(self._is_new_tag(meant(answer.tag)) for answer in answers if answer.answer == "yes"):
                self._schedule.hurry()
        decided = self._memory.view.table.n_decided
        told = {"batch": batch.batch, "decisions": decided, "due_in": self._schedule.due_in}
        return told | self._review.left(**body.get("shown", {}))

    def undo(self, body: dict[str, Any], who: str) -> dict[str, Any]:
        """Take back the last step of a person, or the one that is named; "said" tells which it was."""
        undone = self.archive.undo(who=who, request=body["request"], batch=body.get("batch"))
        if undone.is_new:
            self._memory.mark_reviewed(undone.reviewed)
            self._schedule.count(-len(undone.restored))
            if undone.changes:
                self._read_tags()
        restored, kept = (self._cells_json(cells) for cells in (undone.restored, undone.kept))
        told = {"batch": undone.batch, "restored": restored, "kept": kept, "reviewed": list(undone.reviewed)}
        return told | {"said": undone_words(undone)} | self._review.left(**body.get("shown", {}))

    def steps(self, *, who: str = "", **asked: Any) -> dict[str, Any]:
        """What people did at once, the latest first, and the number of what `who` would take back next."""
        steps = [step_json(step) for step in self.archive.steps(**asked)]
        return {"steps": steps, "next": self.archive.last_step(who)}

    def history(self, **asked: Any) -> dict[str, Any]:
        """Decisions, the latest first."""
        same = ("id", "batch", "picture", "name", "tag", "answer", "before", "at", "queue")
        return {
            "decisions": [
                {name: getattr(one, name) for name in same} | {"by": one.who, "undone": one.is_undone}
                for one in self.archive.history(**asked)
            ]
        }

    # what tags mean

    def vocabulary(self) -> dict[str, Any]:
        """Tags with synonyms, parents and descriptions; conflicts between answers; and what was changed."""
        return read_tag_list(self.archive).to_dict()

    def change_tags(self, body: dict[str, Any], who: str) -> dict[str, Any]:
        """Change what a tag means, or only tell what would become of the pictures."""

        def read(connection: Any) -> tuple[TagChange, list[str]]:
            change = change_of(connection, body["verb"], body["tag"], body.get("other", ""))
            return change, read_effects(connection, [change])

        change, effects = self.archive.read(read)
        if not body.get("dry_run", False):
            self.archive.change_tags([change], who=who, request=body["request"])
            self._read_tags()
        return {"effects": effects, "applied": not body.get("dry_run", False)}

    def _read_tags(self) -> None:
        """Take over what tags mean now; a model that knows it is trained at once."""
        self._memory.read_archive()
        self._warm_up()
        if self._memory.view.table.n_present.any():
            self._schedule.hurry()

    # how it learns

    def training(self) -> dict[str, Any]:
        """How far the training is, and what the last one changed."""
        return self._trainer.status() | {"due_in": self._schedule.due_in}

    def train(self, fresh: bool = False) -> dict[str, Any]:
        """Begin a training in the background; with `fresh` method and kernel are chosen again."""
        self._schedule.start(fresh=fresh)
        return self.training()

    def cancel_training(self) -> dict[str, Any]:
        """End the training; the last good model keeps answering."""
        self._trainer.cancel()
        return self.training()

    def models(self) -> dict[str, Any]:
        """All models that are kept, the newest first."""
        return {"models": model_rows(self._models.list(), self._models.current)}

    def model_path(self) -> Path | None:
        """The folder of the current model, which `annotate` takes; None where there is none."""
        number = self._models.current
        path = None if number is None else self._models.path(number, "model")
        return path if path is not None and path.is_dir() else None

    def use_model(self, number: int) -> dict[str, Any]:
        """Let another model answer; LookupError where there is none of that number."""
        self._models.use(number)
        self._memory.use(self._models.open(number))
        self._warm_up()
        return self.models()

    # the archive

    def scan(self) -> dict[str, Any]:
        """Look for added, moved, changed and vanished pictures."""
        found = self.archive.scan(cache=self._cache, separator=self._separator, **self._links)
        self._memory.read_archive()
        self._warm_up()
        names = ("added", "changed", "gone")
        return {name: list(getattr(found, name)) for name in names} | {
            "moved": [list(pair) for pair in found.moved],
            "problems": [{"path": one.path, "reason": one.reason} for one in found.problems],
            "pictures": found.n_pictures,
        }

    def export(self, format: str, dry_run: bool = False, style: str = "full") -> Any:
        """What leaves the archive.

        Decisions as the bytes of a "csv" or "jsonl" file, all "tags" as those of a list; or all tags written
        to "sidecars" beside the pictures, or to the "tag-list" of the folder.
        """
        if format == "sidecars":
            done = export_sidecars(
                self.archive, style=style, dry_run=dry_run, follow_links=self._links["follow_links"]
            ).to_dict()
            for change in done["changes"]:
                # people at other machines know the folder by its name only
                change["sidecar"] = os.path.relpath(change["sidecar"], self.archive.folder)
            return done
        if format == "tag-list":
            written = export_tags(self.archive, list_path(self.archive), dry_run=dry_run).to_dict()
            # people at other machines are not told where the user keeps files
            place = None if self._links["only_inside"] else written["kept"]
            name, is_kept = os.path.basename(written["path"]), written["kept"] is not None
            return written | {"path": name, "is_kept": is_kept, "kept": place}
        if format == "tags":
            return tag_list_bytes(self.archive)
        return "".join(export_lines(self.archive, format)).encode()

    def import_(self, content: bytes, format: str, dry_run: bool, who: str) -> dict[str, Any]:
        """Take decisions from the bytes of a file, or tell what they would change."""
        found = import_answers(self.archive, content, format=format, who=who, dry_run=dry_run)
        if not dry_run:
            self._schedule.count(len(found.changes))
        return found.to_dict()

    def _served(self, picture: int) -> ArchivedPicture:
        """A picture that may be opened: one that a scan found, not one that a database only tells of."""
        found: ArchivedPicture = self.archive.picture(picture)
        is_inside = not self._links["only_inside"] or leads_inside(self.archive.folder, found.path)
        if found.is_gone or not is_inside:
            raise LookupError(f"picture {picture} is not in the folder any more")
        return found

    def _is_new_tag(self, tag: str) -> bool:
        """Whether the model does not know a tag that has just got enough examples."""
        view = self._memory.view
        is_known = view.proposals is not None and tag in view.proposals.tags
        column = view.table.column(tag)
        return not is_known and column is not None and view.table.tally(column)["present"] == EXAMPLES

    def _settle(self, cells: list[Cell]) -> None:
        self._leases.settle((cell.picture, cell.tag) for cell in cells)

    def _take_over(self, number: int) -> None:
        """A training ended well: its model answers from now on."""
        proposals = self._models.open(number)
        self._memory.use(proposals)
        self._warm_up()
        if proposals.facts["last_decision"] == self.archive.last_decision():
            self._schedule.forget()
        self._schedule.check()

    def _warm_up(self) -> None:
        """Order the queues before somebody asks for them."""
        self._beside.submit(queue_rows, self._memory.view)

    def _model_json(self, number: int) -> dict[str, Any] | None:
        """The model that answers, with the quality that the list of models tells."""
        told = ("number", "made", "method", "metrics", "quality", "is_compared")
        rows = model_rows(self._models.list(), number)
        return next(({name: row[name] for name in told} for row in rows if row["current"]), None)

    def _cells_json(self, cells: tuple[Cell, ...]) -> list[dict[str, Any]]:
        names = {
            picture.id: picture.name for picture in self.archive.pictures_of({cell.picture for cell in cells})
        }
        return [
            {"picture": cell.picture, "name": names[cell.picture], "tag": cell.tag, "state": cell.state}
            for cell in cells
        ]
