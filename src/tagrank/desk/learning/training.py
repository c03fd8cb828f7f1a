"""What the process of the trainings does: read the archive, learn, write a model."""

import os
import time
import warnings
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np

from tagrank.worker_process import is_stopped, report

NICENESS = 10  # the pages come first
SECONDS_BETWEEN_REPORTS = 0.1


CANCELLED = "the training was cancelled; the last good model stays"


class Cancelled(RuntimeError):
    """A training that was asked to stop."""


class Question(NamedTuple):
    """A training that is wanted; `fresh` chooses the model again. Or only what the next one will need."""

    fresh: bool = False
    only_prepare: bool = False


@dataclass(frozen=True)
class Source:
    """Where the pictures are, what is known about them, and how they are described."""

    folder: str
    database: str
    cache: Any = True
    features: Any = None
    n_jobs: int | None = None


class Training:
    """Trains whenever it is asked, and remembers rows and solutions in between.

    It travels to the process as it is made: everything heavy is imported there.
    """

    def __init__(self, home: str, source: Source, n_jobs: int | None = None) -> None:
        self.home, self.source, self.n_jobs = home, source, n_jobs
        self.reader: Any = None
        self.before: Any = None

    def __call__(self, question: Question) -> None:
        from tagrank.desk.learning.learn import learn
        from tagrank.desk.learning.models import Models
        from tagrank.desk.learning.reading import ArchiveReader

        if self.reader is None:
            if hasattr(os, "nice"):
                os.nice(NICENESS)
            self.reader = ArchiveReader(self.source)
        started, teller, models = time.perf_counter(), _Teller(), Models(self.home)
        with warnings.catch_warnings():
            # what matters is in the facts; nobody reads the terminal of this process
            warnings.simplefilter("ignore")
            read = self.reader.read(teller.progress)
            if self.before is None and not question.fresh:
                self.before = _remembered(models)
            if question.only_prepare:
                return self._prepare(read.examples)
            learned = learn(
                read.examples,
                self.before,
                fresh=question.fresh,
                n_jobs=self.n_jobs,
                progress=teller.progress,
                callback=teller.gap,
                stop=is_stopped,
            )
            self.before = learned
            if not is_stopped():
                _publish(models, learned, read, time.perf_counter() - started)

    def _prepare(self, examples: Any) -> None:
        """Have rows and their similarities at hand for the model that was chosen before, if one was."""
        from tagrank.desk.learning.learn import prepare_again
        from tagrank.desk.learning.memory import Remembered

        if self.before is not None and self.before.prepared is None:
            chosen = self.before.chosen
            prepared = prepare_again(examples, chosen).comparing(chosen.estimator)
            self.before = Remembered(chosen, self.before.solutions, prepared)


class _Teller:
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


def _remembered(models: Any) -> Any:
    """What the last process left, if there is anything: that of the model in use, or of the newest."""
    from tagrank.desk.learning.memory import load_remembered

    numbers = [facts["number"] for facts in models.list()]
    current = models.current
    for number in sorted(numbers, key=lambda number: (number != current, -number)):
        if (found := load_remembered(models, number)) is not None:
            return found
    return None


def _publish(models: Any, learned: Any, read: Any, seconds: float) -> None:
    """Write the model, tell the parent, and only then write what is not needed for the pages."""
    from tagrank.desk.learning.changes import changes_between, measured_facts
    from tagrank.desk.learning.memory import save_remembered
    from tagrank.desk.learning.missing import missing_facts
    from tagrank.desk.learning.models import MODEL, SMALLEST

    current = models.current
    before = None if current is None else models.open(current)
    facts = {
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "method": learned.chosen.words,
        **measured_facts(learned, models),
        "decisions": read.n_decisions,
        "last_decision": read.last_decision,
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
    number = models.write(learned.ids, learned.tags, learned.proposed(), held_out, facts)
    changes = changes_between(before, models.open(number), learned)
    report({"model": number, "changes": changes})
    save_remembered(models, number, learned)
    learned.annotator().save(models.path(number, MODEL))
    models.prune()
