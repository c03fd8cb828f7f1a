"""The page of `look`: groups of near-duplicates side by side, and outliers."""

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tagrank.commands.look.look import PictureFindings, SimilarPicture, UnusualPicture, certainty_words
from tagrank.data import Collection
from tagrank.data.picture_files import thumbnail_url
from tagrank.reports.pages import problems_section, write_page
from tagrank.reports.picture_pixels import picture_pixels
from tagrank.reports.pictures import MOST_PICTURES, THUMBNAIL, frame_shape

MOST_IN_GROUP = 8


def write_look_page(path: str | os.PathLike, found: PictureFindings, seen: Collection) -> None:
    """Write an HTML page that needs nothing else: no scripts, no network, pictures inside."""
    show = _PictureCards(seen)
    write_page(
        path,
        title=f"A look at {seen.name or 'the pictures'}",
        summary="",
        quality=(
            found.answer,
            f"Pictures were compared by {', '.join(found.features)} and by their details.",
        ),
        facts={
            "pictures": f"{found.n_pictures:,}",
            "groups of near-duplicates": f"{len(found.groups):,}",
            "pictures beyond the first of each group": f"{found.n_spare:,}",
            "outliers": f"{found.n_outliers:,}",
        },
        headings={
            "near_duplicates": "Near-duplicates",
            "outliers": "Outliers",
            "unlike_tags": "Unlike the others of their tag",
            "problems": "Files that could not be read",
        },
        content={
            "near_duplicates": _groups_section(found.groups, show),
            "outliers": _unusual_section(found.outliers, found.n_outliers, show),
            "unlike_tags": _unusual_section(found.unlike_tags, found.n_unlike_tags, show),
            "problems": problems_section(found.problems),
        },
    )


class _PictureCards:
    """Pictures by name, decoded when they are asked for."""

    def __init__(self, seen: Collection) -> None:
        self._seen = seen
        names = seen.names or [f"picture {i}" for i in range(len(seen))]
        self._rows = {name: row for row, name in enumerate(names)}
        self.shapes: list[Any] = []

    def card(self, name: str, *notes: str) -> dict[str, Any]:
        """What a card shows of a picture."""
        image = picture_pixels(self._seen, self._rows[name])
        if image is not None:
            self.shapes.append(np.empty(image.shape[:2], dtype=bool))
        return {
            "name": name,
            "url": None if image is None else thumbnail_url(image, **THUMBNAIL),
            "notes": notes,
        }


def _groups_section(groups: Sequence[Sequence[SimilarPicture]], show: _PictureCards) -> dict[str, Any] | None:
    if not groups:
        return None
    cards: list[dict[str, Any]] = []
    n_shown = 0
    for group in groups:
        n_shown += min(len(group), MOST_IN_GROUP)
        if n_shown > MOST_PICTURES and cards:
            break
        cards.append(
            {
                "pictures": [show.card(one.name, *_notes(one)) for one in group[:MOST_IN_GROUP]],
                "n_more": len(group[MOST_IN_GROUP:]),
            }
        )
    return {"groups": cards, "shape": frame_shape(show.shapes), "n_left_out": len(groups) - len(cards)}


def _notes(one: SimilarPicture) -> Iterable[str]:
    if one.is_copy:
        return ("same content",)
    return (f"likeness {one.likeness:.2f}", f"certainty {certainty_words(one.certainty)}")


def _unusual_section(
    unusual: Sequence[UnusualPicture], n_all: int, show: _PictureCards
) -> dict[str, Any] | None:
    if not unusual:
        return None
    shown = unusual[:MOST_PICTURES]
    cards = [
        show.card(
            one.name, *([] if one.tag is None else [one.tag]), f"{one.distance:.2f} × the usual distance"
        )
        for one in shown
    ]
    return {"cards": cards, "shape": frame_shape(show.shapes), "n_left_out": n_all - len(shown)}
