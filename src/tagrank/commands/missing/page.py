"""The page of `missing`: pictures, the tags that they have, and those that deserve a look."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tagrank.commands.tables import counted
from tagrank.data import Collection
from tagrank.data.picture_files import thumbnail_url
from tagrank.reports.pages import problems_section, write_page
from tagrank.reports.picture_pixels import picture_pixels
from tagrank.reports.pictures import MOST_PICTURES, THUMBNAIL, frame_shape, percent

if TYPE_CHECKING:
    from tagrank.commands.missing.missing import MissingTags, Suggestion

MOST_TAGS = 20  # of each kind on a card; of more only their number is said


def write_missing_page(
    path: str | os.PathLike, found: "MissingTags", rows: Collection, places: np.ndarray
) -> None:
    """Write an HTML page that needs nothing else: no scripts, no network, pictures inside.

    `places` are the rows of the suggestions, shape (n_suggestions,).
    """
    write_page(
        path,
        title=f"Tags that are {found.about} in {rows.name or 'the data'}",
        summary="",
        quality=(found.quality, _summary(found)),
        facts=_facts(found),
        headings={"missing": "Suggestions", "problems": "Files that could not be read"},
        content={
            "missing": _missing_section(found, rows, places),
            "problems": problems_section(found.problems),
        },
    )


def _missing_section(found: "MissingTags", rows: Collection, places: np.ndarray) -> dict[str, Any]:
    """One card a picture, in the order of its first suggestion."""
    by_row: dict[int, list[Suggestion]] = {}
    for row, suggestion in zip(places.tolist(), found.suggestions, strict=True):
        by_row.setdefault(row, []).append(suggestion)
    shown = list(by_row)[:MOST_PICTURES]
    images = [picture_pixels(rows, row) for row in shown]
    present = rows.subset(shown).states() > 0
    return {
        "cards": [
            _card(rows, row, by_row[row], image, is_present)
            for row, image, is_present in zip(shown, images, present, strict=True)
        ],
        "shape": frame_shape([image for image in images if image is not None]),
        "wrong": found.wrong,
        "answer": found.answer,
        "has_unknown": any(one.state == "unknown" for one in found.suggestions),
        "n_left_out": len(by_row) - len(shown),
    }


def _card(
    rows: Collection,
    row: int,
    suggestions: "Sequence[Suggestion]",
    image: np.ndarray | None,
    is_present: np.ndarray,
) -> dict[str, Any]:
    suspects = {suggestion.tag for suggestion in suggestions}
    present = [tag for tag, has in zip(rows.tags, is_present, strict=True) if has and tag not in suspects]
    return {
        "name": suggestions[0].name,
        "url": None if image is None else thumbnail_url(image, **THUMBNAIL),
        "suspects": [(one.tag, percent(one.probability), one.state) for one in suggestions[:MOST_TAGS]],
        "n_more_suspects": len(suggestions[MOST_TAGS:]),
        "present": present[:MOST_TAGS],
        "n_more_present": len(present[MOST_TAGS:]),
    }


def _summary(found: "MissingTags") -> str:
    method = found.method if found.choice is None else found.choice.words
    summary = f"Each {found.kind} was judged by a model that was trained without it: {method}."
    if n_untagged := found.facts["rows wholly unknown"]:
        summary += f" One model of all others judged the {counted(n_untagged, found.kind)} without tags."
    if found.n_right is not None and found.completeness is not None:
        listed = found.completeness.words
        summary += (
            f" {listed[0].upper()}{listed[1:]} of the true tags are listed; the figures account for that."
        )
    return summary


def _facts(found: "MissingTags") -> dict[str, str]:
    facts = {
        f"{found.kind}s": f"{found.facts['rows']:,}",
        "tags": f"{found.facts['tags']:,}",
        "suggestions": f"{len(found.suggestions):,}",
        f"{'present' if found.wrong else 'absent or unknown'} tags checked": f"{found.n_candidates:,}",
        "folds": f"{found.folds}",
    }
    if found.completeness is not None and found.completeness.share < 1:
        facts["true tags that are listed"] = found.completeness.words
    return facts
