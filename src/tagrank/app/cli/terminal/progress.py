"""Progress on stderr: pictures described, folds tried, and how far the duality gap has come."""

import math
import sys
from types import TracebackType
from typing import TYPE_CHECKING, Any

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
