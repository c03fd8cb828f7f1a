"""Time and memory of a call."""

import threading
import time
from typing import Any, NamedTuple

import psutil


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


class PeakMemory:
    """The largest resident memory of this process inside the block, and that before it, in bytes."""

    def __enter__(self):
        self.before = self.peak = psutil.Process().memory_info().rss
        self.done = threading.Event()
        self.watcher = threading.Thread(target=self._watch)
        self.watcher.start()
        return self

    def _watch(self):
        process = psutil.Process()
        while not self.done.wait(0.002):
            self.peak = max(self.peak, process.memory_info().rss)

    def __exit__(self, *_):
        self.done.set()
        self.watcher.join()
