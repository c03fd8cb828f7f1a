"""Measure how well a trained model ranks the tags of pictures whose tags are known."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np

from tagrank.annotation import Annotator
from tagrank.annotation.describing import Cache, kind_of, see_pictures
from tagrank.commands.destinations import check_page
from tagrank.commands.given_data import choose_part, open_collection, open_model
from tagrank.commands.options import ALL_METRICS, CACHE, DATA, MIN_PROBABILITY, MODEL, PICTURE_JOBS, PRECISION
from tagrank.commands.tables import Screen, counted, metric_lines, quality_lines
from tagrank.data import Collection, Reading, clean_tags
from tagrank.errors import ArgumentError, warn
from tagrank.labels import labels_from_states
from tagrank.metrics import MetricTable, metric_table, per_label_table
from tagrank.options import PICTURES, ROWS, Option
from tagrank.problems import Problem
from tagrank.progress import Progress
from tagrank.reports.picture_pixels import was_trained_on
from tagrank.reports.quality import QualityNote, can_rank, measured_quality
from tagrank.reports.scores import Answers

MOST_NAMED = 5
READ_ONLY = ("strict", "follow_links", "machine_tags", "join_sidecars", "separator", "decisions")
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
    n_decisions : how many labels were decided at the desk
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
    part: Annotated[str | None, Option(ROWS, usual="test if there is one")] = None,
    n_tags: Annotated[int, Option(low=1)] = 5,
    min_probability: Annotated[float | None, MIN_PROBABILITY] = None,
    precision: Annotated[float | None, PRECISION] = None,
    only_unseen: Annotated[bool, Option(PICTURES)] = False,
    report: Annotated[str | os.PathLike | None, Option()] = None,
    pictures: Annotated[str | os.PathLike | None, Option(PICTURES, metavar="FOLDER")] = None,
    reading: Annotated[Reading, Option(fields=READ_ONLY)] = Reading(),
    cache: Annotated[Cache, CACHE] = True,
    n_jobs: Annotated[int | None, PICTURE_JOBS] = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Measure a model on data whose tags are known.

    The tags are tidied as they were in training.

    Parameters
    ----------
    model : a folder that 'tagrank train' wrote. In Python, also an `Annotator`
    part : part to measure on, or 'all'
    n_tags : number of tags for each picture in Annotation-P, -R and -F1
    min_probability : predict tags that are at least this probable
    only_unseen : leave out pictures that the model was trained on. In Python, else a warning counts them
    report : write an HTML page, too
    pictures : where the report finds training pictures that have moved
    reading : how the data are read; lower_case, hierarchy, synonyms and min_count are refused
    n_jobs : number of processes that describe pictures
    data, precision, cache : as in `train`
    progress : called with how much is done, of how much, and what is being done

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
    if report is not None:
        check_page(report)
    if pictures is not None and not os.path.isdir(pictures):
        raise ArgumentError(
            f"pictures={os.fspath(pictures)} is no folder; name that of the training pictures"
        )
    if reading.is_tidying:
        raise ArgumentError(
            "tags are tidied as they were in training; leave out lower_case, hierarchy, synonyms and "
            "min_count"
        )
    annotator = open_model(model).deciding(min_probability, precision=precision)
    everything = open_collection(data, reading)
    chosen = choose_part(everything, part, usual="test")
    place = f"of the {part or 'test'} part" if len(chosen) < len(everything) else "whose tags are known"
    rows = align_tags(_spelled(chosen, annotator), annotator.tags)
    described = see_pictures(
        annotator, rows, cache=cache, n_jobs=n_jobs, strict=reading.strict, progress=progress
    )
    rows, seconds = described.collection, described.seconds
    trained_on = was_trained_on(annotator, described.keys)
    if only_unseen:
        rows, trained_on = _unseen(rows, trained_on), np.zeros(0, dtype=bool)
    if flattery := _flattery(rows, trained_on):
        warn(f"{flattery}; only_unseen leaves them out")
    answers = answer(annotator, rows)
    evaluation = Evaluation(
        rows.name,
        metric_table(answers.Y, answers.scores, answers.predictions, n_tags=n_tags),
        per_label_table(answers.Y, answers.scores, answers.predictions, tags=annotator.tags),
        answers,
        measured_quality(
            answers.Y,
            answers.predictions,
            _measured_on(rows, place),
            estimator=annotator.estimator_,
            probabilities=answers.probabilities,
            decided=rows.decided_mask(confirmed=False) if rows.decided else None,
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


def _measured_on(rows: Collection, place: str) -> str:
    return f"on {len(rows):,} {kind_of(rows.views)}{'' if len(rows) == 1 else 's'} {place}"


def _flattery(rows: Collection, trained_on: np.ndarray) -> str:
    """What is to be said of measuring on training pictures, if it was done."""
    n_seen = int(trained_on.sum())
    if not n_seen:
        return ""
    return f"{n_seen:,} of these {len(rows):,} pictures were used for training: the figures flatter the model"


def _unseen(rows: Collection, trained_on: np.ndarray) -> Collection:
    if not trained_on.any():
        return rows
    if trained_on.all():
        raise ValueError(f"the model was trained on all {len(rows):,} pictures; name others to measure on")
    return rows.subset(~trained_on)


def answer(annotator: Annotator, rows: Collection) -> Answers:
    """What a model says about rows whose tags are known, beside what is true."""
    scores = annotator.scores(rows)
    return Answers(
        annotator.tags,
        rows.Y,
        scores,
        annotator.choose(scores),
        annotator.probabilities_of(scores),
    )


def _spelled(rows: Collection, annotator: Annotator) -> Collection:
    """The rows with their tags written as in training."""
    found = annotator.metadata.get(SPELLING) or {}
    wanted = {
        name: found[name] for name in ("hierarchy", "fold_case", "synonyms", "parents") if name in found
    }
    return clean_tags(rows, **wanted)


def align_tags(collection: Collection, tags: Sequence[str]) -> Collection:
    """The collection with the label columns of a model, in its order.

    A tag that the collection lacks is absent, as everywhere in a row whose tags are known, and unknown in a
    row about which nothing is known. Tags that only the collection has are left out. Both are warned about.
    """
    if list(collection.tags) == list(tags):
        return collection
    column = {tag: j for j, tag in enumerate(collection.tags)}
    shared = [tag for tag in tags if tag in column]
    if not shared:
        raise ValueError(
            f"the model and {collection.name or 'the data'} share no tag; the model knows "
            f"{', '.join(tags[:3])} ..., the data {', '.join(collection.tags[:3]) or 'none'} ..."
        )
    _warn_differences(
        [tag for tag in tags if tag not in column], [tag for tag in column if tag not in shared]
    )
    otherwise = np.where(collection.known_rows(), np.int8(-1), np.int8(0))
    aligned = np.repeat(otherwise[:, None], len(tags), axis=1)
    is_shared = [tag in column for tag in tags]
    aligned[:, is_shared] = collection.label_matrix.take_columns([column[tag] for tag in shared]).states()
    return collection.with_labels(labels_from_states(aligned), list(tags))


def _warn_differences(missing: Sequence[str], extra: Sequence[str]) -> None:
    if missing:
        warn(f"tags of the model that the data lacks, taken for absent: {_counted(missing)}")
    if extra:
        warn(f"tags of the data that the model does not know, left out: {_counted(extra)}")


def _counted(tags: Sequence[str]) -> str:
    """How many, and the first of them by name."""
    return f"{len(tags)} ({', '.join(tags[:MOST_NAMED])}{', ...' if len(tags) > MOST_NAMED else ''})"


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
    all_metrics : show every metric, not only the three that matter most
    """
    quality = evaluation.quality if evaluation.is_telling else None
    metrics = metric_lines({evaluation.name or "value": evaluation.table}, every=all_metrics)
    n_decisions = evaluation.n_decisions
    said = [f"{counted(n_decisions, 'decision')} of the desk used"] if n_decisions else []
    said += [] if report is None else [f"report written to {report}"]
    return Screen([*quality_lines(quality), *metrics], said, {"left out": evaluation.problems})
