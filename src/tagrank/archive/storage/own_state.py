"""What this user keeps about an archive, outside of its folder, which may have come from a stranger.

Each archive that the user opened has a folder of a random name below the state of the user. It is found by
the real path of the database together with the word by which the database calls itself. That word alone opens
nothing: whoever had a copy of the archive knows it. Where a known word turns up at another path, and nothing
is left at the old one, people are asked whether the archive moved.
"""

import json
import os
import secrets
import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tagrank.files import FileError, atomic_write
from tagrank.user_folders import state_folder

_FACTS, _ADDRESS = "archive.json", "address.json"
_LONGEST = 2**16


@dataclass(frozen=True)
class OwnState:
    """The folder of one archive.

    Attributes
    ----------
    folder : where models, password and sign-ins are
    database : the real path of the database
    identity : the word by which the database calls itself
    """

    folder: Path
    database: str
    identity: str

    def write_address(self, address: str) -> None:
        """Note where the desk of the archive listens, "" when it is closed."""
        with atomic_write(self.folder / _ADDRESS, text=True) as file:
            json.dump({"address": address, "machine": socket.gethostname()}, file)

    def address(self) -> str:
        """Where the desk of the archive listens on this machine, as far as this user knows."""
        told = _read(self.folder / _ADDRESS)
        return told.get("address", "") if told.get("machine") == socket.gethostname() else ""


def own_state(database: Path, identity: str) -> OwnState | None:
    """What is kept about an archive; None where this user never opened it."""
    place = os.path.realpath(database)
    return next((one for one in _all() if (one.database, one.identity) == (place, identity)), None)


def make_own_state(database: Path, identity: str) -> OwnState:
    """A new folder for an archive."""
    folder = state_folder("archives", secrets.token_hex(16))
    return _write(OwnState(folder, os.path.realpath(database), identity))


def moved_from(database: Path, identity: str) -> OwnState | None:
    """What is kept about an archive of that word whose database is gone from its place, if there is one."""
    place = os.path.realpath(database)
    return next(
        (
            one
            for one in _all()
            if one.identity == identity and one.database != place and not os.path.lexists(one.database)
        ),
        None,
    )


def move(state: OwnState, database: Path) -> OwnState:
    """Note that an archive lies elsewhere now; the user said so."""
    return _write(OwnState(state.folder, os.path.realpath(database), state.identity))


def address_of(database: Path) -> str:
    """Where a desk of this user with that database listens; "" if none is known."""
    place = os.path.realpath(database)
    return next((told for one in _all() if one.database == place and (told := one.address())), "")


def _all() -> Iterator[OwnState]:
    try:
        folder = state_folder("archives")
    except (FileError, OSError):
        # where the user can keep nothing, nothing is known
        return
    for name in sorted(os.listdir(folder)):
        facts = _read(folder / name / _FACTS)
        if facts.keys() >= {"database", "identity"}:
            yield OwnState(folder / name, facts["database"], facts["identity"])


def _write(state: OwnState) -> OwnState:
    with atomic_write(state.folder / _FACTS, text=True) as file:
        json.dump({"database": state.database, "identity": state.identity}, file)
    return state


def _read(path: Path) -> dict[str, str]:
    """The texts of a JSON file; nothing where it is missing or damaged."""
    with suppress(OSError, ValueError, RecursionError):
        with open(path, "rb") as file:
            facts = json.loads(file.read(_LONGEST))
        if isinstance(facts, dict) and all(isinstance(value, str) for value in facts.values()):
            return facts
    return {}
