"""Rank the tags of new pictures with a trained model."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tagrank.annotation import Annotator, Explanation, RankedTags, explain
from tagrank.annotation.describing import Cache, kind_of, see_pictures
from tagrank.annotation.ranked_tags import RankedTag
from tagrank.commands.destinations import check_apart, check_list, write_list
from tagrank.commands.given_data import choose_part, open_model, open_pictures
from tagrank.commands.sidecars import (
    LIKELY,
    MOST_TAGS,
    SidecarWriting,
    check_sidecars,
    check_style,
    write_sidecars,
)
from tagrank.data import Collection
from tagrank.errors import ArgumentError
from tagrank.problems import Problem
from tagrank.progress import Progress
from tagrank.reports.picture_pixels import one_row
from tagrank.reports.quality import QualityNote, model_quality


@dataclass(frozen=True)
class Annotation:
    """The ranked tags of pictures or rows.

    Attributes
    ----------
    ranked : the tags of each picture, best first
    problems : files that were left out, and why
    why : for each of `ranked` what its predicted tags come from; empty unless it was asked for
    sidecars : what was written beside the pictures, or would be
    kind : what they are, "picture" or "row"
    quality : what the predicted tags are worth, as the model knows it from its training; or None
    """

    ranked: list[RankedTags]
    problems: Sequence[Problem] = ()
    why: Sequence[Sequence[Explanation]] = ()
    sidecars: SidecarWriting = field(default_factory=SidecarWriting)
    kind: str = "picture"
    quality: QualityNote | None = None

    @property
    def n_sidecars(self) -> int:
        """How many pictures have their predicted tags in a file beside them now."""
        return 0 if self.sidecars.dry_run else len(self.sidecars.changes)

    @property
    def unwritten(self) -> Sequence[Problem]:
        """Pictures beside which no such file could be written, and why."""
        return self.sidecars.unwritten

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers for JSON."""
        pictures = [row.to_dict() for row in self.ranked]
        for picture, explanations in zip(pictures, self.why, strict=False):
            picture["why"] = [explanation.to_dict() for explanation in explanations]
        return {
            "quality": None if self.quality is None else self.quality.to_dict(),
            "pictures": pictures,
            "problems": [vars(problem) for problem in self.problems],
            "sidecars": self.sidecars.to_dict(),
            "unwritten": [vars(problem) for problem in self.unwritten],
        }


