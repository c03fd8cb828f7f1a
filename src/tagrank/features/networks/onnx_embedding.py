"""Any network in an ONNX file as an embedding.

The file may come from elsewhere: it is bounded in size, it may not refer to other files, only the operators
that onnxruntime brings along run, and they run in a process that is bounded in memory and time: a few hundred
bytes of ONNX can ask for any amount of memory, or loop for ever.
"""

import os
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import ClassVar

import numpy as np

from tagrank.features.base import Feature
from tagrank.features.networks.framing import Framing, Squash
from tagrank.features.networks.onnx_network import OnnxNetwork, checksum, read_checked, require
from tagrank.files import FileError
from tagrank.workers import Worker, WorkerDied, pack_work

# beside four times the size of its file; 224 x 224 pixels take a tenth of this in most networks
_LIMITS = {"TAGRANK_NETWORK_GB": 2.0, "TAGRANK_NETWORK_SECONDS": 60.0}
# the next pictures are not tried after so many in a row
_MAX_DEATHS = 3


@dataclass(frozen=True)
class OnnxEmbedding(Feature):
    """One output of a network that takes one RGB picture.

    Layout (channels first or last) and size of the input are found in the file. An output of four
    dimensions is averaged over its positions, any other is flattened.

    Parameters
    ----------
    path : str, the ONNX file
    sha256 : str, its checksum; by default that of the file as it is now. A file that changed since is
        refused, because its rows would not go with those of before.
    output : str, name of the output to take; default: the last one
    mean, scale : floats for red, green and blue; the network is given (rgb - mean) / scale with rgb from 0
        to 255. The default is common for networks trained on ImageNet by PyTorch.
    side : int, pixels of the square input of a network that takes any size
    framing : Squash, CentreCrop, Together or Mirrored, how a picture becomes one view or several
    """

    kernel: ClassVar[str] = "rbf"
    family: ClassVar[str] = "embedding"

    path: str
    sha256: str = ""
    output: str = ""
    mean: Sequence[float] = (123.675, 116.28, 103.53)
    scale: Sequence[float] = (58.395, 57.12, 57.375)
    side: int = 224
    framing: Framing = field(default_factory=Squash)

    def __post_init__(self):
        path = os.path.abspath(self.path)
        _fix(self, path=path, sha256=self.sha256 or checksum(read_checked(path)))
        _fix(self, mean=tuple(map(float, self.mean)), scale=tuple(map(float, self.scale)))
        if len(self.mean) != 3 or len(self.scale) != 3 or 0 in self.scale:
            raise ValueError(
                f"mean and scale must be three numbers each, scale not 0, got {self.mean} and {self.scale}"
            )
        if not 1 <= self.side <= 4096:
            raise ValueError(f"side must be from 1 to 4096, got {self.side}")

    def check_ready(self):
        self._network()

    def describe(self, picture):
        network = self._network()
        height, width = network.size or (self.side, self.side)
        views = self.framing(picture.pixels, height, width)
        rows = [network.run(view) for view in (views - np.float32(self.mean)) / np.float32(self.scale)]
        return np.mean(rows, axis=0)

    def _network(self):
        return _open_network(self.path, self.sha256, self.output, *network_limits())


def _fix(part, **values):
    # what was given in another form, or left out, is written down as it is used
    for name, value in values.items():
        object.__setattr__(part, name, value)


# few at a time: the weights of some networks fill a good part of the memory
@lru_cache(maxsize=4)
def _open_network(*settings):
    return NetworkProcess(*settings)


class NetworkProcess:
    """What an `OnnxNetwork` offers, done in another process; see `network_limits`."""

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
