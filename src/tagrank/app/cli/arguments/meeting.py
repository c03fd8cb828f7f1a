"""What is said about an archive that this user did not open before: it may come from anybody."""

import sys
from pathlib import Path
from typing import Any

import typer

from tagrank.app.cli.terminal.console import say


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
        say(
            "no archive of yours that this could have been is missing from its place, so --moved does nothing"
        )
    if before is not None and (moved or _ask(before)):
        archive.own.move()
        say(f"models and password of the archive that was at {before.parent} are used again")
        return
    if told := archive.told_of_others():
        say(told)
    left = [name for name in ("models", "desk.password") if (archive.home / name).exists()]
    if left:
        say(
            f"not used, because anybody may have put it there: {', '.join(left)} in {archive.home}; "
            "models are trained again, a password is asked for once more; you may remove them"
        )


def _ask(before: Path) -> bool:
    """Whether the user knows this archive from another place."""
    if not sys.stdin.isatty():
        say(f"if this is the archive that was at {before.parent}, --moved uses its models and password again")
        return False
    question = f"Is this the archive that was at {before.parent}? Then its models and password are used again"
    return typer.confirm(question, default=False, err=True)
