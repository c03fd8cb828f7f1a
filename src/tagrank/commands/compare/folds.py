"""What is compared on: data, divided into training and test rows, described, kept for worker processes."""

import hashlib
import json
import os
import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from tagrank.annotation.describing import PICTURES, describe_rows
from tagrank.commands.given_data import (
    check_has_tags,
    choose_part,
    keep_frequent,
    known_pictures,
    open_collection,
)
from tagrank.commands.steps.evaluating import align_tags
from tagrank.data import Collection, LabelStratifiedKFold, Reading, clean_tags, split_collection
from tagrank.features import Feature
from tagrank.files import Problem

USUAL_TEST_SIZE = 0.25


@dataclass(frozen=True)
class DividedRows:
    """Training and test rows, described where they were pictures."""

    train: Collection
    test: Collection
    features: Mapping[str, Feature] | None


@dataclass(frozen=True)
class Fold:
    """Rows in a file, and what is known of them.

    Attributes
    ----------
    data : the name of the data
    number : which fold of the data, from 0
    place : the file, see `load_rows`
    fingerprint : of everything in it
    n_train, n_test, n_columns, n_tags : sizes
    kind : "picture" or "row"
    problems : files that were left out, and why
    """

    data: str
    number: int
    place: str
    fingerprint: str
    n_train: int
    n_test: int
    n_columns: int
    n_tags: int
    kind: str
    problems: Sequence[Problem] = ()


@dataclass(frozen=True)
class Division:
    """How data become folds.

    Attributes
    ----------
    folds : cross-validated on so many; None for one division
    test_size : share of the rows to measure on; None for the official test part, or a quarter
    seed : for the division, and for vocabularies of pictures
    reading : how files are opened, see `open_collection`
    spelling : tidier tags, as the reading has them, see `clean_tags`
    features : of pictures, see `describe_rows`
    describing : how pictures are looked at, see `describe_pictures`
    """

    folds: int | None
    test_size: float | None
    seed: int
    reading: Reading
    spelling: Mapping[str, Any]
    features: Mapping[str, Feature] | None
    describing: Mapping[str, Any]

    def divide(self, data: Collection | str | os.PathLike) -> Iterator[DividedRows]:
        """The folds of one collection, one after the other."""
        opened = check_has_tags(open_collection(data, self.reading), data)
        tidy = clean_tags(known_pictures(opened), **self.spelling)
        for train, test in self._parts(tidy):
            train = keep_frequent(train, self.reading.min_count)
            _check_part(train, "training", tidy.name)
            _check_part(test, "test", tidy.name)
            described = describe_rows(train, self.features, random_state=self.seed, **self.describing)
            features = described.features or None
            seen = describe_rows(test, features, **self.describing)
            rows = (
                align_tags(seen.collection, train.tags)
                if len(train.tags) < len(test.tags)
                else seen.collection
            )
            yield DividedRows(_without_pictures(described.collection), _without_pictures(rows), features)

    def _parts(self, rows: Collection) -> Iterator[tuple[Collection, Collection]]:
        if self.folds is not None:
            if self.folds > len(rows):
                raise ValueError(
                    f"{self.folds} folds need at least as many rows, got {len(rows)} in {rows.name}"
                )
            splitter = LabelStratifiedKFold(self.folds, shuffle=True, random_state=self.seed)
            for train, test in splitter.split(np.zeros((len(rows), 1)), rows.label_matrix):
                yield rows.subset(train), rows.subset(test)
            return
        words = set() if rows.part is None else set(rows.part.tolist())
        if self.test_size is None and {"train", "test"} <= words:
            yield choose_part(rows, "train", usual="train"), choose_part(rows, "test", usual="test")
            return
        if len(rows) < 2:
            raise ValueError(
                f"{rows.name or 'the data'} has one row; expected some to train on and some to measure on"
            )
        size = USUAL_TEST_SIZE if self.test_size is None else self.test_size
        parted = split_collection(rows, test_size=size, random_state=self.seed)
        yield parted.train, parted.test


def keep_rows(rows: DividedRows, data: str, number: int, folder: Path) -> Fold:
    """Write rows into a file for worker processes."""
    place = folder / f"{len(list(folder.iterdir()))}.pickle"
    with open(place, "wb") as stream:
        pickle.dump(rows, stream, protocol=5)
    matrices = [X for X in rows.train.views.values() if getattr(X, "ndim", 0) == 2]
    return Fold(
        data,
        number,
        str(place),
        _fingerprint(rows),
        len(rows.train),
        len(rows.test),
        sum(int(X.shape[1]) for X in matrices),
        len(rows.train.tags),
        "row" if rows.features is None else "picture",
        tuple(dict.fromkeys((*rows.train.problems, *rows.test.problems))),
    )


def load_rows(place: str) -> DividedRows:
    """What `keep_rows` wrote, in this run, for this run."""
    with open(place, "rb") as stream:
        return pickle.load(stream)


def _check_part(rows: Collection, part: str, name: str) -> None:
    if not len(rows) or not (rows.states() > 0).any():
        raise ValueError(
            f"the {part} part of {name or 'the data'} has no tags, so nothing can be "
            f"{'learned' if part == 'training' else 'measured'}; split the data in another way, for instance "
            "with test_size=0.25"
        )


def _without_pictures(rows: Collection) -> Collection:
    """What methods read: features, where there are any; pixels take much memory."""
    if len(rows.views) == 1 or PICTURES not in rows.views:
        return rows
    return rows.replaced(views={name: X for name, X in rows.views.items() if name != PICTURES})


def _fingerprint(rows: DividedRows) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for part in (rows.train, rows.test):
        digest.update(json.dumps([part.tags, sorted(part.views)]).encode())
        digest.update(np.ascontiguousarray(part.states()).tobytes())
        for _, X in sorted(part.views.items()):
            for array in _arrays(X):
                digest.update(f"{array.shape}{array.dtype}".encode())
                digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _arrays(X: Any) -> Iterator[np.ndarray]:
    if sparse.issparse(X):
        X = X.tocsr()
        yield from (X.data, X.indices, X.indptr)
    else:
        yield np.asarray(X)
