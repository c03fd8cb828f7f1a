"""Tag hygiene: one tag for one meaning. Columns that become one tag are joined by a three-state "or"."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse

from tagrank.data.collection import Collection
from tagrank.data.label_matrix import LabelMatrix, Matrix, labels_from_pairs, positive_pairs, unknown_pairs
from tagrank.data.reading import HIERARCHIES
from tagrank.data.vocabulary import PARENT, TagChange, TagVocabulary, check_no_circle, fold
from tagrank.errors import ArgumentError
from tagrank.validation import check_choice, check_kind, check_whole


def clean_tags(
    collection: Collection,
    *,
    hierarchy: str = "keep",
    separators: str = "|/",
    fold_case: bool = False,
    synonyms: Mapping[str, str] | None = None,
    parents: Mapping[str, Sequence[str]] | None = None,
    min_count: int = 0,
) -> Collection:
    """The collection with cleaner tags, step by step in the order of the parameters; each is off by default.

    Parameters
    ----------
    collection : Collection
    hierarchy : {"keep", "leaf", "ancestors"}, what "places|europe|rome" becomes: itself, "rome", or all three
    separators : the characters that separate the levels of a hierarchical tag
    fold_case : take "Sky" and "sky" for the same tag, written in lower case; surrounding blanks go too
    synonyms : what to call a tag instead; followed once, after the case was folded (in keys and values too)
    parents : the tags that a tag implies: a row that has it has these, too, and what they imply; as they are
        called by `synonyms`
    min_count : leave out tags that fewer rows have

    Returns
    -------
    cleaned : Collection whose tags stand in the order of their first appearance. A merged label is present if
        it is present under any of its old names, else unknown if it is unknown under any, else absent.
    """
    check_kind("collection", collection, Collection, "a Collection")
    check_kind("separators", separators, str, "a text of separators, such as '|/'")
    check_kind(
        "synonyms", {} if synonyms is None else synonyms, Mapping, "a mapping of old names to new ones"
    )
    check_kind("parents", {} if parents is None else parents, Mapping, "a mapping of tags to their parents")
    check_whole("min_count", min_count, 0)
    levels = HIERARCHIES[check_choice("hierarchy", hierarchy, tuple(HIERARCHIES))]
    renamed = [[tag] if levels is None else _levels(tag, separators)[levels] for tag in collection.tags]
    if fold_case:
        renamed = [[_fold(tag) for tag in tags] for tags in renamed]
    vocabulary = _meaning(synonyms or {}, parents or {}, _fold if fold_case else str)
    own = [[vocabulary.name(tag) for tag in tags] for tags in renamed]
    renamed = [vocabulary.names(tags) for tags in renamed]
    labels, tags = merge_labels(collection.label_matrix, renamed)
    counts = np.bincount(positive_pairs(labels.stored)[1], minlength=len(tags))
    frequent = np.flatnonzero(counts >= min_count)
    new_names, all_names = (dict(zip(collection.tags, names, strict=True)) for names in (own, renamed))
    is_present = _present_labels(collection)
    return collection.replaced(
        labels=labels.take_columns(frequent),
        tags=[tags[j] for j in frequent],
        decided=[
            label._replace(tag=tag)
            for label in collection.decided
            # a no to a tag says nothing of those that it would imply
            for tag in (all_names if (label.name, label.tag) in is_present else new_names).get(label.tag, ())
        ],
        implies=_implied(collection, new_names, vocabulary),
    )


def _meaning(
    synonyms: Mapping[str, str], parents: Mapping[str, Sequence[str]], spelled: Callable[[str], str]
) -> TagVocabulary:
    """What tags are called and imply, with all names spelled alike."""
    for tag, many in parents.items():
        if isinstance(many, str) or not all(isinstance(name, str) for name in (tag, *many)):
            raise ArgumentError(f"parents must be lists of tags by tag, got {many!r} for {tag!r}")
    synonyms = {spelled(old): spelled(new) for old, new in synonyms.items()}

    def name(tag: str) -> str:
        return synonyms.get(spelled(tag), spelled(tag))

    changes = [TagChange(PARENT, name(tag), name(one)) for tag, many in parents.items() for one in many]
    check_no_circle(vocabulary := fold(changes), [(change.tag, change.other) for change in changes])
    return replace(vocabulary, synonyms=synonyms)


def _present_labels(collection: Collection) -> set[tuple[str, str]]:
    """Names and tags of the labels that a person decided and that are present."""
    if not collection.decided:
        return set()
    names, chosen = collection.names or (), {label.name for label in collection.decided}
    rows, columns = map(np.ndarray.tolist, positive_pairs(collection.label_matrix.stored))
    pairs = zip(rows, columns, strict=True)
    return {(names[i], collection.tags[j]) for i, j in pairs if names[i] in chosen}


def _implied(
    collection: Collection, new_names: Mapping[str, Sequence[str]], vocabulary: TagVocabulary
) -> list[tuple[str, str]]:
    """Which tags imply which: as the collection had it, under new names, and by the vocabulary."""
    before = {
        (vocabulary.name(new), vocabulary.name(other))
        for tag, above in collection.implies
        for new in new_names.get(tag, [tag])[-1:]
        for other in new_names.get(above, [above])[-1:]
    }
    pairs = before | {(tag, one) for tag, many in vocabulary.above.items() for one in many}
    return sorted(pair for pair in pairs if pair[0] != pair[1])


def _levels(tag: str, separators: str) -> list[str]:
    for separator in separators[1:]:
        tag = tag.replace(separator, separators[0])
    return [level.strip() for level in tag.split(separators[0]) if level.strip()] or [tag]


def _fold(tag: str) -> str:
    return tag.strip().casefold()


def merge_labels(labels: LabelMatrix, renamed: Sequence[Sequence[str]]) -> tuple[LabelMatrix, list[str]]:
    """Give each column its new names and join the columns that share one.

    `renamed` are the names under which each column is found afterwards. The tags of the answer stand in the
    order of their first appearance; it is dense if `labels` are.
    """
    tags = list(dict.fromkeys(name for names in renamed for name in names))
    position = {tag: j for j, tag in enumerate(tags)}
    pairs = [(old, position[name]) for old, names in enumerate(renamed) for name in set(names)]
    old, new = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    mapping = sparse.csr_array((np.ones(len(old)), (old, new)), shape=(len(renamed), len(tags)))
    present = _indicator(positive_pairs(labels.stored), labels.shape) @ mapping
    unknown = _indicator(unknown_pairs(labels.stored), labels.shape) @ mapping
    # present wins: a cell that is both keeps only its presence
    unknown = unknown - unknown * (present > 0)
    unknown.eliminate_zeros()
    merged = labels_from_pairs(present.nonzero(), unknown.nonzero(), present.shape)
    merged = merged if sparse.issparse(labels.stored) else merged.toarray()
    return LabelMatrix(merged, labels.unknown_rows), tags


def _indicator(pairs: tuple[np.ndarray, np.ndarray], shape: tuple[int, int]) -> Matrix:
    return sparse.csr_array((np.ones(len(pairs[0])), pairs), shape=shape)
