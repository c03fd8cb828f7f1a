"""The command line: `tagrank COMMAND`. Heavy libraries are imported only inside the commands."""

import os
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from tagrank._version import __version__
from tagrank.app.cli.annotate import annotate
from tagrank.app.cli.compare import compare
from tagrank.app.cli.decisions import backup, export, import_, restore
from tagrank.app.cli.demo import demo
from tagrank.app.cli.desk import desk
from tagrank.app.cli.evaluate import evaluate
from tagrank.app.cli.lists import datasets, features, methods
from tagrank.app.cli.missing import missing
from tagrank.app.cli.reproduce import reproduce
from tagrank.app.cli.serve import serve
from tagrank.app.cli.tags import tags
from tagrank.app.cli.terminal.console import reports_errors
from tagrank.app.cli.train import train
from tagrank.app.cli.tune import tune
from tagrank.app.cli.undo import accept, undo
from tagrank.worker_process import open_standard_streams


class _PlainFlags:
    """Flags take no value, so help shows none; the library would show <bool>."""

    def get_params(self, context: Any) -> Any:
        params = super().get_params(context)  # type: ignore[misc]
        for option in params:
            if getattr(option, "is_flag", False):
                option.metavar = ""
        return params


class _Command(_PlainFlags, TyperCommand):
    pass


class _Commands(_PlainFlags, TyperGroup):
    pass


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMANDS = (
    demo,
    train,
    annotate,
    undo,
    accept,
    evaluate,
    missing,
    desk,
    export,
    import_,
    tags,
    backup,
    restore,
    serve,
    compare,
    tune,
    methods,
    features,
    datasets,
    reproduce,
)
for command in COMMANDS:
    # "import" is a word of Python
    app.command(command.__name__.rstrip("_"), cls=_Command)(reports_errors(command))


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tagrank {__version__}")
        raise typer.Exit()


@app.callback()
def describe(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop."),
    ] = False,
) -> None:
    """Learns from pictures that carry some of their tags, and ranks every tag for any picture.

    Start with: tagrank demo
    """


def main() -> None:
    """Entry point of the `tagrank` command."""
    # no process that a library starts may import from the working folder
    os.environ["PYTHONSAFEPATH"] = "1"
    open_standard_streams()
    try:
        app(prog_name="tagrank")
    except SystemExit as end:
        # typer's way out when nobody reads its help, or what it says of the command line
        if isinstance(end.__context__, BrokenPipeError):
            end.code = getattr(end.__context__.__context__, "exit_code", 0)
        raise
