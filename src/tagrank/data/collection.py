"""Collection: pictures or rows with named views, three-state labels, tag names and official parts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from tagrank.array_files import join_columns, take_rows
from tagrank.data.label_matrix import LabelMatrix, Matrix, as_labels, positive_pairs, stack_labels
from tagrank.files import Problem
from tagrank.labels import check_tag_count, duplicates, encode_present, is_tag_sets
from tagrank.validation import check_kind, check_same_length, check_sparse

_LONGEST_PART = 200
_SHOWN = 5


class DecidedLabel(NamedTuple):
    """A label that a person decided: name of the row, tag, and whether it only confirms what was listed."""

    name: str
    tag: str
    is_confirmed: bool


class _WholeLabels:
    """The labels of a collection, in which rows about which nothing is known take no memory until asked."""

    def __get__(self, collection: Any, owner: Any) -> Matrix | None:
        return None if collection is None else collection.label_matrix.full()

    def __set__(self, collection: Any, labels: Any) -> None:
        vars(collection)["label_matrix"] = labels


@dataclass(frozen=True, eq=False, repr=False)
class Collection:
    """Pictures or rows that belong together, and what is known about their tags.

    Parameters
    ----------
    views : dict of name to an ndarray or csr_array of shape (n, ...), or a list of n picture paths
    labels : array-like or sparse matrix of 1, 0 and nan, shape (n, n_tags), a DataFrame whose columns
        are tags, or a list of n tag sets; None for a collection without tags
    tags : the names of the label columns; where nothing names them, "0", "1", ...
    names : a name for each row, such as a file name
    part : a word for each row, such as "train" or "test"
    name : what the collection is called
    feature_names : dict of view name to the names of its columns
    problems : files that were left out or not wholly understood when the collection was read, and why
    layout : how a folder of pictures stored their tags, such as "keywords"; see `read_pictures`
    decided : the labels that a person decided at the desk or in an audit, present, absent or unknown
    audited : the names of rows that were drawn at random and whose tags were all looked at: what they lack is
        surely absent
    implies : pairs of a tag and one that it implies, such as ("jet", "vehicle"), near or far
    trees : dict of row name to keywords with the levels above them, such as "places|europe|rome"
    """

    views: Mapping[str, Any]
    labels: Any = _WholeLabels()
    tags: Sequence[str] = ()
    names: Sequence[str] | None = None
    part: Any = None
    name: str = ""
    feature_names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    problems: Sequence[Problem] = ()
    layout: str = ""
    decided: Sequence[DecidedLabel] = ()
    audited: Sequence[str] = ()
    implies: Sequence[tuple[str, str]] = ()
    trees: Mapping[str, Sequence[str]] = field(default_factory=dict)
    label_matrix: LabelMatrix = field(init=False)

    def __post_init__(self) -> None:
        check_kind("views", self.views, Mapping, "a mapping of names to rows, such as {'features': X}")
        check_kind("feature_names", self.feature_names, Mapping, "a mapping of views to names of columns")
        if not self.views:
            raise ValueError("a collection needs at least one view, got none")
        views = {name: _as_view(name, view) for name, view in self.views.items()}
        first = next(iter(views.values()))
        n_rows = int(first.shape[0]) if hasattr(first, "shape") else len(first)
        matrix, tags = _labels_and_tags(self.label_matrix, self.tags, n_rows)
        part = None if self.part is None else _as_words(self.part)
        names = None if self.names is None else list(map(str, self.names))
        per_row = {f"view {name!r}": view for name, view in views.items()}
        per_row |= {"labels": matrix.stored, "part": part, "names": names}
        check_same_length(**{what: value for what, value in per_row.items() if value is not None})
        _check_tags(tags, matrix.shape[1])
        _check_feature_names(self.feature_names, views)
        changes = {"views": views, "label_matrix": matrix, "tags": tags, "names": names, "part": part}
        for attribute, value in changes.items():
            object.__setattr__(self, attribute, value)

    def __len__(self) -> int:
        return self.label_matrix.shape[0]

    @property
    def Y(self) -> Matrix:
        """The labels, shape (n, n_tags): 1 present, 0 absent, nan unknown."""
        return self.labels

    @property
    def X(self) -> Any:
        """The only view; a collection with several wants `view(name)` or `stacked()`."""
        if len(self.views) > 1:
            raise ValueError(
                f"{self._title} has several views ({', '.join(self.views)}); pick one: view(name)"
            )
        return next(iter(self.views.values()))

    def view(self, name: str) -> Any:
        """The view called `name`."""
        if name not in self.views:
            raise KeyError(f"no view {name!r} in {self._title}; there are: {', '.join(self.views)}")
        return self.views[name]

    def stacked(self) -> tuple[Matrix, dict[str, slice]]:
        """All views side by side, and the columns of each."""
        matrices = list(self.views.values())
        if any(getattr(matrix, "ndim", 0) != 2 for matrix in matrices):
            raise ValueError(f"{self._title} has views that are not matrices; extract features first")
        ends = np.cumsum([matrix.shape[1] for matrix in matrices])
        columns = {
            name: slice(int(end) - matrix.shape[1], int(end))
            for (name, matrix), end in zip(self.views.items(), ends, strict=True)
        }
        if any(sparse.issparse(matrix) for matrix in matrices):
            return sparse.hstack([sparse.csr_array(matrix) for matrix in matrices], format="csr"), columns
        return join_columns(matrices), columns

    def states(self) -> np.ndarray:
        """The labels as int8: +1 present, -1 absent, 0 unknown, shape (n, n_tags)."""
        return self.label_matrix.states()

    def known_rows(self) -> np.ndarray:
        """Which rows have a known label, shape (n,); none has one in a collection without tags."""
        return ~self.label_matrix.wholly_unknown() & (len(self.tags) > 0)

    def decided_mask(self, *, confirmed: bool = True) -> np.ndarray:
        """Which labels a person decided, bool of shape (n, n_tags), with or without those only confirmed."""
        mask = np.zeros(self.label_matrix.shape, dtype=bool)
        row = {name: i for i, name in enumerate(self.names or ())} if self.decided else {}
        column = {tag: j for j, tag in enumerate(self.tags)}
        for label in self.decided:
            if label.name in row and label.tag in column and (confirmed or not label.is_confirmed):
                mask[row[label.name], column[label.tag]] = True
        return mask

    def audited_mask(self) -> np.ndarray:
        """Which rows were drawn at random and looked at completely, bool of shape (n,)."""
        chosen = set(self.audited)
        return np.array([name in chosen for name in self.names or ()] or [False] * len(self), dtype=bool)

    def implied_columns(self) -> np.ndarray:
        """Columns of tags and of those that they imply, int array of shape (m, 2)."""
        column = {tag: j for j, tag in enumerate(self.tags)} if self.implies else {}
        pairs = [(column[tag], column[above]) for tag, above in self.implies if {tag, above} <= column.keys()]
        return np.array(sorted(set(pairs)), dtype=np.int64).reshape(-1, 2)

    def tag_counts(self) -> np.ndarray:
        """In how many rows each tag is present, shape (n_tags,)."""
        return np.bincount(positive_pairs(self.label_matrix.stored)[1], minlength=len(self.tags))

    def subset(self, rows: Any) -> "Collection":
        """The chosen rows (indices, a mask or a slice), in that order; the problems stay as they are."""
        chosen = np.arange(len(self))[rows]
        names = None if self.names is None else [self.names[i] for i in chosen]
        there = set(names or ())
        return self.replaced(
            views={name: _take(view, chosen) for name, view in self.views.items()},
            labels=self.label_matrix.take_rows(chosen),
            names=names,
            part=None if self.part is None else self.part[chosen],
            decided=[label for label in self.decided if label.name in there],
            audited=[name for name in self.audited if name in there],
            trees={name: trees for name, trees in self.trees.items() if name in there},
        )

    @property
    def train(self) -> "Collection":
        """The official training part."""
        return self._official("train")

    @property
    def test(self) -> "Collection":
        """The official test part."""
        return self._official("test")

    def _official(self, word: str) -> "Collection":
        if self.part is None or word not in self.part:
            raise ValueError(f"{self._title} has no {word!r} part; make one with split_collection")
        return self.subset(self.part == word)

    def with_labels(self, labels: Any, tags: Sequence[str] | None = None) -> "Collection":
        """The same rows with other labels, and other tag names if their number changes."""
        return self.replaced(labels=labels, tags=self.tags if tags is None else tags)

    def with_part(self, part: Any) -> "Collection":
        """The same rows with other parts."""
        return self.replaced(part=part)

    def replaced(self, **changes: Any) -> "Collection":
        """The collection with other values of some parameters."""
        kept = {entry.name: vars(self)[entry.name] for entry in fields(self) if entry.name in vars(self)}
        kept["labels"] = kept.pop("label_matrix")
        return Collection(**(kept | changes))

    def summary(self) -> dict[str, Any]:
        """Counts that describe the collection; an unknown label does not count as present."""
        n_rows, n_tags = self.label_matrix.shape
        rows, columns = positive_pairs(self.label_matrix.stored)
        n_cells = max(1, n_rows * n_tags)
        return {
            "name": self.name,
            "rows": n_rows,
            "views": {name: _width(view) for name, view in self.views.items()},
            "tags": n_tags,
            "cardinality": len(rows) / max(1, n_rows),
            "density": len(rows) / n_cells,
            "unknown share": int(self.label_matrix.unknown_by_row().sum()) / n_cells,
            "rows without tag": n_rows - len(np.unique(rows)),
            "rows wholly unknown": int(self.label_matrix.wholly_unknown().sum()),
            "tags never present": n_tags - len(np.unique(columns)),
            "parts": {} if self.part is None else _counts(self.part),
            "problems": len(self.problems),
            "decisions": len(self.decided),
        }

    def __repr__(self) -> str:
        facts = self.summary()
        views = ", ".join(f"{name} ({width})" for name, width in facts["views"].items())
        text = (
            f"<Collection {self.name!r}: {facts['rows']:,} rows; {views}; {facts['tags']:,} tags, "
            f"{facts['cardinality']:.2f} each (density {facts['density']:.4f})"
        )
        if facts["unknown share"]:
            text += f", {facts['unknown share']:.1%} unknown"
        if facts["rows without tag"]:
            text += f", {facts['rows without tag']:,} rows without tag"
        text += "".join(f"; {count:,} {word}" for word, count in facts["parts"].items())
        return text + (f"; problems: {facts['problems']:,}" if facts["problems"] else "") + ">"

    @property
    def _title(self) -> str:
        return f"collection {self.name!r}" if self.name else "the collection"


def concatenate_parts(parts: Mapping[str, Collection], *, name: str = "") -> Collection:
    """One collection from several with the same tags and views; each row remembers its key as its part.

    Columns that have names are put into the order of the first part.
    """
    first, *others = parts.values()
    for other in others:
        if other.tags != first.tags or list(other.views) != list(first.views):
            raise ValueError(f"the parts {', '.join(parts)} differ in their tags or views")
    all_named = all(part.names is not None for part in parts.values())
    return Collection(
        views={
            key: _vstack([_columns_like(first, part, key, word) for word, part in parts.items()])
            for key in first.views
        },
        labels=stack_labels([part.label_matrix for part in parts.values()]),
        tags=first.tags,
        names=[row for part in parts.values() for row in part.names or ()] if all_named else None,
        part=[word for word, part in parts.items() for _ in range(len(part))],
        name=name,
        feature_names=first.feature_names,
        problems=tuple(dict.fromkeys(problem for part in parts.values() for problem in part.problems)),
    )


def _columns_like(first: Collection, part: Collection, view: str, word: str) -> Any:
    first_names, names = first.feature_names.get(view), part.feature_names.get(view)
    what = f"view {view!r} of part {word!r}"
    return match_columns(part.views[view], names, first_names, what=what, like="the first part")


def _vstack(pieces: list[Any]) -> Any:
    if any(sparse.issparse(piece) for piece in pieces):
        return sparse.vstack([sparse.csr_array(piece) for piece in pieces], format="csr")
    if all(hasattr(piece, "shape") for piece in pieces):
        return np.concatenate(pieces)
    return [entry for piece in pieces for entry in piece]


def only_features(collection: Collection, format: str) -> tuple[Matrix, list[str]]:
    """The only view and the names of its columns, for a `format` that holds nothing else."""
    if getattr(collection.X, "ndim", 0) != 2:
        raise ValueError(
            f"{format} holds rows of features, got pictures; write CSV, JSON lines or NPZ instead"
        )
    return collection.X, feature_names_of(collection, next(iter(collection.views)))


def feature_names_of(collection: Collection, view: str) -> list[str]:
    """The column names of a view, made up where it has none."""
    names = collection.feature_names.get(view)
    return list(names) if names is not None else [f"{view}{j}" for j in range(collection.view(view).shape[1])]


def _as_view(name: str, view: Any) -> Any:
    if sparse.issparse(view):
        check_sparse(f"view {name!r}", view)
        return sparse.csr_array(view)
    return list(view) if isinstance(view, tuple) else view


def _labels_and_tags(labels: Any, tags: Sequence[str], n_rows: int) -> tuple[LabelMatrix, list[str]]:
    if labels is None:
        labels = sparse.csr_array((n_rows, 0))
    elif is_tag_sets(labels):
        present, tags, unknown_rows = encode_present(labels, tags=list(tags) or None)
        labels = LabelMatrix(present, unknown_rows)
    matrix = as_labels(labels)
    check_tag_count(matrix.shape[1])
    if len(tags) == 0:
        tags = list(getattr(labels, "columns", map(str, range(matrix.shape[1]))))
    return matrix, [str(tag) for tag in tags]


def _as_words(part: Any) -> np.ndarray:
    # an array of text takes the room of its longest word in each row
    if (longest := max((len(str(word)) for word in part), default=0)) > _LONGEST_PART:
        raise ValueError(f"part has a word of {longest:,} characters; at most {_LONGEST_PART} are expected")
    return np.asarray(part, dtype=str)


def _take(view: Any, rows: np.ndarray) -> Any:
    if isinstance(view, np.ndarray):
        return take_rows(view, rows)
    return view[rows] if hasattr(view, "shape") else [view[i] for i in rows]


def _width(view: Any) -> int | str:
    return int(view.shape[1]) if getattr(view, "ndim", 0) == 2 else "pictures"


def _counts(words: np.ndarray) -> dict[str, int]:
    return {str(word): int(count) for word, count in zip(*np.unique(words, return_counts=True), strict=True)}


def _check_tags(tags: list[str], n_columns: int) -> None:
    if len(tags) != n_columns:
        raise ValueError(f"labels have {n_columns} columns but {len(tags)} tag names were given")
    if twice := duplicates(tags):
        raise ValueError(f"duplicate tag names: {', '.join(twice[:5])}; give each column a different name")


def _check_feature_names(feature_names: Mapping[str, Sequence[str]], views: dict[str, Any]) -> None:
    for name, columns in feature_names.items():
        if name not in views or _width(views[name]) != len(columns):
            raise ValueError(
                f"feature_names[{name!r}] names {len(columns)} columns; no such view has as many"
            )


def frame_columns(rows: Any) -> list[str] | None:
    """The names of the columns of a DataFrame; None where there are none, or where they just count."""
    columns = list(getattr(rows, "columns", ()))
    return None if columns == list(range(len(columns))) else [str(column) for column in columns]


def match_columns(
    rows: Any,
    names: Sequence[str] | None,
    expected: Sequence[str] | None,
    *,
    what: str,
    like: str = "training",
) -> Any:
    """The rows (n, n_columns) with their columns in the wanted order; as they are where names are None.

    `what` and `like` say whose columns these are and whose are wanted, should their names not be the same.
    """
    if names is None or expected is None or list(names) == list(expected):
        return rows
    place = {name: j for j, name in enumerate(names)}
    missing = [name for name in expected if name not in place]
    unknown = sorted(place.keys() - set(expected), key=place.__getitem__)
    if missing or unknown:
        differences = filter(None, (_listed("missing", missing), _listed("unknown", unknown)))
        raise ValueError(
            f"{what} must have the {len(expected)} columns of {like}, in any order; {'; '.join(differences)}"
        )
    if len(place) < len(names):
        raise ValueError(f"{what} must have each column once, but some of its {len(names)} names occur twice")
    return rows[:, [place[name] for name in expected]]


def _listed(word: str, names: Sequence[str]) -> str:
    if not names:
        return ""
    shown = ", ".join(map(repr, names[:_SHOWN])) + (", ..." if len(names) > _SHOWN else "")
    return f"{len(names)} {word}: {shown}"
