"""The tables of the papers, measured again, where the distribution tagrank-papers is installed."""

from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

GROUP = "tagrank.reproductions"


def find_reproductions() -> Any:
    """The module of tagrank-papers with ``list_reproductions``, ``reproduce`` and ``STATES``."""
    for point in entry_points(group=GROUP):
        return point.load()
    raise ImportError(
        "the tables of the papers are not installed; in a checkout of tagrank run: pip install ./papers"
    )


def list_reproductions() -> list[Any]:
    """All tables of the papers, and our own questions, whatever their state.

    Returns
    -------
    list of tables with ``name``, ``number``, ``about``, ``state``, ``why``, ``published``, ``experiment`` and
    ``paper``
    """
    tables: list[Any] = find_reproductions().list_reproductions()
    return tables


def reproduce(
    name: str, *, kept: bool = False, quick: bool = False, output: str | Path | None = None, **parameters: Any
) -> Any:
    """Measure again what a table of a paper says, and set our figures beside the published ones.

    Parameters
    ----------
    name : of a table, see `list_reproductions`
    kept : measure nothing, and take the figures that come with tagrank-papers
    quick : a run of seconds on drawn data, which shows that it works
    output : folder for a JSON file with all that was measured; written after every part of a long run
    **parameters : keywords of ``run`` of the experiment

    Returns
    -------
    what was found, with ``table``, ``experiment``, ``answer``, ``machine`` and ``is_quick``
    """
    return find_reproductions().reproduce(name, kept=kept, quick=quick, output=output, **parameters)
