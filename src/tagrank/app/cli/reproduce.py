"""`tagrank reproduce`"""

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated, Any

import typer

from tagrank.app.cli.arguments.options import Debug, Json, option
from tagrank.app.cli.terminal.console import say, show, show_json
from tagrank.commands.reproduce import find_reproductions


def reproduction_names() -> list[str]:
    """What a shell offers."""
    try:
        return [table.name for table in find_reproductions().list_reproductions()]
    except ImportError:
        return []


def reproduce(
    name: Annotated[
        str | None,
        typer.Argument(help="A table, such as twmmf-table3.", autocompletion=reproduction_names),
    ] = None,
    kept: Annotated[
        bool, option(None, "Measure nothing; show the figures that come with tagrank-papers.", "--kept")
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
    or impossible here and why. The tables come with tagrank-papers: in a checkout, pip install ./papers.

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
    # experiments print what they have as they go
    with redirect_stdout(sys.stderr):
        reproduction = find_reproductions().reproduce(name, kept=kept, quick=quick, output=output)
    if json:
        show_json(reproduction.to_dict())
    else:
        _show(reproduction)


def _list(json: bool) -> None:
    from tagrank.app.cli.terminal.tables import reproduction_table

    reproductions = find_reproductions()
    tables = reproductions.list_reproductions()
    if json:
        show_json([table.to_dict() for table in tables])
        return
    show(reproduction_table(tables))
    for state, meaning in reproductions.STATES.items():
        say(f"{state}: {meaning}")
    say("'tagrank reproduce NAME' measures one again; with --kept it shows the figures that are kept")


def _show(reproduction: Any) -> None:
    from tagrank.app.cli.terminal.tables import figures_table

    table, experiment = reproduction.table, reproduction.experiment
    show(f"{table.name}: {table.number} of {table.paper}, {table.state}", table.about, "")
    for title, figures in reproduction.tables():
        show(figures_table(title, figures), "")
    for sentence in reproduction.sentences():
        show(sentence)
    if experiment is not None:
        show("", f"Ours: {', '.join(experiment.data)}. {experiment.protocol}")
        if reproduction.answer is None:
            show("No figures are kept yet.")
    if reproduction.is_quick:
        say("this was a quick run on drawn data: it tells nothing but that everything runs")
