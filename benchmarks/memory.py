"""Memory of a call."""

import threading

import psutil


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
