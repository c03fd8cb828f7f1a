"""How the tags of training data are tidied: the options `hierarchy`, `synonyms` and `lower_case`.

A table of tags is a ``.csv`` file with the column ``tag`` and any of ``parents``, ``synonyms`` and
``description``, as `tagrank tags --export` writes it. All that it says counts, whichever option names it.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tagrank.data.hygiene import HIERARCHIES
from tagrank.data.readers.tables.tag_table import read_tag_table
from tagrank.data.vocabulary import PARENT, SYNONYM, TagChange, check_no_circle, fold
from tagrank.errors import ArgumentError

Table = str | os.PathLike
Synonyms = Mapping[str, str] | Table | Sequence[Mapping[str, str] | Table] | None


def read_spelling(hierarchy: Table, lower_case: bool, synonyms: Synonyms) -> dict[str, Any]:
    """What `clean_tags` takes, as plain values that a model can store.

    Parameters
    ----------
    hierarchy : {"keep", "leaf", "ancestors"}, or a table of tags
    lower_case : take "Sky" for "sky"
    synonyms : a mapping of old names to new ones, a table of tags, or several of both: what comes last counts
    """
    is_word = hierarchy in HIERARCHIES
    spelling: dict[str, Any] = {"hierarchy": hierarchy if is_word else "keep", "fold_case": lower_case}
    if is_word and (synonyms is None or isinstance(synonyms, Mapping)):
        return spelling | {"synonyms": dict(synonyms or {})}
    changes = [] if is_word else _read_hierarchy(hierarchy)
    changes += _changes(synonyms)
    vocabulary = fold(changes)
    check_no_circle(vocabulary, [(one.tag, one.other) for one in changes if one.kind == PARENT])
    parents = {tag: list(found) for tag, found in vocabulary.parents.items()}
    return spelling | {"synonyms": dict(vocabulary.synonyms), "parents": parents}


def _read_hierarchy(path: Table) -> list[TagChange]:
    if not isinstance(path, Table):
        raise ArgumentError(f"hierarchy is a word or the path of a table, got {type(path).__name__}")
    if not os.path.exists(path):
        raise ArgumentError(
            f"hierarchy must be one of {', '.join(HIERARCHIES)}, or a CSV file with the columns tag and "
            f"parent; got {os.fspath(path)!r}, and there is no such file"
        )
    return read_tag_table(path)


def _changes(synonyms: Any) -> Iterator[TagChange]:
    several = [synonyms] if synonyms is None or isinstance(synonyms, Mapping | Table) else synonyms
    for one in several:
        if isinstance(one, Mapping):
            yield from (TagChange(SYNONYM, old, new) for old, new in one.items())
        elif one is not None:
            yield from read_tag_table(one)
