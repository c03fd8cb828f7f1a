"""What a command says, and where: results on stdout, everything else on stderr; errors in one sentence.

Exit codes: 0 fine, 1 the data or the model are at fault, 2 the command line is, 130 Ctrl-C. That nobody reads
on, as in ``tagrank methods | head``, changes none of them.
"""

import io
import json
import math
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import wraps
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import typer

from tagrank.errors import ArgumentError
from tagrank.resources import is_interrupt
from tagrank.visible_text import printable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from tagrank.files import Problem

DATA_ERROR, INTERRUPTED = 1, 130
PLAIN_WIDTH = 120
PROBLEMS_SAID = 20
Command = TypeVar("Command", bound=Callable[..., Any])


def reports_errors(command: Command) -> Command:
    """A command whose failures become one sentence on stderr and an exit code; its `debug` shows more."""

    @wraps(command)
    def run(**options: Any) -> None:
        try:
            with _plain_warnings(options):
                _keep_config(options)
                command(**options)
        except (typer.Exit, typer.Abort, typer.BadParameter):
            raise
        except (KeyboardInterrupt, Exception) as error:
            if is_interrupt(error):
                words = str(error) if isinstance(error, KeyboardInterrupt) else ""
                say(f"interrupted; {words}" if words else "interrupted")
                raise typer.Exit(INTERRUPTED) from None
            if options.get("debug"):
                traceback.print_exc()
            message = printable(with_flags(sentence(error), options))
            if isinstance(error, ArgumentError):
                raise typer.BadParameter(message) from None
            say(f"error: {message}")
            raise typer.Exit(DATA_ERROR) from None

    return run  # type: ignore[return-value]


def _keep_config(options: Mapping[str, Any]) -> None:
    """Raise if the configuration would be replaced by an output."""
    if options.get("config") is not None:
        from tagrank.commands.destinations import check_apart

        outputs = ("output", "page", "report", "markdown", "latex")
        check_apart(options["config"], **{name: options.get(name) for name in outputs})


def sentence(error: BaseException) -> str:
    """What went wrong, in one line; an unforeseen kind of error also says how to learn more."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, MemoryError):
        return f"not enough memory ({error})" if str(error) else "not enough memory"
    # str of a KeyError is the repr of its message
    message = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    message = " ".join(message.split())
    if isinstance(error, (ValueError, KeyError, OSError, ImportError)) and message:
        return message
    return f"{type(error).__name__}: {message} (--debug shows the traceback)"


def with_flags(message: str, options: Collection[str]) -> str:
    """A message of the library with arguments called as on the command line: ``min_count``, ``gamma=1``.

    What is ``True`` is a flag.
    """
    names = "|".join(map(re.escape, options))
    if not names:
        return message

    def flag(found: re.Match[str]) -> str:
        name, equals = found.groups()
        is_name = bool(equals) or "_" in name
        return f"--{name.replace('_', '-')}{' ' if equals == '=' else ''}" if is_name else found[0]

    return re.sub(rf"(?<![\w./-])({names})(?:(=True\b|=)|\b(?![./-]))", flag, message)


def say(text: str) -> None:
    """A line for people, on stderr; if nobody can read it, the work goes on."""
    try:
        typer.echo(printable(text), err=True)
    except OSError:
        _discard(sys.stderr)


def report_problems(problems: "Sequence[Problem]", what: str = "skipped") -> None:
    """Files with which something went wrong, what, and why, on stderr."""
    for problem in problems[:PROBLEMS_SAID]:
        say(f"{what}: {problem.path}: {problem.reason}")
    if len(problems) > PROBLEMS_SAID:
        say(f"{what}: {len(problems) - PROBLEMS_SAID:,} more; --json lists all")


def show(*content: "RenderableType") -> None:
    """Tables and text for people, on stdout."""
    console = _console(sys.stdout)
    with _writing():
        for piece in content:
            console.print(piece)


def show_json(document: Any) -> None:
    """One JSON document for programs, alone on stdout; a number that is not finite becomes null."""
    with _writing():
        sys.stdout.write(json.dumps(_finite(document), indent=2, default=str) + "\n")


@contextmanager
def _writing() -> Iterator[None]:
    """A block that writes to stdout; a reader that has had enough is no error."""
    try:
        yield
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit):
        # rich makes the one of the other
        _discard(sys.stdout)
    except OSError as error:
        _discard(sys.stdout)
        raise OSError(error.errno, error.strerror, "standard output") from None


def _discard(stream: TextIO) -> None:
    """Let nothing more be written: what is buffered would fail again when the program ends."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _console(stream: TextIO) -> "Console":
    from rich.console import Console

    if isinstance(stream, io.TextIOWrapper):
        # an old terminal shows question marks rather than nothing at all
        stream.reconfigure(errors="replace")
    # a pipe has no width of its own: leave room, so that nothing is cut
    width = None if stream.isatty() else PLAIN_WIDTH
    return Console(file=stream, width=width, highlight=False, markup=False, emoji=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _finite(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


@contextmanager
def _plain_warnings(options: Collection[str]) -> Iterator[None]:
    """Warnings meant for users become single lines on stderr; those for developers are dropped."""

    def print_warning(message: Warning | str, *_: Any, **__: Any) -> None:
        say(f"warning: {with_flags(' '.join(str(message).split()), options)}")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = print_warning
        yield
