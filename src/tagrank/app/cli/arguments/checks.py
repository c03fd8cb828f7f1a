"""Values of options, judged before any data are read; and what a shell offers for them at the Tab key."""

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


def share_or_all(value: float | None) -> float | None:
    """A share of the whole, or all of it."""
    if value is not None and not 0 < value <= 1:
        raise typer.BadParameter(f"expected a share above 0 and up to 1, such as 0.8, got {value:g}")
    return value


def jobs(value: int | None) -> int | None:
    """A number of processes or threads."""
    if value == 0:
        raise typer.BadParameter("expected a number of at least 1, or -1 for all cores, got 0")
    return value


def countable(value: int | None) -> int | None:
    """A number that compiled code can hold."""
    from tagrank.validation import LARGEST_COUNT

    if value is not None and value > LARGEST_COUNT:
        raise typer.BadParameter(f"expected at most {LARGEST_COUNT}, got {value}")
    return value


AUTO = "auto"


def known_method(text: str) -> str:
    """The name of a method, or "auto"."""
    from tagrank.estimators.methods import find_method

    try:
        return text if text == AUTO else find_method(text).name
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def one_of(words: Any) -> Callable[[str], str]:
    """A reader of one of the words of a Literal; the nearest is suggested for any other."""
    known = get_args(words)

    def read(text: str) -> str:
        from tagrank.errors import did_you_mean

        if text not in known:
            choices = ", ".join(known)
            raise typer.BadParameter(
                f"expected one of {choices}, got {text!r}{did_you_mean(str(text), known)}"
            )
        return text

    return read


def method_names(incomplete: str) -> list[str]:
    """Methods that begin so, and "auto"."""
    from tagrank.estimators.methods import METHODS

    names = (AUTO, *(method.name for method in METHODS))
    return [name for name in names if name.startswith(incomplete)]


def compared_names(incomplete: str) -> list[str]:
    """Methods and families that begin so, and "all"."""
    from tagrank.estimators.methods import METHODS

    families = dict.fromkeys(method.family.replace(" ", "-") for method in METHODS)
    names = ("all", *families, *(method.name for method in METHODS))
    return [name for name in names if name.startswith(incomplete)]


def metric_names(incomplete: str) -> list[str]:
    """Metrics that begin so."""
    from tagrank.metrics import catalog_metrics

    return [name for name in catalog_metrics() if name.startswith(incomplete)]


def feature_names(incomplete: str) -> list[str]:
    """Presets and sets of picture features that begin so."""
    from tagrank.features.registry import FEATURES, PRESETS

    return [name for name in (*PRESETS, *FEATURES) if name.startswith(incomplete)]


def dataset_names(incomplete: str) -> list[str]:
    """Data sets that begin so; before the first letter none, so that the shell offers files."""
    from tagrank.commands.lists import datasets

    return [entry.name for entry in datasets() if incomplete and entry.name.startswith(incomplete)]
