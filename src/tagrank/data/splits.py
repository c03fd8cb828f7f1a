"""How a collection is prepared for a measurement: splits in which every tag keeps its share, hidden labels.

Splits are made by iterative stratification (Sechidis et al. 2011). The rarest tag is dealt out first: each of
its rows goes to the fold that still wants that tag most, then to the one that wants rows most. Here folds
also have exact sizes: a full fold takes no more. An unknown label counts neither as present nor as absent.
Rows without any present label, and rows about which nothing is known, are dealt out evenly as if each were a
tag of their own.

Labels are hidden on purpose to measure how a method bears pictures that carry only some of their tags.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from tagrank.data.collection import Collection
from tagrank.data.label_matrix import LabelMatrix, Matrix, as_label_matrix, as_labels, positive_pairs
from tagrank.labels import is_tag_sets
from tagrank.validation import check_between, check_choice, check_positive, check_whole

_MARKS = {"absent": 0.0, "unknown": np.nan}


def iterative_split(
    Y: Any, *, test_size: float = 0.25, random_state: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Split samples in two so that each label keeps its share.

    Parameters
    ----------
    Y : labels, shape (n_samples, n_labels), or classes, shape (n_samples,)
    test_size : share of the test samples between 0 and 1, or their number
    random_state : None, int or numpy Generator

    Returns
    -------
    train, test : arrays of row numbers, each in ascending order
    """
    members = _strata(Y)
    n_samples = members.shape[0]
    check_positive("test_size", test_size)
    n_test = int(test_size) if test_size >= 1 else round(test_size * n_samples)
    if not 0 < n_test < n_samples:
        raise ValueError(f"test_size={test_size!r} leaves one of the two parts of {n_samples} samples empty")
    rng = np.random.default_rng(random_state)
    is_test = _assign(members, np.array([n_samples - n_test, n_test]), rng) == 1
    return np.flatnonzero(~is_test), np.flatnonzero(is_test)


def split_collection(
    collection: Collection, *, test_size: float = 0.25, random_state: Any = None
) -> Collection:
    """The collection with new parts "train" and "test", in which each tag keeps its share.

    Parameters
    ----------
    collection : what to split
    test_size : float, default 0.25, the share of the rows in the part "test"
    random_state : int, RandomState or None, seeds the choice of the rows
    """
    part = np.full(len(collection), "train")
    part[iterative_split(collection.label_matrix, test_size=test_size, random_state=random_state)[1]] = "test"
    return collection.with_part(part)


