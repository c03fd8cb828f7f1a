"""Pictures described by the features that a model reads, or is to learn from."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tagrank.annotation import Annotator
from tagrank.annotation.bank.picture_keys import Progress
from tagrank.annotation.describing import PICTURES, Cache, Description, describe_pictures
from tagrank.data import Collection
from tagrank.errors import ArgumentError
from tagrank.features import Feature, choose_features, usual_features
from tagrank.files import FileError


def see_pictures(
    annotator: Annotator,
    rows: Collection,
    *,
    features: Mapping[str, Feature] | None = None,
    cache: Cache = True,
    n_jobs: int | None = None,
    strict: bool = False,
    progress: Progress | None = None,
) -> Description:
    """The rows with all features that a model reads, the seconds that each set takes for them, and keys.

    `features` are others in their place.

    Rows that are no pictures, or have their features already, stay as they are. A picture that cannot be read
    is left out and becomes one of the problems of the collection.
    """
    features = annotator.features_ if features is None else features
    _check_kind(annotator, rows)
    if features is None or PICTURES not in rows.views or rows.views.keys() >= features.keys():
        return Description(rows, dict(features or {}), {})
    described = describe_pictures(
        rows, features, cache=cache, n_jobs=n_jobs, strict=strict, progress=progress
    )
    _check_any(described, len(rows))
    n_pictures = len(described.collection)
    seconds = {name: one * n_pictures for name, one in described.seconds_a_picture.items()}
    return replace(described, seconds=seconds)


def _check_kind(annotator: Annotator, rows: Collection) -> None:
    """Raise if the model reads pictures and these are none, or the other way round."""
    features, name = annotator.features_, rows.name or "the data"
    if features is None and rows.views.keys() == {PICTURES}:
        raise ValueError(
            f"the model was trained on rows of numbers, but {name} has pictures; train one on those"
        )
    if features is not None and PICTURES not in rows.views and not rows.views.keys() >= features.keys():
        raise ValueError(
            f"the model was trained on pictures, but {name} has rows of numbers; give it pictures"
        )


FeatureChoice = str | Sequence[str] | Mapping[str, Feature] | None


def name_features(features: FeatureChoice) -> Mapping[str, Feature] | None:
    """The features that are meant, see `choose_features`; None stays None, for the best that is installed."""
    try:
        return None if features is None else choose_features(features)
    except ValueError as error:
        raise ArgumentError(str(error)) from None


def describe_rows(rows: Collection, features: FeatureChoice, **options: Any) -> Description:
    """Rows to learn from, as they are, or described if they are pictures; see `describe_pictures`.

    Without `features` they are the best that is installed; rows that are no pictures take none.
    """
    if PICTURES not in rows.views and features is None:
        return Description(rows, {}, {})
    chosen = choose_features(usual_features() if features is None else features)
    if PICTURES not in rows.views:
        return Description(_check_described(rows, chosen), {}, {})
    described = describe_pictures(rows, chosen, **options)
    _check_any(described, len(rows))
    return described


def _check_described(rows: Collection, features: Mapping[str, Feature]) -> Collection:
    """Rows that have these features already as views; to any others they mean nothing."""
    if missing := [name for name in features if name not in rows.views]:
        raise ValueError(
            f"features {', '.join(missing)} describe pictures, but {rows.name or 'the data'} has rows of "
            "numbers already; leave the features out"
        )
    return rows


def _check_any(described: Description, n_pictures: int) -> None:
    if not len(described.collection):
        problem = described.collection.problems[-1]
        others = f" (nor can any other of the {n_pictures:,} be read)" if n_pictures > 1 else ""
        raise FileError(problem.path, f"{problem.reason}{others}")


def kind_of(views: Mapping[str, Any]) -> str:
    """What data with these views consist of."""
    return "picture" if PICTURES in views else "row"
