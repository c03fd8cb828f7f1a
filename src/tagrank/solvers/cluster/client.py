"""A cluster of Dask: reached, checked, and asked so that an answer comes, or a sentence that says why not.

Whatever is sent is part of a task, never data put on a worker: the scheduler keeps tasks, so that it can have
those of a worker that died done again.
"""

import asyncio
import importlib.metadata
import time
from collections import deque
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager

from tagrank.workers import WorkerDied

SECONDS_TO_ANSWER = 10
SECONDS_WITHOUT_WORKERS = 60
_LOOK_SECONDS = 2.0  # between looks at whether anybody works
# in a task a large array is meant, see above
_SETTINGS = {"distributed.admin.large-graph-warning-threshold": "1 PB"}


def need_distributed():
    """The library, or a sentence that says how to get it."""
    try:
        import distributed
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"a scheduler of Dask needs {error.name}, which is not installed: pip install 'tagrank[dask]'",
            name=error.name,
        ) from None
    return distributed


@contextmanager
def reached(scheduler):
    """A client of a cluster that has workers, all with this version of tagrank.

    `scheduler` is an address, such as tcp://10.0.0.1:8786, or a `distributed.Client`, which stays open.
    """
    distributed = need_distributed()
    if isinstance(scheduler, distributed.Client):
        check_cluster(scheduler)
        yield scheduler
        return
    if not isinstance(scheduler, str):
        raise TypeError(
            f"scheduler must be the address of a Dask scheduler or a distributed.Client, got {scheduler!r}"
        )
    _knock(scheduler)
    with distributed.Client(scheduler, timeout=SECONDS_TO_ANSWER, set_as_default=False) as client:
        check_cluster(client)
        yield client


def _knock(address):
    """Raise unless a scheduler answers in time; a Client waits for ever where something else listens."""
    with ThreadPoolExecutor(1) as threads:  # this thread may have a loop of events
        try:
            kind = threads.submit(asyncio.run, _kind_of(address)).result()
        except OSError:
            raise ConnectionError(
                f"no Dask scheduler answered at {address} within {SECONDS_TO_ANSWER} seconds; is it running, "
                "and can this machine reach it?"
            ) from None
        except ValueError as error:
            raise ValueError(
                f"an address such as tcp://10.0.0.1:8786 was expected of a scheduler, got {address!r} "
                f"({error})"
            ) from None
    if kind != "Scheduler":
        raise ConnectionError(f"at {address} answers a {kind} of Dask; name the address of its scheduler")


async def _kind_of(address):
    """What answers at an address: Scheduler, Worker or Nanny."""
    from distributed.comm import connect
    from distributed.security import Security

    async def ask_kind():
        comm = await connect(address, SECONDS_TO_ANSWER, **Security().get_connection_args("client"))
        try:
            await comm.write({"op": "identity", "reply": True})
            return (await comm.read())["type"]
        finally:
            comm.abort()

    return await asyncio.wait_for(ask_kind(), SECONDS_TO_ANSWER)


def check_cluster(client):
    """Raise unless there are workers, and all of them have this version of tagrank."""
    if client.asynchronous:
        raise ValueError("the client must not be asynchronous: Client(address) makes one that waits")
    if not _has_workers(client, SECONDS_TO_ANSWER):
        address = address_of(client)
        raise ConnectionError(
            f"the Dask scheduler at {address} has no workers; start some: dask worker {address} --nthreads 1"
        )
    # a function of Python's own: that of another tagrank may be elsewhere
    answers = client.run(importlib.metadata.version, "tagrank", on_error="return")
    for worker, version in sorted(answers.items()):
        if not isinstance(version, OSError):  # a worker that ends just now does no work
            _compare(worker, version)


def check_version(version):
    """Raise in a task on a worker whose tagrank is of another version; it may have come after the others."""
    if version != own_version():
        _compare(worker_here(), own_version(), version)


def worker_here():
    """The address of the worker, in a task."""
    return need_distributed().get_worker().address


def own_version():
    """The version of tagrank that is installed here."""
    return importlib.metadata.version("tagrank")


def _compare(worker, version, own=None):
    own = own_version() if own is None else own
    if isinstance(version, Exception):
        raise RuntimeError(f"the worker {worker} has no tagrank: install version {own} there")
    if version != own:
        raise RuntimeError(
            f"the worker {worker} has tagrank {version}, but {own} is here; install the same everywhere"
        )


def address_of(client):
    """The address of the scheduler."""
    return client.scheduler.address


def count_threads_of(client):
    """How many tasks the cluster works on at a time."""
    return sum(client.nthreads().values())


def _has_workers(client, seconds):
    """Whether there are workers, at the latest after so many seconds."""
    deadline = time.monotonic() + seconds
    while not client.nthreads():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def ask_each(client, work, *columns):
    """Futures of `work` of the first values of all columns, of the second ones, and so on."""
    import dask

    with dask.config.set(_SETTINGS):
        return client.map(work, *columns, pure=False)


def ask(client, work, *values):
    """The future of `work` of values and of what futures among them become."""
    return ask_each(client, work, *([value] for value in values))[0]


def given(client, value):
    """The future of a value that many tasks read: it is sent to the scheduler once."""
    return ask(client, _same, value)


def _same(value):
    return value


def answers_of(client, futures):
    """What futures became, once all are done; RuntimeError when no worker is left to do them."""
    _await(client, futures)
    return client.gather(futures)


def _await(client, futures, return_when="ALL_COMPLETED"):
    distributed = need_distributed()
    seen = time.monotonic()
    while True:
        try:
            with client.as_current():  # else it would be asked of the client that was made last
                return distributed.wait(futures, timeout=_LOOK_SECONDS, return_when=return_when)
        except CancelledError as error:
            raise ConnectionError(
                f"the Dask scheduler at {address_of(client)} dropped the work; is it still running? "
                f"({' '.join(str(error).split())[:200]})"
            ) from None
        except TimeoutError:
            if client.nthreads():
                seen = time.monotonic()
            elif time.monotonic() - seen > SECONDS_WITHOUT_WORKERS:
                raise RuntimeError(
                    f"no worker is left at the Dask scheduler {address_of(client)}, and none came within "
                    f"{SECONDS_WITHOUT_WORKERS} seconds"
                ) from None


def answers_as_done(client, tasks, n_most=None):
    """(key, answer) as they are done, for (key, work, values); the answer may be a `WorkerDied`.

    At most `n_most` tasks are on their way at any time, by default a few for each thread of the workers, and
    the next ones are drawn when these are; so what is sent takes little memory, and later tasks may depend on
    earlier answers. Leaving early ends what is under way.

    A task is believed to end its workers when several died while it was in their hands. Others may have been
    in the same hands: only a task that is alone is surely to blame.
    """
    distributed = need_distributed()
    tasks, under_way, done = iter(tasks), {}, deque()
    n_most = 2 * count_threads_of(client) + 2 if n_most is None else n_most
    try:
        while True:
            while len(under_way) < n_most and (task := next(tasks, None)) is not None:
                key, work, values = task
                under_way[ask(client, work, *values)] = key
            if not under_way:
                return
            done.extend(_await(client, list(under_way), "FIRST_COMPLETED").done)
            while done:
                future = done.popleft()
                try:
                    answer = future.result()
                except distributed.KilledWorker as error:
                    answer = WorkerDied(str(error).split(";")[0])
                yield under_way.pop(future), answer
    finally:
        client.cancel(list(under_way))
