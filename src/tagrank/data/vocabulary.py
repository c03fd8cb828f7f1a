"""One tag for one meaning: synonyms, deleted tags, tags that imply others, and texts about tags.

A vocabulary is never stored. It is folded from changes in the order in which they were made, and there is one
`fold` for the changes of an archive, for the levels of keywords in files, and for the options of `train`.

As a table it is CSV. The column ``tag`` is needed; ``parents`` (or ``parent``), ``synonyms`` (or ``synonym``)
and ``description`` are read where they are there, with ``|`` between several. With the columns tag and parent
it is a hierarchy.
"""

import csv
import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tagrank.data.readers.table import bare_cell, join_tags, protect_cell, row_writer, split_tags
from tagrank.errors import ArgumentError
from tagrank.files import FileError, open_text

SYNONYM, DELETE, RESTORE = "synonym", "delete", "restore"
DESCRIBE, PARENT, NO_PARENT = "describe", "parent", "no parent"
KINDS = (SYNONYM, DELETE, RESTORE, DESCRIBE, PARENT, NO_PARENT)
MOST_CHANGES = 100_000
# between the levels of hierarchical keywords, in Lightroom and in digiKam
LEVELS = "|/"
# pairs of a tag and one above it, near or far; a chain of 1,400 tags has as many
MOST_PAIRS = 1_000_000
TABLE_COLUMNS = ("tag", "parents", "synonyms", "description")
_COLUMN_NAMES = {"parent": "parents", "synonym": "synonyms"}


class TagChange(NamedTuple):
    """One change of a vocabulary.

    Attributes
    ----------
    kind : one of `KINDS`
    tag : which is changed
    other : the tag of which it is a synonym, "" for none; its parent; or the text that describes it
    """

    kind: str
    tag: str
    other: str = ""


