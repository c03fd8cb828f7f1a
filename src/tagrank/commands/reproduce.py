"""The tables of the papers, measured again, where the distribution tagrank-papers is installed."""

import sys
from contextlib import redirect_stdout
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any

from tagrank.commands.options import OUTPUT
from tagrank.commands.tables import Screen, table_of
from tagrank.errors import ArgumentError
from tagrank.options import Option

GROUP = "tagrank.reproductions"


def find_reproductions() -> Any:
    """The module of tagrank-papers with ``list_reproductions``, ``reproduce`` and ``STATES``."""
    for point in entry_points(group=GROUP):
        return point.load()
    raise ImportError("tagrank-papers is not installed; in a checkout of tagrank, run: pip install ./papers")


def list_reproductions() -> list[Any]:
    """All tables of the papers, and our own questions, whatever their state.

    Returns
    -------
    list of tables with ``name``, ``number``, ``about``, ``state``, ``why``, ``published``, ``experiment`` and
    ``paper``
    """
    tables: list[Any] = find_reproductions().list_reproductions()
    return tables


def _table_names(incomplete: str) -> list[str]:
    """What a shell offers."""
    try:
        return [table.name for table in list_reproductions() if table.name.startswith(incomplete)]
    except ImportError:
        return []


def reproduce(
    name: Annotated[str | None, Option(is_argument=True, complete=_table_names)] = None,
    *,
    kept: Annotated[bool, Option()] = False,
    quick: Annotated[bool, Option()] = False,
    output: Annotated[str | Path | None, OUTPUT] = None,
    **parameters: Any,
) -> Any:
    """Repeat a table of a paper and show our figures beside the published ones.

    Without a name, all tables are listed with their state: reproduced; the same pattern on other data; in
    part; or not possible here, and why. The package tagrank-papers holds the tables; in a checkout, install
    it with: pip install ./papers

    Parameters
    ----------
    name : name of a table, such as twmmf-table3
    kept : measure nothing, and show the figures that are stored in tagrank-papers
    quick : run for a few seconds on drawn data, to check that the code works
    output : folder for a JSON file with all results; an unfinished run keeps its results in NAME.part.json
    **parameters : keywords of ``run`` of the experiment

    Returns
    -------
    what was found, with ``table``, ``experiment``, ``answer``, ``machine``, ``origin`` and ``is_quick``

    Command line
    ------------
    tagrank reproduce
    tagrank reproduce jsvm-table4 --kept
    tagrank reproduce twmmf-table3 -o results/
    """
    if name is None:
        return list_reproductions()
    if kept and (quick or output is not None):
        raise ArgumentError("kept=True measures nothing; leave out quick=True and output=")
    # experiments print what they have as they go
    with redirect_stdout(sys.stderr):
        return find_reproductions().reproduce(name, kept=kept, quick=quick, output=output, **parameters)


def show_reproduction(reproduction: Any, *, json: bool = False, name: str | None = None) -> Screen:
    """Our figures beside the published ones; or all tables, each with its state."""
    if name is None:
        return _show_list(reproduction, json)
    table, experiment = reproduction.table, reproduction.experiment
    tables: list[Any] = [f"{table.name}: {table.number} of {table.paper}, {table.state}", table.about, ""]
    for title, figures in reproduction.tables():
        rows = ((row, *cells) for row, cells in figures.rows.items())
        tables += [table_of(title, *figures.columns, numbers=True, rows=rows), ""]
    tables += [*reproduction.sentences(), *reproduction.origin]
    if experiment is not None:
        tables += ["", f"Ours: {', '.join(experiment.data)}. {experiment.protocol}"]
        tables += ["No figures are stored yet."] if reproduction.answer is None else []
    is_quick = reproduction.is_quick and not json
    said = ["this was a quick run on drawn data; it only checks that the code works"] if is_quick else []
    return Screen(tables, said)


def _show_list(tables: list[Any], json: bool) -> Screen:
    """A line a table: its state, how long it takes to measure it again, and what it holds or why not."""
    listed = table_of("table", "paper", "state", "minutes", "what was measured, or why not")
    listed.columns[0].no_wrap = listed.columns[2].no_wrap = True
    for table in tables:
        minutes, about = (str(table.minutes), table.about) if table.experiment else ("", table.why)
        listed.add_row(table.name, f"{table.paper}, {table.number}", table.state, minutes, about)
    said = [f"{state}: {meaning}" for state, meaning in find_reproductions().STATES.items()]
    said.append("'tagrank reproduce NAME' measures a table again; --kept shows the stored figures instead")
    return Screen([listed], [] if json else said, document=[table.to_dict() for table in tables])
