"""What the process of the trainings reads: the archive, and the features of its pictures from the bank."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tagrank.annotation.describing import PICTURES, describe_rows, name_features
from tagrank.archive import Archive
from tagrank.archive.decisions import count_decisions, last_decision, read_unmarked
from tagrank.archive.pictures import read_contents, read_labels
from tagrank.data import Collection
from tagrank.desk.learning.examples import Examples, NothingToLearn
from tagrank.desk.learning.training import Source
from tagrank.progress import Progress


@dataclass(frozen=True)
class Read:
    """What was read; decisions are counted, so that it is known what a model has learned from."""

    examples: Examples
    n_decisions: int
    last_decision: int


class ArchiveReader:
    """Reads again and again; features only of pictures that are new or have changed."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._known: Any = None
        self._described: Any = None

    def read(self, progress: Progress | None = None) -> Read:
        """The examples of today."""
        with Archive.open(
            self.source.folder, database=self.source.database, create=False, read_only=True
        ) as archive:
            (collection, ids, decided), (pictures, _, cells, vocabulary), unmarked, last, n_decisions = (
                archive.read(
                    lambda connection: (
                        read_labels(connection, archive.folder),
                        read_contents(connection),
                        read_unmarked(connection),
                        last_decision(connection),
                        count_decisions(connection, 0),
                    )
                )
            )
        if not len(collection):
            raise NothingToLearn("the archive has no pictures; put some into its folder, then scan it again")
        described = self._describe(collection, pictures.keys, progress)
        confirmed = cells.is_decided & cells.is_listed & (cells.states > 0)
        counted = _without(decided, ids, cells, confirmed)
        rows, kept = _with_labels(described.collection, collection)
        place = np.cumsum(kept) - 1
        counted = tuple(values[kept[counted[0]]] for values in counted)
        examples = Examples(
            rows,
            ids[kept],
            (place[counted[0]], counted[1]),
            described.features or None,
            _places([(picture, vocabulary.name(tag)) for picture, tag in unmarked], ids[kept], rows.tags),
        )
        return Read(examples, n_decisions, last)

    def _describe(self, collection: Collection, keys: list[bytes], progress: Progress | None) -> Any:
        known = list(zip(collection.names or (), keys, strict=True))
        if known != self._known:
            features = name_features(self.source.features)
            options = {"cache": self.source.cache, "n_jobs": self.source.n_jobs, "progress": progress}
            self._described = describe_rows(collection, features, **options)
            self._known = known
        return self._described


def _with_labels(described: Collection, today: Collection) -> tuple[Collection, np.ndarray]:
    """The described pictures with the labels of today, and which of today's pictures they are."""
    names = set(described.names or ())
    kept = np.array([name in names for name in today.names or ()], dtype=bool)
    views = {name: view for name, view in described.views.items() if name != PICTURES}
    return today.subset(kept).replaced(views=views), kept


def _places(
    pairs: list[tuple[int, str]], ids: np.ndarray, tags: Sequence[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of pairs of picture and tag, as far as they are there."""
    row, column = ({name: i for i, name in enumerate(names)} for names in (ids.tolist(), tags))
    found = [(row[picture], column[tag]) for picture, tag in pairs if picture in row and tag in column]
    rows, columns = np.array(found, dtype=np.int64).reshape(-1, 2).T
    return rows, columns


def _without(decided: Any, ids: np.ndarray, cells: Any, confirmed: np.ndarray) -> Any:
    """The decided cells but for those that were listed before and were confirmed."""
    rows = np.searchsorted(ids, cells.pictures[cells.is_decided & ~confirmed])
    return rows, cells.columns[cells.is_decided & ~confirmed]
