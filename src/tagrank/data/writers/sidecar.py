"""XMP sidecars as digiKam, darktable and Lightroom read them.

Keywords stand in ``dc:subject``. Where a tag has levels (``places|europe|rome``), or the sidecar lists
levels already, all tags also stand in ``lr:hierarchicalSubject`` and ``digiKam:TagsList``: a program that
finds these looks no further.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from tagrank.data.pictures.files import PICTURE_SUFFIXES
from tagrank.data.readers.xmp import (
    DIGIKAM_TREE,
    LIGHTROOM_TREE,
    SUBJECT,
    Keywords,
    existing_sidecars,
    parse_keywords,
    read_embedded,
    sidecar_content,
)
from tagrank.data.writers.xmp_document import XmpDocument
from tagrank.files import FileError, atomic_write
from tagrank.validation import check_choice

_LEVELS = "|"


def write_sidecar(
    picture: str | os.PathLike, tags: Iterable[str], *, replace: bool = False, style: str = "auto"
) -> Path:
    """Write tags into the sidecar of a picture; the picture is not touched.

    All else in an existing sidecar stays as it is. If it has these tags already, it is not written at all.

    Parameters
    ----------
    picture : the picture
    tags : its tags; levels are separated by ``|``
    replace : forget the keywords that the sidecar has, instead of adding to them. Without it, a new sidecar
        takes over the keywords inside the picture, because many programs look no further than the sidecar.
    style : {"auto", "full", "stem"}, ``photo.jpg.xmp`` ("full": darktable, digiKam) or ``photo.xmp`` ("stem":
        Lightroom). "auto" is the sidecar that is there, else "full"; a ``photo.xmp`` is not taken if there
        are several pictures to which it could belong.

    Returns
    -------
    path : of the sidecar

    Raises
    ------
    FileError : the sidecar that is there is damaged, or cannot be written; it is left as it was
    """
    if not os.path.isfile(picture):
        raise FileError(picture, "no such picture")
    path = sidecar_path(picture, style=style)
    tags = [tags] if isinstance(tags, str) else list(tags)
    if wrong := [tag for tag in tags if not isinstance(tag, str)]:
        raise FileError(path, f"tags are texts, got {wrong[0]!r} ({type(wrong[0]).__name__})")
    wanted = list(dict.fromkeys(tag.strip() for tag in tags if tag.strip()))
    content = sidecar_content(path) if path.exists() else None
    if content is None and not wanted:
        return path
    document = XmpDocument(content, path)
    known = Keywords()
    if not replace:
        known = parse_keywords(content, path) if content is not None else _embedded(picture)
    if _fill(document, known, wanted, replace):
        try:
            with atomic_write(path) as stream:
                stream.write(document.to_bytes())
        except OSError as error:
            raise FileError(path, f"cannot be written ({error.strerror or error})") from None
    return path


def _embedded(picture: str | os.PathLike) -> Keywords:
    try:
        return read_embedded(picture)
    except FileError:
        # a camera's raw file can have a sidecar, too
        return Keywords()


def sidecar_path(picture: str | os.PathLike, *, style: str = "auto") -> Path:
    """Where the sidecar of a picture is, or would be; see `write_sidecar`."""
    picture = Path(picture)
    full, stem = picture.with_name(f"{picture.name}.xmp"), picture.with_suffix(".xmp")
    if check_choice("style", style, ("auto", "full", "stem")) != "auto":
        return full if style == "full" else stem
    found = [path for path in existing_sidecars(picture) if path.stem == picture.name or _is_alone(picture)]
    return found[0] if found else full


def _is_alone(picture: Path) -> bool:
    others = (picture.with_suffix(end) for suffix in PICTURE_SUFFIXES for end in (suffix, suffix.upper()))
    return not any(other.exists() and not other.samefile(picture) for other in others)


def _fill(document: XmpDocument, known: Keywords, wanted: list[str], replace: bool) -> bool:
    """Write the keywords into all lists that need them; whether anything changed."""
    flat = [*known.flat, *(tag.rpartition(_LEVELS)[2].strip() for tag in wanted)]
    lists = {SUBJECT: flat}
    has_trees = document.has_list(LIGHTROOM_TREE) or document.has_list(DIGIKAM_TREE)
    if has_trees or any(_LEVELS in tag for tag in (*known.trees, *wanted)):
        trees = Keywords(known.flat, (*known.trees, *wanted)).listed(hierarchical=True)
        lists |= {LIGHTROOM_TREE: trees, DIGIKAM_TREE: [tag.replace(_LEVELS, "/") for tag in trees]}
    changed = [document.keep_only(name, words) for name, words in lists.items() if replace]
    changed += [document.add(name, words) for name, words in lists.items()]
    return any(changed)
