"""The probabilities of one model in the places of a table of states, and the pairs that they put first.

They stay on disk as half-precision numbers and are read in pieces. A picture or tag that came after the
model was trained, or of which it had nothing to go by (0 in the file), has none: nan. Every order of pairs is
found in one pass over them. What was decided since moves the other tags of its pictures (`shifts.py`).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count

import numpy as np

from tagrank.data.coherence import make_coherent
from tagrank.data.vocabulary import TagVocabulary
from tagrank.desk.learning.models import Proposals
from tagrank.desk.shifts import Shifts
from tagrank.desk.states import OPEN, StateTable

PLAIN = TagVocabulary()
MOST = 100_000  # pairs of an order; those after them are looked for when these are used up
_PIECE = 2**20  # pairs looked at together
_BLOCK = 1024  # whole pictures looked at together
_serials = count(1)

# probabilities and bytes (n, m), present pictures of each tag (m,), tagged pictures -> priorities, (n, m);
# -inf for what is not shown
Rank = Callable[[np.ndarray, np.ndarray, np.ndarray, int], np.ndarray]


@dataclass(frozen=True)
class Order:
    """Items in their order.

    Attributes
    ----------
    rows, columns : places in the table of states; a column of -1 stands for the picture as a whole
    is_cut : whether there were more
    priorities : by which they are ordered, highest first; None where something else orders them
    among : rows of the pictures to which filters limit the order, None for all
    decision : the last decision when the order was found
    n_moved : how many moves of probabilities it knows of
    serial : tells this order from all others
    """

    rows: np.ndarray
    columns: np.ndarray
    is_cut: bool = False
    priorities: np.ndarray | None = None
    among: np.ndarray | None = None
    decision: int = 0
    n_moved: int = 0
    serial: int = field(default_factory=lambda: next(_serials))

    @cached_property
    def pictures(self) -> np.ndarray:
        """The rows, each once, in the order of their first items."""
        _, first = np.unique(self.rows, return_index=True)
        return self.rows[np.sort(first)]

    def moved(self, rows: np.ndarray, anew: "Order", n_moved: int) -> "Order":
        """With the pairs of some rows in their new places: `anew` is the order of these rows alone."""
        assert self.priorities is not None
        assert anew.priorities is not None
        stays = ~np.isin(self.rows, rows)
        least = self.priorities[-1] if self.is_cut else -np.inf
        comes = anew.priorities >= least
        priorities = np.concatenate([self.priorities[stays], anew.priorities[comes]])
        places = np.argsort(-priorities, kind="stable")
        return replace(
            self,
            rows=np.concatenate([self.rows[stays], anew.rows[comes]])[places],
            columns=np.concatenate([self.columns[stays], anew.columns[comes]])[places],
            priorities=priorities[places],
            n_moved=n_moved,
            serial=next(_serials),
        )


class Probabilities:
    """What a model says of the pictures and tags of a table.

    Parameters
    ----------
    proposals : of the model; None where there is no model yet
    table : whose rows and columns count
    vocabulary : what the tags mean today; the model may know them by older names

    Attributes
    ----------
    number : that of the model, None without one
    table : as given
    """

    def __init__(
        self, proposals: Proposals | None, table: StateTable, vocabulary: TagVocabulary = PLAIN
    ) -> None:
        self.number: int | None = None if proposals is None else proposals.number
        self.table = table
        self._row_of = np.full(len(table.ids), -1, dtype=np.int32)
        self._probabilities = np.zeros((0, 0), dtype=np.float16)
        self._columns = np.zeros(0, dtype=np.int32)
        self._pairs = np.zeros((0, 2), dtype=np.int64)
        self._shifts = Shifts(proposals)
        if proposals is not None:
            self._align(proposals, vocabulary)

    def _align(self, proposals: Proposals, vocabulary: TagVocabulary) -> None:
        table, ids = self.table, np.asarray(proposals.ids, dtype=np.int64)
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

    def hear(self, changes: Sequence[tuple[int, int, int, int]]) -> np.ndarray:
        """Let decisions, as `StateTable.apply` gives them, move the other tags of their pictures: which rows.

        Only one thread at a time may call it.
        """
        if self._shifts.is_silent or not changes:
            return np.zeros(0, dtype=np.int64)
        place = {int(column): at for at, column in enumerate(self._columns) if column >= 0}
        told: dict[int, list[tuple[int, int, int]]] = {}
        for row, column, before, now in changes:
            if self._row_of[row] >= 0 and column in place:
                told.setdefault(row, []).append((place[column], before, now))
        for row, cells in told.items():
            codes = np.where(self._columns >= 0, self.table.codes[row, self._columns], 0).astype(np.uint8)
            for at, before, _ in reversed(cells):
                codes[at] = before
            latest = {at: code for at, _, code in cells}
            self._shifts.hear(int(self._row_of[row]), codes, list(latest), list(latest.values()))
        return np.array(sorted(told), dtype=np.int64)

    def of_rows(self, rows: np.ndarray) -> np.ndarray:
        """Probabilities of whole pictures, float32 of shape (len(rows), n_tags of the table)."""
        probabilities = np.full((len(rows), len(self.table.tags)), np.nan, dtype=np.float32)
        places = self._row_of[rows]
        is_known = places >= 0
        kept = self._columns >= 0
        values = _judged_only(self._probabilities[places[is_known]][:, kept])
        values = self._shifts.move(places[is_known], values, np.flatnonzero(kept))
        probabilities[np.ix_(np.flatnonzero(is_known), self._columns[kept])] = values
        return make_coherent(probabilities, self._pairs)

    def of_pairs(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Probabilities of single pairs, float32."""
        if len(self._pairs) or self._shifts.has_moves:
            # what a tag and its parents say depends on each other
            whole, place_of_row = np.unique(rows, return_inverse=True)
            values = self.of_rows(whole)
            is_there = columns < values.shape[1]
            chosen = values[place_of_row, np.where(is_there, columns, 0)]
            return np.where(is_there, chosen, np.float32(np.nan))
        place = np.full(self.table.codes.shape[1], -1, dtype=np.int32)
        place[self._columns[self._columns >= 0]] = np.flatnonzero(self._columns >= 0)
        rows, columns = self._row_of[rows], place[columns]
        probabilities = np.full(len(rows), np.nan, dtype=np.float32)
        is_known = (rows >= 0) & (columns >= 0)
        probabilities[is_known] = _judged_only(self._probabilities[rows[is_known], columns[is_known]])
        return probabilities

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
            values = self._shifts.move(self._row_of[piece], _judged_only(values), kept)
            yield piece, self._columns[kept], values

    def best_pairs(
        self, rank: Rank, *, rows: np.ndarray | None = None, column: int | None = None, most: int = MOST
    ) -> Order:
        """The pairs of the highest priority, at most so many, with `rows` and `column` as in `pieces`."""
        table = self.table
        best, n_present, n_tagged = _Best(most), table.n_present_of_tags(), table.n_tagged
        for piece, columns, probabilities in self.pieces(rows, column):
            priorities = rank(probabilities, table.block(piece, columns), n_present[columns], n_tagged)
            here, there = np.nonzero(priorities > best.least)
            best.add(piece[here], columns[there], priorities[here, there])
        return best.order()

    def best_open(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The most probable open tag of each picture, and its probability; -1 where there is none."""
        columns, values = np.full(len(rows), -1), np.full(len(rows), -1.0)
        for start in range(0, len(rows) if self.table.tags else 0, _BLOCK):
            block = rows[start : start + _BLOCK]
            probabilities = self.of_rows(block)
            n_tags = probabilities.shape[1]
            is_open = (self.table.codes[block, :n_tags] == OPEN) & ~np.isnan(probabilities)
            probabilities = np.where(is_open, probabilities, -1.0)
            best, here = probabilities.argmax(axis=1), slice(start, start + len(block))
            values[here] = probabilities[np.arange(len(block)), best]
            columns[here] = np.where(values[here] >= 0, best, -1)
        return columns, values

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
    judged = values.astype(np.float32)
    judged[judged == 0] = np.nan
    return judged


class _Best:
    """The items of the highest priorities of those that were added; of equal ones the first."""

    def __init__(self, most: int) -> None:
        self._most, self.least, self._is_cut = most, -np.inf, False
        self._parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self._n = 0

    def add(self, rows: np.ndarray, columns: np.ndarray, priorities: np.ndarray) -> None:
        self._parts.append((rows, columns, priorities))
        self._n += len(rows)
        if self._n > 2 * self._most:
            self._shrink()

    def _shrink(self) -> None:
        rows, columns, priorities = (np.concatenate(part) for part in zip(*self._parts, strict=True))
        order = np.argsort(-priorities, kind="stable")
        if len(order) > self._most:
            self._is_cut, order = True, order[: self._most]
            self.least = float(priorities[order[-1]])
        self._parts = [(rows[order], columns[order], priorities[order])]
        self._n = len(order)

    def order(self) -> Order:
        if not self._parts:
            nothing = np.zeros(0, dtype=np.int32)
            return Order(nothing, nothing, priorities=np.zeros(0))
        self._shrink()
        rows, columns, priorities = self._parts[0]
        return Order(rows.astype(np.int32), columns.astype(np.int32), self._is_cut, priorities)
