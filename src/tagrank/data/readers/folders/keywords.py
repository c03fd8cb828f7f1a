"""A folder whose tags are the keywords of photo programs, in XMP sidecars or inside the pictures."""

from collections.abc import Callable

from tagrank.data.collection import Collection
from tagrank.data.picture_folder import PictureFolder
from tagrank.data.readers.marks import TagTable
from tagrank.data.readers.xmp import KeywordError, MarkedKeywords, read_embedded, read_marked
from tagrank.errors import warn
from tagrank.files import FileError

_SIDECAR = ".xmp"
# How many pictures of a folder without sidecars are asked for keywords.
_N_PROBES = 64


def has_keywords(folder: PictureFolder, *, machine_tags: bool = False) -> bool:
    """Whether there are sidecars, or keywords in any of a few pictures spread over the folder.

    Unless `machine_tags` are wanted, a sidecar with only machine-written keywords does not count: the folder
    is read as it was before they were written.
    """
    if any(machine_tags or not _is_machine_made(folder, name) for name in folder_sidecars(folder)):
        return True
    step = max(1, len(folder.pictures) // _N_PROBES)
    return any(_has_embedded(folder, name) for name in folder.pictures[::step])


def folder_sidecars(folder: PictureFolder) -> list[str]:
    """The names of all sidecars in a folder; none is opened."""
    return [name for name in folder.files if name.casefold().endswith(_SIDECAR)]


def _read(folder: PictureFolder, name: str, reader: Callable[[str], MarkedKeywords]) -> MarkedKeywords:
    """The keywords of a file of the folder, which is not opened where they are known."""
    path = folder.path(name)
    return reader(path) if folder.keywords is None else folder.keywords.read(path, reader)


def _is_machine_made(folder: PictureFolder, sidecar: str) -> bool:
    try:
        keywords = _read(folder, sidecar, read_marked)
    except FileError:
        return False
    return bool(keywords.machine.flat) and keywords.all == keywords.machine


def _has_embedded(folder: PictureFolder, picture: str) -> bool:
    try:
        return bool(_read(folder, picture, read_embedded).all.flat)
    except FileError:
        return False


def read_keyword_folder(
    folder: PictureFolder, *, hierarchical: bool = False, machine_tags: bool = False
) -> Collection:
    """The pictures with the keywords of their sidecars and those inside them, both together.

    A picture that cannot be opened is left out; one whose keywords cannot be read stays, as untagged. Both
    are problems. `hierarchical` tags are ``places|europe|rome`` where levels were noted, not plain words.
    Machine-written tags are ignored, and counted in a warning, unless `machine_tags` uses them.
    """
    sidecars, table = SidecarTags(folder, machine_tags=machine_tags), TagTable(folder)
    for name in folder.pictures:
        try:
            inside = _read(folder, name, read_embedded)
        except KeywordError as error:
            folder.problems.add_error(folder.path(name), error)
            inside = MarkedKeywords()
        except FileError as error:
            folder.problems.add_error(folder.path(name), error)
            continue
        table.add(name, sidecars.tags(name, inside, hierarchical=hierarchical))
    sidecars.warn_left_out()
    return table.collection().replaced(trees=sidecars.trees)


class SidecarTags:
    """The keywords in the sidecars of a folder; machine-written ones are left out, unless they are wanted.

    Attributes
    ----------
    trees : of each picture whose plain words were asked for, those with the levels above them, if any
    """

    def __init__(self, folder: PictureFolder, *, machine_tags: bool) -> None:
        self._folder, self._machine_tags = folder, machine_tags
        self._sidecars = {name[: -len(_SIDECAR)]: name for name in folder_sidecars(folder)}
        self._n_left_out = self._n_pictures = 0
        self.trees: dict[str, tuple[str, ...]] = {}
        self._known_trees: dict[tuple[str, ...], tuple[str, ...]] = {}

    def tags(
        self, picture: str, inside: MarkedKeywords | None = None, *, hierarchical: bool = False
    ) -> list[str]:
        """The tags of a picture, joined with the keywords `inside` of it."""
        keywords = MarkedKeywords()
        for described in (picture, picture.rpartition(".")[0]):
            if sidecar := self._sidecars.get(described):
                keywords = keywords.joined(self._read(sidecar))
        keywords = keywords.joined(inside or MarkedKeywords())
        chosen = keywords.chosen(machine_tags=self._machine_tags)
        if chosen.trees and not hierarchical:
            # the same keywords of many pictures are kept once
            self.trees[picture] = self._known_trees.setdefault(chosen.trees, chosen.trees)
        tags = chosen.listed(hierarchical=hierarchical)
        n_left_out = len(keywords.all.listed(hierarchical=hierarchical)) - len(tags)
        self._n_left_out += n_left_out
        self._n_pictures += n_left_out > 0
        return tags

    def warn_left_out(self) -> None:
        """Say how many machine-written tags were left out, if any."""
        if self._n_left_out:
            warn(
                f"ignoring machine-written tags: {self._n_left_out:,} (pictures: {self._n_pictures:,}); "
                "machine_tags uses them"
            )

    def _read(self, sidecar: str) -> MarkedKeywords:
        try:
            return _read(self._folder, sidecar, read_marked)
        except FileError as error:
            self._folder.problems.add_error(self._folder.path(sidecar), error)
            return MarkedKeywords()