@dataclass(frozen=True)
class TagVocabulary:
    """What tags mean.

    Attributes
    ----------
    synonyms : word -> the tag that it stands for
    deleted : tags that are hidden
    parents : tag -> the tags that it implies directly; no tag is above itself
    above : tag -> all tags that it implies, near and far
    descriptions : tag -> text
    circles : tags whose parents lead back to themselves; what was said of parents among them does not count
    """

    synonyms: Mapping[str, str] = field(default_factory=dict)
    deleted: frozenset[str] = frozenset()
    parents: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    above: Mapping[str, frozenset[str]] = field(default_factory=dict)
    descriptions: Mapping[str, str] = field(default_factory=dict)
    circles: tuple[tuple[str, ...], ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether every tag is what it is called, and implies no other."""
        return not (self.synonyms or self.deleted or self.parents)

    def name(self, word: str) -> str:
        """The tag for which a word stands."""
        return self.synonyms.get(word, word)

    def words(self, tag: str) -> list[str]:
        """The other words for a tag."""
        return sorted(word for word, other in self.synonyms.items() if other == tag)

    def below(self, tag: str) -> frozenset[str]:
        """All tags that imply a tag, near and far."""
        return frozenset(child for child, above in self.above.items() if tag in above)

    def names(self, words: Iterable[str]) -> list[str]:
        """The tags that words stand for and those above them, each once, without deleted ones."""
        tags = [tag for word in words for tag in (self.name(word), *sorted(self.above_word(word)))]
        return [tag for tag in dict.fromkeys(tags) if tag not in self.deleted]

    def path(self, tag: str) -> str:
        """A tag with those above it, ``places|europe|rome``, as far as each has one parent."""
        levels = [tag]
        while len(parents := self.parents.get(levels[-1], ())) == 1 and parents[0] not in self.deleted:
            levels.append(parents[0])
        return tag if any(map(_has_levels, levels)) else LEVELS[0].join(reversed(levels))

    def above_word(self, word: str) -> frozenset[str]:
        """All tags that a word implies, near and far."""
        return self.above.get(self.name(word), frozenset())


def _has_levels(tag: str) -> bool:
    return any(separator in tag for separator in LEVELS)


def fold(changes: Iterable[TagChange], listed: Iterable[tuple[str, str]] = ()) -> TagVocabulary:
    """The vocabulary after changes, given in the order in which they were made.

    What was said last of a word, or of a tag and a parent, holds. A tag that becomes a synonym takes its own
    synonyms, parents and children with it. Parents that go in a circle are all left out, so that their order
    does not matter.

    Parameters
    ----------
    changes : those that stand
    listed : pairs of a tag and its parent as files have them; older than any change
    """
    groups, flags, texts = _Groups(), dict[str, bool](), dict[str, str]()
    said = dict.fromkeys(listed, True)
    for number, (kind, tag, other) in enumerate(changes, 1 + len(said)):
        if number > MOST_CHANGES:
            raise ArgumentError(
                f"a vocabulary can have at most {MOST_CHANGES:,} changes and parents, got more"
            )
        if kind == SYNONYM:
            groups.join(tag, other) if other else groups.leave(tag)
        elif kind in (DELETE, RESTORE):
            flags[tag] = kind == DELETE
        elif kind == DESCRIBE:
            texts.pop(tag, None)
            texts[tag] = other
        elif kind in (PARENT, NO_PARENT):
            said.pop((tag, other), None)
            said[tag, other] = kind == PARENT
        else:
            raise ArgumentError(f"a change of tags must be one of {', '.join(KINDS)}, got {kind[:40]!r}")
    return _made(groups, flags, texts, said)


def _made(
    groups: "_Groups",
    flags: Mapping[str, bool],
    texts: Mapping[str, str],
    said: Mapping[tuple[str, str], bool],
) -> TagVocabulary:
    synonyms = groups.synonyms()
    named: dict[tuple[str, str], bool] = {}
    for (tag, parent), holds in said.items():
        named[synonyms.get(tag, tag), synonyms.get(parent, parent)] = holds
    edges = [(tag, parent) for (tag, parent), holds in named.items() if holds and tag != parent]
    edges, circles = _without_circles(edges)
    parents: dict[str, list[str]] = {}
    for tag, parent in edges:
        parents.setdefault(tag, []).append(parent)
    described = {synonyms.get(tag, tag): text for tag, text in texts.items()}
    # what was said of the tag itself counts before what was said of its synonyms
    described |= {tag: text for tag, text in texts.items() if tag not in synonyms}
    return TagVocabulary(
        synonyms,
        frozenset(tag for tag, is_deleted in flags.items() if is_deleted and tag not in synonyms),
        {tag: tuple(sorted(above)) for tag, above in parents.items()},
        _above(parents),
        {tag: text for tag, text in described.items() if text},
        circles,
    )


class _Groups:
    """Words of the same meaning, each group with the name of one of them.

    The smaller of two groups is moved into the larger one, so that many changes take little longer than few.
    """

    def __init__(self) -> None:
        self._group_of: dict[str, int] = {}
        self._members: dict[int, set[str]] = {}
        self._names: dict[int, str] = {}

    def _group(self, word: str) -> int:
        if word not in self._group_of:
            self._put(word)
        return self._group_of[word]

    def _put(self, word: str) -> None:
        number = len(self._members)
        self._group_of[word], self._members[number], self._names[number] = number, {word}, word

    def join(self, word: str, tag: str) -> None:
        """Let `word` stand for `tag`: with its synonyms if it is a tag, alone if it is a synonym."""
        group, other = self._group(word), self._group(tag)
        is_name = self._names[group] == word
        if group == other:
            # the tag gets the name of one of its synonyms
            self._names[group] = tag if is_name else self._names[group]
        elif not is_name:
            self._members[group].discard(word)
            self._members[other].add(word)
            self._group_of[word] = other
        else:
            name = self._names[other]
            small, large = sorted((group, other), key=lambda number: len(self._members[number]))
            for member in self._members[small]:
                self._group_of[member] = large
            self._members[large] |= self._members[small]
            self._members[small] = set()
            self._names[large] = name

    def leave(self, word: str) -> None:
        """Let `word` be a tag of its own."""
        group = self._group(word)
        if self._names[group] != word:
            self._members[group].discard(word)
            self._put(word)

    def synonyms(self) -> dict[str, str]:
        """word -> tag, for words that are no tags."""
        named = ((word, self._names[group]) for word, group in self._group_of.items())
        return {word: name for word, name in named if word != name}


def _without_circles(
    edges: Sequence[tuple[str, str]],
) -> tuple[list[tuple[str, str]], tuple[tuple[str, ...], ...]]:
    """Those that lie on no circle, and the tags of the circles."""
    if not edges:
        return [], ()
    import numpy as np
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    tags = list(dict.fromkeys(tag for edge in edges for tag in edge))
    place = {tag: number for number, tag in enumerate(tags)}
    below, above = np.array([(place[tag], place[parent]) for tag, parent in edges]).T
    graph = coo_array((np.ones(len(edges), dtype=np.int8), (below, above)), shape=(len(tags), len(tags)))
    _, part = connected_components(graph.tocsr(), connection="strong")
    is_circular = part[below] == part[above]
    circles: dict[int, list[str]] = {}
    circular = set(part[below[is_circular]].tolist())
    for tag, number in zip(tags, part.tolist(), strict=True):
        if number in circular:
            circles.setdefault(number, []).append(tag)
    kept = [edge for edge, leaves in zip(edges, is_circular, strict=True) if not leaves]
    return kept, tuple(sorted(tuple(sorted(circle)) for circle in circles.values()))


def _above(parents: Mapping[str, Sequence[str]]) -> dict[str, frozenset[str]]:
    """All tags above each tag that has parents; these have no circles."""
    above: dict[str, frozenset[str]] = {}
    n_pairs, children = 0, dict[str, list[str]]()
    for tag, direct in parents.items():
        for parent in direct:
            children.setdefault(parent, []).append(tag)
    waiting = {tag: len(direct) for tag, direct in parents.items()}
    ready = [tag for tag in children if tag not in parents]
    while ready:
        tag = ready.pop()
        direct = parents.get(tag, ())
        if direct:
            above[tag] = frozenset(direct).union(*(above.get(parent, frozenset()) for parent in direct))
            n_pairs += len(above[tag])
        if n_pairs > MOST_PAIRS:
            raise ArgumentError(
                f"a vocabulary can have at most {MOST_PAIRS:,} pairs of a tag and an ancestor, got more"
            )
        for child in children.get(tag, ()):
            waiting[child] -= 1
            if not waiting[child]:
                ready.append(child)
    return above


def name_circle(edges: Iterable[tuple[str, str]], circle: Iterable[str]) -> list[str]:
    """A way around within a circle, as the tags that follow each other; the first comes again at the end."""
    inside, parents = set(circle), dict[str, str]()
    for tag, parent in edges:
        if {tag, parent} <= inside:
            parents.setdefault(tag, parent)
    way, seen = [min(inside & parents.keys())], set[str]()
    while way[-1] not in seen:
        seen.add(way[-1])
        way.append(parents[way[-1]])
    return way[way.index(way[-1]) :]


def check_no_circle(vocabulary: TagVocabulary, edges: Iterable[tuple[str, str]]) -> None:
    """Raise where parents, which `edges` name, go in a circle."""
    for circle in vocabulary.circles:
        named = ((vocabulary.name(tag), vocabulary.name(parent)) for tag, parent in edges)
        way = " implies ".join(map(repr, name_circle(named, circle)))
        raise ArgumentError(f"parents must not form a circle, but these do: {way}")


def say_change(change: tuple[str, str, str]) -> str:
    """A change in words."""
    kind, tag, other = change
    sentences = {
        SYNONYM: f"{tag} is a synonym of {other}" if other else f"{tag} is a tag of its own",
        DELETE: f"{tag} is deleted",
        RESTORE: f"{tag} is restored",
        DESCRIBE: f"description of {tag}: {other}" if other else f"{tag} has no description",
        PARENT: f"{other} is a parent of {tag}",
        NO_PARENT: f"{other} is not a parent of {tag}",
    }
    return sentences.get(kind, kind)


def read_tag_table(path: str | os.PathLike) -> list[TagChange]:
    """The changes that make a vocabulary of a table: synonyms, then parents, then descriptions."""
    changes: list[TagChange] = []
    with open_text(path, newline="") as lines:
        reader = csv.DictReader(lines)
        try:
            for row in reader:
                if None in row or None in row.values():
                    raise FileError(
                        path,
                        "has a line with another number of columns than its first line",
                        line=reader.line_num,
                    )
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
                    raise FileError(path, f"makes more than {MOST_CHANGES:,} changes of tags")
        except csv.Error as error:
            raise FileError(path, f"is not CSV ({error})", line=reader.line_num) from None
    return sorted(changes, key=lambda change: (SYNONYM, PARENT, DESCRIBE).index(change.kind))


def _column(name: str) -> str:
    name = name.strip().casefold()
    return _COLUMN_NAMES.get(name, name)


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
    yield ",".join(TABLE_COLUMNS) + "\n"
    for tag, parents, synonyms, description in rows:
        stream = io.StringIO()
        cells = (tag, join_tags(parents, "|"), join_tags(synonyms, "|"), " ".join(description.split()))
        row_writer(stream).writerow(map(protect_cell, cells))
        yield stream.getvalue()
