"""A progress bar for training: how far the duality gap has come on its way to the tolerance."""

import math
import sys
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress

STEPS = 1000


class GapProgress:
    """Shows passes and duality gap on stderr while a solver calls it; silent unless stderr is a terminal.

    Parameters
    ----------
    label : what is being trained
    tol : the gap at which training stops
    """

    def __init__(self, label: str, *, tol: float) -> None:
        self.label, self.tol = label, tol
        self._progress: Progress | None = None
        self._first_gap = 1.0

    def __enter__(self) -> "GapProgress":
        if sys.stderr.isatty():
            self._progress = _make_progress()
            self._progress.start()
            self._task = self._progress.add_task(self.label, total=STEPS, n_iter=0, gap=1.0)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.stop()

    def __call__(self, point: Any) -> None:
        """Take note of a TracePoint."""
        if self._progress is None:
            return
        if point.n_iter == 0:
            self._first_gap = point.gap
        done = share_done(self._first_gap, point.gap, self.tol)
        self._progress.update(self._task, completed=done * STEPS, n_iter=point.n_iter, gap=point.gap)


def share_done(first_gap: float, gap: float, tol: float) -> float:
    """How much of the way from the first gap to `tol` is done, in powers of ten; between 0 and 1."""
    if gap <= tol or first_gap <= tol:
        return 1.0
    way = math.log(first_gap / tol)
    return min(max(math.log(first_gap / gap) / way, 0.0), 1.0) if math.isfinite(way) else 0.0


def _make_progress() -> "Progress":
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("pass {task.fields[n_iter]}"),
        TextColumn("gap {task.fields[gap]:.1e}"),
        TimeElapsedColumn(),
        console=Console(file=sys.stderr),
        transient=True,
    )
