"""Labels in three states: 1 present, 0 absent, nan unknown.

Users hand labels over as a dense matrix (what is masked in it is unknown), a sparse matrix (an explicitly
stored nan is unknown), a DataFrame whose columns are tag names, or a list of tag sets. Inside tagrank they
are *states*: int8, +1 present, -1 absent, 0 unknown, as compiled code may not see nan under fast arithmetic.
"""

import sys
from array import array
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
from scipy import sparse

from tagrank.validation import check_sparse

_ENCODING = "labels are 1 (present), 0 (absent) or nan (unknown)"
_FORMS = "a list of tag sets such as [['sky', 'sea'], []], a matrix of 1, 0 and nan, or a DataFrame of these"
# Labels that are held one by one: training takes about forty bytes for each.
MAX_LABELS = 2**27
# Tags that are named one by one.
MAX_TAGS = 2**20


def label_states(Y) -> np.ndarray:
    """Labels as states.

    Parameters
    ----------
    Y : array-like or sparse matrix, shape (n_samples, n_labels), of 1, 0 and nan; what a masked array masks
        is unknown

    Returns
    -------
    states : int8 array, shape (n_samples, n_labels): +1 present, -1 absent, 0 unknown
    """
    if sparse.issparse(Y):
        check_sparse("Y", Y)
        return _sparse_states(Y.tocsr())
    Y = unmasked_labels(Y)
    if Y.ndim != 2:
        raise ValueError(f"Y must have two dimensions (n_samples, n_labels), got shape {Y.shape}")
    Y = _real_numbers(Y)
    _check_values(Y)
    states = np.where(Y == 1, np.int8(1), np.int8(-1))
    states[np.isnan(Y)] = 0
    return states


def unmasked_labels(Y):
    """`Y` as an array, with nan where it is masked, and where pandas says NA."""
    if isinstance(Y, np.ma.MaskedArray) and Y.mask.any():
        return _real_numbers(Y.data).astype(np.float64, copy=True) + np.where(Y.mask, np.nan, 0)
    try:
        values = np.asarray(Y)
    except ValueError:
        raise ValueError(f"the rows of Y have different lengths; {_ENCODING}") from None
    # only pandas makes NA, so where there is one it is loaded
    pandas = sys.modules.get("pandas")
    if values.dtype != object or pandas is None or not hasattr(pandas, "isna"):
        return values
    is_missing = pandas.isna(values)
    return np.where(is_missing, np.nan, values) if np.any(is_missing) else values


def _real_numbers(Y):
    if Y.dtype.kind in "biuf":
        return Y
    try:
        if Y.dtype.kind == "O":
            return Y.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(f"Y holds values that are not real numbers (dtype {Y.dtype}); {_ENCODING}")


def _sparse_states(Y):
    values = _real_numbers(Y.data)
    _check_values(values)
    check_tag_count(Y.shape[1])
    _check_amount(Y.shape[0] * Y.shape[1], MAX_LABELS, Y.shape)
    states = np.full(Y.shape, -1, dtype=np.int8)
    rows = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    states[rows[values == 1], Y.indices[values == 1]] = 1
    unknown = np.isnan(values)
    states[rows[unknown], Y.indices[unknown]] = 0
    return states


def _check_amount(n_labels, most, shape):
    if n_labels > most:
        raise ValueError(
            f"Y of shape {shape} has {n_labels:,} labels to be held one by one, {most:,} are allowed; leave "
            "out samples about which nothing is known and rare labels, or raise tagrank.labels.MAX_LABELS"
        )


def check_tag_count(n_tags):
    """Refuse, before they are named, more tags than memory can be trusted to hold."""
    if n_tags > MAX_TAGS:
        raise ValueError(
            f"there are {n_tags:,} tags, and {MAX_TAGS:,} are allowed; leave out rare ones, or raise "
            "tagrank.labels.MAX_TAGS"
        )


