"""Why these tags: the training pictures that add most to a score, or take most from it, and the features."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tagrank.annotation.explanation import Contribution, Explanation
from tagrank.data.picture_files import thumbnail_url
from tagrank.reports.sections.pictures import THUMBNAIL, ReportPicture, judge_tags, strength

MOST_PANELS, MOST_TAGS, MOST_EXAMPLES = 12, 4, 6
MOST_SHARES = 6
SMALL_THUMBNAIL = {"longest": 96, "quality": 78}

FindPicture = Callable[[str], np.ndarray | None]


class Share(NamedTuple):
    """A piece of the stacked bar, in hundredths of its length."""

    feature: str
    value: str
    start: float
    width: float
    is_for: bool
    shade: int


def why_section(
    pictures: Sequence[ReportPicture], find_picture: FindPicture | None
) -> list[dict[str, Any]] | None:
    """A panel for each of the first pictures with explanations; None if there is none."""
    thumbnails: dict[str, str | None] = {}

    def thumbnail(name: str) -> str | None:
        if name not in thumbnails:
            image = None if find_picture is None else find_picture(name)
            thumbnails[name] = None if image is None else thumbnail_url(image, **SMALL_THUMBNAIL)
        return thumbnails[name]

    explained = [picture for picture in pictures if picture.why][:MOST_PANELS]
    return [_panel(picture, thumbnail) for picture in explained] or None


def _panel(picture: ReportPicture, thumbnail: Callable[[str], str | None]) -> dict[str, Any]:
    kinds = {verdict.tag: verdict.kind for verdict in judge_tags(picture)}
    return {
        "name": picture.name,
        "url": None if picture.image is None else thumbnail_url(picture.image, **THUMBNAIL),
        "tags": [
            {
                "tag": explanation.tag,
                "kind": kinds.get(explanation.tag, "absent"),
                "strength": strength(explanation.score, explanation.probability),
                "heads": [f"{name} {_signed(part)}" for name, part in explanation.heads.items()],
                "note": explanation.note,
                "sides": [
                    (word, [_example(part, thumbnail) for part in parts[:MOST_EXAMPLES]])
                    for word, parts in (("for", explanation.for_), ("against", explanation.against))
                    if parts
                ],
                "shares": stack_shares(explanation.shares),
                "sum": _sum(explanation),
            }
            for explanation in picture.why[:MOST_TAGS]
        ],
    }


def _example(part: Contribution, thumbnail: Callable[[str], str | None]) -> dict[str, Any]:
    return {
        "name": part.name,
        "url": thumbnail(part.name),
        "contribution": _signed(part.contribution),
        "present": part.present,
    }


def stack_shares(shares: Mapping[str, float]) -> list[Share]:
    """Pieces side by side: what adds to the score from the left, then what takes from it."""
    ordered = sorted(shares.items(), key=lambda share: -abs(share[1]))
    kept, rest = ordered[:MOST_SHARES], ordered[MOST_SHARES:]
    for side in (1, -1):
        total = sum(value for _, value in rest if value * side > 0)
        if total:
            kept.append((f"{sum(value * side > 0 for _, value in rest)} others", total))
    size = sum(abs(value) for _, value in kept)
    pieces: list[Share] = []
    start = 0.0
    for shade, (feature, value) in enumerate(sorted(kept, key=lambda share: -share[1])):
        width = 100 * abs(value) / size if size else 0.0
        pieces.append(Share(feature, _signed(value), round(start, 2), round(width, 2), value >= 0, shade % 4))
        start += width
    return pieces


def _sum(explanation: Explanation) -> str:
    """The score as the sum that it is."""
    parts = {
        "from these": sum(part.contribution for part in (*explanation.for_, *explanation.against)),
        "from all others": explanation.others,
        "for every picture": explanation.intercept,
    }
    terms = [f"{_signed(value)} {word}" for word, value in parts.items() if value]
    return f"{explanation.score:.2f} = {', '.join(terms)}" if len(terms) > 1 else ""


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-0.00", "+0.00").replace("-", "−")
