"""Predicted tags on their way into sidecars: not too many, and not of a model that predicts nearly all."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tagrank.errors import ArgumentError
from tagrank.files import FileError, Problem, ProblemLog

if TYPE_CHECKING:
    from tagrank.annotation import RankedTags
    from tagrank.data import Collection
    from tagrank.data.writers.sidecar_tags import SidecarChange

MOST_TAGS = 20  # that a sidecar gets, unless more are asked for
LIKELY = 0.5  # a tag that is more probably false is not written, unless that is asked for
MOST_SHARE = 0.5  # of its tags that a model may predict on average
_FEW_TAGS = 10  # of so few, half may well be right


@dataclass(frozen=True)
class SidecarWriting:
    """What a run wrote into sidecars, or would write.

    Attributes
    ----------
    changes : one for each picture with predicted tags
    unwritten : pictures whose sidecars could not be written, and why
    n_cut : pictures with more predicted tags than a sidecar gets
    dry_run : whether nothing was written
    run : what the run is called in the marks
    """

    changes: Sequence[SidecarChange] = ()
    unwritten: Sequence[Problem] = ()
    n_cut: int = 0
    dry_run: bool = False
    run: str = ""

    @property
    def n_added(self) -> int:
        """How many tags were added."""
        return sum(len(change.tags) for change in self.changes)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "run": self.run,
            "dry_run": self.dry_run,
            "changes": [change.to_dict() for change in self.changes],
        }


def check_style(style: str, sidecars: bool) -> None:
    """Raise unless new sidecars can be called so, and sidecars are asked for."""
    from tagrank.data.writers.sidecar import STYLES
    from tagrank.validation import check_choice

    check_choice("style", style, STYLES)
    if style != STYLES[0] and not sidecars:
        raise ArgumentError(f"style={style} only applies to sidecars; add sidecars=True")


def check_sidecars(rows: Collection, ranked: Sequence[RankedTags]) -> None:
    """Raise unless the rows are pictures in files, and the model can tell which tags to write."""
    from tagrank.annotation.describing import PICTURES

    pictures = rows.views.get(PICTURES, [])
    if not all(isinstance(picture, str | os.PathLike) for picture in pictures) or not len(pictures):
        raise ValueError("sidecars belong to picture files; name pictures or a folder of pictures")
    n_tags, mean = len(ranked[0]), sum(len(row.predicted) for row in ranked) / len(ranked)
    if n_tags > _FEW_TAGS and mean > MOST_SHARE * n_tags:
        raise ValueError(
            f"the model predicts {mean:,.0f} of its {n_tags:,} tags per picture on average, so its "
            "predictions are useless and no sidecar was written; train it with the default calibration and "
            "threshold (not 'none'), or write the ranking with output=tags.csv"
        )


def write_sidecars(
    rows: Collection,
    ranked: Sequence[RankedTags],
    *,
    model: str = "",
    n_cut: int = 0,
    style: str = "full",
    dry_run: bool = False,
    strict: bool = False,
) -> SidecarWriting:
    """Add the predicted tags to the sidecars of pictures, with marks; see `check_sidecars` first."""
    from tagrank.annotation.describing import PICTURES
    from tagrank.data.writers.originals import prune_originals
    from tagrank.data.writers.sidecar_tags import add_machine_tags, new_run

    run, changes = new_run(), []
    problems = ProblemLog(strict=strict)
    for picture, row in zip(rows.view(PICTURES), ranked, strict=True):
        tags = {entry.tag: entry.probability for entry in row if entry.predicted}
        try:
            if tags:
                changes.append(
                    add_machine_tags(picture, tags, run=run, model=model, style=style, dry_run=dry_run)
                )
        except FileError as error:
            problems.add_error(picture, error)
    if not dry_run:
        prune_originals()
    return SidecarWriting(changes, problems.listed(), n_cut, dry_run, run)
