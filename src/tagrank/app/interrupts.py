"""Ctrl-C during training: the solver stops at its next measurement, and what it reached is kept."""

import signal
from typing import Any

from tagrank.app.console import say


class InterruptWatch:
    """Turns Ctrl-C into a stop of the solver that calls `check`; a second one gives up at once.

    Compiled code does not survive an exception that arrives in its middle, so the first Ctrl-C only leaves a
    note, which `check` raises where the solver expects it. Outside of training it interrupts as usual. A
    solver that was only trying something out, such as a value of C, may take it for its own and return, so
    `heed` raises it again.

    Parameters
    ----------
    tol : the duality gap below which the solver is about to return

    Attributes
    ----------
    seen : whether Ctrl-C was pressed
    """

    def __init__(self, *, tol: float) -> None:
        self.tol, self.seen = tol, False
        self._is_training, self._is_pending, self._is_unheeded = False, False, False

    def __enter__(self) -> "InterruptWatch":
        self._before = signal.signal(signal.SIGINT, self._notice)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def check(self, point: Any) -> None:
        """Called by the solver with each TracePoint; raises the Ctrl-C that came meanwhile."""
        self._is_training = point.gap > self.tol
        if self._is_pending:
            self._is_pending = False
            raise KeyboardInterrupt

    def heed(self) -> None:
        """Raise a Ctrl-C that came outside of training once more, should anybody have caught it."""
        if self._is_unheeded:
            raise KeyboardInterrupt

    def _notice(self, *_: Any) -> None:
        self.seen = True
        if self._is_pending or not self._is_training:
            self._is_unheeded = True
            raise KeyboardInterrupt
        self._is_pending = True
        say("stopping; what was reached is kept (Ctrl-C again gives up)")
