"""Checks shared by all rooms; each error names what was expected and what came."""

import numbers

import numpy as np


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


def check_count(name, value):
    """`value` as an int of at least one, or a ValueError that names it."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be a positive integer, got {value!r}")
    return int(value)


def check_flag(name, value):
    """`value` as a bool, or a ValueError that names it; a text such as "false" is none."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def check_choice(name, value, choices):
    """`value` if it is one of `choices`, or a ValueError that lists them."""
    if value not in choices:
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
            f"{lengths[odd]}; if a stream was cut within a row, hand that row over once it is whole"
        )
