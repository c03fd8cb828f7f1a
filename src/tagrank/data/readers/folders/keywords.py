"""A folder whose tags are the keywords of photo programs, in XMP sidecars or inside the pictures."""

from tagrank.data.collection import Collection
from tagrank.data.pictures.folder import PictureFolder
from tagrank.data.readers.folders.tag_table import TagTable
from tagrank.data.readers.xmp import KeywordError, Keywords, read_embedded, read_sidecar
from tagrank.files import FileError

_SIDECAR = ".xmp"
# In a folder without sidecars, so many pictures tell whether it has keywords at all.
_N_PROBES = 64


def has_keywords(folder: PictureFolder) -> bool:
    """Whether there are sidecars, or keywords in any of a few pictures spread over the folder."""
    if any(_is_sidecar(name) for name in folder.files):
        return True
    step = max(1, len(folder.pictures) // _N_PROBES)
    return any(_has_embedded(folder.path(name)) for name in folder.pictures[::step])


def _has_embedded(picture: str) -> bool:
    try:
        return bool(read_embedded(picture).flat)
    except FileError:
        return False


def read_keyword_folder(folder: PictureFolder, *, hierarchical: bool = False) -> Collection:
    """The pictures with the keywords of their sidecars and those inside them, both together.

    A picture that cannot be opened is left out; one whose keywords cannot be read stays, as untagged. Both
    are problems. `hierarchical` tags are ``places|europe|rome`` where levels were noted, not plain words.
    """
    sidecars = {name[: -len(_SIDECAR)]: name for name in folder.files if _is_sidecar(name)}
    table = TagTable(folder)
    for name in folder.pictures:
        keywords = Keywords()
        for described in (name, name.rpartition(".")[0]):
            if sidecar := sidecars.get(described):
                keywords = keywords.joined(_sidecar_keywords(folder, sidecar))
        try:
            keywords = keywords.joined(read_embedded(folder.path(name)))
        except KeywordError as error:
            folder.problems.add_error(folder.path(name), error)
        except FileError as error:
            folder.problems.add_error(folder.path(name), error)
            continue
        table.add(name, keywords.listed(hierarchical=hierarchical))
    return table.collection()


def _sidecar_keywords(folder: PictureFolder, sidecar: str) -> Keywords:
    try:
        return read_sidecar(folder.path(sidecar))
    except FileError as error:
        folder.problems.add_error(folder.path(sidecar), error)
        return Keywords()


def _is_sidecar(name: str) -> bool:
    return name.casefold().endswith(_SIDECAR)
