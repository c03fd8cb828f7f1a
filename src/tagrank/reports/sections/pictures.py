"""The pictures of a report: what the model says about each, and which ones are worth a look."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from tagrank.annotation.explanation import Explanation
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


class Examples(NamedTuple):
    """Rows worth showing of one tag: where it was found, and where it was missed; None if nowhere."""

    found: int | None
    missed: int | None


def judge_tags(picture: ReportPicture) -> list[Verdict]:
    """The predicted tags in their order as found, wrong or unknown, then the missed ones."""
    true, unknown = set(picture.true_tags), set(picture.unknown_tags)
    verdicts = []
    for tag, score, probability in picture.predicted:
        kind = "found" if tag in true else "unknown" if tag in unknown else "wrong"
        verdicts.append(Verdict(tag, kind, strength(score, probability)))
    given = {verdict.tag for verdict in verdicts}
    return verdicts + [Verdict(tag, "missed", "") for tag in picture.true_tags if tag not in given]


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
        "The best": slice(n_each),
        "Typical ones": slice(middle, min(middle + n_each, len(order) - n_each)),
        "The hardest": slice(max(n_each, len(order) - n_each), None),
    }
    return {heading: order[place].tolist() for heading, place in places.items() if len(order[place])}


def pick_tag_examples(Y: Any, scores: Any, predictions: Any) -> list[Examples]:
    """For each tag the row where it was found with the highest score, and missed with the lowest."""
    states, ranked = check_scores(Y, scores)
    predicted = check_predictions(Y, predictions)[1]
    present = states > 0
    found, missed = present & predicted, present & ~predicted
    best = np.argmax(np.where(found, ranked, -np.inf), axis=0)
    worst = np.argmin(np.where(missed, ranked, np.inf), axis=0)
    return [
        Examples(int(i) if found[i, j] else None, int(k) if missed[k, j] else None)
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
