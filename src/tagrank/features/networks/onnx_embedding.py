"""Any network in an ONNX file as an embedding, run by onnxruntime, an optional library.

The file may come from elsewhere: it is bounded in size, it may not refer to other files, only the operators
that onnxruntime brings along run, and they run in a process that is bounded in memory and time: a few hundred
bytes of ONNX can ask for any amount of memory, or loop for ever.
"""

import hashlib
import os
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from importlib import import_module
from typing import ClassVar

import numpy as np

from tagrank.features.feature import Feature
from tagrank.features.networks.framing import Framing, Squash
from tagrank.files import MAX_BYTES, FileError, check_regular, open_bounded
from tagrank.workers import Worker, WorkerDied, pack_work

# beside four times the size of its file; 224 x 224 pixels take a tenth of this in most networks
_LIMITS = {"TAGRANK_NETWORK_GB": 2.0, "TAGRANK_NETWORK_SECONDS": 60.0}
# the next pictures are not tried after so many in a row
_MAX_DEATHS = 3
MAX_SIDE = 4096
MAX_COLUMNS = 2**16
_DTYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(double)": np.float64}


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
    framing : Squash, CentreCrop, Together, Mirrored or Flipped, how a picture becomes one view or several
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
        n_used = int(file.read().split()[0]) * resource.getpagesize()
    # refused where there is a lower limit already
    with suppress(ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (n_used + n_bytes, resource.getrlimit(resource.RLIMIT_AS)[1]))


def require(module):
    """Import a library of the extra "embedding", or say how to get it."""
    try:
        return import_module(module)
    except ImportError:
        raise ImportError(
            f"embeddings need {module}, which is not installed: pip install 'tagrank[embedding]'"
        ) from None


def open_session(model, *, threads=1):
    """A network, bytes of an ONNX file, ready to run on the CPU: an onnxruntime.InferenceSession.

    One thread by default: many pictures run in parallel processes, and then the numbers do not depend on the
    machine's number of cores.
    """
    onnxruntime = require("onnxruntime")
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # errors come as exceptions; nothing is to be printed beside them
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def read_checked(path, *, sha256=None, max_bytes=MAX_BYTES):
    """Bytes of a file, whose SHA-256 must be `sha256` (hexadecimal) where it is given."""
    try:
        if check_regular(path).st_size > max_bytes:
            raise FileError(path, f"is larger than the {max_bytes:,} bytes that such a file may have")
        with open_bounded(path, max_bytes=max_bytes) as file:
            content = file.read()
    except OSError as error:
        raise FileError(
            path, f"cannot be read ({error.strerror}); put it back or name its new place"
        ) from None
    actual = checksum(content)
    if sha256 is not None and actual != sha256:
        raise FileError(
            path,
            f"is not the expected file: its SHA-256 is {actual}, expected {sha256}; put the old file back",
        )
    return content


