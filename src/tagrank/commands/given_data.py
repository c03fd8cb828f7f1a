"""What a command is given: a model; data by file or by name, and which of their rows and tags are meant."""

import os
import shlex
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from tagrank.annotation import Annotator
from tagrank.annotation.describing import PICTURES
from tagrank.annotation.model_files.storage import JSON_NAME, ModelFileError
from tagrank.archive import database_path, decided_collection
from tagrank.commands.lists import DRAWN_PICTURES
from tagrank.commands.tables import counted
from tagrank.data import (
    Collection,
    Reading,
    clean_tags,
    list_datasets,
    load_dataset,
    read_collection,
    read_pictures,
)
from tagrank.data.catalog import unknown_dataset
from tagrank.data.drawn_pictures import draw_pictures
from tagrank.data.picture_files import PICTURE_SUFFIXES
from tagrank.data.picture_folder import is_foreign, why_no_picture
from tagrank.data.readers.audit_list import with_audited
from tagrank.errors import ArgumentError, did_you_mean
from tagrank.files import FileError, ProblemLog

EVERYTHING = "all"


def open_collection(data: Collection | str | os.PathLike, reading: Reading = Reading()) -> Collection:
    """A collection as it is, from a folder or a file, or by name; its tags are not tidied yet.

    Parameters
    ----------
    data : a Collection; a folder of pictures, as `tagrank.data.read_pictures` reads it; the path of a file
        that `tagrank.data.read_collection` reads, or of a single picture; a name from
        `tagrank.data.list_datasets`; or "drawn-pictures", which needs no file at all
    reading : how a folder or a file is read
    """
    collection = _open_unaudited(data, reading)
    if reading.audited is None:
        return collection
    return with_audited(collection, reading.audited, separator=reading.separator)


def _open_unaudited(data: Collection | str | os.PathLike, reading: Reading) -> Collection:
    decisions = reading.decisions
    if isinstance(data, Collection) or not Path(data).is_dir():
        if reading.machine_tags or not reading.join_sidecars:
            raise ArgumentError("machine_tags and join_sidecars need a folder of pictures; name a folder")
        if not isinstance(decisions, bool):
            raise ArgumentError(f"decisions={os.fspath(decisions)} need a folder of pictures; name a folder")
    own: dict[str, Any] = {} if reading.separator is None else {"separator": reading.separator}
    if own and not _has_cells(data) and reading.audited is None:
        raise ArgumentError(
            "separator needs a CSV file, or a folder with a tags.csv; name one or leave out separator"
        )
    if isinstance(data, Collection):
        return data
    if not os.fspath(data):
        raise ArgumentError("data is an empty name; name a folder of pictures, a file or a data set")
    path = Path(data)
    if path.is_dir():
        collection = read_pictures(
            path,
            strict=reading.strict,
            machine_tags=reading.machine_tags,
            join_sidecars=reading.join_sidecars,
            follow_links=reading.follow_links,
            **own,
        )
        return _with_decisions(collection, path, reading)
    if is_picture(path):
        return Collection(views={PICTURES: [str(path)]}, names=[path.name], name=path.name)
    if is_foreign(path):
        raise FileError(path, why_no_picture(path))
    if path.exists() or path.suffix:
        collection = read_collection(path, **own)
        if not len(collection):
            raise FileError(path, "has no rows; expected at least one")
        return collection
    return _named_collection(os.fspath(data))


def _with_decisions(collection: Collection, folder: Path, reading: Reading) -> Collection:
    """The pictures of a folder with what was decided about them."""
    database = None if isinstance(reading.decisions, bool) else reading.decisions
    if reading.decisions is False or (database is None and not database_path(folder).exists()):
        return collection
    try:
        return decided_collection(collection, folder, database, follow_links=reading.follow_links)
    except FileError as error:
        raise ValueError(
            f"{error} (no_decisions ignores the decisions; in Python, pass False for decisions)"
        ) from None


def open_model(model: Annotator | str | os.PathLike) -> Annotator:
    """An Annotator as it is, or from its folder."""
    if isinstance(model, Annotator):
        return model
    if not os.path.lexists(model):
        raise FileNotFoundError(
            f"{os.fspath(model)}: model not found; train it first: tagrank train PHOTOS -o {os.fspath(model)}"
        )
    if why := _no_model(Path(model)):
        raise ModelFileError(model, why)
    return Annotator.load(model)


def _no_model(path: Path) -> str:
    """Why a folder or file of pictures is no model, and what to do; nothing where it may be a model."""
    inside = chain(path.glob("*"), path.glob("*/*")) if path.is_dir() else ()
    if not (path / JSON_NAME).exists() and any(map(is_picture, inside)):
        return (
            "is a folder of pictures, but a model was expected; train one with "
            f"'tagrank train {shlex.quote(str(path))} -o model', then name the model"
        )
    return "is a picture; name the model first, then the pictures" if is_picture(path) else ""


def _named_collection(name: str) -> Collection:
    known = [DRAWN_PICTURES, *(entry.name for entry in list_datasets())]
    if name not in known:
        raise unknown_dataset(name, known)
    return draw_pictures() if name == DRAWN_PICTURES else load_dataset(name)


def check_has_tags(collection: Collection, data: Collection | str | os.PathLike) -> Collection:
    """The collection, or an error if it has no tags; it says how a table marks them."""
    if len(collection.tags):
        return collection
    if not _is_table(data):
        name, skipped = collection.name or "the collection", _what_was_skipped(collection)
        raise ValueError(f"{name} has no tags to learn from{skipped}")
    raise FileError(
        str(data),
        "has no tags to learn from; expected a column 'tags' with lists such as sky|sea, or for each tag a "
        "column such as 'tag:sky' with 1 for present and 0 for absent",
    )


