"""Rank the tags of new pictures with a trained model."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

from tagrank.commands.options import (
    CACHE,
    DATA,
    DECISION,
    FOLLOW_LINKS,
    MIN_PROBABILITY,
    MODEL,
    OUTPUT,
    PICTURE_JOBS,
    PRECISION,
    SCHEDULER,
    STRICT,
    STYLE,
)
from tagrank.commands.sidecars import (
    LIKELY,
    MOST_TAGS,
    SidecarWriting,
    check_sidecars,
    check_style,
    write_sidecars,
)
from tagrank.commands.tables import Screen, counted, quality_lines, ranked_table, sidecar_table, text_of
from tagrank.errors import ArgumentError, warn
from tagrank.files import Problem
from tagrank.options import ROWS, Option
from tagrank.progress import Progress

if TYPE_CHECKING:
    import numpy as np

    from tagrank.annotation import Annotator, Explanation, RankedTags
    from tagrank.annotation.describing import Cache
    from tagrank.annotation.ranked_tags import RankedTag
    from tagrank.data import Collection
    from tagrank.reports.quality import QualityNote

INDENT = 4


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
    model: Annotated[Annotator | str | os.PathLike, MODEL],
    data: Annotated[
        Collection | str | os.PathLike | Sequence[str | os.PathLike], replace(DATA, is_many=True)
    ],
    output: Annotated[str | os.PathLike | None, OUTPUT] = None,
    *,
    part: Annotated[str | None, Option(ROWS, usual="all")] = None,
    top: Annotated[int | None, Option(low=1)] = 5,
    min_probability: Annotated[float | None, MIN_PROBABILITY] = None,
    precision: Annotated[float | None, PRECISION] = None,
    max_tags: Annotated[int | None, Option(DECISION, usual="all; 20 with --sidecars", low=1)] = None,
    why: Annotated[bool, Option()] = False,
    known_tags: Annotated[bool, Option()] = False,
    sidecars: Annotated[bool, Option()] = False,
    style: Annotated[str, STYLE] = "full",
    dry_run: Annotated[bool, Option()] = False,
    cache: Annotated[Cache, CACHE] = True,
    n_jobs: Annotated[int | None, PICTURE_JOBS] = None,
    scheduler: Annotated[Any, SCHEDULER] = None,
    strict: Annotated[bool, STRICT] = False,
    follow_links: Annotated[bool, FOLLOW_LINKS] = False,
    progress: Progress | None = None,
) -> Annotation:
    """Rank the tags of every picture or row.

    Parameters
    ----------
    data : pictures and folders of pictures; or one file of rows, or the name of one data set. In Python, also
        a `Collection`. Tags that the pictures already have are ignored, unless `known_tags` is given
    output : write a .csv file (one line per tag) or a .jsonl file (one line per picture)
    part : part of the data to annotate
    top : number of best tags to show per picture; predicted tags are always shown. In Python, None for all
    max_tags : maximum tags per picture
    why : show which training pictures and features the tags come from
    known_tags : use the tags that pictures already have (in their list, in their sidecars, or from decisions
        at the desk) as evidence for and against other tags. Takes one folder or one list
    sidecars : add the predicted tags, marked as machine-written, to an XMP sidecar beside each picture; the
        picture itself does not change. Without a minimum probability or a precision, only tags with a
        probability above 0.5 are added. 'tagrank undo' removes them again. In Python, a model that predicts
        more than half of all tags is refused
    style : file name of new sidecars: full is photo.jpg.xmp, as in digiKam and darktable; stem is photo.xmp,
        which darktable reads when it imports a picture, and digiKam if it is set to. Lightroom Classic reads
        photo.xmp for raw files only, and no sidecars for JPEG. Existing sidecars keep their names
    dry_run : show which tags would be added to sidecars, but write nothing
    n_jobs : number of processes that describe pictures
    strict : stop at the first picture that cannot be read, instead of skipping it
    follow_links : follow links to folders; in a folder that somebody else made, links may lead anywhere
    model, min_probability, precision, cache, scheduler : as in `evaluate`
    progress : called with the number of pictures done, the number of pictures, and the name of the work

    Returns
    -------
    Annotation

    Command line
    ------------
    tagrank annotate model photo.jpg --why
    tagrank annotate model photos/ --known-tags --why
    tagrank annotate model holiday/ scans/*.tif --output tags.jsonl
    tagrank annotate model holiday/ --sidecars --dry-run
    tagrank annotate model holiday/ --sidecars --max-tags 10
    tagrank annotate model holiday/ --sidecars --precision 0.8
    tagrank annotate model holiday/ --min-probability 0.3
    tagrank annotate model /shared/photos --scheduler tcp://10.0.0.1:8786 --output tags.jsonl
    tagrank annotate model drawn-pictures --part test --top 3
    """
    from tagrank.annotation import RankedTags
    from tagrank.annotation.describing import kind_of, see_pictures
    from tagrank.commands.destinations import check_apart, check_list, write_list
    from tagrank.commands.given_data import choose_part, open_known, open_model, open_pictures
    from tagrank.reports.quality import model_quality

    if dry_run and not sidecars:
        raise ArgumentError("dry_run only applies to sidecars; add sidecars=True")
    check_style(style, sidecars)
    if max_tags is not None and max_tags < 1:
        raise ArgumentError(f"max_tags must be at least 1, got {max_tags!r}")
    if output is not None:
        check_list(output, "ranked tags")
        check_apart(model, data, output=output)
    annotator = open_model(model).deciding(min_probability, precision=precision)
    opened = (open_known if known_tags else open_pictures)(data, strict=strict, follow_links=follow_links)
    rows = choose_part(opened, part, usual="all")
    reading: dict[str, Any] = {"cache": cache, "n_jobs": n_jobs, "strict": strict, "progress": progress}
    rows = see_pictures(annotator, rows, **reading, scheduler=scheduler).collection
    known = _known(annotator, rows) if known_tags else None
    ranked = annotator.annotate(rows, known=known)
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
        [_reasons(annotator, rows, i, row, known) for i, row in enumerate(ranked)] if why else [],
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


def _known(annotator: Annotator, rows: Collection) -> np.ndarray:
    """What is known of the tags of the model in each picture."""
    from tagrank.annotation.known_tags import check_knows, known_states

    check_knows(annotator.estimator_)
    if annotator.estimator_.companions_ is None:
        warn("this model has not learned how tags go together, so known tags change nothing")
    return known_states(rows, annotator.tags, annotator.implied_, len(rows))


def _reasons(
    annotator: Annotator, rows: Collection, i: int, row: RankedTags, known: np.ndarray | None
) -> list[Explanation]:
    """Why a picture gets its predicted tags, or its best one where there are none."""
    from tagrank.annotation import explain
    from tagrank.reports.picture_pixels import one_row

    told = None if known is None else known[[i]]
    return explain(annotator, one_row(rows, i), tags=row.predicted or row.tags[:1], known=told)


def _best(row: RankedTags, top: int | None) -> Iterator[tuple[int, RankedTag]]:
    """The best `top` tags and, beyond them, those that are predicted; each with its rank."""
    for rank, entry in enumerate(row, start=1):
        if top is None or rank <= top or entry.predicted:
            yield rank, entry


def _model_name(model: Annotator | str | os.PathLike) -> str:
    if isinstance(model, str | os.PathLike):
        return os.path.basename(os.path.abspath(model))
    return str(model.metadata.get("method", ""))


def _table(ranked: list[RankedTags], top: int | None) -> Iterator[Sequence[Any]]:
    """A line a tag."""
    yield "name", "rank", "tag", "score", "probability", "predicted"
    for row in ranked:
        for rank, (tag, score, probability, predicted) in _best(row, top):
            yield row.name, rank, tag, score, probability, int(predicted)


def show_annotation(
    annotation: Annotation,
    *,
    output: str | os.PathLike | None = None,
    json: bool = False,
    why: bool = False,
    sidecars: bool = False,
    dry_run: bool = False,
    max_tags: int | None = None,
) -> Screen:
    """The ranked tags of each picture and where they come from, or what would be written into sidecars."""
    kind, tables, said = annotation.kind, list[Any](), list[str]()
    is_ranked = why or (output is None and not dry_run)
    if not json and (is_ranked or dry_run):
        tables += quality_lines(annotation.quality)
    if not json and is_ranked:
        tables += _why_tables(annotation) if why else [ranked_table(annotation.ranked, kind=kind)]
        said.append("* predicted tag")
    if not json and dry_run:
        tables.append(sidecar_table(annotation.sidecars.changes, "would be added"))
    if output is not None:
        said.append(f"ranked tags of {counted(len(annotation.ranked), kind)} written to {output}")
    if sidecars:
        said.append(_summary(annotation.sidecars, max_tags))
    problems = {"skipped": annotation.problems, "sidecar not written": annotation.unwritten}
    return Screen(tables, said, problems, has_failed=bool(annotation.unwritten))


def _summary(written: SidecarWriting, max_tags: int | None) -> str:
    """What was written into sidecars, or would be, in a line."""
    changed = [change for change in written.changes if change.tags]
    n_new = sum(change.action == "create" for change in changed)
    n_present = sum(len(change.present) for change in written.changes)
    verb = "would be added" if written.dry_run else "added"
    line = f"{counted(written.n_added, 'tag')} {verb} to {counted(len(changed), 'sidecar')} ({n_new:,} new)"
    line += f"; {n_present:,} {'was' if n_present == 1 else 'were'} there already" if n_present else ""
    if written.n_cut:
        most = max_tags or MOST_TAGS
        line += f"; {counted(written.n_cut, 'picture')} got only the best {most} (--max-tags)"
    if written.dry_run:
        return f"dry run, nothing was written: {line}"
    return f"{line}; 'tagrank undo' removes them" if changed else line


def _why_tables(annotation: Annotation) -> list[Any]:
    """For each picture its tags, and for each predicted tag what adds to its score and what takes from it."""
    from rich.padding import Padding

    content: list[Any] = []
    for row, explanations in zip(annotation.ranked, annotation.why, strict=True):
        content.append(ranked_table([row], kind=annotation.kind))
        for explanation in explanations:
            content.append(text_of(f"  {explanation.tag}{_strength(explanation)}", "bold"))
            content += [
                Padding(text_of(line), (0, 0, 0, INDENT), expand=False) for line in _shares(explanation)
            ]
    return content


def _strength(explanation: Explanation) -> str:
    """The probability, where there is one, and the score that it was made of."""
    score = f"score {explanation.score:+.2f}"
    return f" {score}" if explanation.probability is None else f" {explanation.probability:.0%}, {score}"


def _shares(explanation: Explanation) -> Iterator[str]:
    if explanation.heads:
        yield "models: " + ", ".join(f"{name} {part:+.2f}" for name, part in explanation.heads.items())
    for word, examples in (("for", explanation.for_), ("against", explanation.against)):
        if examples:
            yield f"{word}: " + ", ".join(f"{one.name} {one.contribution:+.2f}" for one in examples)
    if explanation.shares:
        yield "features: " + ", ".join(f"{view} {part:+.2f}" for view, part in explanation.shares.items())
    for word, is_for in (("more likely with the tags", True), ("less likely with the tags", False)):
        spoken = [one for one in explanation.known if one.present and (one.contribution > 0) == is_for]
        if spoken:
            yield f"{word} " + ", ".join(f"{one.tag} {one.contribution:+.2f}" for one in spoken)
    if denied := [one for one in explanation.known if not one.present]:
        yield "because it does not have " + ", ".join(f"{one.tag} {one.contribution:+.2f}" for one in denied)
    if explanation.note:
        yield explanation.note
