"""While work goes on: how far it is, on stderr; and Ctrl-C, which asks training to stop."""

import math
import signal
import sys
import warnings
from types import TracebackType
from typing import TYPE_CHECKING, Any

from tagrank.app.cli.console import say

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

STEPS = 1000


class WorkProgress:
    """Bars on stderr while work goes on; silent unless stderr is a terminal.

    Parameters
    ----------
    label : what is being trained
    tol : the gap at which training stops
    """

    def __init__(self, label: str = "", *, tol: float = 1e-3) -> None:
        self.label, self.tol = label, tol
        self._progress: Progress | None = None
        self._tasks: dict[str, TaskID] = {}
        self._first_gap = 1.0

    def __enter__(self) -> "WorkProgress":
        if sys.stderr.isatty():
            self._progress = _make_progress()
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.stop()

    def count(self, done: int, total: int, what: str) -> None:
        """Take note that `done` of `total` are done of what is being done."""
        self._show(what, done, total, f"{done:,} of {total:,}" if total > 1 else "")

    def gap(self, point: Any) -> None:
        """Take note of a TracePoint."""
        if point.n_iter == 0:
            self._first_gap = point.gap
        done = share_done(self._first_gap, point.gap, self.tol)
        self._show(self.label, done * STEPS, STEPS, f"pass {point.n_iter}, gap {point.gap:.1e}")

    def _show(self, what: str, done: float, total: float, words: str) -> None:
        if self._progress is None:
            return
        if what not in self._tasks:
            for task in self._tasks.values():
                self._progress.update(task, visible=False)
            self._tasks = {what: self._progress.add_task(what, total=total, words=words)}
        self._progress.update(self._tasks[what], completed=done, total=total, words=words)


def share_done(first_gap: float, gap: float, tol: float) -> float:
    """How much of the way from the first gap to `tol` is done, in powers of ten; between 0 and 1."""
    if gap <= tol or first_gap <= tol:
        return 1.0
    way = math.log(first_gap / tol)
    return min(max(math.log(first_gap / gap) / way, 0.0), 1.0) if math.isfinite(way) else 0.0


def _make_progress() -> "Progress":
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[words]}", markup=False),
        TimeElapsedColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
        console=Console(file=sys.stderr),
        transient=True,
    )


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
            say("stopping and keeping the result; press Ctrl-C again to stop without it")
