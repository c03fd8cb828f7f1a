"""The password that people share: from a file, the environment or the terminal, never an argument."""

import os
import sys
from pathlib import Path

import typer

from tagrank.app.cli.terminal.console import say

VARIABLE = "TAGRANK_PASSWORD"


def take_password(stored: str | None, file: Path | None, *, wants_new: bool) -> str | None:
    """The password that is given or asked for; None if the one that is stored will do.

    Parameters
    ----------
    stored : what is stored already
    file : its first line is the password
    wants_new : ask even if there is one
    """
    from tagrank.app.web.protection.passwords import check_password

    given = _read_line(file) if file is not None else os.environ.get(VARIABLE)
    if not given and (wants_new or stored is None):
        given = _ask()
    return check_password(given) if given else None


def hash_of(given: str | None, stored: str | None) -> str:
    """What is to be stored: the hash of the given password, unless it is the one that is stored."""
    from tagrank.app.web.protection.passwords import hash_password, is_password

    if stored is not None and (given is None or is_password(given, stored)):
        return stored
    assert given is not None
    return hash_password(given)


def _read_line(path: Path) -> str:
    from tagrank.files import open_text

    with open_text(path, max_bytes=2**16) as stream:
        return stream.readline().rstrip("\r\n")


def _ask() -> str:
    if not sys.stdin.isatty():
        raise typer.BadParameter(
            f"--host needs a password, and there is no terminal to ask at; set {VARIABLE} or give "
            "--password-file FILE"
        )
    say("Choose a password that all people who use this desk will share.")
    return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))
