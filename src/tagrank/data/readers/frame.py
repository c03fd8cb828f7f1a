"""pandas DataFrames in and out."""

from typing import Any

import numpy as np
from scipy import sparse

from tagrank.arrays import need_pandas
from tagrank.data.collection import Collection, feature_names_of
from tagrank.data.label_matrix import LabelMatrix
from tagrank.data.readers.table import TAG_PREFIX, find_roles, split_tags
from tagrank.labels import encode_present


def from_frame(frame: Any, *, separator: str = "|", empty: str = "unknown", **columns: Any) -> Collection:
    """A DataFrame as a collection.

    Parameters
    ----------
    frame : DataFrame with columns of features and of tags; its index, unless it just counts, names the rows
    separator : between the tags in a column that lists them as text; it may also hold lists or sets
    empty : {"unknown", "absent"}, what an empty list of tags means
    **columns : roles of columns where they differ from the convention of `tagrank.data.readers.table`:
        image_column, tags_column, name_column, part_column, tag_columns, tag_prefix, drop
    """
    if not hasattr(frame, "columns") or not hasattr(frame, "iloc"):
        raise TypeError(f"frame must be a pandas DataFrame, got {type(frame).__name__}")
    header = [str(column) for column in frame.columns]
    roles = find_roles(header, **columns)
    views: dict[str, Any] = {}
    if roles.image is not None:
        views["pictures"] = [str(path) for path in frame.iloc[:, roles.image]]
    if roles.features:
        views["features"] = _numbers(frame, roles.features, header)
    if roles.tag_list is not None:
        tag_sets = [_tag_set(entry, separator) for entry in frame.iloc[:, roles.tag_list]]
        present, tags, unknown_rows = encode_present(tag_sets, empty=empty)
        labels: Any = LabelMatrix(present, unknown_rows)
    else:
        labels, tags = _numbers(frame, roles.tag_columns, header), roles.tags
    is_named = type(frame.index).__name__ != "RangeIndex"
    names = frame.iloc[:, roles.name] if roles.name is not None else frame.index if is_named else None
    return Collection(
        views=views,
        labels=labels,
        tags=tags,
        names=None if names is None else [str(name) for name in names],
        part=None if roles.part is None else frame.iloc[:, roles.part].to_numpy(dtype=str),
        feature_names={"features": [header[j] for j in roles.features]} if roles.features else {},
    )


def _numbers(frame: Any, positions: list[int], header: list[str]) -> np.ndarray:
    matrix = np.empty((len(frame), len(positions)))
    for k, j in enumerate(positions):
        try:
            matrix[:, k] = frame.iloc[:, j].to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"column {header[j]!r} must hold numbers ({error}); pass drop=[{header[j]!r}] to leave it out"
            ) from None
    return matrix


def _tag_set(entry: Any, separator: str) -> list[str] | None:
    if isinstance(entry, str):
        return split_tags(entry, separator)
    return [str(tag) for tag in entry] if hasattr(entry, "__iter__") else None


def to_frame(collection: Collection) -> Any:
    """A collection as a DataFrame: features, ``tag:`` columns with 1, 0 and nan, ``image`` and ``part``.

    The index is the row names. Several views stand side by side, each column with its view's name in front.

    Parameters
    ----------
    collection : what to convert
    """
    pandas = need_pandas()
    columns: dict[str, Any] = {}
    is_single = len([name for name in collection.views if name != "pictures"]) == 1
    for name, view in collection.views.items():
        if name == "pictures":
            columns["image"] = [str(path) for path in view]
        else:
            prefix = "" if is_single else f"{name}."
            columns |= _columns(view, [f"{prefix}{column}" for column in feature_names_of(collection, name)])
    if collection.part is not None:
        columns["part"] = collection.part
    columns |= _columns(collection.labels, [f"{TAG_PREFIX}{tag}" for tag in collection.tags])
    return pandas.DataFrame(columns, index=collection.names)


def _columns(matrix: Any, names: list[str]) -> dict[str, np.ndarray]:
    dense = matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)
    return dict(zip(names, dense.T, strict=True))
