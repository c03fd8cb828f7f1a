"""Ctrl-C during training: training is asked to stop, and what it reached is kept."""

import signal
import sys
import warnings
from typing import Any

from tagrank.app.cli.terminal.console import say


class InterruptWatch:
    """Turns Ctrl-C into the answer of `stop`, which training asks for; a second one gives up.

    Compiled code does not survive an exception that arrives in its middle, so Ctrl-C during training is only
    noted. Outside of training it interrupts as usual, but that may be lost: the compiler calls back from C,
    where exceptions are dropped, and a solver that only tries something out, such as a value of C, takes it
    for its own and returns. So `insist` raises it again; if training has begun by then, `stop` ends it.

    Parameters
    ----------
    tol : the duality gap below which the solver is about to return
    keeps : False for work of which a part is worth nothing: it ends at once, without a word about the part

    Attributes
    ----------
    seen : whether Ctrl-C was pressed
    """

    def __init__(self, *, tol: float = 0.0, keeps: bool = True) -> None:
        self.tol, self.keeps, self.seen = tol, keeps, False
        self._is_training, self._has_learned = False, False
        self._is_answered, self._gives_up = False, False

    def __enter__(self) -> "InterruptWatch":
        self._before = signal.signal(signal.SIGINT, self._notice)
        self._hook, sys.unraisablehook = sys.unraisablehook, self._drop
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: Any) -> None:
        signal.signal(signal.SIGINT, self._before)
        sys.unraisablehook = self._hook
        if self.seen and not self._is_answered and isinstance(error, Exception):
            # the compiler misses what it was about to be told
            raise KeyboardInterrupt from error

    def check(self, point: Any) -> None:
        """Take note of a TracePoint: as long as these come, Ctrl-C is left to `stop`."""
        self._is_training, self._has_learned = point.gap > self.tol, point.n_iter > 0
        if self.seen:
            self._answer()
        if self._gives_up:
            raise KeyboardInterrupt

    def stop(self) -> bool:
        """Whether training is to end; before the first pass there is nothing to keep."""
        return self.seen and (self._has_learned or not self.keeps)

    def insist(self, *, is_finished: bool = False) -> None:
        """Raise a lost Ctrl-C again; of a finished model only the second one is a reason."""
        if self._gives_up or (self.seen and not self._is_answered and not is_finished):
            raise KeyboardInterrupt
        self._is_answered = self.seen

    def _notice(self, *_: Any) -> None:
        if self.seen:
            self._gives_up = True
            raise KeyboardInterrupt
        self.seen = True
        if not self.keeps:
            warnings.simplefilter("ignore")
        if not self._is_training:
            raise KeyboardInterrupt
        self._answer()

    def _drop(self, unraisable: Any) -> None:
        """No traceback of a Ctrl-C that was lost: it is raised once more."""
        if unraisable.exc_type is not KeyboardInterrupt:
            self._hook(unraisable)

    def _answer(self) -> None:
        if not self._is_answered:
            self._is_answered = True
            say("stopping; what was reached is kept (Ctrl-C again gives up)")
