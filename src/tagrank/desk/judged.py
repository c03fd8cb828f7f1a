"""The probabilities of one model in the places of a table of states.

They stay on disk as half-precision numbers and are read in pieces. A picture or tag that came after the
model was trained, or of which it had nothing to go by (0 in the file), has none: nan.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tagrank.data.coherence import make_coherent
from tagrank.data.vocabulary import TagVocabulary
from tagrank.desk.states import StateTable

PLAIN = TagVocabulary()
_PIECE = 2**20  # pairs looked at together


class Judged:
    """What a model says of the pictures and tags of a table.

    Parameters
    ----------
    proposals : a model's `number`, `ids`, `tags` and `probabilities`; None where there is no model yet
    table : whose rows and columns count
    vocabulary : what the tags mean today; the model may know them by older names
    """

    def __init__(self, proposals: Any, table: StateTable, vocabulary: TagVocabulary = PLAIN) -> None:
        self.number: int | None = None if proposals is None else proposals.number
        self._table = table
        self._row_of = np.full(len(table.ids), -1, dtype=np.int32)
        self._probabilities = np.zeros((0, 0), dtype=np.float16)
        self._columns = np.zeros(0, dtype=np.int32)
        self._pairs = np.zeros((0, 2), dtype=np.int64)
        if proposals is not None:
            self._align(proposals, vocabulary)

    def _align(self, proposals: Any, vocabulary: TagVocabulary) -> None:
        table, ids = self._table, np.asarray(proposals.ids, dtype=np.int64)
        self._probabilities = proposals.probabilities
        known = [table.column(tag) for tag in _own_names(list(proposals.tags), vocabulary)]
        self._columns = np.array([-1 if column is None else column for column in known], dtype=np.int32)
        judged = set(self._columns[self._columns >= 0].tolist())
        above = [
            (table.column(tag), table.column(one)) for tag, many in vocabulary.above.items() for one in many
        ]
        self._pairs = np.array([pair for pair in above if judged.issuperset(pair)], dtype=np.int64).reshape(
            -1, 2
        )
        if len(ids):
            places = np.minimum(np.searchsorted(ids, table.ids), len(ids) - 1)
            is_here = ids[places] == table.ids
            self._row_of[is_here] = places[is_here]

    @property
    def is_empty(self) -> bool:
        """Whether no probabilities are known at all."""
        return self.number is None

    def of_rows(self, rows: np.ndarray) -> np.ndarray:
        """Probabilities of whole pictures, float32 of shape (len(rows), n_tags of the table)."""
        found = np.full((len(rows), len(self._table.tags)), np.nan, dtype=np.float32)
        places = self._row_of[rows]
        is_known = places >= 0
        kept = self._columns >= 0
        values = self._probabilities[places[is_known]][:, kept]
        found[np.ix_(np.flatnonzero(is_known), self._columns[kept])] = _judged_only(values)
        return make_coherent(found, self._pairs)

    def of_pairs(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Probabilities of single pairs, float32."""
        if len(self._pairs):
            # what a tag and its parents say depends on each other
            whole, place_of_row = np.unique(rows, return_inverse=True)
            values = self.of_rows(whole)
            is_there = columns < values.shape[1]
            chosen = values[place_of_row, np.where(is_there, columns, 0)]
            return np.where(is_there, chosen, np.float32(np.nan))
        place = np.full(self._table.codes.shape[1], -1, dtype=np.int32)
        place[self._columns[self._columns >= 0]] = np.flatnonzero(self._columns >= 0)
        rows, columns = self._row_of[rows], place[columns]
        found = np.full(len(rows), np.nan, dtype=np.float32)
        is_known = (rows >= 0) & (columns >= 0)
        found[is_known] = _judged_only(self._probabilities[rows[is_known], columns[is_known]])
        return found

    def pieces(
        self, rows: np.ndarray | None = None, column: int | None = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """(rows, columns, probabilities) of the table, piece by piece, for pictures that the model judged.

        Parameters
        ----------
        rows : only these pictures
        column : only this tag
        """
        rows = np.arange(len(self._row_of)) if rows is None else rows
        rows = rows[self._row_of[rows] >= 0]
        kept = np.flatnonzero(self._columns == column if column is not None else self._columns >= 0)
        if not len(kept):
            return
        is_whole = len(kept) == len(self._columns)
        step = max(1, _PIECE // (len(self._columns) if len(self._pairs) else len(kept)))
        for start in range(0, len(rows), step):
            piece = rows[start : start + step]
            if len(self._pairs):
                yield piece, self._columns[kept], self.of_rows(piece)[:, self._columns[kept]]
                continue
            values = self._read(self._row_of[piece])
            values = values if is_whole else values[:, kept]
            yield piece, self._columns[kept], _judged_only(values)

    def _read(self, places: np.ndarray) -> np.ndarray:
        """Rows of the model; a stretch of neighbours is not copied."""
        if len(places) and places[-1] - places[0] + 1 == len(places):
            return self._probabilities[places[0] : places[-1] + 1]
        return self._probabilities[places]


def _own_names(words: list[str], vocabulary: TagVocabulary) -> list[str]:
    """The tag of today that each tag of the model stands for; "" where another stands for it rather."""
    chosen: dict[str, str] = {}
    for word in words:
        tag = vocabulary.name(word)
        if tag == word or tag not in chosen:
            chosen[tag] = word
    return [tag if chosen[tag] == word else "" for word in words for tag in [vocabulary.name(word)]]


def _judged_only(values: np.ndarray) -> np.ndarray:
    found = values.astype(np.float32)
    found[found == 0] = np.nan
    return found