class LabelStratifiedKFold:
    """Cross-validation folds in which each label keeps its share; a scikit-learn splitter.

    Parameters
    ----------
    n_splits : the number of folds, at least 2; their sizes differ by one at most
    shuffle : deal the samples out in random order; without it, they are taken as they come
    random_state : None, int or numpy Generator; only with `shuffle`
    """

    def __init__(self, n_splits: int = 5, *, shuffle: bool = False, random_state: Any = None) -> None:
        check_whole("n_splits", n_splits, 2)
        if random_state is not None and not shuffle:
            raise ValueError("random_state has no effect without shuffle=True")
        self.n_splits = int(n_splits)
        self.shuffle = shuffle
        self.random_state = random_state

    def split(self, X: Any, Y: Any, groups: Any = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the rows of the training and the test samples of each fold."""
        members = _strata(Y)
        n_samples = members.shape[0]
        if n_samples < self.n_splits:
            raise ValueError(f"n_splits={self.n_splits} is more than the {n_samples} samples")
        sizes = np.full(self.n_splits, n_samples // self.n_splits)
        sizes[: n_samples % self.n_splits] += 1
        folds = _assign(members, sizes, np.random.default_rng(self.random_state) if self.shuffle else None)
        for fold in range(self.n_splits):
            yield np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)

    def get_n_splits(self, X: Any = None, Y: Any = None, groups: Any = None) -> int:
        """The number of folds."""
        return self.n_splits

    def __repr__(self) -> str:
        return (
            f"LabelStratifiedKFold(n_splits={self.n_splits}, shuffle={self.shuffle}, "
            f"random_state={self.random_state})"
        )


def _strata(Y: Any) -> Matrix:
    """Which sample belongs to which label, with two more columns: nothing present, nothing known."""
    is_matrix = sparse.issparse(Y) or isinstance(Y, LabelMatrix)
    if not is_matrix and not is_tag_sets(Y) and np.ndim(Y) == 1:
        codes = np.unique(np.asarray(Y), return_inverse=True)[1]
        Y = sparse.csr_array((np.ones(len(codes)), (np.arange(len(codes)), codes)))
    labels = as_labels(Y)
    n_samples, n_labels = labels.shape
    rows, columns = positive_pairs(labels.stored)
    unknown = labels.wholly_unknown()
    empty = np.setdiff1d(np.arange(n_samples), rows)
    rows = np.concatenate([rows, empty])
    columns = np.concatenate([columns, np.where(unknown[empty], n_labels + 1, n_labels)])
    return sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n_samples, n_labels + 2))


def _assign(members: Matrix, sizes: np.ndarray, rng: np.random.Generator | None) -> np.ndarray:
    """The fold of each sample; without `rng` samples come in their order and ties go to the last fold."""
    n_samples = members.shape[0]
    if rng is None:
        return _deal(members, sizes, np.zeros((n_samples, len(sizes))))
    order = rng.permutation(n_samples)
    folds = np.empty(n_samples, dtype=np.intp)
    folds[order] = _deal(members[order], sizes, rng.random((n_samples, len(sizes))))
    return folds


def _deal(members: Matrix, sizes: np.ndarray, tie_breaks: np.ndarray) -> np.ndarray:
    n_samples, _ = members.shape
    by_stratum = members.tocsc()
    remaining = np.diff(by_stratum.indptr).astype(np.float64)
    shares = np.outer(remaining, sizes / n_samples)
    room = sizes.astype(np.float64)
    folds = np.full(n_samples, -1, dtype=np.intp)
    while True:
        remaining[remaining <= 0] = np.inf
        stratum = int(remaining.argmin())
        if np.isinf(remaining[stratum]):
            return folds
        for i in by_stratum.indices[by_stratum.indptr[stratum] : by_stratum.indptr[stratum + 1]]:
            if folds[i] >= 0:
                continue
            # the last key counts most: a full fold comes after all others
            fold = np.lexsort((tie_breaks[i], room, shares[stratum], room > 0))[-1]
            strata = members.indices[members.indptr[i] : members.indptr[i + 1]]
            folds[i] = fold
            room[fold] -= 1
            shares[strata, fold] -= 1
            remaining[strata] -= 1


def hide_labels(
    Y: Any, fraction: float, *, share_of: str = "all", mark: str = "absent", random_state: Any = None
) -> Matrix:
    """Hide a fraction of the present labels; each sample that has some keeps at least one.

    With `share_of="all"`, our own rule, one label of every sample is set aside at random; the hidden ones are
    drawn without replacement from all others, so their number is exact: `round(fraction * number of present
    labels)`. Samples with many labels lose a larger share of them.

    With `share_of="sample"`, the rule of Bucak, Jin and Jain (2011) and of Bucak's dissertation, chapter 5,
    each sample loses the fraction of its own labels. A share that is no whole number is rounded up or down at
    random, so that it is right on average (they do not say how they round). Samples with one label lose
    nothing, so that the hidden labels are fewer than the fraction of all.

    Parameters
    ----------
    Y : labels, shape (n_samples, n_labels)
    fraction : share of the present labels to hide, 0 to 1 (0.2, 0.4 and 0.6 in the dissertation)
    share_of : {"all", "sample"}, what the fraction is a share of: all present labels, or those of each sample
    mark : {"absent", "unknown"}, what a hidden label looks like: 0, as in pictures whose tags are incomplete
        without anybody knowing which (so in the dissertation), or nan
    random_state : None, int or numpy Generator

    Returns
    -------
    hidden : a copy of `Y` of the same kind, dense or sparse
    """
    value = _MARKS[check_choice("mark", mark, tuple(_MARKS))]
    draw = _DRAWS[check_choice("share_of", share_of, tuple(_DRAWS))]
    check_between("fraction", fraction, 0, 1)
    Y = as_label_matrix(Y)
    rows, columns = draw(positive_pairs(Y), float(fraction), np.random.default_rng(random_state))
    if sparse.issparse(Y):
        return _replace_stored(Y, rows, columns, value)
    Y[rows, columns] = value
    return Y


def _draw_of_all(
    present: tuple[np.ndarray, np.ndarray], fraction: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    rows, columns = present
    n_hidden = round(fraction * len(rows))
    order = rng.permutation(len(rows))
    # in random order, the first label of each row is the one it keeps
    _, kept = np.unique(rows[order], return_index=True)
    candidates = np.delete(order, kept)
    if n_hidden > len(candidates):
        raise ValueError(
            f"cannot hide {fraction:.0%} of {len(rows)} labels when each sample keeps one: "
            f"at most {len(candidates) / max(1, len(rows)):.1%} can be hidden; "
            "with share_of='sample' each sample loses what it can"
        )
    hidden = candidates[:n_hidden]
    return rows[hidden], columns[hidden]


def _draw_of_each(
    present: tuple[np.ndarray, np.ndarray], fraction: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    rows, columns = present
    order = rng.permutation(len(rows))
    order = order[np.argsort(rows[order], kind="stable")]
    _, starts, owner, counts = np.unique(
        rows[order], return_index=True, return_inverse=True, return_counts=True
    )
    wanted = fraction * counts
    n_hidden = np.floor(wanted) + (rng.random(len(counts)) < wanted % 1)
    place = np.arange(len(order)) - starts[owner]
    hidden = order[place < np.minimum(n_hidden, counts - 1)[owner]]
    return rows[hidden], columns[hidden]


_DRAWS = {"all": _draw_of_all, "sample": _draw_of_each}


def _replace_stored(Y: Matrix, rows: np.ndarray, columns: np.ndarray, value: float) -> Matrix:
    n_columns = Y.shape[1]
    stored_rows = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    keys = stored_rows * n_columns + Y.indices
    Y.data[np.isin(keys, rows * n_columns + columns)] = value
    Y.eliminate_zeros()
    return Y
