"""XMP sidecars as photo programs read them; see `write_sidecar` for which program reads which.

Keywords stand in ``dc:subject``. Where a tag has levels (``places|europe|rome``), or the sidecar lists
levels already, all tags also stand in ``lr:hierarchicalSubject`` and ``digiKam:TagsList``: a program that
finds these looks no further.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tagrank.data.picture_files import PICTURE_SUFFIXES
from tagrank.data.picture_folder import FOREIGN_SUFFIXES
from tagrank.data.readers.xmp import (
    DIGIKAM_TREE,
    LIGHTROOM_TREE,
    MAX_XMP_BYTES,
    SUBJECT,
    Keywords,
    Mark,
    MarkedKeywords,
    existing_sidecars,
    parse_marks,
    read_embedded,
    read_marked,
)
from tagrank.data.writers.originals import Record, change_file, plain_content, read_record
from tagrank.data.writers.xmp_document import XmpDocument
from tagrank.files import FileError, atomic_write
from tagrank.validation import check_choice

_LEVELS = "|"
STYLES = ("full", "stem")
# "auto" is what "full" was called when a style could make a second sidecar
_STYLE_WORDS = (*STYLES, "auto")


def write_sidecar(
    picture: str | os.PathLike, tags: Iterable[str], *, replace: bool = False, style: str = "full"
) -> Path:
    """Write tags into the sidecar of a picture; the picture itself does not change.

    All else in an existing sidecar stays as it is. If it has these tags already, it is not written at all.
    The tags are those of a person: one that was marked as machine-written is so no longer.

    Parameters
    ----------
    picture : the picture
    tags : its tags; levels are separated by ``|``
    replace : forget the keywords that the sidecar has, instead of adding to them. Without it, a new sidecar
        takes over the keywords inside the picture, because many programs look no further than the sidecar.
    style : {"full", "stem"}, what a new sidecar is called: ``photo.jpg.xmp`` ("full"), which digiKam and
        darktable read, or ``photo.xmp`` ("stem"), which darktable reads when it imports a
        picture, and digiKam if it is set to. Lightroom Classic reads ``photo.xmp`` for raw files only, and no
        sidecars for JPEG. An existing sidecar keeps its name; but a ``photo.xmp``
        is neither taken nor made where it could belong to several files, such as photo.jpg and photo.cr2.

    Returns
    -------
    path : of the sidecar

    Raises
    ------
    FileError : the sidecar that is there is damaged, or cannot be written; it is left as it was
    """
    if not os.path.isfile(picture):
        raise FileError(picture, "this picture does not exist")
    path = sidecar_path(picture, style=style)
    new_tags = checked_tags(tags, path)
    if not new_tags and not os.path.lexists(path):
        return path
    sidecar = open_sidecar(path)
    known = Keywords()
    if not replace:
        known = embedded_keywords(picture).all if sidecar.is_new else sidecar.keywords.all
    lists = keyword_lists(sidecar.document, known, new_tags)
    changed = [sidecar.document.keep_only(name, words) for name, words in lists.items() if replace]
    changed += [sidecar.document.add(name, words) for name, words in lists.items()]
    marks = unmarked(sidecar, new_tags)
    if any(changed) or marks != sidecar.marks:
        sidecar.document.set_marks(marks)
        sidecar.save()
    return path


@dataclass(frozen=True)
class Sidecar:
    """A sidecar to be changed.

    Attributes
    ----------
    path : where it is, or will be
    content : the bytes of the file, None where there is none yet
    document : what it holds, to be changed
    keywords, marks : as they are in the file
    """

    path: Path
    content: bytes | None
    document: XmpDocument
    keywords: MarkedKeywords
    marks: list[Mark]

    @property
    def is_new(self) -> bool:
        """Whether there is no such file yet."""
        return self.content is None

    def save(self, run: str | None = None, record: Record | None = None) -> None:
        """Write the document in one step; what is changed by a `run` can be put back as it was.

        `record` is what is known of the file then, by default what was known of it.
        """
        content = self.document.to_bytes()
        try:
            if run is not None:
                record = read_record(self.path) if record is None else record
                return change_file(self.path, content, record, before=self.content, run=run)
            with atomic_write(self.path) as stream:
                stream.write(content)
        except OSError as error:
            place = error.filename or self.path
            raise FileError(place, f"cannot be written ({error.strerror or error})") from None


def open_for_adding(
    picture: str | os.PathLike, tags: Iterable[str], *, style: str = "full"
) -> tuple[Sidecar, MarkedKeywords, Keywords, list[str]]:
    """What it takes to add tags to the sidecar of a picture.

    Returns
    -------
    sidecar : the one that is there, or a new one
    known : all keywords that the picture has, in any sidecar or inside
    taken_over : those that lists of the sidecar are to hold besides
    tags : as they are written, each once
    """
    if not os.path.isfile(picture):
        raise FileError(picture, "this picture does not exist")
    path = sidecar_path(picture, style=style)
    sidecar, known = open_sidecar(path), embedded_keywords(picture)
    taken_over = known.all if sidecar.is_new else sidecar.keywords.all
    for other in existing_sidecars(picture):
        known = known.joined(read_marked(other))
    return sidecar, known, taken_over, checked_tags(tags, path)


def open_sidecar(path: Path) -> Sidecar:
    """The sidecar at `path`, or a new one; links and other files that are not plain are refused."""
    return sidecar_with(path, plain_content(path, max_bytes=MAX_XMP_BYTES))


def sidecar_with(path: Path, content: bytes | None) -> Sidecar:
    """The sidecar at `path` as if it held `content`."""
    if content is None:
        return Sidecar(path, None, XmpDocument(None, path), MarkedKeywords(), [])
    return Sidecar(path, content, XmpDocument(content, path), *parse_marks(content, path))


def unmarked(sidecar: Sidecar, tags: Iterable[str]) -> list[Mark]:
    """The marks that stay when a person gives these tags."""
    lists = keyword_lists(sidecar.document, Keywords(), tags)
    return [mark for mark in sidecar.marks if mark.word not in lists.get(mark.place[0], ())]


def checked_tags(tags: Iterable[str], path: Path) -> list[str]:
    """Tags as they are written, each once."""
    tags = [tags] if isinstance(tags, str) else list(tags)
    if wrong := [tag for tag in tags if not isinstance(tag, str)]:
        raise FileError(path, f"tags must be text, got {wrong[0]!r} ({type(wrong[0]).__name__})")
    return list(dict.fromkeys(tag.strip() for tag in tags if tag.strip()))


def embedded_keywords(picture: str | os.PathLike) -> MarkedKeywords:
    """The keywords inside a picture; none if it cannot be read."""
    try:
        return read_embedded(picture)
    except FileError:
        # a camera's raw file can have a sidecar, too
        return MarkedKeywords()


def sidecar_path(picture: str | os.PathLike, *, style: str = "full") -> Path:
    """Where the sidecar of a picture is, or would be; see `write_sidecar`."""
    picture = Path(picture)
    check_choice("style", style, _STYLE_WORDS)
    existing = [
        path for path in existing_sidecars(picture) if path.stem == picture.name or _is_alone(picture)
    ]
    if existing:
        return existing[0]
    is_short = style == "stem" and _is_alone(picture)
    return picture.with_suffix(".xmp") if is_short else picture.with_name(f"{picture.name}.xmp")


def _is_alone(picture: Path) -> bool:
    """Whether no other photograph, of whatever format, has the same name without its ending."""
    endings = (end for suffix in PICTURE_SUFFIXES | FOREIGN_SUFFIXES for end in (suffix, suffix.upper()))
    others = (picture.with_suffix(end) for end in endings)
    return not any(other.exists() and not other.samefile(picture) for other in others)


def keyword_lists(
    document: XmpDocument, known: Keywords, tags: Iterable[str], paths: Mapping[str, str] | None = None
) -> dict[tuple[str, str], list[str]]:
    """All lists that need the keywords, each with the keywords that it will hold.

    `paths` are tags with the levels above them: ``rome`` is written as ``places|europe|rome`` would be.
    """
    tags = tuple(tags if paths is None else (paths.get(tag, tag) for tag in tags))
    lists = {SUBJECT: [*known.flat, *map(last_level, tags)]}
    has_trees = document.has_list(LIGHTROOM_TREE) or document.has_list(DIGIKAM_TREE)
    if has_trees or any(_LEVELS in tag for tag in (*known.trees, *tags)):
        trees = Keywords(known.flat, (*known.trees, *tags)).listed(hierarchical=True)
        lists |= {LIGHTROOM_TREE: trees, DIGIKAM_TREE: [tag.replace(_LEVELS, "/") for tag in trees]}
    return lists


def last_level(tag: str) -> str:
    """``rome`` of ``places|europe|rome``."""
    return tag.rpartition(_LEVELS)[2].strip()
