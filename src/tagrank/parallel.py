"""How many threads a piece of work may use.

`n_jobs` means threads everywhere in tagrank: None or -1 takes every core this process may run on. Where work
needs processes (those of the feature bank, and joblib's for the folds of a calibration and for
vocabularies) they are fresh interpreters, never forks: a forked child that runs parallel compiled code after
its parent did would die.
"""

import os
import sys
from contextlib import contextmanager
from functools import lru_cache

from threadpoolctl import ThreadpoolController

# Threads that wait by spinning steal the core from the one they wait for whenever the machine is busy: beside
# two other processes training took fifteen times longer. The OpenMP library reads this when it loads.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("GOMP_SPINCOUNT", "10000")


def count_threads(n_jobs=None):
    """The number of threads that `n_jobs` asks for, at least one and at most the available cores."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    if n_jobs is None:
        return available
    if n_jobs == 0 or n_jobs != int(n_jobs):
        raise ValueError(f"n_jobs must be a whole number other than 0, or None for all cores, got {n_jobs!r}")
    wanted = int(n_jobs) if n_jobs > 0 else available + 1 + int(n_jobs)
    return min(max(wanted, 1), available)


@lru_cache(maxsize=1)
def _thread_pools(n_modules):
    """The thread pools of this process: looking costs milliseconds, and only new modules bring new ones."""
    return ThreadpoolController()


@contextmanager
def limited_threads(n_jobs=None):
    """Run a block with at most `n_jobs` threads in BLAS and in compiled loops; yields their number.

    The limit of BLAS belongs to the whole process. Blocks that overlap in several Python threads may leave
    the lower limit behind when they end; work in processes (joblib's default) instead. Import parallel
    compiled code before the block: what is loaded inside it first is not limited.
    """
    with (
        _limited_loops(count_threads(n_jobs)) as n_threads,
        _thread_pools(len(sys.modules)).limit(limits=n_threads),
    ):
        yield n_threads


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
