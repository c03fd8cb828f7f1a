"""A function of the library becomes a command: its options are read, it runs, and its result is shown."""

import inspect
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from tagrank.app.cli.config import load_config
from tagrank.app.cli.console import (
    DATA_ERROR,
    INTERRUPTED,
    report_problems,
    reports_errors,
    say,
    show,
    show_json,
)
from tagrank.app.cli.progress import InterruptWatch, WorkProgress
from tagrank.app.cli.signatures import find_places, help_text, make_arguments, option_of, typer_parameters
from tagrank.commands.tables import Screen
from tagrank.progress import WRITING
from tagrank.resources import tell_of_compilation

USUAL_TOL = 1e-3
COMPILING = "compiling for this machine, once per installation; this takes some seconds"
Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        "-c",
        help="Read options from this YAML file; options on the command line override it.",
        callback=load_config,
        is_eager=True,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


@dataclass(frozen=True)
class CommandEntry:
    """A command.

    Parameters
    ----------
    module, function : where the library has it
    summary : the first line of its docstring, for the list of all commands, which loads none of them
    show : the function of the module that makes a `Screen` of the result; None where it returns one, or
        nothing
    config, json : whether it takes a configuration, and prints JSON
    keeps : whether Ctrl-C keeps what training reached
    """

    module: str
    function: str
    summary: str
    show: str | None = None
    config: bool = False
    json: bool = True
    keeps: bool = False

    def load(self) -> Callable[..., None]:
        """The command as typer takes it: a function with annotated options, and a help text."""
        module = import_module(self.module)
        function = getattr(module, self.function)
        shower = None if self.show is None else getattr(module, self.show)

        def run(**values: Any) -> None:
            result, is_interrupted = self._call(function, make_arguments(function, values))
            if shower is not None:
                takes = inspect.signature(shower).parameters.keys() & values.keys()
                _show(shower(result, **{name: values[name] for name in takes}), result, values)
            elif isinstance(result, Screen):
                _show(result, result, values)
            if is_interrupted:
                raise typer.Exit(INTERRUPTED)

        places = [*find_places(function), *(find_places(shower) if shower is not None else ())]
        parameters = [parameter for place in places for parameter in typer_parameters(place)]
        parameters += [option_of("config", Config, None)] if self.config else []
        parameters += [option_of("json", Json, False)] if self.json else []
        parameters.append(option_of("debug", Debug, False))
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        run.__doc__ = help_text(function)
        return reports_errors(run)

    def _call(self, function: Callable[..., Any], arguments: dict[str, Any]) -> tuple[Any, bool]:
        """The result of the function, and whether Ctrl-C ended it early; meanwhile progress is shown."""
        takes = inspect.signature(function).parameters.keys()
        tol = arguments.get("tol") or USUAL_TOL
        with ExitStack() as stack:
            watch = InterruptWatch(tol=tol if self.keeps else 0.0, keeps=self.keeps)
            if "stop" in takes:
                stack.enter_context(watch)
                arguments["stop"] = watch.stop
            progress = WorkProgress("training" if "callback" in takes else "", tol=tol)

            def callback(point: Any) -> None:
                if not self.keeps:
                    watch.insist()
                progress.gap(point)
                if self.keeps:
                    watch.check(point)

            def count(done: int, total: int, what: str) -> None:
                # a solver that is interrupted returns what it reached, which is worth nothing before the end
                watch.insist(is_finished=self.keeps and what == WRITING)
                progress.count(done, total, what)

            if "progress" in takes:
                stack.enter_context(progress)
                arguments["progress"] = count
            if "callback" in takes:
                arguments["callback"] = callback
            tell_of_compilation(lambda: say(COMPILING))
            stack.callback(tell_of_compilation, None)
            result = function(**arguments)
            if not self.keeps:
                watch.insist()
        return result, self.keeps and watch.seen


def _show(shown: Screen, result: Any, values: Mapping[str, Any]) -> None:
    """Show a result: tables or JSON on stdout, sentences and problems on stderr."""
    if values.get("json"):
        show_json(result.to_dict() if shown.document is None else shown.document)
    else:
        typer.echo(shown.text, nl=False)
        show(*shown.tables)
    for sentence in shown.sentences:
        say(sentence)
    for what, problems in shown.problems.items():
        report_problems(problems, what)
    if shown.has_failed:
        raise typer.Exit(DATA_ERROR)