def _what_was_skipped(collection: Collection) -> str:
    """How many pictures were skipped, with the first of them; "" if none was."""
    if not collection.problems:
        return ""
    return f"; {counted(len(collection.problems), 'picture')} skipped, such as {collection.problems[0]}"


def check_several(rows: Collection) -> Collection:
    """The rows, or an error if there is only one to learn from."""
    if len(rows) == 1:
        kind = "picture" if PICTURES in rows.views else "row"
        raise ValueError(
            f"only 1 {kind} of {rows.name or 'the data'} has tags, and learning needs more; tag at least two "
            f"{kind}s with different tags"
        )
    return rows


def keep_frequent(rows: Collection, min_count: int) -> Collection:
    """The rows without the tags that fewer than `min_count` of them have; it is an error if none is left."""
    kept = clean_tags(rows, min_count=min_count)
    if len(rows.tags) and not len(kept.tags):
        counts = rows.tag_counts()
        raise ValueError(
            f"min_count={min_count} leaves no tags: the most frequent of all {len(rows.tags):,} tags, "
            f"{rows.tags[int(counts.argmax())]!r}, is in {counts.max():,} of {len(rows):,} pictures or rows"
        )
    return kept


def _has_cells(data: Collection | str | os.PathLike) -> bool:
    """Whether tags may be separated in the cells of a table there."""
    return _is_table(data) or (not isinstance(data, Collection) and Path(data).is_dir())


def _is_table(data: Collection | str | os.PathLike) -> bool:
    return not isinstance(data, Collection) and str(data).casefold().removesuffix(".gz").endswith(".csv")


def open_pictures(
    data: Collection | str | os.PathLike | Sequence[str | os.PathLike],
    *,
    strict: bool = False,
    follow_links: bool = False,
) -> Collection:
    """What is to be annotated: as `open_collection`, but of pictures and folders there may be several.

    Tags that pictures in folders may have are not read. Other files among several are listed as problems.
    """
    if isinstance(data, Collection):
        return data
    places = [data] if isinstance(data, str | os.PathLike) else list(data)
    if len(places) == 1 and not (places[0] and Path(places[0]).is_dir()):
        return open_collection(places[0])
    if not places:
        raise ValueError("got nothing to annotate; name pictures or a folder of pictures")
    paths: list[str] = []
    problems = ProblemLog(strict=strict)
    for place in places:
        if Path(place).is_dir():
            found = read_pictures(place, layout="untagged", strict=strict, follow_links=follow_links)
            paths += found.view(PICTURES)
            for problem in found.problems:
                problems.add(problem.path, problem.reason)
        elif is_picture(Path(place)):
            paths.append(os.fspath(place))
        elif Path(place).exists():
            problems.add(place, why_no_picture(place))
        else:
            raise ValueError(
                f"{os.fspath(place)} is neither a picture nor a folder; name a list or a data set alone"
            )
    if not paths:
        raise FileError(places[0], f"{why_no_picture(places[0])}, and no other pictures were named")
    return Collection(views={PICTURES: paths}, names=paths, problems=problems.listed())


def open_known(
    data: Collection | str | os.PathLike | Sequence[str | os.PathLike],
    *,
    strict: bool = False,
    follow_links: bool = False,
) -> Collection:
    """What is to be annotated with the tags that it has: as `open_collection` reads them.

    A tag that somebody rejected at the desk is known to be absent; one that is only not listed is not known.
    """
    places = [data] if isinstance(data, Collection | str | os.PathLike) else list(data)
    if len(places) != 1 or (not isinstance(places[0], Collection) and is_picture(Path(places[0]))):
        raise ArgumentError("known_tags needs one folder or one list of pictures; name nothing else")
    return open_collection(places[0], Reading(strict=strict, follow_links=follow_links))


def is_picture(path: Path) -> bool:
    """Whether the name of a file says that it is a picture."""
    return path.suffix.casefold() in PICTURE_SUFFIXES


def choose_part(collection: Collection, part: str | None, *, usual: str) -> Collection:
    """The rows of one part, or with "all" every row.

    None is the usual part where there is one, and every row where there are no parts.
    """
    words = [] if collection.part is None else sorted(set(collection.part.tolist()))
    if part is None:
        part = usual if usual in words else EVERYTHING
    if part == EVERYTHING:
        return collection
    if not words:
        raise ValueError(
            f"{collection.name or 'the data'} has no parts, so there is no part {part!r}; leave it out"
        )
    if part not in words:
        hint = did_you_mean(part, words, f"choose one of {', '.join([*words, EVERYTHING])}")
        raise ValueError(f"{collection.name or 'the data'} has no part {part!r}{hint}")
    return collection.subset(collection.part == part)


def known_pictures(collection: Collection) -> Collection:
    """The pictures about which something is known: only they are worth describing. Rows stay as they are."""
    if PICTURES not in collection.views:
        return collection
    is_known = collection.known_rows()
    if not is_known.any():
        raise ValueError(
            f"none of the {len(collection):,} pictures of {collection.name or 'the data'} has tags; expected "
            "a list tags.csv, keywords in the pictures or in XMP sidecars, or folders named after tags"
        )
    return collection if is_known.all() else collection.subset(is_known)
