"""Whatever is to be annotated (collection, array, pictures, views) as matrices, in the views of training."""

import os
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from tagrank.annotation.describing import PICTURES, describe_pictures
from tagrank.array_files import blocks_of_rows, hold_rows
from tagrank.data import Collection, read_collection
from tagrank.data.collection import frame_columns, match_columns
from tagrank.data.given_pictures import (
    ONE_PICTURE,
    are_pictures,
    gather_pictures,
    list_pictures,
    without_iterator,
)
from tagrank.data.label_matrix import Matrix
from tagrank.errors import ArgumentError
from tagrank.features import Feature, choose_features, usual_features
from tagrank.files import FileError, Problem, ProblemLog, warn_of_problems
from tagrank.labels import check_labels, duplicates
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
    left_out : place among the given pictures of each that cannot be read to its problem
    problems : other files that were skipped
    """

    views: dict[str, Matrix]
    names: list[str]
    features: dict[str, Feature] | None
    feature_names: dict[str, list[str]]
    left_out: Mapping[int, Problem] = MappingProxyType({})
    problems: tuple[Problem, ...] = ()

    @property
    def n_given(self) -> int:
        """How many pictures or rows were given."""
        return len(self.names) + len(self.left_out)

    @property
    def kept(self) -> list[int]:
        """Which of the given pictures or rows these are."""
        return [place for place in range(self.n_given) if place not in self.left_out]

    def warn(self) -> None:
        """Say what was skipped, if anything was."""
        warn_of_problems([*self.left_out.values(), *self.problems], "strict=True stops at the first")


def take_in(
    data: Any,
    *,
    view: str | Sequence[str] | None = None,
    features: Mapping[str, Feature] | None = None,
    strict: bool = True,
) -> UnscaledRows:
    """Named matrices from `data`.

    Parameters
    ----------
    data : Collection, mapping of views, matrix (dense, sparse, DataFrame), or pictures in any form that
        `tagrank.data.given_pictures` knows
    view : the name or names of the views to use; all matrices by default, pictures if there are none
    features : describe pictures by these, unless the data has views of their names; the best that is
        installed by default
    strict : raise the first problem with a picture instead of leaving the picture out
    """
    available, names = _named_views(data)
    if view is not None:
        available = _pick(available, [view] if isinstance(view, str) else list(view))
    if features is not None and available.keys() >= set(features):
        available = _pick(available, list(features))
    matrices = {name: rows for name, rows in available.items() if not are_pictures(rows)}
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
    log = ProblemLog(strict=strict)
    given = list_pictures(pictures[0], log)
    wanted = choose_features(usual_features() if features is None else features)
    rows = _described(given, names, wanted, strict)
    return rows._replace(problems=log.listed())


def _described(
    given: Sequence[Any], names: list[str] | None, features: Mapping[str, Feature], strict: bool
) -> UnscaledRows:
    """The pictures that can be read as rows."""
    gathered = gather_pictures(given, strict=strict)
    names = names or gathered.names
    left_out = {place: Problem(names[place], reason) for place, reason in gathered.reasons.items()}
    rows = gathered.rows
    views: dict[str, Matrix] = {}
    described_by: dict[str, Feature] = dict(features)
    if gathered.pictures:
        described = describe_pictures(Collection({PICTURES: gathered.pictures}), features, strict=strict)
        described_by = described.features
        views = {name: described.collection.view(name) for name in described_by}
        reasons = {problem.path: problem.reason for problem in described.problems}
        for place in sorted(set(range(len(rows))) - set(described.rows.tolist())):
            own = gathered.pictures[place]
            reason = reasons.get(own if isinstance(own, str) else f"picture {place}", "cannot be described")
            left_out[int(rows[place])] = Problem(names[rows[place]], reason)
        rows = rows[described.rows]
    if not len(rows):
        first = left_out[min(left_out)]
        others = f" (nor can any other of the {len(given):,} be read)" if len(given) > 1 else ""
        raise FileError(first.path, f"{first.reason}{others}")
    kept = [names[place] for place in rows]
    return UnscaledRows(views, kept, described_by, {}, dict(sorted(left_out.items())))


def for_pictures(data: Any) -> Any:
    """Data for a model of pictures; an error where nobody can mean pictures or rows by them."""
    data = without_iterator(data)
    # rows of features are floats, so these numbers can only be a grey picture
    if isinstance(data, np.ndarray) and data.ndim == 2 and data.dtype.kind in "bu":
        return [data]
    if isinstance(data, list | tuple) and not data:
        raise ValueError(f"got no pictures; expected {ONE_PICTURE}, or a list of these")
    if not (are_pictures(data) or isinstance(data, Collection) or hasattr(data, "__len__")):
        given = "None" if data is None else f"a value of type {type(data).__name__}"
        raise TypeError(f"expected {ONE_PICTURE}, or a list of these, got {given}")
    return data


def as_collection(data: Any, tags: Any = None, *, strict: bool = False) -> Collection:
    """What is to be learned from: a Collection as it is, or one of pictures or rows with their tags.

    Without `tags`, `data` may be the path of a folder of tagged pictures or of a file that `read_collection`
    reads; untagged pictures are left out.
    """
    if isinstance(data, Collection):
        if tags is not None:
            raise ArgumentError("a Collection has its tags; pass collection.with_labels(tags) to change them")
        return data
    if tags is None:
        if not isinstance(data, str | os.PathLike):
            raise TypeError(
                "fit needs the tags, too: fit(pictures, tags) or fit(X, Y) with a list of tag sets, a matrix "
                f"of 1, 0 and nan or a DataFrame; or fit(collection). Got only {type(data).__name__}"
            )
        return _read(data, strict)
    views: Mapping[str, Any] = {_ONLY_VIEW: without_iterator(data)}
    views = data if isinstance(data, Mapping) else views
    feature_names = {str(view): names for view, rows in views.items() if (names := frame_columns(rows))}
    if not all(len(rows) for rows in views.values() if isinstance(rows, list | tuple)):
        raise ValueError("got nothing to learn from; pass pictures or rows of numbers, and their tags")
    log = ProblemLog(strict=strict)
    taken = {
        PICTURES if are_pictures(rows) and len(views) == 1 else str(view): list_pictures(rows, log)
        if are_pictures(rows)
        else _numbers(str(view), rows)
        for view, rows in views.items()
    }
    sizes = {_length(rows) for rows in taken.values()}
    if sizes != {n_tagged := _length(check_labels(tags))} and len(sizes) == 1:
        raise ValueError(
            f"got {sizes.pop():,} pictures or rows, but tags for {n_tagged:,}; pass a set of tags, which may "
            "be empty, for each"
        )
    return Collection(taken, tags, feature_names=feature_names, problems=log.listed())


def _length(rows: Any) -> int:
    return rows.shape[0] if hasattr(rows, "shape") else len(rows)


def _read(path: str | os.PathLike, strict: bool) -> Collection:
    if not os.path.exists(path):
        raise FileError(path, "no such file or folder; name a folder of tagged pictures, or pass the tags")
    collection = read_collection(path, **({"strict": strict} if os.path.isdir(path) else {}))
    if not len(collection.tags):
        raise FileError(path, "has no tags to learn from; pass them, too: fit(pictures, tags)")
    is_known = collection.known_rows()
    return collection if is_known.all() or not is_known.any() else collection.subset(is_known)


def _numbers(view: str, rows: Any) -> Matrix:
    """Rows of a DataFrame or of lists as a matrix; others stay as they are."""
    return rows if hasattr(rows, "dtype") or sparse.issparse(rows) else _checked({view: rows})[view]


def _named_views(data: Any) -> tuple[dict[str, Any], list[str] | None]:
    if isinstance(data, Collection):
        return dict(data.views), None if data.names is None else list(data.names)
    if isinstance(data, Mapping):
        if not data:
            raise ValueError("expected a mapping of views to rows, got an empty one")
        return dict(data), None
    return {_ONLY_VIEW: without_iterator(data)}, None


def _feature_names(data: Any, matrices: dict[str, Any]) -> dict[str, list[str]]:
    stored = data.feature_names if isinstance(data, Collection) else {}
    named = {str(view): stored.get(view, frame_columns(rows)) for view, rows in matrices.items()}
    return {view: list(map(str, names)) for view, names in named.items() if names is not None}


def _pick(views: dict[str, Any], wanted: list[str]) -> dict[str, Any]:
    missing = [name for name in wanted if name not in views]
    if missing:
        raise ValueError(f"no view {missing[0]!r} in the data; there are: {', '.join(map(str, views))}")
    return {name: views[name] for name in wanted}


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
