"""Whole numbers among the settings of a descriptor: bounded, so that no model file can fill the memory."""

import numbers


def check_count(name, value, *, least=1, most):
    """`value` if it is a whole number from `least` to `most`, or a ValueError that names it."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not whole or not least <= value <= most:
        raise ValueError(f"{name} must be a whole number from {least} to {most}, got {value!r}")
    return int(value)
