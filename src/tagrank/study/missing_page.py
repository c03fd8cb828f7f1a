"""The page of `missing`: pictures, the tags that they have, and those that deserve a look."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined

from tagrank._version import __version__
from tagrank.annotation.describing import PICTURES
from tagrank.data import Collection
from tagrank.data.thumbnails import thumbnail_url
from tagrank.files import atomic_write
from tagrank.study.missing_result import LIKELIHOOD, MissingTags, Suggestion
from tagrank.study.report import MOST_PROBLEMS
from tagrank.study.report_pictures import MOST_PICTURES, NARROWEST, THUMBNAIL, WIDEST
from tagrank.study.seeing import load_pixels

MOST_TAGS = 20  # of each kind on a card; of more only their number is said


def write_missing_page(
    path: str | os.PathLike, found: MissingTags, rows: Collection, places: np.ndarray
) -> None:
    """Write a page that needs nothing else: no scripts, no network, pictures inside; whole or not at all.

    Parameters
    ----------
    path : the HTML file; missing folders are made
    found : the suggestions
    rows : the collection that they are about
    places : the row of each suggestion, shape (n_suggestions,)
    """
    content = {"missing": _missing_section(found, rows, places), "problems": _problems_section(found)}
    headings = {"missing": "What deserves a look", "problems": "What could not be read"}
    page = _render(
        title=f"Tags of {rows.name or 'the data'} that are {found.about}",
        summary=_summary(found),
        facts=_facts(found),
        sections={name: heading for name, heading in headings.items() if content[name]},
        **content,
    )
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as file:
        # names of files may hold bytes that are no text: they become question marks
        file.write(page.encode("utf-8", errors="replace"))


def _render(**content: Any) -> str:
    """The shell of the report, which draws each section by the template of its name."""
    environment = Environment(
        loader=PackageLoader("tagrank.study", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html.j2").render(version=__version__, **content)


def _missing_section(found: MissingTags, rows: Collection, places: np.ndarray) -> dict[str, Any]:
    """One card a picture, in the order of its first suggestion."""
    by_row: dict[int, list[Suggestion]] = {}
    for row, suggestion in zip(places.tolist(), found.suggestions, strict=True):
        by_row.setdefault(row, []).append(suggestion)
    shown = list(by_row)[:MOST_PICTURES]
    images = [_image(rows, row) for row in shown]
    present = rows.subset(shown).states() > 0
    return {
        "cards": [
            _card(rows, row, by_row[row], image, is_present)
            for row, image, is_present in zip(shown, images, present, strict=True)
        ],
        "shape": _frame_shape([image for image in images if image is not None]),
        "wrong": found.wrong,
        "has_unknown": any(one.state == "unknown" for one in found.suggestions),
        "n_left_out": len(by_row) - len(shown),
    }


def _card(
    rows: Collection,
    row: int,
    suggestions: Sequence[Suggestion],
    image: np.ndarray | None,
    is_present: np.ndarray,
) -> dict[str, Any]:
    suspects = {suggestion.tag for suggestion in suggestions}
    present = [tag for tag, has in zip(rows.tags, is_present, strict=True) if has and tag not in suspects]
    return {
        "name": suggestions[0].name,
        "url": None if image is None else thumbnail_url(image, **THUMBNAIL),
        "suspects": [(one.tag, _percent(one.probability), one.state) for one in suggestions[:MOST_TAGS]],
        "n_more_suspects": len(suggestions[MOST_TAGS:]),
        "present": present[:MOST_TAGS],
        "n_more_present": len(present[MOST_TAGS:]),
    }


def _image(rows: Collection, row: int) -> np.ndarray | None:
    return load_pixels(rows.view(PICTURES)[row]) if PICTURES in rows.views else None


def _frame_shape(images: Sequence[np.ndarray]) -> float:
    """Width / height of the frames: the usual one of the pictures, within what a page can bear."""
    shapes = [image.shape[1] / image.shape[0] for image in images]
    return round(float(np.clip(np.median(shapes), NARROWEST, WIDEST)), 3) if shapes else 1.0


def _percent(probability: float) -> str:
    return "<1%" if 0 < probability < 0.005 else f"{probability:.0%}"


def _summary(found: MissingTags) -> str:
    summary = "Each picture was judged by a model that saw neither it nor its tags."
    if n_untagged := found.facts["rows wholly unknown"]:
        summary += f" {n_untagged:,} without tags were judged by one model of all the others."
    return summary


def _facts(found: MissingTags) -> dict[str, str]:
    facts = {
        "pictures": f"{found.facts['rows']:,}",
        "tags": f"{found.facts['tags']:,}",
        "suggestions": f"{len(found.suggestions):,}",
        f"{'present' if found.wrong else 'absent or unknown'} tags looked at": f"{found.n_candidates:,}",
        "method": found.method,
        "folds": f"{found.folds}",
    }
    return facts if found.tuning is None else facts | {"C": f"{found.tuning.best(LIKELIHOOD):g}"}


def _problems_section(found: MissingTags) -> dict[str, Any] | None:
    if not found.problems:
        return None
    shown = [(problem.path, problem.reason) for problem in found.problems[:MOST_PROBLEMS]]
    return {"shown": shown, "n_all": len(found.problems)}
