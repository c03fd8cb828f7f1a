"""Time of a call."""

import time
from typing import Any, NamedTuple


class Timing(NamedTuple):
    """The smallest wall-clock and processor times of some calls, and the last answer."""

    seconds: float
    processor_seconds: float
    answer: Any


def best_time(function, *arguments, repeats=3, enough=None, **options):
    """Time calls of `function`; if the first takes at least `enough` seconds, it stays the only one."""
    times = []
    for _ in range(repeats):
        wall, processor = time.perf_counter(), time.process_time()
        answer = function(*arguments, **options)
        times.append((time.perf_counter() - wall, time.process_time() - processor))
        if enough is not None and times[0][0] >= enough:
            break
    return Timing(*map(min, zip(*times, strict=True)), answer)
