"""Columns of features are matched by name where both sides have names, else by position."""

from collections.abc import Sequence
from typing import Any

_SHOWN = 5


def frame_columns(rows: Any) -> list[str] | None:
    """The names of the columns of a DataFrame; None where there are none, or where they just count."""
    columns = list(getattr(rows, "columns", ()))
    return None if columns == list(range(len(columns))) else [str(column) for column in columns]


def match_columns(
    rows: Any, given: Sequence[str] | None, wanted: Sequence[str] | None, *, what: str, like: str = "training"
) -> Any:
    """The rows (n, n_columns) with their columns in the wanted order; as they are where names are None.

    `what` and `like` say whose columns these are and whose are wanted, should their names not be the same.
    """
    if given is None or wanted is None or list(given) == list(wanted):
        return rows
    place = {name: j for j, name in enumerate(given)}
    missing = [name for name in wanted if name not in place]
    unknown = sorted(place.keys() - set(wanted), key=place.__getitem__)
    if missing or unknown:
        differences = filter(None, (_listed("missing", missing), _listed("unknown", unknown)))
        raise ValueError(
            f"{what} must have the {len(wanted)} columns of {like}, in any order; {'; '.join(differences)}"
        )
    if len(place) < len(given):
        raise ValueError(f"{what} must have each column once, but some of its {len(given)} names occur twice")
    return rows[:, [place[name] for name in wanted]]


def _listed(word: str, names: Sequence[str]) -> str:
    if not names:
        return ""
    shown = ", ".join(map(repr, names[:_SHOWN])) + (", ..." if len(names) > _SHOWN else "")
    return f"{len(names)} {word}: {shown}"
