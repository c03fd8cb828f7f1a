"""What a piece of work may use: threads, compiled code, memory and time.

`n_jobs` means threads everywhere in tagrank: None or -1 takes every core this process may run on. Where work
needs processes, `tagrank.workers` starts them.
"""

import atexit
import inspect
import os
import shutil
import stat
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from threadpoolctl import ThreadpoolController

# Threads that wait by spinning steal the core from the one they wait for whenever the machine is busy: beside
# two other processes training took fifteen times longer. The OpenMP library reads this when it loads.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("GOMP_SPINCOUNT", "10000")

SECONDS_BEFORE_TELLING = 1.5  # of compilation; by then more is to come
_PACKAGE = Path(__file__).parent
_settings = {}  # numbers of threads of the whole process, by the file of their library
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
    when the last block ends, the number is again what it was. `read` tells it, `write` sets it.
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
    with limited_loops(count_threads(n_jobs)) as n_threads, limited_products(n_threads):
        yield n_threads


@contextmanager
def limited_products(n_threads):
    """Run a block with at most so many threads in BLAS; compiled loops stay as they are."""
    with ExitStack() as limits:
        for library in _thread_pools(len(sys.modules)).lib_controllers:
            limits.enter_context(_setting_of(library).limited(n_threads))
        yield


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
def limited_loops(n_threads):
    """The threads of compiled loops, `n_threads` or as many as there are."""
    if "numba" not in sys.modules:  # nothing to limit, and loading it takes longer than annotating a picture
        yield n_threads
        return
    import numba

    before, n_threads = numba.get_num_threads(), min(n_threads, numba.config.NUMBA_NUM_THREADS)
    numba.set_num_threads(n_threads)
    try:
        yield n_threads
    finally:
        numba.set_num_threads(before)


def compiled(**options):
    """A decorator: the function compiled by numba when it is first called, and once for an installation.

    Options are those of `numba.njit`; other Python threads run meanwhile (``nogil``). The code is kept where
    `_folder_of_code` says.
    """

    def decorate(function):
        import numba

        _watch_compilation()
        folder = _folder_of_code()
        if folder is None:
            return numba.njit(nogil=True, **options)(function)
        before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, folder
        try:
            dispatcher = numba.njit(cache=True, nogil=True, **options)(function)
        except RuntimeError:  # the folder cannot be written to
            return numba.njit(nogil=True, **options)(function)
        finally:
            numba.config.CACHE_DIR = before
        if folder and folder != before:
            _take_installed(Path(inspect.getfile(function)), dispatcher)
        return dispatcher

    return decorate


@lru_cache(maxsize=1)
def _folder_of_code():
    """Where compiled code is kept: "" is beside its source, None nowhere.

    That is the folder that ``NUMBA_CACHE_DIR`` names, else beside the source if this user may write there.
    Other users have a folder that only they may write to, with a copy of what lies beside the source. What a
    stranger compiled is never loaded, for it would be executed.
    """
    import numba

    if numba.config.CACHE_DIR:
        return numba.config.CACHE_DIR
    beside = _PACKAGE / "__pycache__"
    if os.access(beside if beside.exists() else _PACKAGE, os.W_OK):
        return ""
    user = os.geteuid() if hasattr(os, "geteuid") else "user"
    for folder in (cache_folder() / "compiled", Path(tempfile.gettempdir(), f"tagrank-{user}")):
        if _is_own(folder):
            return str(folder)
    try:
        folder = tempfile.mkdtemp(prefix="tagrank-")
    except OSError:
        return None
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def cache_folder() -> Path:
    """Where files are kept that can be made again: ``TAGRANK_CACHE``, or the place that the system names."""
    from platformdirs import user_cache_path

    named = os.environ.get("TAGRANK_CACHE")
    return Path(named) if named else user_cache_path("tagrank", appauthor=False)


