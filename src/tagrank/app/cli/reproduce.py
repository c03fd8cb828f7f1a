"""`tagrank reproduce`"""

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tagrank.app.cli.arguments.options import Debug, Json, option
from tagrank.app.cli.terminal.console import say, show, show_json

if TYPE_CHECKING:
    from tagrank.reproduction.reproduce import Reproduction


def reproduction_names() -> list[str]:
    """What a shell offers."""
    from tagrank.reproduction.entries import TABLES

    return [table.name for table in TABLES]


def reproduce(
    name: Annotated[
        str | None,
        typer.Argument(help="A table, such as twmmf-table3.", autocompletion=reproduction_names),
    ] = None,
    kept: Annotated[
        bool, option(None, "Measure nothing; show the figures that come with tagrank.", "--kept")
    ] = False,
    quick: Annotated[
        bool, option(None, "A run of seconds on drawn data, which shows that it works.", "--quick")
    ] = False,
    output: Annotated[
        Path | None, option(None, "Folder for a JSON file with all that was measured.", "--output", "-o")
    ] = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Measure a table of a paper again, and set our figures beside the published ones.

    Without a name all tables are listed, with their state: reproduced, in pattern on other data, in part,
    or impossible here and why.

    [bold]Examples[/bold]

    \b
    tagrank reproduce
    tagrank reproduce jsvm-table4 --kept
    tagrank reproduce twmmf-table3 -o results/
    """
    if name is None:
        _list(json)
        return
    if kept and (quick or output is not None):
        raise typer.BadParameter("--kept measures nothing, so that --quick and --output have no meaning")
    from tagrank.reproduction.reproduce import reproduce as run

    # experiments print what they have as they go
    with redirect_stdout(sys.stderr):
        found = run(name, kept=kept, quick=quick, output=output)
    if json:
        show_json(found.to_dict())
    else:
        _show(found)


def _list(json: bool) -> None:
    from tagrank.app.cli.terminal.tables import reproduction_table
    from tagrank.reproduction.declarations import STATES
    from tagrank.reproduction.entries import EXPERIMENTS, TABLES

    if json:
        show_json([table.to_dict() for table in TABLES])
        return
    show(reproduction_table(TABLES, EXPERIMENTS))
    for state, meaning in STATES.items():
        say(f"{state}: {meaning}")
    say("'tagrank reproduce NAME' measures one again; with --kept it shows the figures that are kept")


def _show(found: "Reproduction") -> None:
    from tagrank.app.cli.terminal.tables import figures_table
    from tagrank.reproduction import beside

    table, experiment = found.table, found.experiment
    show(f"{table.name}: {table.number} of {table.paper}, {table.state}", table.about, "")
    for title, figures in beside.tables(table, found.answer):
        show(figures_table(title, figures), "")
    for sentence in found.sentences():
        show(sentence)
    if experiment is not None:
        show("", f"Ours: {', '.join(experiment.data)}. {experiment.protocol}")
        if found.answer is None:
            show("No figures are kept yet.")
    if found.is_quick:
        say("this was a quick run on drawn data: it tells nothing but that everything runs")
