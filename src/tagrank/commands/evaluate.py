"""Measure how well a trained model ranks the tags of pictures whose tags are known."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from tagrank.commands.options import (
    ALL_METRICS,
    CACHE,
    DATA,
    MIN_PROBABILITY,
    MODEL,
    PICTURE_JOBS,
    PRECISION,
    SCHEDULER,
)
from tagrank.commands.tables import Screen, counted, metric_lines, quality_lines
from tagrank.data.reading import Reading
from tagrank.errors import ArgumentError, warn
from tagrank.files import Problem
from tagrank.options import PICTURES, ROWS, Option
from tagrank.progress import Progress

if TYPE_CHECKING:
    import numpy as np

    from tagrank.annotation import Annotator
    from tagrank.annotation.describing import Cache
    from tagrank.data import Collection
    from tagrank.metrics import MetricTable
    from tagrank.reports.quality import QualityNote
    from tagrank.reports.scores import Answers

READ_ONLY = ("strict", "follow_links", "machine_tags", "join_sidecars", "separator", "decisions", "audited")
SPELLING = "tag spelling"  # where a model remembers how the tags of its training data were tidied


@dataclass(frozen=True)
class Evaluation:
    """How well a model ranks the tags of pictures whose tags are known.

    Attributes
    ----------
    name : of the data
    table : every metric
    per_tag : dict of column to array, as `per_label_table` gives it
    answers : what the model said, and what is true
    quality : what the predicted tags are worth on these pictures, in a sentence
    n_trained_on : how many of the pictures the model was trained on; the metrics flatter it for them
    n_decisions : how many labels were decided, at the desk or in a list of audited pictures
    feature_seconds : set of picture features to the seconds that it takes, as measured when it was computed
    problems : files that were left out, and why
    """

    name: str
    table: MetricTable
    per_tag: Mapping[str, np.ndarray]
    answers: Answers
    quality: QualityNote
    feature_seconds: Mapping[str, float] = field(default_factory=dict)
    problems: Sequence[Problem] = ()
    n_trained_on: int = 0
    n_decisions: int = 0

    @property
    def is_telling(self) -> bool:
        """Whether `quality` says something: of one tag, or on one picture, nothing is ranked."""
        from tagrank.reports.quality import can_rank

        return can_rank(len(self.answers.tags), self.table.n_samples)

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers for JSON."""
        per_tag = {column: values.tolist() for column, values in self.per_tag.items()}
        return {
            "data": self.name,
            "n_trained_on": self.n_trained_on,
            "n_decisions": self.n_decisions,
            "quality": self.quality.to_dict() if self.is_telling else None,
            "metrics": self.table.to_dict(),
            "per_tag": per_tag,
            "feature_seconds": dict(self.feature_seconds),
            "problems": [vars(problem) for problem in self.problems],
        }


