"""The pictures of a report: what the model says about each, and which ones are worth a look."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from tagrank.annotation.explanation import Contribution, Explanation
from tagrank.data.picture_files import thumbnail_url
from tagrank.metrics.metric import check_predictions, check_scores
from tagrank.metrics.predictions import f_scores
from tagrank.metrics.ranks import auc, measure_rows

MOST_PICTURES = 96  # with thumbnails of this size a page stays below a few megabytes
MOST_WRONG = 8  # tags on a card; a model that is wrong more often is only counted
THUMBNAIL = {"longest": 288, "quality": 82}
NARROWEST, WIDEST = 0.75, 1.5


@dataclass(frozen=True)
class ReportPicture:
    """A picture (or a row without one) with the tags that the model gave it.

    Parameters
    ----------
    name : what the picture is called
    true_tags : the tags known to be present
    predicted : (tag, score, probability or None) of every tag given to the picture, best first
    unknown_tags : tags that are neither known to be present nor to be absent: neither right nor wrong
    image : uint8 array, shape (height, width, 3), or None
    heading : neighbours with the same heading are shown together below it
    why : what `tagrank.annotation.explain` says about some of its tags
    """

    name: str
    true_tags: Sequence[str]
    predicted: Sequence[tuple[str, float, float | None]]
    unknown_tags: Sequence[str] = ()
    image: np.ndarray | None = None
    heading: str = ""
    why: Sequence[Explanation] = ()


class Verdict(NamedTuple):
    """What a page says about one tag of one picture."""

    tag: str
    kind: str
    strength: str


def judge_tags(picture: ReportPicture) -> list[Verdict]:
    """The predicted tags in their order as found, wrong or unknown, then the missed ones."""
    true, unknown = set(picture.true_tags), set(picture.unknown_tags)
    verdicts = []
    for tag, score, probability in picture.predicted:
        kind = "found" if tag in true else "unknown" if tag in unknown else "wrong"
        verdicts.append(Verdict(tag, kind, strength(score, probability)))
    judged = {verdict.tag for verdict in verdicts}
    return verdicts + [Verdict(tag, "missed", "") for tag in picture.true_tags if tag not in judged]


def pick_pictures(Y: Any, scores: Any, predictions: Any, *, n_each: int = 8) -> dict[str, list[int]]:
    """Rows worth showing, by the F1 of their predicted tags: heading -> row numbers, none twice.

    Of equal F1 the better ranking goes first. Each heading has `n_each` rows, fewer if there are not enough.
    """
    states, ranked = check_scores(Y, scores)
    quality = f_scores(*check_predictions(Y, predictions), axis=1)
    ranking = measure_rows(states, ranked, {"auc": auc})["auc"]
    order = np.lexsort((np.nan_to_num(ranking), np.count_nonzero(states > 0, axis=1), quality))[::-1]
    # pictures without a tag, true or predicted, show nothing
    order = order[~np.isnan(quality[order])]
    n_each = min(n_each, max(1, len(order) // 3))
    middle = max(n_each, (len(order) - n_each) // 2)
    places = {
        "Best": slice(n_each),
        "Typical": slice(middle, min(middle + n_each, len(order) - n_each)),
        "Hardest": slice(max(n_each, len(order) - n_each), None),
    }
    return {heading: order[place].tolist() for heading, place in places.items() if len(order[place])}


def pick_tag_examples(Y: Any, scores: Any, predictions: Any) -> list[tuple[int | None, int | None]]:
    """For each tag the row where it was found with the highest score, and missed with the lowest, or None."""
    states, ranked = check_scores(Y, scores)
    predicted = check_predictions(Y, predictions)[1]
    present = states > 0
    found, missed = present & predicted, present & ~predicted
    best = np.argmax(np.where(found, ranked, -np.inf), axis=0)
    worst = np.argmin(np.where(missed, ranked, np.inf), axis=0)
    return [
        (int(i) if found[i, j] else None, int(k) if missed[k, j] else None)
        for j, (i, k) in enumerate(zip(best, worst, strict=True))
    ]


def pictures_section(pictures: Sequence[ReportPicture]) -> dict[str, Any] | None:
    """Groups of cards, the kinds of verdicts on them, and the shape that suits most pictures."""
    if not pictures:
        return None
    shown = pictures[:MOST_PICTURES]
    groups = [
        {"heading": heading, "cards": [_card(picture) for picture in group]}
        for heading, group in groupby(shown, key=lambda picture: picture.heading)
    ]
    return {
        "groups": groups,
        "kinds": {
            verdict.kind for group in groups for card in group["cards"] for verdict in card["verdicts"]
        },
        "shape": frame_shape([picture.image for picture in shown if picture.image is not None]),
        "n_left_out": len(pictures) - len(shown),
    }


def strength(score: float, probability: float | None) -> str:
    """How sure the model is of a tag: its probability or, without one, its score."""
    return f"{score:.2f}" if probability is None else percent(probability)


def percent(probability: float) -> str:
    """A whole number of hundredths; what is rare is not called impossible."""
    return "<1%" if 0 < probability < 0.005 else f"{probability:.0%}"


def _card(picture: ReportPicture) -> dict[str, Any]:
    verdicts = judge_tags(picture)
    too_wrong = [verdict for verdict in verdicts if verdict.kind == "wrong"][MOST_WRONG:]
    return {
        "name": picture.name,
        "url": None if picture.image is None else thumbnail_url(picture.image, **THUMBNAIL),
        "verdicts": [verdict for verdict in verdicts if verdict not in too_wrong],
        "n_too_wrong": len(too_wrong),
    }


def frame_shape(images: Sequence[np.ndarray]) -> float:
    """Width / height of the frames: the usual one of the pictures, within what a page can bear."""
    shapes = [image.shape[1] / image.shape[0] for image in images]
    return round(float(np.clip(np.median(shapes), NARROWEST, WIDEST)), 3) if shapes else 1.0


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
        "for every picture (intercept)": explanation.intercept,
    }
    terms = [f"{_signed(value)} {word}" for word, value in parts.items() if value]
    return f"{explanation.score:.2f} = {', '.join(terms)}" if len(terms) > 1 else ""


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-0.00", "+0.00").replace("-", "−")
