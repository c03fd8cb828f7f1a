"""Whatever is to be annotated (collection, array, pictures, views) as matrices, in the views of training."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from tagrank.annotation.describing import PICTURES, describe_pictures
from tagrank.array_files import blocks_of_rows, hold_rows
from tagrank.data import Collection
from tagrank.data.collection import frame_columns, match_columns
from tagrank.data.label_matrix import Matrix
from tagrank.features import Feature, choose_features, usual_features
from tagrank.labels import duplicates
from tagrank.validation import check_rows

_ONLY_VIEW = "features"
Columns = Mapping[str, int]
Names = Mapping[str, list[str]]


class UnscaledRows(NamedTuple):
    """Rows that are ready to be scaled.

    Attributes
    ----------
    views : dict of name to array or csr_array, shape (n, n_columns)
    names : a name for each row
    features : the sets of features by which pictures became rows; None if the data were rows already
    feature_names : dict of view to the names of its columns, where they have names
    """

    views: dict[str, Matrix]
    names: list[str]
    features: dict[str, Feature] | None
    feature_names: dict[str, list[str]]


def take_in(
    data: Any, *, view: str | Sequence[str] | None = None, features: Mapping[str, Feature] | None = None
) -> UnscaledRows:
    """Named matrices from `data`.

    Parameters
    ----------
    data : Collection, mapping of views, matrix (dense, sparse, DataFrame), or pictures: a uint8 array of
        shape (n, height, width, 3), or a list of picture arrays or paths
    view : the name or names of the views to use; all matrices by default, pictures if there are none
    features : describe pictures by these, unless the data has views of their names; the best that is
        installed by default
    """
    available, names = _named_views(data)
    if view is not None:
        available = _pick(available, [view] if isinstance(view, str) else list(view))
    if features is not None and available.keys() >= set(features):
        available = _pick(available, list(features))
    matrices = {name: rows for name, rows in available.items() if not _are_pictures(rows)}
    if matrices and not (features is not None and len(matrices) < len(available)):
        return UnscaledRows(
            _checked(matrices),
            names or _numbered(matrices, "row"),
            _known(features, matrices),
            _feature_names(data, matrices),
        )
    pictures = [rows for name, rows in available.items() if name not in matrices]
    if len(pictures) > 1:
        raise ValueError(
            f"there are several views of pictures ({', '.join(available)}); choose one with view="
        )
    collection = Collection({PICTURES: _several(pictures[0])})
    described = describe_pictures(
        collection, choose_features(usual_features() if features is None else features), strict=True
    )
    views = {name: described.collection.view(name) for name in described.features}
    return UnscaledRows(views, names or _picture_names(pictures[0]), described.features, {})


def _named_views(data: Any) -> tuple[dict[str, Any], list[str] | None]:
    if isinstance(data, Collection):
        return dict(data.views), None if data.names is None else list(data.names)
    if isinstance(data, Mapping):
        if not data:
            raise ValueError("expected a mapping of views to rows, got an empty one")
        return dict(data), None
    return {_ONLY_VIEW: data}, None


def _feature_names(data: Any, matrices: dict[str, Any]) -> dict[str, list[str]]:
    stored = data.feature_names if isinstance(data, Collection) else {}
    named = {str(view): stored.get(view, frame_columns(rows)) for view, rows in matrices.items()}
    return {view: list(map(str, names)) for view, names in named.items() if names is not None}


def _pick(views: dict[str, Any], wanted: list[str]) -> dict[str, Any]:
    missing = [name for name in wanted if name not in views]
    if missing:
        raise ValueError(f"no view {missing[0]!r} in the data; there are: {', '.join(map(str, views))}")
    return {name: views[name] for name in wanted}


def _are_pictures(rows: Any) -> bool:
    """Whether `rows` are picture arrays or paths rather than a matrix."""
    if sparse.issparse(rows) or hasattr(rows, "columns"):
        return False
    if isinstance(rows, np.ndarray) and rows.dtype != object:
        return rows.ndim in (3, 4) or rows.dtype.kind == "U"
    if isinstance(rows, str | bytes) or not isinstance(rows, Iterable):
        raise TypeError(f"expected rows of numbers, or pictures, got {type(rows).__name__}")
    first = next(iter(rows), None)
    return isinstance(first, str | os.PathLike) or getattr(first, "ndim", 0) == 3


def _several(pictures: Any) -> Any:
    if isinstance(pictures, np.ndarray) and pictures.ndim == 3:
        raise ValueError(f"expected several pictures, got one of shape {pictures.shape}; put it into a list")
    return pictures


def _checked(matrices: dict[str, Any]) -> dict[str, Matrix]:
    check_rows("the data", matrices)
    return {
        str(name): check_array(
            _single(rows), accept_sparse="csr", dtype=[np.float64, np.float32], input_name=f"view {name!r}"
        )
        for name, rows in matrices.items()
    }


def _single(rows: Any) -> Any:
    """Rows of half precision in single precision; rows of a file in blocks, see `hold_rows`."""
    if not isinstance(rows, np.ndarray) or rows.dtype != np.float16:
        return rows
    return hold_rows(blocks_of_rows(rows), rows.shape, np.dtype(np.float32), made_of=[rows])


def _known(features: Mapping[str, Feature] | None, matrices: dict[str, Any]) -> dict[str, Feature] | None:
    """The features that these views came from, if they were given: pictures can then be annotated too."""
    return dict(features) if features is not None and set(features) == set(matrices) else None


def _numbered(views: dict[str, Any], word: str) -> list[str]:
    first = next(iter(views.values()))
    n_rows = first.shape[0] if hasattr(first, "shape") else len(first)
    return [f"{word} {i}" for i in range(n_rows)]


def _picture_names(pictures: Any) -> list[str]:
    return [
        os.fspath(picture) if isinstance(picture, str | os.PathLike) else f"picture {i}"
        for i, picture in enumerate(pictures)
    ]


def as_in_training(
    data: UnscaledRows, columns: Columns, names: Names, *, is_precomputed: bool
) -> UnscaledRows:
    """The rows with the views of training and their columns, by name where they have any.

    If `is_precomputed`, the columns are similarities to the training rows.
    """
    if not data.views.keys() >= columns.keys():
        data = _cut_into_views(data, columns, names)
    views = {}
    for view, width in columns.items():
        given = data.feature_names.get(view)
        rows = match_columns(data.views[view], given, names.get(view), what=f"view {view!r}")
        if rows.shape[1] != width:
            raise ValueError(_width_message(view, width, rows.shape, is_precomputed))
        views[view] = rows
    return data._replace(views=views, feature_names=dict(names))


def _cut_into_views(data: UnscaledRows, columns: Columns, names: Names) -> UnscaledRows:
    """One matrix with a name of its own, cut into the views of training."""
    views, widths = data.views, list(columns.values())
    name, matrix = next(iter(views.items()))
    given_names = data.feature_names.get(name)
    if len(views) > 1 or (len(widths) > 1 and matrix.shape[1] != sum(widths)):
        expected = ", ".join(f"{view} ({width} columns)" for view, width in columns.items())
        raise ValueError(f"expected the views {expected}, got {', '.join(views)}")
    if len(widths) == 1:
        named = {} if given_names is None else dict.fromkeys(columns, given_names)
        return data._replace(views=dict.fromkeys(columns, matrix), feature_names=named)
    training_names = _names_side_by_side(columns, names, given_names)
    matrix = match_columns(matrix, given_names, training_names, what=f"view {name!r}")
    ends = np.cumsum(widths)
    cut: dict[str, Matrix] = {
        view: matrix[:, end - width : end] for (view, width), end in zip(columns.items(), ends, strict=True)
    }
    return data._replace(views=cut, feature_names={})


def _names_side_by_side(columns: Columns, names: Names, given: Sequence[str] | None) -> list[str] | None:
    """The names of all columns in one matrix: with their views, as `to_frame` writes them, or without."""
    pairs = [(view, name) for view in columns for name in names.get(view, ())]
    if len(pairs) < sum(columns.values()):
        return None
    long_names, short_names = [f"{view}.{name}" for view, name in pairs], [name for _, name in pairs]
    is_long = set(long_names) == set(given or ()) or duplicates(short_names)
    return long_names if is_long else short_names


def _width_message(view: str, width: int, shape: tuple[int, ...], is_precomputed: bool) -> str:
    if is_precomputed:
        return (
            "this model was trained on precomputed similarities: rows cannot be annotated without their "
            f"similarities to the {width} training rows, got shape {shape}"
        )
    return f"view {view!r} must have {width} columns, as in training, got shape {shape}"
