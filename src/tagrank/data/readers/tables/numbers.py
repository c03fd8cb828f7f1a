"""Numbers as text."""

import math


def format_number(value: float, *, missing: str) -> str:
    """The shortest text that reads back as `value`; nan is `missing`."""
    if math.isnan(value):
        return missing
    return str(int(value)) if value.is_integer() else repr(value)