def _is_own(folder):
    """Whether a folder, made if it is missing, is one that this user may write to and nobody else."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        about = folder.lstat()
        tempfile.TemporaryFile(dir=folder).close()
        above = [parent.stat() for parent in folder.resolve().parents]
    except OSError:
        return False
    if not hasattr(os, "geteuid"):
        return stat.S_ISDIR(about.st_mode)  # on Windows the profile of a user is closed to others
    is_closed = about.st_uid == os.geteuid() and not about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    # whoever may rename a folder above could put another in its place
    may_rename = [entry.st_mode & stat.S_IWOTH and not entry.st_mode & stat.S_ISVTX for entry in above]
    return stat.S_ISDIR(about.st_mode) and is_closed and not any(may_rename)


def _take_installed(source, dispatcher):
    """Copy what whoever installed the source compiled beside it, unless it was copied before."""
    from tagrank.files import atomic_write

    own = Path(dispatcher.stats.cache_path)
    for kept in sorted((source.parent / "__pycache__").glob(f"{source.stem}.{dispatcher.__name__}-*.nb[ci]")):
        copy = own / kept.name
        with suppress(OSError):
            if not copy.exists() or copy.stat().st_mtime < kept.stat().st_mtime:
                with atomic_write(copy) as file:
                    file.write(kept.read_bytes())


def tell_of_compilation(tell):
    """Call `tell` once if this process compiles for longer than about two seconds; None calls nothing."""
    _telling["tell"] = tell


def _tell_whoever_waits():
    """Print a line where somebody waits at a prompt or in a notebook; programs print nothing."""
    if hasattr(sys, "ps1") or "ipykernel" in sys.modules:
        print("tagrank is compiling for this machine, once per installation ...", file=sys.stderr)


_telling = {"tell": _tell_whoever_waits}


@lru_cache(maxsize=1)
def _watch_compilation():
    """Have numba tell when it compiles; a function may compile those that it calls."""
    from numba.core.event import Listener, register

    class CompilationClock(Listener):
        def __init__(self):
            self.began, self.seconds = [], 0.0

        def on_start(self, event):
            self.began.append(time.perf_counter())
            tell, so_far = _telling["tell"], self.seconds + self.began[-1] - self.began[0]
            if tell is not None and so_far > SECONDS_BEFORE_TELLING:
                _telling["tell"] = None
                tell()

        def on_end(self, event):
            began = self.began.pop()
            self.seconds += 0.0 if self.began else time.perf_counter() - began

    register("numba:compile", CompilationClock())


def share_out(work, n_items, *arguments, least=1):
    """Have `work(*arguments, start, stop)` done for parts of range(n_items), one for each thread.

    `work` is `compiled`, and the threads are those of Python. Beside numba's own ``prange`` that takes some
    30 microseconds more for each call, and seconds less to compile.

    Parameters
    ----------
    work : compiled function; each call changes entries of its own
    n_items : int
    *arguments : of every call
    least : int, number of items that are worth a thread

    Returns
    -------
    list, the answers of the parts in order
    """
    import numba

    n_parts = max(1, min(numba.get_num_threads(), n_items // least))
    ends = [n_items * part // n_parts for part in range(n_parts + 1)]
    others = [thread_pool().submit(work, *arguments, *part) for part in pairwise(ends[1:])]
    try:
        first = work(*arguments, 0, ends[1])
    finally:
        if others:
            wait_for(others)
    return [first, *(other.result() for other in others)]


@lru_cache(maxsize=1)
def thread_pool():
    """The threads beside the calling one."""
    from concurrent.futures import ThreadPoolExecutor

    from numba import config

    return ThreadPoolExecutor(max(1, config.NUMBA_NUM_THREADS - 1), "tagrank")


if hasattr(os, "register_at_fork"):  # threads do not survive a fork
    os.register_at_fork(after_in_child=thread_pool.cache_clear)


def wait_for(others):
    """Whatever interrupts it: nothing may change arrays any more once the caller goes on."""
    from concurrent.futures import wait

    try:
        wait(others)
    finally:
        wait(others)


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
