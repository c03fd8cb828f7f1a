"""Networks in ONNX files: read only if they are those meant, run by onnxruntime, an optional library."""

import hashlib
from importlib import import_module

import numpy as np

from tagrank.files import MAX_BYTES, FileError, check_regular, open_bounded

MAX_SIDE = 4096
MAX_COLUMNS = 2**16
_DTYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(double)": np.float64}


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
    found = checksum(content)
    if sha256 is not None and found != sha256:
        raise FileError(
            path, f"is not the file that was meant: SHA-256 {found}, expected {sha256}; put that one back"
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
        names = [found.name for found in self._session.get_outputs()]
        if output and output not in names:
            raise FileError(self._path, f"has no output {output!r}; choose among {names}")
        return output or names[-1]

    def run(self, values):
        """One picture, float32 (height, width, 3), through the network: a float32 row (n_columns,)."""
        batch = values if self._channels_last else np.moveaxis(values, -1, 0)
        batch = np.ascontiguousarray(batch[None], self._dtype)
        try:
            (found,) = self._session.run([self._output], {self._input: batch})
        except Exception as error:
            raise FileError(self._path, f"cannot run: {_first_line(error)}") from None
        return self._as_row(found)

    def _as_row(self, found):
        if not isinstance(found, np.ndarray) or found.dtype.kind != "f" or found.shape[:1] != (1,):
            shape = getattr(found, "shape", type(found).__name__)
            raise FileError(self._path, f"output {self._output!r} is not one row of numbers (shape {shape})")
        if found.ndim == 4:
            found = found.mean(axis=(1, 2) if self._channels_last else (2, 3), dtype=np.float64)
        row = found.ravel().astype(np.float32)
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