def fill_unknown_rows(Y, unknown_rows):
    """`Y` with a stored nan for each label of `unknown_rows`, a mask (n_samples,) of rows that are empty."""
    if not unknown_rows.any():
        return Y
    n_labels = Y.shape[1]
    # a stored nan takes twelve bytes, and half as much again while it is put in place
    _check_amount(int(unknown_rows.sum()) * n_labels, MAX_LABELS // 2, Y.shape)
    ends = np.concatenate([[0], np.cumsum(unknown_rows * n_labels)])
    columns = np.tile(np.arange(n_labels, dtype=np.int32), int(unknown_rows.sum()))
    return Y + sparse.csr_array((np.full(len(columns), np.nan), columns, ends), shape=Y.shape)


def _check_values(values):
    wrong = ~((values == 0) | (values == 1) | np.isnan(values))
    if not wrong.any():
        return
    example = values[wrong].flat[0]
    if np.any(values[wrong] == -1):
        raise ValueError(
            f"Y contains -1, but {_ENCODING}. If -1 means absent use (Y > 0); "
            "if it means unknown use np.where(Y == -1, np.nan, Y)"
        )
    raise ValueError(f"Y contains {example:g}, but {_ENCODING}")


def labels_from_states(states):
    """The inverse of `label_states`: float64 with 1, 0 and nan."""
    labels = (np.asarray(states) > 0).astype(np.float64)
    labels[np.asarray(states) == 0] = np.nan
    return labels


def is_tag_sets(Y):
    """Whether `Y` is a list of tag sets, and not a matrix: collections of strings, or None."""
    is_series = hasattr(Y, "to_numpy") and getattr(Y, "ndim", 0) == 1
    if sparse.issparse(Y) or not (is_series or isinstance(Y, (list, tuple, np.ndarray))):
        return False
    if isinstance(Y, np.ndarray) and (Y.dtype != object or Y.ndim != 1):
        return False
    entries = [entry for entry in Y if entry is not None]
    if not entries or any(isinstance(entry, str) or not hasattr(entry, "__iter__") for entry in entries):
        return False
    first = next((tag for entry in entries for tag in entry), None)
    return isinstance(first, str) or (first is None and any(isinstance(e, (set, frozenset)) for e in entries))


def check_labels(Y):
    """`Y` as it is, or a TypeError that says what labels look like: a text for each sample is no tag set."""
    if isinstance(Y, str | bytes) or not hasattr(Y, "__len__"):
        raise TypeError(f"tags must be {_FORMS}, got {type(Y).__name__}")
    if isinstance(Y, list | tuple) and any(isinstance(entry, str) for entry in Y):
        first = next(entry for entry in Y if isinstance(entry, str))
        raise TypeError(f"tags must be {_FORMS}; got the text {first!r}, write [{first!r}] for a single tag")
    return Y


def encode_tag_sets(tag_sets, *, tags=None, empty="unknown") -> tuple[Any, list[str]]:
    """A list of tag sets as a sparse three-state label matrix.

    Parameters
    ----------
    tag_sets : sequence of collections of strings; None is a sample about which nothing is known
    tags : sequence of str, the columns wanted; default: all tags in sorted order
    empty : {"unknown", "absent"}, what an empty set means. A picture that nobody tagged is "unknown".

    Returns
    -------
    Y : csr_array, shape (n_samples, n_tags), float64
    tags : list of str
    """
    present, tags, unknown_rows = encode_present(tag_sets, tags=tags, empty=empty)
    return fill_unknown_rows(present, unknown_rows), tags


def _check_tag_sets(tag_sets, tags):
    """Raise unless each sample has a list of tags, or None."""
    if isinstance(tag_sets, str | bytes) or not isinstance(tag_sets, Collection):
        raise TypeError(f"expected a list with the tags of each sample, got {type(tag_sets).__name__}")
    for i, entry in enumerate(tag_sets):
        if entry is not None and (isinstance(entry, str | bytes) or not isinstance(entry, Collection)):
            kind = type(entry).__name__
            raise TypeError(f"the tags of sample {i} must be a list of texts, or None, got {kind}")
    if tags is not None and (isinstance(tags, str | bytes) or not isinstance(tags, Iterable)):
        raise TypeError(f"tags must be a list of texts, got {type(tags).__name__}")


def encode_present(tag_sets, *, tags=None, empty="unknown"):
    """As `encode_tag_sets`, but samples about which nothing is known are not filled with nan.

    Returns
    -------
    present : csr_array, shape (n_samples, n_tags), float64, with 1 where a tag is present
    tags : list of str
    unknown_rows : bool array, shape (n_samples,), where nothing is known
    """
    if not isinstance(empty, str) or empty not in ("unknown", "absent"):
        raise ValueError(f"empty must be 'unknown' or 'absent', got {empty!r}")
    _check_tag_sets(tag_sets, tags)
    if tags is None:
        tags = sorted({tag for entry in tag_sets if entry is not None for tag in entry})
    tags = list(tags)
    column = {tag: j for j, tag in enumerate(tags)}
    if len(column) != len(tags):
        raise ValueError(f"duplicate tag names: {duplicates(tags)}")
    columns, ends = array("i"), array("q", [0])
    for entry in tag_sets:
        columns.extend(sorted({column[tag] for tag in (() if entry is None else entry) if tag in column}))
        ends.append(len(columns))
    unknown_rows = [entry is None or (len(entry) == 0 and empty == "unknown") for entry in tag_sets]
    shape = (len(tag_sets), len(tags))
    present = sparse.csr_array((np.ones(len(columns)), np.array(columns), np.array(ends)), shape=shape)
    return present, tags, np.array(unknown_rows, dtype=bool) & (len(tags) > 0)


def duplicates(names):
    """The names that occur more than once, sorted."""
    seen, twice = set(), set()
    for name in names:
        (twice if name in seen else seen).add(name)
    return sorted(twice)
