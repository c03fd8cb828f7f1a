"""Ctrl-C during training: the solver stops at its next measurement, and what it reached is kept."""

import signal
import sys
from typing import Any

from tagrank.app.cli.console import say


class InterruptWatch:
    """Turns Ctrl-C into a stop of the solver that calls `check`; a second one gives up.

    Compiled code does not survive an exception that arrives in its middle, so Ctrl-C during training only
    leaves a note, which `check` raises where the solver expects it. Outside of training it interrupts as
    usual, but that may go unheard: the compiler calls back from C, where exceptions are dropped, and a solver
    that was only trying something out, such as a value of C, takes it for its own and returns. So `heed`
    raises it again; if training has begun in the meantime, `check` stops it.

    Parameters
    ----------
    tol : the duality gap below which the solver is about to return

    Attributes
    ----------
    seen : whether Ctrl-C was pressed
    """

    def __init__(self, *, tol: float = 0.0) -> None:
        self.tol, self.seen = tol, False
        self._is_training, self._is_pending = False, False
        self._is_unheeded, self._gives_up = False, False

    def __enter__(self) -> "InterruptWatch":
        self._before = signal.signal(signal.SIGINT, self._notice)
        self._hook, sys.unraisablehook = sys.unraisablehook, self._drop
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: Any) -> None:
        signal.signal(signal.SIGINT, self._before)
        sys.unraisablehook = self._hook
        if self._is_unheeded and isinstance(error, Exception):
            # the compiler misses what it was about to be told
            raise KeyboardInterrupt from error

    def check(self, point: Any) -> None:
        """Called by the solver with each TracePoint; raises the Ctrl-C that came meanwhile."""
        self._is_training = point.gap > self.tol
        if self._is_unheeded:
            self._is_unheeded = False
            self._stop()
        # before the first pass there is nothing to keep
        if self._gives_up or (self._is_pending and point.n_iter > 0):
            self._is_pending = False
            raise KeyboardInterrupt

    def heed(self, *, is_finished: bool = False) -> None:
        """Raise a Ctrl-C that went unheard once more; of a finished model only the second one is a reason."""
        if self._gives_up or (self._is_unheeded and not is_finished):
            raise KeyboardInterrupt
        self._is_unheeded = False

    def insist(self) -> None:
        """Raise any Ctrl-C once more: for work of which a part is worth nothing."""
        if self.seen:
            raise KeyboardInterrupt

    def _notice(self, *_: Any) -> None:
        if self.seen:
            self._gives_up = True
            raise KeyboardInterrupt
        self.seen = True
        if not self._is_training:
            self._is_unheeded = True
            raise KeyboardInterrupt
        self._stop()

    def _drop(self, unraisable: Any) -> None:
        """No traceback of a Ctrl-C that went unheard: it is raised once more."""
        if unraisable.exc_type is not KeyboardInterrupt:
            self._hook(unraisable)

    def _stop(self) -> None:
        self._is_pending = True
        say("stopping; what was reached is kept (Ctrl-C again gives up)")
