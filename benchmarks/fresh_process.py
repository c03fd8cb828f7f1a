"""What a piece of work costs in a process of its own: processor seconds, memory, bytes read and written."""

import multiprocessing
import resource
import threading
from dataclasses import dataclass
from typing import Any

import psutil

_INTERVAL = 0.005


@dataclass
class Cost:
    """What a piece of work cost.

    Attributes
    ----------
    answer : what it returned
    seconds : of the processor, all threads and finished children together
    memory : the most bytes of its own at any time, beyond those before; pages of mapped files do not count
    moved : bytes that it read and wrote, but for those of mapped files
    """

    answer: Any
    seconds: float
    memory: int
    moved: int


def measure(work, *arguments):
    """The cost of `work(*arguments)`; both must be such that a fresh process can import and unpickle them."""
    receiver, sender = multiprocessing.get_context("spawn").Pipe(duplex=False)
    process = multiprocessing.get_context("spawn").Process(target=_work, args=(sender, work, arguments))
    process.start()
    sender.close()
    try:
        cost = receiver.recv()
    except EOFError:
        raise RuntimeError(f"{work.__name__} ended without an answer") from None
    finally:
        process.join()
    return cost


def _work(sender, work, arguments):
    own = psutil.Process()
    before, seconds, moved = _own_memory(own), _seconds(), _moved(own)
    peak, done = [before], threading.Event()

    def watch():
        while not done.wait(_INTERVAL):
            peak[0] = max(peak[0], _own_memory(own))

    watcher = threading.Thread(target=watch)
    watcher.start()
    answer = work(*arguments)
    memory = _own_memory(own)
    done.set()
    watcher.join()
    cost = Cost(answer, _seconds() - seconds, max(*peak, memory) - before, _moved(own) - moved)
    sender.send(cost)


def _own_memory(process):
    about = process.memory_info()
    return about.rss - about.shared


def _seconds():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _moved(process):
    about = process.io_counters()
    return about.read_chars + about.write_chars
