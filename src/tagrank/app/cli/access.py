"""Whose archive it is, and the password that people share.

An archive that this user did not open before may come from anybody. The password comes from a file, the
environment or the terminal, never from an argument.
"""

import os
import sys
from pathlib import Path
from typing import Any

import typer

from tagrank.app.cli.console import say


def meet_archive(folder: Path, decisions: Path | None, *, moved: bool) -> Path | None:
    """Where the user keeps models, password and sign-ins of an archive; None for one that is not made yet.

    Parameters
    ----------
    folder, decisions : as for `Archive.open`
    moved : whether the user says that it is an archive that was elsewhere before
    """
    from tagrank.archive import Archive, database_path

    if not database_path(folder, decisions).exists():
        return None
    with Archive.open(folder, database=decisions, lock=True) as archive:
        if not archive.own.is_known:
            _meet(archive, moved=moved)
        return Path(archive.own.folder)


def _meet(archive: Any, *, moved: bool) -> None:
    before = archive.own.moved_from()
    if moved and before is None:
        say("--moved has no effect: none of your archives is missing from its old place")
    if before is not None and (moved or _ask(before)):
        archive.own.move()
        say(f"using the models and the password of the archive that was at {before.parent}")
        return
    if told := archive.told_of_others():
        say(told)
    left = [name for name in ("models", "desk.password") if (archive.home / name).exists()]
    if left:
        say(
            f"ignored {', '.join(left)} in {archive.home}, because anybody may have put them there; the desk "
            "trains new models and asks for a new password; you may delete these files"
        )


def _ask(before: Path) -> bool:
    """Whether the user knows this archive from another place."""
    if not sys.stdin.isatty():
        say(f"if this is the archive that was at {before.parent}, add --moved to use its models and password")
        return False
    question = f"Is this the archive that was at {before.parent}? Yes uses its models and its password"
    return typer.confirm(question, default=False, err=True)


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
        given = _ask_password()
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


def _ask_password() -> str:
    if not sys.stdin.isatty():
        raise typer.BadParameter(
            f"--host needs a password, but there is no terminal to ask for it; set {VARIABLE} or add "
            "--password-file FILE"
        )
    say("Choose a password. Everyone who uses this desk will share it.")
    return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))
