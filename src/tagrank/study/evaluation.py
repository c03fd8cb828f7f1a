"""Use a trained model: rank the tags of new pictures, and measure how well that works."""

import csv
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from tagrank.annotation import Annotator, RankedTags
from tagrank.data import Collection, clean_tags
from tagrank.data.picture_files import read_picture
from tagrank.files import atomic_write
from tagrank.metrics import MetricTable, metric_table, per_label_table
from tagrank.study.destinations import check_file
from tagrank.study.inputs import align_tags, choose_part, open_collection
from tagrank.study.report import MethodResult, ReportPicture, write_report

PICTURES_SHOWN = 24
SPELLING = "tag spelling"  # where a model remembers how the tags of its training data were tidied


@dataclass(frozen=True)
class Evaluation:
    """How well a model ranks the tags of pictures whose tags are known.

    Attributes
    ----------
    name : of the data
    table : every metric
    per_tag : dict of column to array, as `per_label_table` gives it
    """

    name: str
    table: MetricTable
    per_tag: Mapping[str, np.ndarray]

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers for JSON."""
        per_tag = {column: values.tolist() for column, values in self.per_tag.items()}
        return {"data": self.name, "metrics": self.table.to_dict(), "per_tag": per_tag}


def annotate(
    model: Annotator | str | os.PathLike,
    data: Collection | str | os.PathLike,
    output: str | os.PathLike | None = None,
    *,
    part: str | None = None,
    top: int | None = 5,
) -> list[RankedTags]:
    """Rank the tags of every row of a collection.

    Parameters
    ----------
    model : an Annotator, or the folder of one
    data : a Collection, a file or a name, as `open_collection` takes it; its own tags are not looked at
    output : a ``.csv`` file (one line a tag) or a ``.jsonl`` file (one line a picture) to write, or None
    part : the part to annotate; None means every row
    top : the number of best tags to keep of each row; None keeps all
    """
    write_ranked = None if output is None else _writer(output)
    annotator = open_model(model)
    rows = choose_part(open_collection(data), part, usual="all")
    ranked = annotator.annotate(rows, n_tags=top)
    if write_ranked is not None and output is not None:
        with atomic_write(output, text=True) as stream:
            write_ranked(stream, ranked)
    return ranked


def evaluate(
    model: Annotator | str | os.PathLike,
    data: Collection | str | os.PathLike,
    *,
    part: str | None = None,
    n_tags: int = 5,
    report: str | os.PathLike | None = None,
) -> Evaluation:
    """Measure a model on pictures whose tags are known; they are tidied as they were in training.

    Parameters
    ----------
    model : an Annotator, or the folder of one
    data : a Collection, a file or a name, as `open_collection` takes it
    part : the part to measure on; None means "test" where there is one, else every row
    n_tags : tags given to each picture by the annotation scores
    report : an HTML file to write, or None

    Returns
    -------
    Evaluation
    """
    if report is not None:
        check_file(report)
    annotator = open_model(model)
    rows = choose_part(open_collection(data), part, usual="test")
    rows = align_tags(_spelled(rows, annotator), annotator.tags)
    scores = annotator.scores(rows)
    predictions = annotator.estimator_.choose(scores)
    table = metric_table(rows.Y, scores, predictions, n_tags=n_tags)
    per_tag = per_label_table(rows.Y, scores, predictions, tags=annotator.tags)
    if report is not None:
        write_report(
            report,
            title=f"Ranked tags of {rows.name or 'the data'}",
            methods=[MethodResult(str(annotator.metadata.get("method", "model")), table)],
            pictures=report_pictures(annotator, rows.subset(slice(PICTURES_SHOWN))),
            per_tag=per_tag,
            facts={"pictures": len(rows), "tags": len(rows.tags)},
        )
    return Evaluation(rows.name, table, per_tag)


def open_model(model: Annotator | str | os.PathLike) -> Annotator:
    """An Annotator as it is, or from its folder."""
    return model if isinstance(model, Annotator) else Annotator.load(model)


def report_pictures(annotator: Annotator, rows: Collection) -> list[ReportPicture]:
    """Rows with their true tags and those that the model gives them."""
    states, images = rows.states(), rows.views.get("pictures", [None] * len(rows))
    return [
        ReportPicture(
            name=ranked.name,
            true_tags=_named(rows.tags, row_states > 0),
            predicted=[(tag, score, probability) for tag, score, probability, given in ranked if given],
            unknown_tags=_named(rows.tags, row_states == 0),
            image=read_picture(image) if isinstance(image, str) else image,
        )
        for ranked, row_states, image in zip(annotator.annotate(rows), states, images, strict=True)
    ]


def _spelled(rows: Collection, annotator: Annotator) -> Collection:
    """The rows with their tags written as in training."""
    found = annotator.metadata.get(SPELLING) or {}
    wanted = {name: found[name] for name in ("hierarchy", "fold_case", "synonyms") if name in found}
    return clean_tags(rows, **wanted)


def _named(tags: Sequence[str], is_chosen: np.ndarray) -> list[str]:
    return [tag for tag, chosen in zip(tags, is_chosen, strict=True) if chosen]


def _writer(output: str | os.PathLike) -> Callable[[IO[str], list[RankedTags]], None]:
    writers = {".csv": _write_csv, ".jsonl": _write_jsonl}
    ending = Path(output).suffix
    if ending not in writers:
        raise ValueError(f"{os.fspath(output)}: ranked tags are written as {' or '.join(writers)}")
    check_file(output)
    return writers[ending]


def _write_csv(stream: IO[str], ranked: list[RankedTags]) -> None:
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["name", "rank", "tag", "score", "probability", "predicted"])
    for row in ranked:
        for rank, (tag, score, probability, predicted) in enumerate(row, start=1):
            writer.writerow([row.name, rank, tag, score, probability, int(predicted)])


def _write_jsonl(stream: IO[str], ranked: list[RankedTags]) -> None:
    for row in ranked:
        stream.write(json.dumps(row.to_dict(), ensure_ascii=False) + "\n")
