"""What the process of the trainings does: read the archive, learn, write a model."""

import os
import time
import warnings
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from tagrank.annotation import DescribedPictures
from tagrank.annotation.describing import PICTURES, FeatureChoice, describe_rows, name_features
from tagrank.archive import Archive
from tagrank.archive.decisions import count_decisions, last_decision, read_unmarked
from tagrank.archive.pictures import read_contents, read_labels
from tagrank.data import Collection
from tagrank.desk.learning.changes import changes_between, measured_facts
from tagrank.desk.learning.examples import Examples, NothingToLearn
from tagrank.desk.learning.learn import CANCELLED, Cancelled, Learned, learn, prepare_again
from tagrank.desk.learning.missing import missing_facts
from tagrank.desk.learning.models import MODEL, SMALLEST, Models
from tagrank.desk.learning.remembered import Remembered, load_remembered, save_remembered
from tagrank.progress import Progress
from tagrank.worker_process import is_stopped, report

NICENESS = 10  # the pages come first
SECONDS_BETWEEN_REPORTS = 0.1


class ArchiveReader:
    """Reads examples again and again; features only of pictures that are new or have changed.

    Parameters
    ----------
    folder, database : of the archive
    cache, features, n_jobs : how pictures are described, as in `Desk.open`
    """

    def __init__(
        self,
        folder: str,
        database: str,
        *,
        cache: bool | str | os.PathLike = True,
        features: FeatureChoice = None,
        n_jobs: int | None = None,
    ) -> None:
        self._folder, self._database = folder, database
        self._cache, self._features, self._n_jobs = cache, features, n_jobs
        self._known: list[tuple[str, bytes]] = []
        self._described: DescribedPictures | None = None

    def read(self, progress: Progress | None = None) -> tuple[Examples, int, int]:
        """The examples of today; how many decisions were made, and the number of the last of them."""
        with Archive.open(self._folder, database=self._database, create=False, read_only=True) as archive:
            labels, contents, unmarked, last, n_decisions = archive.read(
                lambda connection: (
                    read_labels(connection, archive.folder),
                    read_contents(connection),
                    read_unmarked(connection),
                    last_decision(connection),
                    count_decisions(connection, 0),
                )
            )
        collection, ids, _ = labels
        pictures, _, cells, vocabulary = contents
        if not len(collection):
            raise NothingToLearn("the archive has no pictures; add some to its folder, then scan it again")
        described = self._describe(collection, pictures.keys, progress)
        rows, kept = _with_labels(described.collection, collection)
        # what was listed before and was confirmed does not count as decided
        is_confirmed = cells.is_listed & (cells.states > 0)
        is_counted = cells.is_decided & ~is_confirmed
        places, columns = np.searchsorted(ids, cells.pictures[is_counted]), cells.columns[is_counted]
        place_of_kept = np.cumsum(kept) - 1
        audited = set(pictures.ids[pictures.is_audited].tolist())
        examples = Examples(
            rows,
            ids[kept],
            (place_of_kept[places[kept[places]]], columns[kept[places]]),
            described.features or None,
            _places(
                # who looked at a whole picture looked at these, too
                [(picture, vocabulary.name(tag)) for picture, tag in unmarked if picture not in audited],
                ids[kept],
                rows.tags,
            ),
        )
        return examples, n_decisions, last

    def _describe(
        self, collection: Collection, keys: list[bytes], progress: Progress | None
    ) -> DescribedPictures:
        known = list(zip(collection.names or (), keys, strict=True))
        if self._described is None or known != self._known:
            features = name_features(self._features)
            self._described = describe_rows(
                collection, features, cache=self._cache, n_jobs=self._n_jobs, progress=progress
            )
            self._known = known
        return self._described


def _with_labels(described: Collection, today: Collection) -> tuple[Collection, np.ndarray]:
    """The described pictures with the labels of today, and which of today's pictures they are."""
    names = set(described.names or ())
    kept = np.array([name in names for name in today.names or ()], dtype=bool)
    views = {name: view for name, view in described.views.items() if name != PICTURES}
    return today.subset(kept).replaced(views=views), kept