def checksum(content):
    """SHA-256 of bytes as hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


class OnnxNetwork:
    """A network ready to run.

    Parameters
    ----------
    path : path of an ONNX file
    sha256 : str, the checksum it must have
    output : str, name of the output to take; empty for the last one

    Attributes
    ----------
    size : height and width of its input, or None where it takes any
    """

    def __init__(self, path, sha256, output=""):
        content = read_checked(path, sha256=sha256)
        _check_self_contained(path, content)
        self._path = path
        self._session = _open(path, content)
        inputs = self._session.get_inputs()
        if len(inputs) != 1:
            raise FileError(path, f"a network of one input is needed, it has {[i.name for i in inputs]}")
        self._input, self._dtype = inputs[0].name, _dtype(path, inputs[0])
        self._channels_last, self.size = _layout(path, inputs[0].shape)
        self._output = self._choose_output(output)

    def _choose_output(self, output):
        names = [declared.name for declared in self._session.get_outputs()]
        if output and output not in names:
            raise FileError(self._path, f"has no output {output!r}; choose one of {names}")
        return output or names[-1]

    def run(self, values):
        """One picture, float32 (height, width, 3), through the network: a float32 row (n_columns,)."""
        batch = values if self._channels_last else np.moveaxis(values, -1, 0)
        batch = np.ascontiguousarray(batch[None], self._dtype)
        try:
            (answer,) = self._session.run([self._output], {self._input: batch})
        except Exception as error:
            raise FileError(self._path, f"cannot run: {_first_line(error)}") from None
        return self._as_row(answer)

    def _as_row(self, answer):
        if not isinstance(answer, np.ndarray) or answer.dtype.kind != "f" or answer.shape[:1] != (1,):
            shape = getattr(answer, "shape", type(answer).__name__)
            raise FileError(self._path, f"output {self._output!r} is not one row of numbers (shape {shape})")
        if answer.ndim == 4:
            answer = answer.mean(axis=(1, 2) if self._channels_last else (2, 3), dtype=np.float64)
        row = answer.ravel().astype(np.float32)
        if not 0 < row.size <= MAX_COLUMNS:
            raise FileError(
                self._path,
                f"output {self._output!r} has {row.size:,} numbers, from 1 to {MAX_COLUMNS:,} can be used; "
                "choose a pooled output",
            )
        if not np.isfinite(row).all():
            raise FileError(
                self._path, "gives numbers that are not finite; do mean and scale suit the network?"
            )
        return row


def _check_self_contained(path, content):
    """Refuse what is not an ONNX file, and one that has its weights elsewhere: that could be any file."""
    onnx = require("onnx")
    from google.protobuf.message import DecodeError

    try:
        model = onnx.load_model_from_string(content)
    except (DecodeError, ValueError, RuntimeError) as error:
        raise FileError(path, f"is not an ONNX file ({_first_line(error)})") from None
    for tensor in _tensors(model):
        if tensor.external_data or tensor.data_location == onnx.TensorProto.EXTERNAL:
            raise FileError(
                path,
                f"keeps {tensor.name!r:.80} in another file, which is not read; "
                "save the network as one file (onnx.save with save_as_external_data=False)",
            )


def _tensors(message):
    """All tensors anywhere in an ONNX message: constants, attributes, nested graphs, functions."""
    if message.DESCRIPTOR.name == "TensorProto":
        yield message
        return
    for descriptor, value in message.ListFields():
        if descriptor.type == descriptor.TYPE_MESSAGE:
            for child in [value] if hasattr(value, "ListFields") else value:
                yield from _tensors(child)


def _open(path, content):
    require("onnxruntime")
    # onnxruntime's own exceptions share no public base class
    try:
        return open_session(content)
    except Exception as error:
        raise FileError(
            path,
            f"onnxruntime cannot load it: {_first_line(error)}; operators beyond its own are not supported",
        ) from None


def _dtype(path, declared):
    if declared.type not in _DTYPES:
        raise FileError(
            path, f"input {declared.name!r} must be one of {list(_DTYPES)}, it is {declared.type}"
        )
    return _DTYPES[declared.type]


def _layout(path, shape):
    """Whether channels come last, and (height, width), or None where the network takes any size."""
    if len(shape) != 4 or 3 not in (shape[1], shape[3]) or (isinstance(shape[0], int) and shape[0] > 1):
        raise FileError(
            path,
            "its input must be (1, 3, height, width) or (1, height, width, 3), names stand for any size; "
            f"it is {tuple(shape)}",
        )
    channels_last = shape[1] != 3
    size = tuple(shape[1:3] if channels_last else shape[2:])
    if not all(isinstance(side, int) and side > 0 for side in size):
        return channels_last, None
    if max(size) > MAX_SIDE:
        raise FileError(path, f"input of {size} pixels is larger than {MAX_SIDE} x {MAX_SIDE}")
    return channels_last, size


def _first_line(error):
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
