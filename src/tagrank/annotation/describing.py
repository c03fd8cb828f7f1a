"""Pictures become rows: every set of features one view of the collection."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from tagrank.annotation.bank.feature_bank import FeatureBank
from tagrank.annotation.bank.picture_keys import Progress
from tagrank.data import Collection
from tagrank.features import Feature
from tagrank.features.registry import check_features
from tagrank.validation import check_kind

PICTURES = "pictures"
# a view with fewer entries than this share other than zero takes less room sparse
_SPARSE_BELOW = 0.25

Cache = bool | str | os.PathLike


@dataclass(frozen=True)
class Description:
    """A collection of pictures with their features.

    Attributes
    ----------
    collection : the pictures that could be read, with one view for each set of features; the others are
        among its problems
    features : the sets of features by name, vocabularies learned
    seconds : name of each set to the seconds that it took, not counting what was known already
    seconds_a_picture : the same for one picture, as measured whenever it was computed
    keys : what stands for the content of each picture; empty where they were described before
    """

    collection: Collection
    features: dict[str, Feature]
    seconds: dict[str, float]
    seconds_a_picture: dict[str, float] = field(default_factory=dict)
    keys: tuple[bytes, ...] = ()


def describe_pictures(
    collection: Collection,
    features: Mapping[str, Feature],
    *,
    cache: Cache = False,
    n_jobs: int | None = None,
    strict: bool = False,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Description:
    """Describe every picture of a collection; one that has all features already stays as it is.

    Parameters
    ----------
    collection : with a view "pictures" of paths or arrays
    features : sets of features by name; vocabularies that are not learned yet are learned from `collection`
    cache : whether rows are kept for the next time, in the user's cache folder; or another folder for them
    n_jobs : processes; all cores by default
    strict : raise the first problem instead of leaving the picture out
    random_state : seed for the vocabularies
    progress : called with how many pictures are done, how many there are, and what is being done
    """
    check_kind("collection", collection, Collection, "a Collection with pictures")
    check_features(features)
    if collection.views.keys() >= features.keys() and all(feature.is_fitted for feature in features.values()):
        return Description(collection, dict(features), {})
    folder = None if isinstance(cache, bool) else cache
    bank = FeatureBank(features, folder=folder, keep=cache is not False, n_jobs=n_jobs, strict=strict)
    pictures = list(collection.view(PICTURES))
    bank = bank.fit(pictures, random_state=random_state, progress=progress)
    extraction = bank.extract(pictures, progress=progress)
    kept = collection.subset(extraction.rows)
    views = {PICTURES: kept.view(PICTURES)} | {
        name: _compact(rows) if features[name].kernel == "chi2" else rows
        for name, rows in extraction.views.items()
    }
    problems = (*collection.problems, *extraction.problems)
    return Description(
        kept.replaced(views=views, feature_names={}, problems=problems),
        dict(bank.features),
        dict(extraction.seconds),
        dict(extraction.seconds_a_picture),
        extraction.keys,
    )


def _compact(rows: Any) -> Any:
    """Histograms that are mostly empty as sparse rows."""
    share = np.count_nonzero(rows) / max(1, rows.size)
    return sparse.csr_array(rows) if share < _SPARSE_BELOW else rows
