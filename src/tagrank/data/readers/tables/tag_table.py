"""A table of tags as CSV: what each is called, too, and what it implies.

The column ``tag`` is needed; ``parents`` (or ``parent``), ``synonyms`` (or ``synonym``) and ``description``
are read where they are there, with ``|`` between several. With the columns tag and parent it is a hierarchy.
"""

import csv
import io
import os
from collections.abc import Iterable, Iterator

from tagrank.data.readers.tables.table import bare_cell, join_tags, protect_cell, split_tags
from tagrank.data.vocabulary import DESCRIBE, MOST_CHANGES, PARENT, SYNONYM, TagChange
from tagrank.files import FileError, open_text

COLUMNS = ("tag", "parents", "synonyms", "description")
_NAMES = {"parent": "parents", "synonym": "synonyms"}


def read_tag_table(path: str | os.PathLike) -> list[TagChange]:
    """The changes that make a vocabulary of a table: synonyms, then parents, then descriptions."""
    changes: list[TagChange] = []
    with open_text(path, newline="") as lines:
        reader = csv.DictReader(lines)
        try:
            for row in reader:
                if None in row or None in row.values():
                    raise FileError(path, "has a line of another length than its first", line=reader.line_num)
                cells = {_column(name): bare_cell(cell).strip() for name, cell in row.items()}
                if not cells.get("tag"):
                    raise FileError(
                        path,
                        "expected a column 'tag', and 'parents', 'synonyms' or 'description'; "
                        f"got {', '.join(cells)[:80]}",
                        line=reader.line_num,
                    )
                changes += _changes(cells)
                if len(changes) > MOST_CHANGES:
                    raise FileError(path, f"says more than {MOST_CHANGES:,} things about tags")
        except csv.Error as error:
            raise FileError(path, f"is not CSV ({error})", line=reader.line_num) from None
    return sorted(changes, key=lambda change: (SYNONYM, PARENT, DESCRIBE).index(change.kind))


def _column(name: str) -> str:
    name = name.strip().casefold()
    return _NAMES.get(name, name)


def _changes(cells: dict[str, str]) -> Iterator[TagChange]:
    tag = cells["tag"]
    for word in split_tags(cells.get("synonyms", ""), "|"):
        yield TagChange(SYNONYM, word, tag)
    for parent in split_tags(cells.get("parents", ""), "|"):
        yield TagChange(PARENT, tag, parent)
    if text := cells.get("description"):
        yield TagChange(DESCRIBE, tag, text)


def tag_table_lines(rows: Iterable[tuple[str, Iterable[str], Iterable[str], str]]) -> Iterator[str]:
    """The lines of a table, from tags with their parents, synonyms and descriptions."""
    yield ",".join(COLUMNS) + "\n"
    for tag, parents, synonyms, description in rows:
        stream = io.StringIO()
        cells = (tag, join_tags(parents, "|"), join_tags(synonyms, "|"), " ".join(description.split()))
        csv.writer(stream, lineterminator="\n").writerow(map(protect_cell, cells))
        yield stream.getvalue()