def evaluate(
    model: Annotated[Annotator | str | os.PathLike, MODEL],
    data: Annotated[Collection | str | os.PathLike, DATA],
    *,
    part: Annotated[str | None, Option(ROWS, usual="test, if the data have such a part")] = None,
    n_tags: Annotated[int, Option(low=1)] = 5,
    min_probability: Annotated[float | None, MIN_PROBABILITY] = None,
    precision: Annotated[float | None, PRECISION] = None,
    only_unseen: Annotated[bool, Option(PICTURES)] = False,
    report: Annotated[str | os.PathLike | None, Option()] = None,
    pictures: Annotated[str | os.PathLike | None, Option(PICTURES, metavar="FOLDER")] = None,
    reading: Annotated[Reading, Option(fields=READ_ONLY)] = Reading(),
    cache: Annotated[Cache, CACHE] = True,
    n_jobs: Annotated[int | None, PICTURE_JOBS] = None,
    scheduler: Annotated[Any, SCHEDULER] = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Measure a model on data whose tags are known.

    Tags are cleaned up in the same way as for training.

    Parameters
    ----------
    model : folder of a model that 'tagrank train' wrote. In Python, also an `Annotator`
    part : part of the data to measure on, or 'all'
    n_tags : tags per picture for the metrics Annotation-P, -R and -F1
    min_probability : predict the tags with at least this probability
    only_unseen : skip pictures that the model was trained on. In Python, otherwise a warning counts them
    report : also write an HTML report to this file
    pictures : folder of the training pictures, if they have moved, for the report
    reading : how to read the data; lower_case, hierarchy, synonyms and min_count are refused
    n_jobs : number of processes that describe pictures
    data, precision, cache, scheduler : as in `train`
    progress : called with the number of steps done, the number of steps, and the name of the work

    Returns
    -------
    Evaluation

    Command line
    ------------
    tagrank evaluate model drawn-pictures
    tagrank evaluate model photos/ --part all --report report.html
    tagrank evaluate model photos/ --part all --only-unseen
    tagrank evaluate model photos/ --precision 0.8
    tagrank evaluate model scene --json
    """
    from tagrank.annotation.describing import kind_of, see_pictures
    from tagrank.commands.destinations import check_page
    from tagrank.commands.given_data import choose_part, open_collection, open_model
    from tagrank.commands.steps.evaluating import (
        align_tags,
        answer,
        flattery_of,
        measured_on,
        spelled,
        unseen,
    )
    from tagrank.metrics import metric_table, per_label_table
    from tagrank.reports.picture_pixels import was_trained_on
    from tagrank.reports.quality import measured_quality

    if report is not None:
        check_page(report)
    if pictures is not None and not os.path.isdir(pictures):
        raise ArgumentError(
            f"pictures={os.fspath(pictures)} is not a folder; name the folder of the training pictures"
        )
    if reading.is_tidying:
        raise ArgumentError(
            "tags are cleaned up in the same way as for training; leave out lower_case, hierarchy, synonyms "
            "and min_count"
        )
    annotator = open_model(model).deciding(min_probability, precision=precision)
    everything = open_collection(data, reading)
    chosen = choose_part(everything, part, usual="test")
    place = f"of the {part or 'test'} part" if len(chosen) < len(everything) else "whose tags are known"
    rows = align_tags(spelled(chosen, annotator), annotator.tags)
    how: dict[str, Any] = {"cache": cache, "n_jobs": n_jobs, "scheduler": scheduler}
    described = see_pictures(annotator, rows, **how, strict=reading.strict, progress=progress)
    rows, seconds = described.collection, described.seconds
    trained_on = was_trained_on(annotator, described.keys)
    if only_unseen:
        rows, trained_on = unseen(rows, trained_on), trained_on[:0]
    if flattery := flattery_of(rows, trained_on):
        warn(f"{flattery}; evaluate with only_unseen skips them")
    answers = answer(annotator, rows)
    evaluation = Evaluation(
        rows.name,
        metric_table(answers.Y, answers.scores, answers.predictions, n_tags=n_tags),
        per_label_table(answers.Y, answers.scores, answers.predictions, tags=annotator.tags),
        answers,
        measured_quality(
            answers.Y,
            answers.predictions,
            measured_on(rows, place),
            estimator=annotator.estimator_,
            probabilities=answers.probabilities,
            decided=rows.decided_mask(confirmed=False) if rows.decided else None,
            audited=rows.audited_mask() if rows.audited else None,
        ),
        seconds,
        rows.problems,
        int(trained_on.sum()),
        len(rows.decided),
    )
    if report is not None:
        # only a page needs its templates: a single photograph is annotated without loading them
        from tagrank.reports.report import write_model_report

        write_model_report(
            report,
            title=f"Ranked tags of {rows.name or 'the data'}",
            annotator=annotator,
            rows=rows,
            tables={str(annotator.metadata.get("method", "model")): evaluation.table},
            per_tag=evaluation.per_tag,
            answers=answers,
            facts={f"{kind_of(rows.views)}s": len(rows), "tags": len(rows.tags)},
            feature_seconds=seconds,
            training=everything,
            pictures=pictures,
            summary=f"{flattery}." if flattery else "",
            quality=evaluation.quality if evaluation.is_telling else None,
        )
    return evaluation


def show_evaluation(
    evaluation: Evaluation,
    *,
    report: str | os.PathLike | None = None,
    all_metrics: Annotated[bool, ALL_METRICS] = False,
) -> Screen:
    """What the predicted tags are worth, and the metrics.

    Parameters
    ----------
    evaluation : what `evaluate` returned
    report : the page that was written
    all_metrics : show all metrics, not only the three most important ones
    """
    quality = evaluation.quality if evaluation.is_telling else None
    metrics = metric_lines({evaluation.name or "value": evaluation.table}, every=all_metrics)
    n_decisions = evaluation.n_decisions
    said = [f"used {counted(n_decisions, 'decision')} of yours"] if n_decisions else []
    said += [] if report is None else [f"report written to {report}"]
    return Screen([*quality_lines(quality), *metrics], said, {"skipped": evaluation.problems})
