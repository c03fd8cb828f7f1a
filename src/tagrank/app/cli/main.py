"""The command line: `tagrank COMMAND`. A command is loaded when it is called, and heavy libraries with it."""

import os
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command_from_info
from typer.models import CommandInfo

from tagrank._version import __version__
from tagrank.app.cli.running import CommandEntry
from tagrank.worker_process import open_standard_streams

COMMANDS = {
    "demo": CommandEntry(
        "tagrank.commands.demo",
        "demo",
        "Draw pictures, learn their tags and write a report, all in under a minute.",
        "show_demonstration",
        config=True,
    ),
    "train": CommandEntry(
        "tagrank.commands.train",
        "train",
        "Train a model on tagged data and save it in a folder.",
        "show_training",
        config=True,
        keeps=True,
    ),
    "annotate": CommandEntry(
        "tagrank.commands.annotate",
        "annotate",
        "Rank the tags of every picture or row.",
        "show_annotation",
        config=True,
    ),
    "undo": CommandEntry(
        "tagrank.commands.undo",
        "undo",
        "Remove the tags that 'annotate --sidecars' wrote.",
        "show_undone",
    ),
    "accept": CommandEntry(
        "tagrank.commands.undo", "accept", "Confirm machine-written tags.", "show_accepted"
    ),
    "evaluate": CommandEntry(
        "tagrank.commands.evaluate",
        "evaluate",
        "Measure a model on data whose tags are known.",
        "show_evaluation",
        config=True,
    ),
    "missing": CommandEntry(
        "tagrank.commands.missing.missing",
        "missing",
        "Find tags that pictures probably lack, or have by mistake.",
        "show_missing",
        config=True,
    ),
    "look": CommandEntry(
        "tagrank.commands.look.look",
        "look",
        "Find near-duplicates, copies and outliers among pictures.",
        "show_look",
        config=True,
    ),
    "audit": CommandEntry(
        "tagrank.commands.audit.audit",
        "audit",
        "Estimate how complete the tags are, from random pictures that somebody tagged completely.",
        "show_audit",
        config=True,
    ),
    "desk": CommandEntry(
        "tagrank.app.cli.desk",
        "desk",
        "Open the desk: accept and reject tags in the browser while the model learns from you.",
        config=True,
        json=False,
    ),
    "export": CommandEntry(
        "tagrank.commands.decisions",
        "export_decisions",
        "Export your decisions or all tags: as a list, or as sidecars for photo programs.",
        "show_export",
    ),
    "import": CommandEntry(
        "tagrank.commands.decisions",
        "import_decisions",
        "Import decisions or tags from a list, or decisions from another copy of the desk.",
        "show_import",
    ),
    "tags": CommandEntry(
        "tagrank.commands.tags",
        "tags",
        "List the tags of an archive, or change their names, synonyms, parents and descriptions.",
    ),
    "backup": CommandEntry(
        "tagrank.commands.decisions",
        "backup_decisions",
        "Back up all decisions to one file, even while the desk is open.",
        "show_backup",
        json=False,
    ),
    "restore": CommandEntry(
        "tagrank.commands.decisions",
        "restore_decisions",
        "Restore a backup of the decisions; the decisions it replaces are kept in another file.",
        "show_restored",
        json=False,
    ),
    "serve": CommandEntry(
        "tagrank.app.cli.serve",
        "serve",
        "Serve a model to programs over HTTP: tags for pictures, and the reasons.",
        config=True,
        json=False,
    ),
    "compare": CommandEntry(
        "tagrank.commands.compare.compare",
        "compare",
        "Compare methods: tune, train and measure each of them in the same way.",
        "show_comparison",
        config=True,
    ),
    "tune": CommandEntry(
        "tagrank.commands.tune",
        "tune",
        "Find the best parameters of one method by cross-validation.",
        "show_tuned",
        config=True,
    ),
    "methods": CommandEntry(
        "tagrank.commands.lists",
        "methods",
        "List the methods for 'tagrank train' and 'tagrank missing'.",
        "show_methods",
    ),
    "features": CommandEntry(
        "tagrank.commands.lists",
        "features",
        "List the picture features for 'tagrank train --features'.",
        "show_features",
    ),
    "datasets": CommandEntry(
        "tagrank.commands.lists",
        "datasets",
        "List the data sets that can be used by name, and where they are or how to get them.",
        "show_datasets",
    ),
    "reproduce": CommandEntry(
        "tagrank.commands.reproduce",
        "reproduce",
        "Repeat a table of a paper and show our figures beside the published ones.",
        "show_reproduction",
    ),
}


class _Command(TyperCommand):
    """A command whose flags take no value in its help; the library would show <bool>."""

    def get_params(self, context: Any) -> Any:
        params = super().get_params(context)
        for option in params:
            if getattr(option, "is_flag", False):
                option.metavar = ""
        return params


class _NamedCommand(TyperCommand):
    """A command of which the name and a sentence are known; all else is loaded when it is called."""

    def __init__(self, name: str, entry: CommandEntry) -> None:
        super().__init__(name, help=entry.summary)
        self._entry = entry

    def load(self) -> TyperCommand:
        """The command with its options."""
        info = CommandInfo(name=self.name, callback=self._entry.load(), cls=_Command)
        command: Any = get_command_from_info(info, pretty_exceptions_short=True, rich_markup_mode="rich")
        return command

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        return self.load().make_context(info_name, args, parent, **extra)


class _Commands(TyperGroup):
    """All commands by name."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = {name: _NamedCommand(name, entry) for name, entry in COMMANDS.items()}

    def get_params(self, context: Any) -> Any:
        params = super().get_params(context)
        for option in params:
            if getattr(option, "is_flag", False):
                option.metavar = ""
        return params


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tagrank {__version__}")
        raise typer.Exit()


@app.callback()
def describe(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Learn from partly tagged pictures, and rank all tags for any picture.

    Start with: tagrank demo
    """


def main() -> None:
    """CommandEntry point of the `tagrank` command."""
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
