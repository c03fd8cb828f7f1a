"""What a piece of work may use: threads, memory and time.

`n_jobs` means threads everywhere in tagrank: None or -1 takes every core this process may run on. Where work
needs processes, `tagrank.workers` starts them.
"""

import os
import sys
import threading
import time
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from pathlib import Path

from threadpoolctl import ThreadpoolController

# Threads that wait by spinning steal the core from the one they wait for whenever the machine is busy: beside
# two other processes training took fifteen times longer. The OpenMP library reads this when it loads.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("GOMP_SPINCOUNT", "10000")

_settings = {}  # numbers of threads that belong to the whole process, by the file of their library
_MEMORY, _LIMIT = Path("/proc/meminfo"), Path("/sys/fs/cgroup/memory.max")


def count_threads(n_jobs=None):
    """The number of threads that `n_jobs` asks for, at least one and at most the available cores."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    if n_jobs is None:
        return available
    if n_jobs == 0 or n_jobs != int(n_jobs):
        raise ValueError(f"n_jobs must be a whole number other than 0, or None for all cores, got {n_jobs!r}")
    n_threads = int(n_jobs) if n_jobs > 0 else available + 1 + int(n_jobs)
    return min(max(n_threads, 1), available)


class SharedSetting:
    """A number that belongs to the whole process, and that blocks in several Python threads want to limit.

    While blocks overlap, the lowest of their limits holds. Each thread has one, that of its innermost block;
    when the last block ends, the number is again what it was before the first. `read` tells it, `write` sets
    it.
    """

    def __init__(self, read, write):
        self.read = read
        self.write = write
        self.lock = threading.Lock()
        self.limits = {}  # by thread
        self.before = None

    @contextmanager
    def limited(self, limit):
        """Run a block with at most `limit`."""
        thread = threading.get_ident()
        with self.lock:
            if not self.limits:
                self.before = self.read()
            outer = self.limits.get(thread)
            self._change(thread, limit)
        try:
            yield
        finally:
            with self.lock:
                self._change(thread, outer)

    def _change(self, thread, limit):
        if limit is None:
            del self.limits[thread]
        else:
            self.limits[thread] = limit
        self.write(min(self.limits.values(), default=self.before))


@lru_cache(maxsize=1)
def _thread_pools(n_modules):
    """The thread pools of this process: looking costs milliseconds, and only new modules bring new ones."""
    return ThreadpoolController()


@contextmanager
def limited_threads(n_jobs=None):
    """Run a block with at most `n_jobs` threads in BLAS and in compiled loops; yields their number.

    Compiled loops are limited in the calling Python thread alone. The limit of BLAS belongs to the whole
    process: while blocks of several Python threads overlap, the lowest of their limits holds for all of them.
    Import parallel compiled code before the block: what is loaded inside it first is not limited.
    """
    with ExitStack() as limits:
        n_threads = limits.enter_context(_limited_loops(count_threads(n_jobs)))
        for library in _thread_pools(len(sys.modules)).lib_controllers:
            limits.enter_context(_setting_of(library).limited(n_threads))
        yield n_threads


def _setting_of(library):
    """One for the whole process; but OpenMP keeps a number for each thread, and nothing is to be shared."""

    def write(n_threads):
        library.set_num_threads(n_threads)
        # threadpoolctl 3.7 leaves OpenBLAS to the first thread that sets it, and ignores all others
        getattr(library, "clear_controlling_thread", lambda: None)()

    setting = SharedSetting(library.get_num_threads, write)
    if "openmp" in (library.user_api, getattr(library, "threading_layer", None)):
        return setting
    return _settings.setdefault(library.filepath, setting)


@contextmanager
def _limited_loops(n_threads):
    """The threads of compiled loops, `n_threads` or as many as there are."""
    if "numba" not in sys.modules:  # nothing to limit, and loading it takes longer than annotating a picture
        yield n_threads
        return
    import numba

    n_threads = min(n_threads, numba.config.NUMBA_NUM_THREADS)
    before = numba.get_num_threads()
    numba.set_num_threads(n_threads)
    try:
        yield n_threads
    finally:
        numba.set_num_threads(before)


def available_memory() -> float:
    """Bytes that this process may still take, about; infinite where nothing tells."""
    return min(_free(), _allowed())


def memory_in_use() -> float:
    """Bytes that this process holds beside mapped files; 0 where nothing tells."""
    try:
        lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
        return 1024.0 * int(lines["RssAnon"].split()[0])
    except (OSError, KeyError, ValueError):
        return 0.0


def gibibytes(n_bytes: float) -> str:
    """For people; less than one in mebibytes."""
    return f"{n_bytes / 2**30:,.1f} GiB" if n_bytes >= 2**30 else f"{n_bytes / 2**20:,.0f} MiB"


def _free() -> float:
    try:
        lines = dict(line.split(":", 1) for line in _MEMORY.read_text().splitlines())
        return 1024.0 * int(lines["MemAvailable"].split()[0])
    except (OSError, KeyError, ValueError):
        if not hasattr(os, "sysconf"):
            return float("inf")
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))


def _allowed() -> float:
    """What a container may take in all, less what it has taken; files that it has read can be let go."""
    try:
        limit = float(_LIMIT.read_text())
        n_used = int(_LIMIT.with_name("memory.current").read_text())
    except (OSError, ValueError):
        return float("inf")
    return max(0.0, limit - n_used + _read_files())


def _read_files() -> int:
    """Bytes of files that the kernel holds for a container and no process uses."""
    try:
        lines = _LIMIT.with_name("memory.stat").read_text().splitlines()
        return int(dict(line.split() for line in lines)["inactive_file"])
    except (OSError, KeyError, ValueError):
        return 0


class Ending:
    """Asked between blocks of samples: cheap, and never inside compiled code.

    `stop` answers whether to end, as `threading.Event().is_set` does; None never does.
    """

    def __init__(self, max_seconds=None, stop=None):
        self.started = time.perf_counter()
        self.max_seconds = max_seconds
        self.stop = stop
        self.was_asked = False

    @property
    def seconds(self):
        """Since the training began."""
        return time.perf_counter() - self.started

    def reason(self):
        """ "stop" once somebody asked for it, "max_seconds" once they are over, otherwise None."""
        if self.stop is not None and not self.was_asked:
            self.was_asked = bool(self.stop())
        if self.was_asked:
            return "stop"
        return "max_seconds" if self.max_seconds is not None and self.seconds >= self.max_seconds else None

    def is_over(self):
        """Whether there is a reason to end."""
        return self.reason() is not None


def is_interrupt(error):
    """Whether Ctrl-C is behind an error; inside compiled code it becomes a chain of SystemErrors."""
    while isinstance(error, SystemError):
        error = error.__cause__
    return isinstance(error, KeyboardInterrupt)
