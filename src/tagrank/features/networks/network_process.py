"""A network from a file that may come from elsewhere, in a process of its own: bounded in memory and time.

A few hundred bytes of ONNX can ask for any amount of memory, or loop for ever.
"""

import os
import sys
import threading
from contextlib import suppress
from functools import lru_cache, partial

from tagrank.features.networks.inference import require
from tagrank.features.networks.onnx_network import OnnxNetwork
from tagrank.files import FileError
from tagrank.workers import Worker, WorkerDied, pack_work

# beside four times the size of its file; 224 x 224 pixels take a tenth of this in most networks
_LIMITS = {"TAGRANK_NETWORK_GB": 2.0, "TAGRANK_NETWORK_SECONDS": 60.0}
# the next pictures are not tried after so many in a row
_MAX_DEATHS = 3


class NetworkProcess:
    """What an `OnnxNetwork` offers, done in another process.

    Parameters
    ----------
    path, sha256, output : as for `OnnxNetwork`
    gigabytes, seconds : float, what it may take for a picture; see `network_limits`

    Attributes
    ----------
    size : as for `OnnxNetwork`
    """

    def __init__(self, path, sha256, output, gigabytes, seconds):
        self._path, self._seconds, self._n_deaths = path, seconds, 0
        self._excess = (
            f"needs more than {gigabytes:g} GB or {seconds:g} seconds for a picture: if you trust it, "
            f"set {' and '.join(_LIMITS)} to more"
        )
        self._work = pack_work(partial(_answer, path, sha256, output, int(gigabytes * 2**30)))
        self._worker, self._lock = None, threading.Lock()
        self.size = self._ask(None)

    def run(self, values):
        """One picture through the network, as `OnnxNetwork.run` does it."""
        return self._ask(values)

    def _ask(self, question):
        with self._lock:
            if self._n_deaths == _MAX_DEATHS:
                raise FileError(self._path, self._excess)
            try:
                if self._worker is None:
                    self._worker = Worker()
                    self._worker.prepare(self._work)
                answer = self._worker.ask(question, seconds=self._seconds)
            except WorkerDied as error:
                self._worker = None
                self._n_deaths += 1
                raise FileError(self._path, f"{self._excess} (its process: {error})") from None
            except MemoryError:
                raise FileError(self._path, self._excess) from None
            self._n_deaths = 0
            return answer


def network_limits():
    """Gigabytes and seconds that a network may take, the usual ones unless the environment says otherwise."""
    return tuple(map(_limit, _LIMITS))


def _limit(name):
    text = os.environ.get(name, _LIMITS[name])
    try:
        limit = float(text)
    except ValueError:
        limit = 0.0
    if not 0 < limit < 1e6:
        raise ValueError(f"the environment variable {name} must be a positive number, got {text!r}")
    return limit


def _answer(path, sha256, output, max_bytes, picture):
    """In the process of the network: its size for None, the row of a picture for its pixels."""
    try:
        network = _network(path, sha256, output, max_bytes)
        return network.size if picture is None else network.run(picture)
    except FileError as error:
        # onnxruntime says it in several ways
        if any(word in str(error).lower() for word in ("alloc", "memory")):
            raise MemoryError from None
        raise


@lru_cache(maxsize=1)
def _network(path, sha256, output, max_bytes):
    # what the libraries take is not the fault of the network
    for library in ("onnx", "onnxruntime"):
        require(library)
    _limit_memory(max_bytes + 4 * (os.path.getsize(path) if os.path.isfile(path) else 0))
    return OnnxNetwork(path, sha256, output)


def _limit_memory(n_bytes):
    """Let this process take so many bytes more than it has; Linux alone can."""
    if sys.platform != "linux":
        return
    import resource

    with open("/proc/self/statm") as file:
        taken = int(file.read().split()[0]) * resource.getpagesize()
    # refused where there is a lower limit already
    with suppress(ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (taken + n_bytes, resource.getrlimit(resource.RLIMIT_AS)[1]))
