"""Pictures become rows: every set of features one view of the collection."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from tagrank.annotation.bank.feature_bank import PICTURES, DescribedPictures, FeatureBank
from tagrank.annotation.bank.view_files import MAPPED_FROM
from tagrank.array_files import LARGEST_SHARE, blocks_of_rows, is_mapped
from tagrank.data import Collection
from tagrank.data.label_matrix import Matrix
from tagrank.errors import ArgumentError
from tagrank.features import Feature, choose_features, usual_features
from tagrank.features.registry import check_features
from tagrank.files import FileError
from tagrank.progress import Progress
from tagrank.resources import available_memory
from tagrank.validation import check_kind

if TYPE_CHECKING:
    from tagrank.annotation.annotator import Annotator

# a view with fewer entries than this share other than zero takes less room sparse
_SPARSE_BELOW = 0.25
_ENTRY_BYTES = 8  # of a sparse row, with its column

Cache = bool | str | os.PathLike
FeatureChoice = str | Sequence[str] | Mapping[str, Feature] | None


def describe_pictures(
    collection: Collection,
    features: Mapping[str, Feature],
    *,
    cache: Cache = False,
    n_jobs: int | None = None,
    strict: bool = False,
    random_state: int = 0,
    mapped_from: int = MAPPED_FROM,
    scheduler: Any = None,
    progress: Progress | None = None,
) -> DescribedPictures:
    """Describe every picture of a collection; one that has all features already stays as it is.

    Parameters
    ----------
    collection : with a view "pictures" of paths or arrays
    features : sets of features by name; vocabularies that are not learned yet are learned from `collection`
    cache : whether rows are kept for the next time, in the user's cache folder; or another folder for them
    n_jobs : processes; all cores by default
    strict : raise the first problem instead of leaving the picture out
    random_state : seed for the vocabularies
    mapped_from : views of more bytes are mapped from files in that folder, as in `FeatureBank`
    scheduler : address of a Dask scheduler, or a `distributed.Client`, whose workers describe the pictures;
        vocabularies are learned, and rows are kept, in this process
    progress : called with the number of pictures done, the number of pictures, and the name of the work
    """
    check_kind("collection", collection, Collection, "a Collection with pictures")
    check_features(features)
    if collection.views.keys() >= features.keys() and all(feature.is_fitted for feature in features.values()):
        return _as_they_are(collection, features)
    folder = None if isinstance(cache, bool) else cache
    how: dict[str, Any] = {"n_jobs": n_jobs, "strict": strict, "scheduler": scheduler}
    bank = FeatureBank(features, folder=folder, keep=cache is not False, mapped_from=mapped_from, **how)
    pictures = list(collection.view(PICTURES))
    bank = bank.fit(pictures, random_state=random_state, progress=progress)
    described = bank.extract(pictures, progress=progress)
    kept = collection.subset(described.rows)
    views = {PICTURES: kept.view(PICTURES)} | {
        name: _compact(rows) if features[name].kernel == "chi2" else rows
        for name, rows in described.views.items()
    }
    problems = (*collection.problems, *described.problems)
    return replace(described, collection=kept.replaced(views=views, feature_names={}, problems=problems))


def _as_they_are(rows: Collection, features: Mapping[str, Feature]) -> DescribedPictures:
    return DescribedPictures(rows, dict(features), np.arange(len(rows)))


def see_pictures(
    annotator: "Annotator",
    rows: Collection,
    *,
    features: Mapping[str, Feature] | None = None,
    cache: Cache = True,
    n_jobs: int | None = None,
    strict: bool = False,
    scheduler: Any = None,
    progress: Progress | None = None,
) -> DescribedPictures:
    """The rows with all features that a model reads, the seconds that each set takes for them, and keys.

    `features` are others in their place; `scheduler` is as for `describe_pictures`.

    Rows that are no pictures, or have their features already, stay as they are. A picture that cannot be read
    is left out and becomes one of the problems of the collection.
    """
    features = annotator.features_ if features is None else features
    _check_kind(annotator, rows)
    if features is None or PICTURES not in rows.views or rows.views.keys() >= features.keys():
        return _as_they_are(rows, features or {})
    how: dict[str, Any] = {"cache": cache, "n_jobs": n_jobs, "strict": strict, "scheduler": scheduler}
    described = describe_pictures(rows, features, **how, progress=progress)
    _check_any(described, len(rows))
    n_pictures = len(described.collection)
    seconds = {name: one * n_pictures for name, one in described.seconds_a_picture.items()}
    return replace(described, seconds=seconds)


def _check_kind(annotator: "Annotator", rows: Collection) -> None:
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


def name_features(features: FeatureChoice) -> Mapping[str, Feature] | None:
    """The features that are meant, see `choose_features`; None stays None, for the best that is installed."""
    try:
        return None if features is None else choose_features(features)
    except ValueError as error:
        raise ArgumentError(str(error)) from None


def describe_rows(rows: Collection, features: FeatureChoice, **options: Any) -> DescribedPictures:
    """Rows to learn from, as they are, or described if they are pictures; see `describe_pictures`.

    Without `features` they are the best that is installed; rows that are no pictures take none.
    """
    if PICTURES not in rows.views and features is None:
        return _as_they_are(rows, {})
    chosen = choose_features(usual_features() if features is None else features)
    if PICTURES not in rows.views:
        return _as_they_are(_check_described(rows, chosen), {})
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


def _check_any(described: DescribedPictures, n_pictures: int) -> None:
    if not len(described.collection):
        problem = described.collection.problems[-1]
        others = f" (nor can any other of the {n_pictures:,} be read)" if n_pictures > 1 else ""
        raise FileError(problem.path, f"{problem.reason}{others}")


def kind_of(views: Mapping[str, Any]) -> str:
    """What data with these views consist of."""
    return "picture" if PICTURES in views else "row"


def _compact(rows: np.ndarray) -> Matrix:
    """Histograms that are mostly empty as sparse rows, unless rows of a file would fill the memory so."""
    n_entries = int(np.count_nonzero(rows))
    if n_entries >= _SPARSE_BELOW * max(1, rows.size):
        return rows
    if is_mapped(rows) and n_entries * _ENTRY_BYTES > LARGEST_SHARE * available_memory():
        return rows
    return _sparse_rows(rows, n_entries)


def _sparse_rows(rows: np.ndarray, n_entries: int) -> Matrix:
    """The entries that are not zero, block after block: scipy makes larger arrays meanwhile."""
    places = np.int32 if n_entries < 2**31 else np.int64
    entries, columns = np.empty(n_entries, dtype=rows.dtype), np.empty(n_entries, dtype=places)
    starts, end = [np.zeros(1, dtype=places)], 0
    for block in blocks_of_rows(rows):
        piece = sparse.csr_array(block)
        entries[end : end + piece.nnz], columns[end : end + piece.nnz] = piece.data, piece.indices
        starts.append((end + piece.indptr[1:]).astype(places))
        end += piece.nnz
    return sparse.csr_array((entries, columns, np.concatenate(starts)), shape=rows.shape)
