"""When a model is trained: after so many decisions, and at once where there is none or a tag is new to it."""

from threading import Lock
from typing import Any

TRAIN_AFTER = 50
EXAMPLES = 3  # pictures with a new tag from which it is learned at once


class Schedule:
    """Counts decisions since the last training began, and begins the next.

    Parameters
    ----------
    trainer : begins a training; one at a time
    train_after : how many decisions; 0 for never
    n_decided : how many were made since the current model began to learn
    """

    def __init__(self, trainer: Any, train_after: int, n_decided: int) -> None:
        self._trainer, self._after, self._n_decided = trainer, train_after, n_decided
        self._lock = Lock()

    @property
    def due_in(self) -> int | None:
        """Decisions until the next training; None where none begins by itself."""
        return max(0, self._after - self._n_decided) if self._after else None

    def count(self, n_new: int) -> None:
        """More was decided, or taken back."""
        with self._lock:
            self._n_decided += n_new
        self.check()

    def hurry(self) -> None:
        """A training is due at once, unless none ever is."""
        with self._lock:
            self._n_decided = max(self._n_decided, self._after)
        self.check()

    def forget(self) -> None:
        """All that was decided is learned, also what was decided after the training began."""
        with self._lock:
            self._n_decided = 0

    def check(self) -> None:
        """Begin a training if one is due and none is at work; called again when one ends."""
        if self.due_in == 0 and self._trainer.status()["state"] != "running":
            self.start()

    def start(self, *, fresh: bool = False) -> None:
        """Begin a training now."""
        with self._lock:
            self._n_decided = 0
        self._trainer.start(fresh=fresh)
