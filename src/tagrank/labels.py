"""Labels in three states: 1 present, 0 absent, nan unknown.

Users hand labels over as a dense matrix, a sparse matrix (an explicitly stored nan is unknown), a DataFrame
whose columns are tag names, or a list of tag sets. Inside tagrank they are *states*: int8, +1 present,
-1 absent, 0 unknown, because compiled code may not see nan under fast arithmetic.
"""

import numpy as np
from scipy import sparse

from tagrank.validation import check_sparse

_ENCODING = "labels are 1 (present), 0 (absent) or nan (unknown)"


def label_states(Y):
    """Labels as states.

    Parameters
    ----------
    Y : array-like or sparse matrix, shape (n_samples, n_labels), of 1, 0 and nan

    Returns
    -------
    states : int8 array, shape (n_samples, n_labels): +1 present, -1 absent, 0 unknown
    """
    if sparse.issparse(Y):
        check_sparse("Y", Y)
        return _sparse_states(Y.tocsr())
    Y = np.asarray(Y)
    if Y.ndim != 2:
        raise ValueError(f"Y must have two dimensions (n_samples, n_labels), got shape {Y.shape}")
    if Y.dtype == bool:
        return np.where(Y, np.int8(1), np.int8(-1))
    try:
        Y = Y.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        raise ValueError(f"Y holds values that are not numbers (dtype {Y.dtype}); {_ENCODING}") from None
    _check_values(Y)
    states = np.where(Y == 1, np.int8(1), np.int8(-1))
    states[np.isnan(Y)] = 0
    return states


def _sparse_states(Y):
    values = Y.data.astype(np.float64)
    _check_values(values)
    states = np.full(Y.shape, -1, dtype=np.int8)
    rows = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    states[rows[values == 1], Y.indices[values == 1]] = 1
    unknown = np.isnan(values)
    states[rows[unknown], Y.indices[unknown]] = 0
    return states


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
    if sparse.issparse(Y) or hasattr(Y, "columns") or not isinstance(Y, (list, tuple, np.ndarray)):
        return False
    if isinstance(Y, np.ndarray) and (Y.dtype != object or Y.ndim != 1):
        return False
    entries = [entry for entry in Y if entry is not None]
    if not entries or any(isinstance(entry, str) or not hasattr(entry, "__iter__") for entry in entries):
        return False
    first = next((tag for entry in entries for tag in entry), None)
    return isinstance(first, str) or (first is None and any(isinstance(e, (set, frozenset)) for e in entries))


def encode_tag_sets(tag_sets, *, tags=None, empty="unknown"):
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
    if empty not in ("unknown", "absent"):
        raise ValueError(f"empty must be 'unknown' or 'absent', got {empty!r}")
    if tags is None:
        tags = sorted({tag for entry in tag_sets if entry is not None for tag in entry})
    tags = list(tags)
    column = {tag: j for j, tag in enumerate(tags)}
    if len(column) != len(tags):
        raise ValueError(f"duplicate tag names: {duplicates(tags)}")
    rows, columns, values = [], [], []
    for i, entry in enumerate(tag_sets):
        if entry is None or (len(entry) == 0 and empty == "unknown"):
            found, value = range(len(tags)), np.nan
        else:
            found, value = sorted({column[tag] for tag in entry if tag in column}), 1.0
        rows.extend([i] * len(found))
        columns.extend(found)
        values.extend([value] * len(found))
    Y = sparse.csr_array((values, (rows, columns)), shape=(len(tag_sets), len(tags)), dtype=np.float64)
    return Y, tags


def duplicates(names):
    """The names that occur more than once, sorted."""
    seen, twice = set(), set()
    for name in names:
        (twice if name in seen else seen).add(name)
    return sorted(twice)
