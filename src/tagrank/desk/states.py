"""What is known of every pair of picture and tag, in memory: one byte a pair.

A byte holds the state (unknown, present, absent), whether somebody decided it, whether the archive lists the
tag, and whether the state follows from other tags of the picture. Bytes are written one at a time and read
without a lock: a reader sees a pair as it was or as it is.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from tagrank.archive.records import Cell, SparseStates
from tagrank.estimators.calibration.audit import Audit, audit_labels

UNKNOWN, PRESENT, ABSENT = 0, 1, 2
DECIDED, LISTED, IMPLIED = 4, 8, 16
STATE_NAMES = {UNKNOWN: "unknown", PRESENT: "present", ABSENT: "absent"}
_NUMBERS = {name: number for number, name in STATE_NAMES.items()}
OPEN, DOUBTED = 0, PRESENT | LISTED  # nothing is known; listed, and nobody decided it
STATE, _N_CODES = 3, 32
_ROOM = 16  # columns beyond those in use, for new tags


class StateTable:
    """Pictures by tags.

    Attributes
    ----------
    ids, tags : the pictures, ascending, and a column for each tag; `cells` are those of an archive
    names : of the pictures
    is_audited : bool array, whether a picture is marked as complete in the audit; follows decisions
    codes : uint8, shape (n_pictures, at least n_tags)
    n_present : present tags of each picture
    counts : how many pairs of each tag have each code, shape (at least n_tags, 32)
    """

    def __init__(
        self,
        ids: np.ndarray,
        tags: Sequence[str],
        cells: SparseStates,
        *,
        names: Sequence[str] | None = None,
        is_audited: np.ndarray | None = None,
    ) -> None:
        self.ids = np.asarray(ids, dtype=np.int64)
        self.names = list(map(str, self.ids.tolist())) if names is None else list(names)
        self.is_audited = np.zeros(len(self.ids), dtype=bool) if is_audited is None else is_audited
        self.tags = list(tags)
        self._column = {tag: j for j, tag in enumerate(self.tags)}
        self.codes = np.zeros((len(self.ids), len(self.tags) + _ROOM), dtype=np.uint8)
        rows, columns, codes = np.searchsorted(self.ids, cells.pictures), cells.columns, codes_of(cells)
        self.codes[rows, columns] = codes
        self.n_present = np.bincount(rows[(codes & STATE) == PRESENT], minlength=len(self.ids))
        self.counts = self._count(columns, codes)

    def _count(self, columns: np.ndarray, codes: np.ndarray) -> np.ndarray:
        n_columns = self.codes.shape[1]
        counts = np.bincount(columns * _N_CODES + codes, minlength=n_columns * _N_CODES)
        counts = counts.reshape(n_columns, _N_CODES)
        counts[:, 0] = len(self.ids) - counts[:, 1:].sum(axis=1)
        return counts

    def row(self, picture: int) -> int:
        """Where a picture stands; LookupError where there is none."""
        if picture not in self:
            raise LookupError(f"there is no picture {picture} in the archive")
        return int(np.searchsorted(self.ids, picture))

    def __contains__(self, picture: int) -> bool:
        row = int(np.searchsorted(self.ids, picture))
        return row < len(self.ids) and bool(self.ids[row] == picture)

    def column(self, tag: str) -> int | None:
        """Where a tag stands, None for one that nobody used."""
        return self._column.get(tag)

    def block(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Bytes of some pictures and tags, shape (len(rows), len(columns)); neighbours are not copied."""
        stretches = [
            slice(places[0], places[-1] + 1) if np.all(np.diff(places) == 1) else places
            for places in (rows, columns)
        ]
        return self.codes[stretches[0]][:, stretches[1]]

    def apply(self, cells: Iterable[Cell]) -> list[tuple[int, int, int, int]]:
        """Take over cells after decisions: (row, column, code before, code now) of each.

        Only one thread at a time may call it.
        """
        done = []
        for picture, tag, state, is_decided, is_implied in cells:
            if picture not in self:
                continue  # vanished from the folder, its decisions are kept in the archive
            row, column = self.row(picture), self._column.get(tag)
            if column is None:
                column = self._add_tag(tag)
            before = int(self.codes[row, column])
            now = _NUMBERS[state] | DECIDED * is_decided | IMPLIED * is_implied | (before & LISTED)
            self.codes[row, column] = now
            self.counts[column, before] -= 1
            self.counts[column, now] += 1
            self.n_present[row] += ((now & STATE) == PRESENT) - ((before & STATE) == PRESENT)
            done.append((row, column, before, now))
        return done

    def _add_tag(self, tag: str) -> int:
        column = len(self.tags)
        if column == self.codes.shape[1]:
            self.codes = np.pad(self.codes, ((0, 0), (0, column // 4 + _ROOM)))
            self.counts = np.pad(self.counts, ((0, self.codes.shape[1] - column), (0, 0)))
            self.counts[column:, 0] = len(self.ids)
        self._column[tag] = column
        self.tags.append(tag)
        return column

    def listing(self) -> np.ndarray:
        """Which pictures list a tag, bool; whether it was rejected or not."""
        return np.any(self.codes & LISTED, axis=1)

    def audit(self) -> Audit | None:
        """What the audited pictures that list a tag tell; None where there is none."""
        chosen = self.codes[self.is_audited & self.listing(), : len(self.tags)]
        if not len(chosen):
            return None
        is_known = (chosen == OPEN) | ((chosen & STATE) != UNKNOWN)
        is_listed = (np.arange(_N_CODES) & LISTED) > 0
        return audit_labels(
            (chosen & LISTED) > 0,
            (chosen & STATE) == PRESENT,
            known=is_known,
            frequencies=self.counts[: len(self.tags), is_listed].sum(axis=1),
        )

    def n_present_of_tags(self) -> np.ndarray:
        """In how many pictures each tag is present."""
        is_present = (np.arange(_N_CODES) & STATE) == PRESENT
        return self.counts[:, is_present].sum(axis=1)

    @property
    def n_tagged(self) -> int:
        """How many pictures have tags."""
        return int(np.count_nonzero(self.n_present))

    @property
    def n_decided(self) -> int:
        """How many pairs somebody decided; what follows from them is not counted."""
        is_decided = (np.arange(_N_CODES) & (DECIDED | IMPLIED)) == DECIDED
        return int(self.counts[:, is_decided].sum())

    def tally(self, column: int) -> dict[str, int]:
        """How often a tag is present, and was answered with yes, no and skip."""
        counts = self.counts[column]
        present, absent, unknown = (
            int(counts[state | DECIDED] + counts[state | DECIDED | LISTED])
            for state in (PRESENT, ABSENT, UNKNOWN)
        )
        is_present = (np.arange(_N_CODES) & STATE) == PRESENT
        return {"present": int(counts[is_present].sum()), "yes": present, "no": absent, "skip": unknown}


def codes_of(cells: SparseStates) -> np.ndarray:
    """Bytes of the cells of an archive, uint8."""
    codes = np.select([cells.states > 0, cells.states < 0], [PRESENT, ABSENT], UNKNOWN)
    flags = DECIDED * cells.is_decided + LISTED * cells.is_listed + IMPLIED * cells.is_implied
    return (codes + flags).astype(np.uint8)


def state_of(code: int) -> str:
    """The name of the state of a byte."""
    return STATE_NAMES[code & STATE]


def is_in_state(codes: np.ndarray, state: str) -> np.ndarray:
    """Whether bytes have the state of this name."""
    return (codes & STATE) == _NUMBERS[state]