def _places(
    pairs: list[tuple[int, str]], ids: np.ndarray, tags: Sequence[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of pairs of picture and tag, as far as they are there."""
    row, column = ({name: i for i, name in enumerate(names)} for names in (ids.tolist(), tags))
    places = [(row[picture], column[tag]) for picture, tag in pairs if picture in row and tag in column]
    rows, columns = np.array(places, dtype=np.int64).reshape(-1, 2).T
    return rows, columns


class TrainingProcess:
    """Trains whenever it is asked, and remembers rows and solutions in between.

    Parameters
    ----------
    home : the folder in which the user keeps the models of an archive
    reader : of the archive
    n_jobs : as in `Desk.open`
    """

    def __init__(self, home: str, reader: ArchiveReader, *, n_jobs: int | None = None) -> None:
        self._home, self._reader, self._n_jobs = home, reader, n_jobs
        self._before: Learned | Remembered | None = None
        if hasattr(os, "nice"):
            os.nice(NICENESS)

    def train(self, *, fresh: bool = False, only_prepare: bool = False) -> None:
        """Train and write a model; with `fresh` it is chosen again. Or only prepare the next training."""
        started, telling, models = time.perf_counter(), _QuietReport(), Models(self._home)
        with warnings.catch_warnings():
            # what matters is in the facts; nobody reads the terminal of this process
            warnings.simplefilter("ignore")
            examples, n_decisions, last = self._reader.read(telling.progress)
            if self._before is None and not fresh:
                self._before = _load_last(models)
            if only_prepare:
                return self._prepare(examples)
            learned = learn(
                examples,
                self._before,
                fresh=fresh,
                n_jobs=self._n_jobs,
                progress=telling.progress,
                callback=telling.gap,
                stop=is_stopped,
            )
            self._before = learned
            if not is_stopped():
                decisions = {"decisions": n_decisions, "last_decision": last}
                _publish(models, learned, decisions, time.perf_counter() - started)

    def _prepare(self, examples: Examples) -> None:
        """Have rows and their similarities at hand for the model that was chosen before, if one was."""
        before = self._before
        if before is not None and before.prepared is None:
            prepared = prepare_again(examples, before.chosen).comparing(before.chosen.estimator)
            self._before = Remembered(before.chosen, before.solutions, prepared)


class _QuietReport:
    """Tells the parent what is being done, but not more often than anybody looks."""

    def __init__(self) -> None:
        self._told, self._what = 0.0, ""

    def progress(self, done: int, of: int, what: str) -> None:
        if is_stopped():
            raise Cancelled(CANCELLED)
        if what != self._what or time.monotonic() - self._told > SECONDS_BETWEEN_REPORTS:
            self._told, self._what = time.monotonic(), what
            report({"what": what, "done": done, "of": of})

    def gap(self, point: Any) -> None:
        report({"gap": [int(point.n_iter), float(point.gap)]})


def _load_last(models: Models) -> Remembered | None:
    """What the last process left, if there is anything: that of the model in use, or of the newest."""
    numbers = [facts["number"] for facts in models.list()]
    current = models.current
    for number in sorted(numbers, key=lambda number: (number != current, -number)):
        if (remembered := load_remembered(models, number)) is not None:
            return remembered
    return None


def _publish(models: Models, learned: Learned, decisions: dict[str, int], seconds: float) -> None:
    """Write the model, tell the parent, and only then write what is not needed for the pages."""
    current = models.current
    before = None if current is None else models.open(current)
    facts = {
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "method": learned.chosen.words,
        **measured_facts(learned, models),
        **decisions,
        "seconds": round(seconds, 2),
        "gap": learned.gap,
        "pictures": len(learned.ids),
        "tags": len(learned.tags),
        "completeness": [float(value) for value in learned.completeness],
        "missing": missing_facts(learned, before),
        "note": learned.chosen.note,
        "steps": {step: round(value, 2) for step, value in learned.seconds.items()},
    }
    held_out = np.where(learned.is_judged, np.maximum(learned.probabilities, SMALLEST), 0)
    number = models.write(learned.ids, learned.tags, learned.proposed(), held_out, facts, learned.companions)
    changes = changes_between(before, models.open(number), learned)
    report({"model": number, "changes": changes})
    save_remembered(models, number, learned.chosen, learned.solutions)
    learned.annotator().save(models.path(number, MODEL))
    models.prune()
