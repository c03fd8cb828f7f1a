"""Weight files of PyTorch, read without PyTorch and without running anything they contain.

The layout is the one PyTorch wrote before version 1.6: five pickles (a magic number, the protocol, facts
about the machine, the tensors, the names of the storages), then the raw numbers of each storage. A tensor is
a strided view into a storage.

Pickles are programs. Here only those instructions pass that build plain containers, and the only names that a
pickle may refer to are those of `_PLAIN_NAMES` and `_rebuild_tensor_v2`, all replaced by stand-ins that hold
nothing but descriptions.
"""

import io
import math
import pickle
import pickletools
from collections import OrderedDict
from typing import NamedTuple

import numpy as np

from tagrank.features.networks.onnx_embedding import read_checked
from tagrank.files import FileError

MAX_BYTES = 2**28
MAX_DIMENSIONS = 8
_MAGIC = 0x1950A86A20F9469CFC6C
_PROTOCOL = 1001
_DTYPES = {
    "FloatStorage": "<f4",
    "DoubleStorage": "<f8",
    "HalfStorage": "<f2",
    "LongStorage": "<i8",
    "IntStorage": "<i4",
    "ShortStorage": "<i2",
    "CharStorage": "|i1",
    "ByteStorage": "|u1",
    "BoolStorage": "|b1",
}
_PLAIN_NAMES = {("collections", "OrderedDict"): OrderedDict} | {
    ("torch", storage): dtype for storage, dtype in _DTYPES.items()
}
_INSTRUCTIONS = (
    {"PROTO", "STOP", "MARK", "GLOBAL", "REDUCE", "BUILD", "BINPERSID"}
    | {"NONE", "NEWTRUE", "NEWFALSE", "BININT", "BININT1", "BININT2", "LONG1", "BINUNICODE"}
    | {"BINPUT", "LONG_BINPUT", "BINGET", "LONG_BINGET"}
    | {"EMPTY_DICT", "EMPTY_LIST", "EMPTY_TUPLE", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"}
    | {"SETITEM", "SETITEMS", "APPEND", "APPENDS"}
)


class _Storage(NamedTuple):
    key: str
    dtype: str
    length: int


class _Tensor(NamedTuple):
    storage: _Storage
    offset: int
    shape: tuple
    strides: tuple


def read_weights(path, *, sha256=None, max_bytes=MAX_BYTES):
    """The tensors of a PyTorch state dictionary, a ``.pth`` file in PyTorch's old layout, by name.

    They are read-only views into one copy of the file, which must have the checksum `sha256` if it is given.
    """
    content = read_checked(path, sha256=sha256, max_bytes=max_bytes)
    try:
        return _parse(content)
    # a damaged pickle can provoke nearly any error
    except Exception as error:
        raise FileError(path, f"not a file of weights that can be read safely: {error}") from None


def _parse(content):
    if content.startswith(b"PK\x03\x04"):
        raise ValueError(
            "PyTorch's zip layout is not supported; save it by "
            "torch.save(state, path, _use_new_zipfile_serialization=False)"
        )
    stream = io.BytesIO(content)
    if _unpickle(stream) != _MAGIC or _unpickle(stream) != _PROTOCOL:
        raise ValueError("expected the magic number and protocol of PyTorch's old layout")
    if _unpickle(stream).get("little_endian") is not True:
        raise ValueError("expected numbers in little-endian order")
    tensors, keys = _unpickle(stream), _unpickle(stream)
    _check_tensors(tensors)
    storages = _read_storages(content, stream.tell(), keys, {t.storage for t in tensors.values()})
    return {name: _view(name, tensor, storages[tensor.storage]) for name, tensor in tensors.items()}


def _check_tensors(tensors):
    if not isinstance(tensors, OrderedDict):
        raise ValueError(f"expected a dictionary of tensors, got {type(tensors).__name__}")
    for name, tensor in tensors.items():
        if not isinstance(name, str) or not isinstance(tensor, _Tensor):
            kinds = f"{type(name).__name__} and {type(tensor).__name__}"
            raise ValueError(f"expected names and tensors, got {kinds}")


def _read_storages(content, start, keys, storages):
    """The numbers of each storage: a count of 8 bytes, then the numbers, in the order of `keys`."""
    by_key = {storage.key: storage for storage in storages}
    if len(by_key) != len(storages) or set(by_key) != set(keys) or len(keys) != len(by_key):
        raise ValueError("the storages that tensors use are not those that the file lists")
    arrays = {}
    for key in keys:
        storage = by_key[key]
        length = int.from_bytes(content[start : start + 8], "little")
        if length != storage.length:
            raise ValueError(
                f"storage {key!r:.40} should hold {storage.length} numbers, the file says {length}"
            )
        # frombuffer raises ValueError when the file ends before the storage does
        numbers = np.frombuffer(content, storage.dtype, length, start + 8) if length else ()
        arrays[storage] = np.asarray(numbers, storage.dtype)
        start += 8 + arrays[storage].nbytes
    return arrays


def _view(name, tensor, storage):
    """A tensor as a read-only view; nothing outside its storage can be reached."""
    if len(tensor.shape) != len(tensor.strides) or len(tensor.shape) > MAX_DIMENSIONS:
        raise ValueError(f"tensor {name!r:.80} has shape {tensor.shape} but strides {tensor.strides}")
    # a stride of 0 would make many numbers out of one: a small file must not become a large array
    if math.prod(tensor.shape) > len(storage):
        raise ValueError(f"tensor {name!r:.80} of shape {tensor.shape} is larger than its storage")
    if 0 not in tensor.shape:
        steps = zip(tensor.shape, tensor.strides, strict=True)
        last = tensor.offset + sum((length - 1) * stride for length, stride in steps)
        if last >= len(storage):
            raise ValueError(f"tensor {name!r:.80} reaches number {last} of {len(storage)} in its storage")
    strides = [stride * storage.itemsize for stride in tensor.strides]
    start = storage[tensor.offset :]
    return np.lib.stride_tricks.as_strided(start, tensor.shape, strides, writeable=False)


def _unpickle(stream):
    """The next pickle of a stream, which is left behind it."""
    start = stream.tell()
    for instruction, argument, _ in pickletools.genops(stream):
        if instruction.name not in _INSTRUCTIONS:
            raise pickle.UnpicklingError(f"it contains the pickle instruction {instruction.name}")
        # the unpickler makes room for as many remembered objects as the largest index says
        if instruction.name == "LONG_BINPUT" and argument > stream.tell():
            raise pickle.UnpicklingError(f"it numbers an object {argument}")
    end = stream.tell()
    return _Unpickler(io.BytesIO(stream.getbuffer()[start:end])).load()


class _Unpickler(pickle.Unpickler):
    """Builds descriptions of tensors. Everything it hands to a pickle is immutable or a plain container."""

    def find_class(self, module, name):
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _TensorBuilder()
        if (module, name) in _PLAIN_NAMES:
            return _PLAIN_NAMES[module, name]
        raise pickle.UnpicklingError(f"it refers to {module}.{name}, which weights do not need")

    def persistent_load(self, pid):
        kind, dtype, key, _device, length, view = pid
        if kind != "storage" or view is not None or dtype not in _DTYPES.values() or not isinstance(key, str):
            raise pickle.UnpicklingError("it describes a storage in an unknown way")
        return _Storage(key, dtype, _count(length))


class _TensorBuilder:
    """Stand-in for PyTorch's function: describes a tensor. Without attributes that a pickle could set."""

    __slots__ = ()

    def __call__(self, storage, offset, shape, strides, _requires_grad=False, _hooks=None):
        if not isinstance(storage, _Storage):
            raise pickle.UnpicklingError("it describes a tensor without a storage")
        return _Tensor(storage, _count(offset), tuple(map(_count, shape)), tuple(map(_count, strides)))


def _count(number):
    # the message shows no object of the pickle: the text of nested containers can be of any length
    if type(number) is not int or not 0 <= number < 2**40:
        raise pickle.UnpicklingError(f"expected a count below 2**40, got another {type(number).__name__}")
    return number
