"""A folder of pictures: what lies in it, in a fixed order, and which file a list means."""

import os
import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from tagrank.data.picture_files import AVIF_SUFFIXES, HEIF_MISSING, HEIF_SUFFIXES, PICTURE_SUFFIXES
from tagrank.data.raw_previews import RAW_SUFFIXES
from tagrank.files import FileError, ProblemLog

if TYPE_CHECKING:
    from tagrank.data.readers.keyword_memory import KeywordMemory

# Photographs that only other programs can read; worth a word when they are passed over.
FOREIGN_SUFFIXES = (frozenset({".jp2", ".jxl", ".psd"}) | AVIF_SUFFIXES | HEIF_SUFFIXES) - PICTURE_SUFFIXES


class PictureFolder:
    """The files below a folder.

    Hidden files and folders are passed over. Links to files are followed.

    Parameters
    ----------
    root : the folder
    problems : where unreadable folders, links and photographs in foreign formats are noted
    follow_links : follow links to folders, too, unless the folder was seen already, so loops end. A folder
        that came from elsewhere may lead anywhere
    only_inside : follow no link, to a file or a folder, that leads out of the folder
    keywords : what is known of the keywords of files that did not change
    """

    def __init__(
        self,
        root: str | os.PathLike,
        problems: ProblemLog,
        *,
        follow_links: bool = False,
        only_inside: bool = False,
        keywords: "KeywordMemory | None" = None,
    ) -> None:
        self.root, self.problems, self.keywords = Path(root), problems, keywords
        self._follow_links, self._only_inside = follow_links, only_inside
        if not self.root.is_dir():
            reason = "is not a folder" if self.root.exists() else "no such folder"
            raise FileError(root, f"{reason}; expected one with pictures")
        self.files = sorted(self._walk())

    def _walk(self) -> Iterator[str]:
        waiting, linked = [""], list[str]()
        seen = set()
        while waiting or linked:
            # real folders first: what lies here has its own name, not that of a link to it
            folder = waiting.pop() if waiting else linked.pop(0)
            try:
                about = os.stat(self.root / folder)
                if (about.st_dev, about.st_ino) in seen:
                    continue
                seen.add((about.st_dev, about.st_ino))
                with os.scandir(self.root / folder) as entries:
                    visible = sorted((e for e in entries if not e.name.startswith(".")), key=lambda e: e.name)
            except OSError as error:
                self.problems.add(self.path(folder), f"the folder cannot be read ({error.strerror})")
                continue
            for entry in visible:
                name = f"{folder}/{entry.name}" if folder else entry.name
                is_folder = _holds(entry.is_dir)
                if entry.is_symlink() and (reason := self._why_not(name, is_folder)):
                    self.problems.add(self.path(name), reason)
                elif is_folder:
                    (linked if entry.is_symlink() else waiting).append(name)
                elif _holds(entry.is_file):
                    yield name
                elif entry.is_symlink() and _is_picture(name):
                    self.problems.add(self.path(name), "a broken link")

    def _why_not(self, name: str, is_folder: bool) -> str:
        """Why a link is not followed; nothing if it is."""
        if self._only_inside and not leads_inside(self.root, self.root / name):
            return "a link that leads out of the folder"
        if is_folder and not self._follow_links:
            return "a link to a folder, which is not followed without follow_links"
        return ""

    def path(self, name: str) -> str:
        """Where the file `name`, relative to the folder, lies."""
        return str(self.root / name)

    @cached_property
    def pictures(self) -> list[str]:
        """The pictures by their names relative to the folder, sorted, with ``/`` between folders."""
        found = [name for name in self.files if _is_picture(name)]
        stems = {os.path.splitext(name)[0] for name in found if not _is_raw(name)}
        # beside a camera's raw file often lies the same photograph as JPEG
        pictures = [name for name in found if not (_is_raw(name) and os.path.splitext(name)[0] in stems)]
        stems.update(os.path.splitext(name)[0] for name in pictures)
        for name in self.files:
            if is_foreign(name) and os.path.splitext(name)[0] not in stems:
                self.problems.add(self.path(name), why_no_picture(name))
        return pictures

    @cached_property
    def _all_pictures(self) -> frozenset[str]:
        return frozenset(self.pictures)

    @cached_property
    def _by_last_name(self) -> dict[str, list[str]]:
        groups: dict[str, list[str]] = {}
        for name in self.pictures:
            groups.setdefault(_composed(name.rpartition("/")[2]), []).append(name)
        return groups

    def find(self, listed: str) -> str:
        """The picture that a list means by `listed`, or a LookupError.

        It is the file of that path below the folder, else the only picture whose path ends so. Accents may be
        composed or not, and folders separated by backslashes.
        """
        if listed in self._all_pictures:
            return listed
        tail = self._parts_inside(listed)
        if (inside := "/".join(tail)) in self._all_pictures:
            return inside
        ending = [_composed(part) for part in tail]
        same_last_name = self._by_last_name.get(ending[-1], []) if ending else []
        matches = [name for name in same_last_name if _composed(name).split("/")[-len(ending) :] == ending]
        exact = [name for name in matches if name.count("/") == len(ending) - 1]
        if exact or len(matches) == 1:
            return (exact or matches)[0]
        if matches:
            raise LookupError(f"stands for several pictures: {', '.join(matches[:3])}; list the whole path")
        raise LookupError("is listed, but does not exist")

    def _parts_inside(self, listed: str) -> tuple[str, ...]:
        path = PurePosixPath(listed if "/" in listed else listed.replace("\\", "/"))
        root = PurePosixPath(self.root.absolute().as_posix())
        if path.is_absolute() and path.is_relative_to(root):
            path = path.relative_to(root)
        if path.is_absolute() or ".." in path.parts or re.match(r"[A-Za-z]:/", str(path)):
            raise LookupError("is listed, but is outside the folder")
        return path.parts


def leads_inside(folder: str | os.PathLike, path: str | os.PathLike) -> bool:
    """Whether a path, with all links on the way followed, ends below a folder."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def check_no_link(folder: str | os.PathLike, name: str) -> None:
    """Raise if a folder on the way to the file `name` is a link."""
    above = Path(folder)
    for part in PurePosixPath(name).parts[:-1]:
        above /= part
        if above.is_symlink():
            path = Path(folder) / name
            raise FileError(path, "is behind a link to a folder, where nothing is written; see follow_links")


def is_foreign(name: str | os.PathLike) -> bool:
    """Whether a file is a photograph that only other programs can read."""
    return os.path.splitext(name)[1].casefold() in FOREIGN_SUFFIXES


def why_no_picture(name: str | os.PathLike) -> str:
    """What is wrong with a file whose name is not that of a picture."""
    if is_foreign(name) and os.path.splitext(name)[1].casefold() in HEIF_SUFFIXES:
        return HEIF_MISSING
    if is_foreign(name):
        return f"{os.path.splitext(name)[1][1:].upper()} pictures cannot be read; convert it to JPEG"
    return "not a picture in a known format"


def _holds(check: Callable[[], bool]) -> bool:
    try:
        return check()
    except OSError:
        # it vanished, or is a link to nowhere or to itself
        return False


def _is_picture(name: str) -> bool:
    return os.path.splitext(name)[1].casefold() in PICTURE_SUFFIXES


def _is_raw(name: str) -> bool:
    return os.path.splitext(name)[1].casefold() in RAW_SUFFIXES


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name)
