"""Checks shared by all rooms; each error names what was expected and what came."""

import datetime
import numbers
from collections.abc import Mapping

import numpy as np

LARGEST_COUNT = np.iinfo(np.int64).max  # what compiled code and model files can hold
_LARGEST_INT = int(np.finfo(np.float64).max)
_LONGEST_SHOWN = 60
TIMES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)


def check_positive(name, value, *, allow_zero=False):
    """`value` as a float, or a ValueError that names it."""
    good = (
        isinstance(value, numbers.Real) and np.isfinite(value) and (value > 0 or (allow_zero and value == 0))
    )
    if not good:
        raise ValueError(
            f"{name} must be a {'non-negative' if allow_zero else 'positive'} number, got {value!r}"
        )
    return float(value)


def check_share(name, value):
    """`value` as a float above 0 and up to 1, or a ValueError that names it."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 < value <= 1:
        raise ValueError(f"{name} must be a share above 0 and up to 1, such as 0.8, got {value!r}")
    return float(value)


def check_below_one(name, value):
    """`value` as a float from 0 to below 1, or a ValueError that names it."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 <= value < 1:
        raise ValueError(f"{name} must be a number from 0 to below 1, got {value!r}")
    return float(value)


def check_count(name, value):
    """`value` as an int of at least one, or a ValueError that names it."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be a positive integer, got {value!r}")
    if value > LARGEST_COUNT:
        raise ValueError(f"{name} must be at most {LARGEST_COUNT} (about 9e18), got {value!r}")
    return int(value)


def check_flag(name, value):
    """`value` as a bool, or a ValueError that names it; a text such as "false" is none."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def check_kind(name, value, kind, expected):
    """`value` if it is of a class or of one of several, or a TypeError that says what was expected."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be {expected}, got {_shown(value)}")
    return value


def check_between(name, value, low, high):
    """`value` if it is a number from `low` to `high`, or a ValueError that names it."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not low <= value <= high:
        raise ValueError(f"{name} must be a number from {low} to {high}, got {_shown(value)}")
    return value


def check_whole(name, value, least):
    """`value` as an int of at least `least`, or a ValueError that names it."""
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not is_number or not np.isfinite(value) or value != int(value) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {_shown(value)}")
    return int(value)


def _shown(value):
    """A value in an error: itself if it is short, else its kind."""
    text = repr(value) if value is None or isinstance(value, str | bytes | numbers.Number) else ""
    return text if 0 < len(text) <= _LONGEST_SHOWN else f"a value of type {type(value).__name__}"


def check_choice(name, value, choices):
    """`value` if it is one of `choices`, or a ValueError that lists them."""
    # an array or a sparse matrix compares to an array, a list has no hash
    is_plain = value is None or isinstance(value, str | bytes | numbers.Number | np.generic)
    if not is_plain or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")
    return value


def check_same_length(**arrays):
    """Raise unless all arrays have the same number of rows."""
    lengths = {
        name: array.shape[0] if hasattr(array, "shape") else len(array) for name, array in arrays.items()
    }
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ValueError(f"the numbers of rows differ: {listed}")


def check_even_rows(name, rows):
    """Raise if `rows` is a list of rows of different lengths, as when a stream ends within a row."""
    if not isinstance(rows, list | tuple) or not rows or not isinstance(rows[0], list | tuple | np.ndarray):
        return
    lengths = [len(row) if isinstance(row, list | tuple) else np.size(row) for row in rows]
    odd = next((i for i, length in enumerate(lengths) if length != lengths[0]), None)
    if odd is not None:
        raise ValueError(
            f"all rows of {name} must have the length of the first, {lengths[0]}, but row {odd} has length "
            f"{lengths[odd]}; if a stream was cut within a row, pass that row once it is complete"
        )


def check_rows(name, X):
    """Raise if compiled code would die of `X`, or take its dates for numbers; `X` may be a mapping of views.

    To be called before scipy or scikit-learn touch `X`: they convert damaged matrices as they are.
    """
    if X is None or isinstance(X, str | bytes | numbers.Number | type) or callable(X):
        raise ValueError(f"{name} must hold rows of numbers, got {_shown(X)}")
    check_even_rows(name, X)
    if hasattr(X, "format") and hasattr(X, "tocsr"):
        check_sparse(name, X)
    elif isinstance(X, Mapping):
        for view, rows in X.items():
            check_rows(f"view {view!r} of {name}", rows)
    elif _holds_times(name, X):
        raise ValueError(
            f"{name} must hold numbers, got dates or times; convert them to numbers that mean something "
            "to a model, such as days since the first one"
        )


def check_magnitude(name, X, dtype):
    """Raise if the squares of the values of `X`, dense or sparse, leave the range of `dtype`."""
    values = X.data if hasattr(X, "format") else np.asarray(X)
    largest = float(max(values.max(initial=0), -values.min(initial=0)))
    limits = np.finfo(dtype)
    low, high = 1e4 * np.sqrt(limits.tiny), 1e-4 * np.sqrt(limits.max)  # sums of squares are larger still
    if largest != 0 and not low <= largest <= high:
        raise ValueError(
            f"the largest value of {name} must lie between {low:.0e} and {high:.0e} to be squared in "
            f"{np.dtype(dtype)}, got {largest:.3g}; scale the columns first, for example with "
            "sklearn.preprocessing.StandardScaler"
        )


def _holds_times(name, X):
    if hasattr(X, "dtypes"):
        return any(getattr(dtype, "kind", "O") in "mM" for dtype in np.atleast_1d(X.dtypes))
    try:
        values = X if hasattr(X, "dtype") else np.asarray(X)
    except ValueError as error:
        raise ValueError(f"{name} must hold rows of numbers, all of one length ({error})") from None
    kind = getattr(values.dtype, "kind", "f")
    if kind == "O" and any(isinstance(value, int) and abs(value) > _LARGEST_INT for value in values.flat):
        raise ValueError(f"{name} holds whole numbers that are too large for floating-point numbers")
    return kind in "mM" or (kind == "O" and any(isinstance(value, TIMES) for value in values.flat))


def check_sparse(name, X):
    """Raise if the indices of a sparse matrix lead outside it: compiled code would follow them anywhere."""
    if X.ndim != 2:
        raise ValueError(f"{name} must have two dimensions (samples, columns), got shape {X.shape}")
    if X.format in ("csr", "csc", "bsr"):
        is_whole = _is_whole_compressed(X)
    else:
        triples = X if X.format == "coo" else X.tocoo()
        is_whole = len(triples.row) == len(triples.col) == len(triples.data) and (
            _lie_below(triples.row, X.shape[0]) and _lie_below(triples.col, X.shape[1])
        )
    if not is_whole:
        raise ValueError(
            f"{name} is a damaged sparse matrix: its indices must lie within its {X.shape[0]} rows and "
            f"{X.shape[1]} columns; build it again from its entries"
        )


def _is_whole_compressed(X):
    height, width = X.blocksize if X.format == "bsr" else (1, 1)
    sizes = X.shape[0] // height, X.shape[1] // width
    n_runs, n_places = sizes[::-1] if X.format == "csc" else sizes
    starts, places = X.indptr, X.indices
    return (
        starts.shape == (n_runs + 1,)
        and starts.dtype.kind == places.dtype.kind == "i"
        and starts[0] == 0
        and bool(np.all(starts[:-1] <= starts[1:]))
        and starts[-1] <= min(len(places), len(X.data))
        and _lie_below(places, n_places)
    )


def _lie_below(places, size):
    return len(places) == 0 or 0 <= places.min() <= places.max() < size