def annotate(
    model: Annotator | str | os.PathLike,
    data: Collection | str | os.PathLike | Sequence[str | os.PathLike],
    output: str | os.PathLike | None = None,
    *,
    part: str | None = None,
    top: int | None = 5,
    min_probability: float | None = None,
    precision: float | None = None,
    max_tags: int | None = None,
    why: bool = False,
    sidecars: bool = False,
    style: str = "full",
    dry_run: bool = False,
    cache: Cache = True,
    n_jobs: int | None = None,
    strict: bool = False,
    follow_links: bool = False,
    progress: Progress | None = None,
) -> Annotation:
    """Rank the tags of every picture or row.

    Parameters
    ----------
    model : an Annotator, or the folder of one
    data : a Collection, a file or a name, as `open_collection` takes it, a folder of pictures, or several
        pictures and folders; their own tags are not looked at
    output : a ``.csv`` file (one line a tag) or a ``.jsonl`` file (one line a picture) to write, or None
    part : the part to annotate; None means every row
    top : the number of best tags to keep of each row, besides all that are predicted; None keeps all
    min_probability : predict what is at least so probable; by default the model decides
    precision : predict tags of which this share is right, as far as the model knows from its training
    max_tags : predict at most so many for each picture, the best ones
    why : also tell which training pictures and which features the predicted tags come from
    sidecars : also add the predicted tags to an XMP file beside each picture, marked as machine-made; a model
        that predicts more than half of all tags is refused. Unless told otherwise, no tag is predicted then
        that is more probably false than true, and at most 20 for a picture. `undo` takes them out again.
    style : {"full", "stem"}, what new sidecars are called, see `write_sidecar`
    dry_run : with `sidecars`, only tell what would be added
    cache : whether the features of pictures are kept for the next time; or a folder for them
    n_jobs : processes that describe pictures; all cores by default
    strict : stop at the first picture that cannot be read instead of leaving it out
    follow_links : follow links to folders in a folder of pictures
    progress : called with how many pictures are done, how many there are, and what is being done
    """
    if dry_run and not sidecars:
        raise ArgumentError("dry_run is about sidecars; ask for sidecars, too")
    check_style(style, sidecars)
    if max_tags is not None and max_tags < 1:
        raise ArgumentError(f"max_tags must be at least 1, got {max_tags!r}")
    if output is not None:
        check_list(output, "ranked tags")
        check_apart(model, data, output=output)
    annotator = open_model(model).deciding(min_probability, precision=precision)
    rows = choose_part(open_pictures(data, strict=strict, follow_links=follow_links), part, usual="all")
    reading: dict[str, Any] = {"cache": cache, "n_jobs": n_jobs, "strict": strict, "progress": progress}
    rows = see_pictures(annotator, rows, **reading).collection
    ranked = annotator.annotate(rows)
    likely, asked = 0.0, max_tags
    if sidecars:
        check_sidecars(rows, ranked)
        likely = LIKELY if min_probability is None and precision is None else 0.0
        max_tags = MOST_TAGS if max_tags is None else max_tags
    quality = model_quality(annotator, min_probability=likely, max_tags=asked, kind=kind_of(rows.views))
    ranked, n_cut = _cut(ranked, max_tags, likely)
    best = [RankedTags(row.name, tuple(entry for _, entry in _best(row, top))) for row in ranked]
    if output is not None:
        write_list(output, table=_table(ranked, top), documents=(row.to_dict() for row in best))
    written = SidecarWriting()
    if sidecars:
        name = _model_name(model)
        written = write_sidecars(
            rows, ranked, model=name, n_cut=n_cut, style=style, dry_run=dry_run, strict=strict
        )
    return Annotation(
        best,
        rows.problems,
        [_reasons(annotator, rows, i, row) for i, row in enumerate(ranked)] if why else [],
        written,
        kind_of(rows.views),
        quality,
    )


def _cut(
    ranked: Sequence[RankedTags], max_tags: int | None, min_probability: float
) -> tuple[list[RankedTags], int]:
    """The pictures with fewer predicted tags, and how many of them had more than `max_tags`."""
    likely = [row.with_fewer(min_probability=min_probability) for row in ranked]
    few = [row.with_fewer(max_tags) for row in likely]
    return few, sum(len(a.predicted) < len(b.predicted) for a, b in zip(few, likely, strict=True))


def _reasons(annotator: Annotator, rows: Collection, i: int, row: RankedTags) -> list[Explanation]:
    """Why a picture gets its predicted tags, or its best one where there are none."""
    return explain(annotator, one_row(rows, i), tags=row.predicted or row.tags[:1])


def _best(row: RankedTags, top: int | None) -> Iterator[tuple[int, RankedTag]]:
    """The best `top` tags and, beyond them, those that are predicted; each with its rank."""
    for rank, entry in enumerate(row, start=1):
        if top is None or rank <= top or entry.predicted:
            yield rank, entry


def _model_name(model: Annotator | str | os.PathLike) -> str:
    if isinstance(model, Annotator):
        return str(model.metadata.get("method", ""))
    return os.path.basename(os.path.abspath(model))


def _table(ranked: list[RankedTags], top: int | None) -> Iterator[Sequence[Any]]:
    """A line a tag."""
    yield "name", "rank", "tag", "score", "probability", "predicted"
    for row in ranked:
        for rank, (tag, score, probability, predicted) in _best(row, top):
            yield row.name, rank, tag, score, probability, int(predicted)
