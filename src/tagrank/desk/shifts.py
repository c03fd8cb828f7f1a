"""What was decided since a training, and how it moves the other tags of the same pictures.

A model proposes tags given what was known of the others when it was trained. A tag that is decided afterwards
speaks for and against the others at once, without a training: the log-odds of a picture move by

    companions.log_odds(eta, known now) - companions.log_odds(eta, known then)

where eta are its log-odds by the picture alone. Taking a decision back takes this back.
"""

from collections.abc import Sequence
from threading import Lock

import numpy as np
from scipy.special import expit, logit

from tagrank.desk.learning.models import Proposals
from tagrank.desk.states import ABSENT, DECIDED, PRESENT, STATE

# half precision has no probability between this one and 1
_LARGEST, _SMALLEST = 1 - 2.0**-12, 2.0**-24


class Shifts:
    """Moves of log-odds, by the row of a model.

    Parameters
    ----------
    proposals : of the model; None where there is none
    """

    def __init__(self, proposals: Proposals | None) -> None:
        self._companions = None if proposals is None else proposals.companions()
        self._held_out = None if proposals is None or self._companions is None else proposals.held_out()
        self._known: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self._moves: dict[int, np.ndarray] = {}
        self._lock = Lock()

    @property
    def is_silent(self) -> bool:
        """Whether nothing moves, whatever is decided."""
        return self._companions is None or self._held_out is None

    @property
    def has_moves(self) -> bool:
        """Whether anything was moved."""
        return bool(self._moves)

    def hear(self, row: int, then: np.ndarray, columns: Sequence[int], now: Sequence[int]) -> None:
        """Take over what is known of some tags of a picture now.

        Parameters
        ----------
        row, columns : of the model
        then : bytes of all its tags, as they were before the first change that is told of this row
        now : bytes of the tags of `columns`
        """
        if self._companions is None or self._held_out is None:
            return
        with self._lock:
            first, known = self._known.get(row) or (known_by(then), known_by(then))
            known = known.copy()
            known[list(columns)] = known_by(np.asarray(now, dtype=np.uint8))
            self._known[row] = first, known
            alone = np.asarray(self._held_out[row], dtype=np.float64)
            is_judged = alone > 0
            log_odds = logit(np.clip(alone, _SMALLEST, _LARGEST))[None]
            # a tag that the model did not judge has nothing to say
            both = np.where(is_judged, np.stack([first, known]), 0).astype(np.int8)
            before, after = (self._companions.log_odds(log_odds, one[None])[0] for one in both)
            self._moves[row] = (after - before).astype(np.float32)

    def move(self, rows: np.ndarray, probabilities: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Probabilities (len(rows), len(columns)) of rows and columns of the model; nan stays nan."""
        if not self._moves:
            return probabilities
        for at in np.flatnonzero(np.isin(rows, list(self._moves))):
            move = self._moves[int(rows[at])][columns]
            log_odds = logit(np.clip(probabilities[at].astype(np.float64), _SMALLEST, _LARGEST)) + move
            probabilities[at] = np.where(move == 0, probabilities[at], expit(log_odds))
        return probabilities


def known_by(codes: np.ndarray) -> np.ndarray:
    """What bytes of a table say: +1 true, -1 decided not to be true, 0 not known; int8."""
    states, is_decided = codes & STATE, (codes & DECIDED) > 0
    return np.where(states == PRESENT, 1, np.where((states == ABSENT) & is_decided, -1, 0)).astype(np.int8)
