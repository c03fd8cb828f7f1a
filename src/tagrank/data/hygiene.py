"""Tag hygiene: one tag for one meaning. Columns that become one tag are joined by a three-state "or"."""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy import sparse

from tagrank.data.collection import Collection
from tagrank.data.label_matrix import LabelMatrix, Matrix, labels_from_pairs, positive_pairs, unknown_pairs
from tagrank.validation import check_choice, check_kind, check_whole


def clean_tags(
    collection: Collection,
    *,
    hierarchy: str = "keep",
    separators: str = "|/",
    fold_case: bool = False,
    synonyms: Mapping[str, str] | None = None,
    min_count: int = 0,
) -> Collection:
    """The collection with tidier tags, step by step in the order of the parameters; each is off by default.

    Parameters
    ----------
    collection : Collection
    hierarchy : {"keep", "leaf", "ancestors"}, what "places|europe|rome" becomes: itself, "rome", or all three
    separators : the characters that separate the levels of a hierarchical tag
    fold_case : take "Sky" and "sky" for the same tag, written in lower case; surrounding blanks go too
    synonyms : what to call a tag instead; followed once, after the case was folded (in keys and values too)
    min_count : leave out tags that fewer rows have

    Returns
    -------
    cleaned : Collection whose tags stand in the order of their first appearance. A merged label is present if
        it is present under any of its old names, else unknown if it is unknown under any, else absent.
    """
    kept = {"keep": None, "leaf": slice(-1, None), "ancestors": slice(None)}
    check_kind("collection", collection, Collection, "a Collection")
    check_kind("separators", separators, str, "a text of separators, such as '|/'")
    check_kind(
        "synonyms", {} if synonyms is None else synonyms, Mapping, "a mapping of old names to new ones"
    )
    check_whole("min_count", min_count, 0)
    levels = kept[check_choice("hierarchy", hierarchy, tuple(kept))]
    renamed = [[tag] if levels is None else _levels(tag, separators)[levels] for tag in collection.tags]
    if fold_case:
        renamed = [[_fold(tag) for tag in tags] for tags in renamed]
        synonyms = {_fold(old): _fold(new) for old, new in (synonyms or {}).items()}
    if synonyms:
        renamed = [[synonyms.get(tag, tag) for tag in tags] for tags in renamed]
    labels, tags = merge_labels(collection.label_matrix, renamed)
    counts = np.bincount(positive_pairs(labels.stored)[1], minlength=len(tags))
    frequent = np.flatnonzero(counts >= min_count)
    new_names = dict(zip(collection.tags, renamed, strict=True))
    return collection.replaced(
        labels=labels.take_columns(frequent),
        tags=[tags[j] for j in frequent],
        decided=[
            label._replace(tag=tag) for label in collection.decided for tag in new_names.get(label.tag, ())
        ],
    )


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
