"""How data are read, and how their tags are tidied: what all commands that learn have in common.

A table of tags is a ``.csv`` file with the column ``tag`` and any of ``parents``, ``synonyms`` and
``description``, as `tagrank tags --export` writes it. All that it says counts, whichever field names it.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from tagrank.data.formats import reader_of, writer_of
from tagrank.errors import ArgumentError
from tagrank.options import PICTURES, TAGS, Option, read_pairs

if TYPE_CHECKING:
    from tagrank.data.collection import Collection
    from tagrank.data.vocabulary import TagChange

# which levels of places|europe|rome are kept as tags
HIERARCHIES = {"keep": None, "leaf": slice(-1, None), "ancestors": slice(None)}
Table = str | os.PathLike
Synonyms = Mapping[str, str] | Table | Sequence[Mapping[str, str] | Table] | None


def read_collection(path: str | os.PathLike, **options: Any) -> "Collection":
    """Read a collection from a file or from a folder of pictures.

    A file is read by its ending, such as ``.csv``, ``.jsonl`` or ``.arff`` (each also with ``.gz``): those of
    `tagrank.data.formats.FORMATS`. A folder is read by `read_pictures`. The options are those of the reader.

    Parameters
    ----------
    path : a file, or a folder of pictures
    options : what the reader of this format takes
    """
    if os.path.isdir(path):
        from tagrank.data.readers.folders.folder import read_pictures

        return read_pictures(path, **options)
    return reader_of(path)(path, **options)


def write_collection(collection: "Collection", path: str | os.PathLike, **options: Any) -> None:
    """Write a collection in the format that the path's ending names; see `read_collection`.

    Parameters
    ----------
    collection : what to write
    path : the file; its ending names the format
    options : what the writer of this format takes
    """
    writer_of(path)(collection, path, **options)


def _read_synonyms(texts: Sequence[str]) -> Synonyms:
    """Pairs of words and, between them, tables, as the command line writes them."""
    is_table = [text.endswith(".csv") and "=" not in text for text in texts]
    if not any(is_table):
        return read_pairs("--synonym", texts, "old=new")
    return [
        text if is_file else read_pairs("--synonym", [text], "old=new")
        for text, is_file in zip(texts, is_table, strict=True)
    ]


@dataclass(frozen=True)
class Reading:
    """How data are read and their tags cleaned up.

    Parameters
    ----------
    strict : stop at the first picture that cannot be read, instead of skipping it
    follow_links : follow links to folders; in a folder that somebody else made, links may lead anywhere
    machine_tags : use the tags that 'annotate --sidecars' wrote even if nobody has confirmed them; by default
        they are ignored
    join_sidecars : add the keywords in XMP sidecars to the tags in tags.csv
    separator : character between the tags in a cell of a CSV file: ';' for sky;sea, '\\t' for a tab
    decisions : file with the decisions made at the desk. In Python, True uses the file of the folder, if
        there is one, and False uses none
    audited : list of random pictures or rows with all their tags and no others; 'tagrank audit' makes such a
        list
    lower_case : treat 'Sky' as 'sky'
    hierarchy : how to read places|europe|rome: keep (as one tag), leaf (only rome) or ancestors (rome, europe
        and places); or a CSV file of tags and their parents
    synonyms : rename a tag, or read names from a CSV file of tags. In Python, a mapping of old names to new
        ones, a table, or several of both; the last one wins
    min_count : ignore tags of fewer pictures than this
    """

    strict: Annotated[bool, Option(PICTURES)] = False
    follow_links: Annotated[bool, Option(PICTURES)] = False
    machine_tags: Annotated[bool, Option(TAGS)] = False
    join_sidecars: Annotated[bool, Option(TAGS)] = True
    separator: Annotated[
        str | None, Option(TAGS, metavar="TEXT", usual="|, or another one that is certain")
    ] = None
    decisions: Annotated[
        bool | str | os.PathLike,
        Option(
            TAGS,
            metavar="FILE",
            usual=".tagrank/desk.sqlite in the folder, if there is one",
            no=("--no-decisions", "Ignore the decisions made at the desk."),
        ),
    ] = True
    audited: Annotated[str | os.PathLike | None, Option(TAGS, metavar="FILE.csv")] = None
    lower_case: Annotated[bool, Option(TAGS)] = False
    hierarchy: Annotated[Table, Option(TAGS, kind=str, metavar="WORD|FILE.csv")] = "keep"
    synonyms: Annotated[
        Synonyms,
        Option(
            TAGS,
            names=("--synonym",),
            kind=str,
            is_many=True,
            metavar="OLD=NEW|FILE.csv",
            read=_read_synonyms,
        ),
    ] = None
    min_count: Annotated[int, Option(TAGS, low=0)] = 0

    @property
    def is_tidying(self) -> bool:
        """Whether tags become others than they are in the files."""
        return (self.lower_case, self.hierarchy, self.min_count) != (False, "keep", 0) or bool(self.synonyms)

    def spelling(self) -> dict[str, Any]:
        """What `clean_tags` takes, as plain values that a model can store; tables of tags are read."""
        from tagrank.data.vocabulary import PARENT, check_no_circle, fold

        is_word = self.hierarchy in HIERARCHIES
        spelling: dict[str, Any] = {
            "hierarchy": self.hierarchy if is_word else "keep",
            "fold_case": self.lower_case,
        }
        if is_word and (self.synonyms is None or isinstance(self.synonyms, Mapping)):
            return spelling | {"synonyms": dict(self.synonyms or {})}
        changes = [] if is_word else _read_hierarchy(self.hierarchy)
        changes += _changes(self.synonyms)
        vocabulary = fold(changes)
        check_no_circle(vocabulary, [(one.tag, one.other) for one in changes if one.kind == PARENT])
        parents = {tag: list(above) for tag, above in vocabulary.parents.items()}
        return spelling | {"synonyms": dict(vocabulary.synonyms), "parents": parents}


def _read_hierarchy(path: Table) -> "list[TagChange]":
    from tagrank.data.vocabulary import read_tag_table

    if not isinstance(path, Table):
        raise ArgumentError(f"hierarchy must be a word or the path of a CSV file, got {type(path).__name__}")
    if not os.path.exists(path):
        raise ArgumentError(
            f"hierarchy must be one of {', '.join(HIERARCHIES)}, or a CSV file with the columns tag and "
            f"parent; got {os.fspath(path)!r}, and no such file exists"
        )
    return read_tag_table(path)


def _changes(synonyms: Any) -> "Iterator[TagChange]":
    from tagrank.data.vocabulary import SYNONYM, TagChange, read_tag_table

    several = [synonyms] if synonyms is None or isinstance(synonyms, Mapping | Table) else synonyms
    for one in several:
        if isinstance(one, Mapping):
            yield from (TagChange(SYNONYM, old, new) for old, new in one.items())
        elif one is not None:
            yield from read_tag_table(one)
