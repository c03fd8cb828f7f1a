"""Values of options that can be judged alone, before any data are read."""

import math
from collections.abc import Callable
from typing import Any, get_args

import typer


def positive(value: float | None) -> float | None:
    """A positive number."""
    if value is not None and not 0 < value < math.inf:
        raise typer.BadParameter(f"expected a positive number, got {value:g}")
    return value


def share(value: float | None) -> float | None:
    """A share of the whole."""
    if value is not None and not 0 < value < 1:
        raise typer.BadParameter(
            f"expected a share between 0 and 1, such as 0.25 for a quarter, got {value:g}"
        )
    return value


def jobs(value: int | None) -> int | None:
    """A number of processes or threads."""
    if value == 0:
        raise typer.BadParameter("expected a number of at least 1, or -1 for all cores, got 0")
    return value


def known_method(text: str) -> str:
    """The name of a method."""
    from tagrank.estimators.methods import find_method

    try:
        return find_method(text).name
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def one_of(words: Any) -> Callable[[str], str]:
    """A reader of one of the words of a Literal; the nearest is suggested for any other."""
    known = get_args(words)

    def read(text: str) -> str:
        from tagrank.suggestions import did_you_mean

        if text not in known:
            choices = ", ".join(known)
            raise typer.BadParameter(
                f"expected one of {choices}, got {text!r}{did_you_mean(str(text), known)}"
            )
        return text

    return read
