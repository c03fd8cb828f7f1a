"""Accepted tags go into the XMP sidecars beside pictures, where photo programs read them."""

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tagrank.annotation.bank.picture_keys import content_key, file_state
from tagrank.archive.archive import Archive
from tagrank.archive.names import is_inside
from tagrank.data.problems import Problem, ProblemLog
from tagrank.data.writers.accepted_tags import add_accepted_tags
from tagrank.data.writers.machine_tags import SidecarChange
from tagrank.files import FileError

Progress = Callable[[int, int, str], None]
_ACCEPTED = """
    SELECT pictures.id, pictures.name, key, file_state, tags.name
    FROM cells JOIN pictures ON pictures.id = picture JOIN tags ON tags.id = tag
    WHERE answer = 1 AND NOT is_gone ORDER BY pictures.id, cells.tag
"""


@dataclass(frozen=True)
class SidecarExport:
    """What was written into sidecars, or would be.

    Attributes
    ----------
    changes : one for each sidecar that is made or changed
    problems : pictures whose sidecars could not be written, and why
    n_pictures : how many have accepted tags
    dry_run : whether nothing was written
    """

    changes: Sequence[SidecarChange]
    problems: Sequence[Problem]
    n_pictures: int
    dry_run: bool

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "dry_run": self.dry_run,
            "pictures": self.n_pictures,
            "changes": [change.to_dict() for change in self.changes],
            "problems": [vars(problem) for problem in self.problems],
        }


@dataclass
class _Accepted:
    name: str
    key: bytes
    file_state: str
    tags: list[str]


def export_sidecars(
    archive: Archive, *, dry_run: bool = False, progress: Progress | None = None
) -> SidecarExport:
    """Add every tag that was accepted to the sidecar of its picture; each sidecar is whole, old or new.

    What sidecars hold already stays; tags that the picture has, inside too, are not added again; a tag that a
    machine had made counts as a person's from now on. Rejected tags are not taken out.

    Parameters
    ----------
    archive : may be open for reading only
    dry_run : only tell what would be written
    progress : called with how many pictures are done, how many there are, and what is being done
    """
    accepted, changes, problems = archive.read(_accepted_tags), list[SidecarChange](), ProblemLog()
    for number, picture in enumerate(accepted, 1):
        path = archive.folder / picture.name
        try:
            _check_same(path, picture)
            change = add_accepted_tags(path, picture.tags, dry_run=dry_run)
        except (FileError, OSError) as error:
            problems.add_error(path, error)
        else:
            if change.action != "keep":
                changes.append(change)
        if progress is not None:
            progress(number, len(accepted), "writing sidecars")
    return SidecarExport(changes, problems.listed(), len(accepted), dry_run)


def _accepted_tags(connection: sqlite3.Connection) -> list[_Accepted]:
    pictures: dict[int, _Accepted] = {}
    for number, name, key, state, tag in connection.execute(_ACCEPTED):
        if not is_inside(name):
            raise FileError(name, "lies outside the folder; this database is not one of tagrank")
        pictures.setdefault(number, _Accepted(name, key, state, [])).tags.append(tag)
    return list(pictures.values())


def _check_same(path: Path, picture: _Accepted) -> None:
    """Raise where another picture has the name meanwhile: the tags are not about that one."""
    try:
        is_same = file_state(str(path)) == picture.file_state or content_key(path) == picture.key
    except FileNotFoundError:
        raise FileError(path, "is not there any more; let 'tagrank desk' look at the folder again") from None
    if not is_same:
        raise FileError(path, "has another content than before; let 'tagrank desk' look at the folder again")
