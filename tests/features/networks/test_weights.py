"""Weight files: tensors are the right views, and nothing that a file contains runs or reaches out of it."""

import os
import pickle
import random
import struct

import numpy as np
import pytest

from tagrank.features.networks.weights import read_weights
from tagrank.files import FileError

MAGIC, PROTOCOL = 0x1950A86A20F9469CFC6C, 1001
MACHINE = {"protocol_version": 1001, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}
NUMBERS = np.arange(12, dtype="<f4")
HEADER = b"\x80\x02"
NEW_DICT = b"ccollections\nOrderedDict\n)R"
BUILDER = b"ctorch._utils\n_rebuild_tensor_v2\n"


def plain(value):
    """Pickle instructions that push a plain value."""
    return pickle.dumps(value, protocol=2)[2:-1]


def tensor(*, key="1", length=12, offset=0, shape=(12,), strides=(1,), storage="FloatStorage"):
    pid = plain("storage") + f"ctorch\n{storage}\n".encode() + plain(key) + plain("cpu") + plain(length)
    view = plain(offset) + plain(shape) + plain(strides) + b"\x89" + NEW_DICT
    return BUILDER + b"((" + pid + b"NtQ" + view + b"tR"


def state(tensors):
    items = b"".join(plain(name) + instructions for name, instructions in tensors.items())
    metadata = b"}" + plain("_metadata") + NEW_DICT + b"s"
    return HEADER + NEW_DICT + b"(" + items + b"u" + metadata + b"b."


def weight_file(folder, tensors, storages=(("1", NUMBERS),), **replaced):
    """A file of five pickles and the storages; any pickle can be replaced."""
    pickles = {
        "magic": pickle.dumps(MAGIC, 2),
        "protocol": pickle.dumps(PROTOCOL, 2),
        "machine": pickle.dumps(MACHINE, 2),
        "state": state(tensors),
        "keys": pickle.dumps([key for key, _ in storages], 2),
    } | replaced
    numbers = (struct.pack("<q", len(array)) + array.tobytes() for _, array in storages)
    path = folder / "weights.pth"
    path.write_bytes(b"".join(pickles.values()) + b"".join(numbers))
    return path


def test_tensors_are_strided_views_of_storages(tmp_path):
    counts = np.array([7], dtype="<i8")
    path = weight_file(
        tmp_path,
        {
            "plain": tensor(shape=(3, 4), strides=(4, 1)),
            "transposed": tensor(shape=(4, 2), strides=(1, 4), offset=4),
            "scalar": tensor(key="2", length=1, shape=(), strides=(), storage="LongStorage"),
            "empty": tensor(shape=(0, 4), strides=(4, 1)),
        },
        storages=(("2", counts), ("1", NUMBERS)),
    )
    weights = read_weights(path)
    np.testing.assert_array_equal(weights["plain"], NUMBERS.reshape(3, 4))
    np.testing.assert_array_equal(weights["transposed"], NUMBERS.reshape(3, 4)[1:].T)
    assert weights["scalar"] == 7
    assert weights["scalar"].dtype == np.int64
    assert weights["empty"].shape == (0, 4)
    assert not weights["plain"].flags.writeable


class Call:
    """Pickles to a call of a function."""

    def __init__(self, function, *arguments):
        self._call = function, arguments

    def __reduce__(self):
        return self._call


def evil_pickles(marker):
    command = f"touch '{marker}'"
    return {
        "os.system": pickle.dumps(Call(os.system, command), 2),
        "eval": pickle.dumps(Call(eval, f"open({str(marker)!r}, 'w')"), 2),
        "getattr": pickle.dumps(Call(getattr, Call(__import__, "os"), "system"), 2),
        "dotted name": HEADER + b"ccollections\nOrderedDict.fromkeys\n(" + plain("ab") + b"tR.",
        "module's own import": HEADER + b"ccollections\n_sys\n.",
        "newer protocol": pickle.dumps(Call(os.system, command), 4),
        "INST": HEADER + b"(" + plain(command) + b"ios\nsystem\n.",
        "OBJ": HEADER + b"(cos\nsystem\n" + plain(command) + b"o.",
        "NEWOBJ": HEADER + b"ccollections\nOrderedDict\n)\x81.",
        "extension": HEADER + b"\x82\x01.",
        "array": pickle.dumps(np.arange(3), 2),
        "text persistent id": HEADER + b"Pstorage\n.",
    }


@pytest.mark.parametrize("place", ["magic", "protocol", "machine", "state", "keys"])
@pytest.mark.parametrize("kind", evil_pickles("x"))
def test_pickles_that_do_more_are_refused(tmp_path, kind, place):
    marker = tmp_path / "ran"
    path = weight_file(tmp_path, {"a": tensor()}, **{place: evil_pickles(marker)[kind]})
    with pytest.raises(FileError, match=r"weights\.pth: not a file of weights that can be read safely: it "):
        read_weights(path)
    assert not marker.exists()


def test_refused_name_is_named(tmp_path):
    path = weight_file(tmp_path, {}, state=pickle.dumps(Call(os.system, "true"), 2))
    with pytest.raises(FileError, match=rf"refers to {os.system.__module__}\.system"):
        read_weights(path)


@pytest.mark.parametrize("stand_in", [BUILDER, b"ccollections\nOrderedDict\n", b"ctorch\nFloatStorage\n"])
@pytest.mark.parametrize(
    "change", [b"}" + plain("__doc__") + plain("x") + b"s", b"N}" + plain("__doc__") + b"Ns\x86"]
)
def test_stand_ins_cannot_be_changed(tmp_path, stand_in, change):
    path = weight_file(tmp_path, {}, state=HEADER + stand_in + change + b"b.")
    with pytest.raises(FileError):
        read_weights(path)


BAD_TENSORS = {
    "past the end": {"offset": 1},
    "stride past the end": {"shape": (3, 4), "strides": (5, 1)},
    "offset alone": {"offset": 12, "shape": (), "strides": ()},
    "one number made many": {"shape": (10**9,), "strides": (0,)},
    "negative stride": {"offset": 11, "strides": (-1,)},
    "negative offset": {"offset": -1},
    "negative shape": {"shape": (-12,)},
    "overflowing shape": {"shape": (2**32, 2**32), "strides": (0, 0)},
    "more strides": {"strides": (1, 1)},
    "too many dimensions": {"shape": (1,) * 65, "strides": (1,) * 65},
    "bool": {"offset": True},
    "text": {"offset": "0"},
    "shape is a number": {"shape": 12},
    "length differs": {"length": 13, "shape": (13,)},
    "vast storage": {"length": 2**39, "shape": (2**39,)},
    "storage not listed": {"key": "3"},
    "other item size": {"storage": "DoubleStorage"},
    "unknown storage": {"storage": "QInt8Storage"},
}


@pytest.mark.parametrize("kind", BAD_TENSORS)
def test_tensors_stay_inside_their_storage(tmp_path, kind):
    path = weight_file(tmp_path, {"a": tensor(**BAD_TENSORS[kind])})
    with pytest.raises(FileError):
        read_weights(path)


def test_storage_that_promises_more_than_the_file_holds(tmp_path):
    path = weight_file(tmp_path, {"a": tensor(length=2**39)}, storages=())
    path.write_bytes(weight_file(tmp_path, {"a": tensor(length=2**39)}).read_bytes()[: -8 - NUMBERS.nbytes])
    with path.open("ab") as file:
        file.write(struct.pack("<q", 2**39) + NUMBERS.tobytes())
    with pytest.raises(FileError):
        read_weights(path)


@pytest.mark.parametrize(
    "state",
    [
        HEADER + b"]r" + struct.pack("<I", 2**31) + b".",
        pickle.dumps([1, 2], 2),
        HEADER + NEW_DICT + plain(1) + tensor() + b"s.",
        HEADER + NEW_DICT + plain("a") + plain((1, 2)) + b"s.",
        # text of 2 ** 60 characters, were it ever shown
        HEADER + BUILDER + b"(" + plain("x") + b"\x85q\x01(h\x01h\x01tq\x01" * 60 + b"NNNtR.",
    ],
    ids=["memo bomb", "a list", "a number as name", "a tuple as tensor", "nested tuples"],
)
def test_other_structures_are_refused(tmp_path, state):
    with pytest.raises(FileError):
        read_weights(weight_file(tmp_path, {}, state=state))


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "weights.pth"
    for content, message in ((b"", "not a file"), (b"PK\x03\x04", "zip layout"), (b"hello", "not a file")):
        path.write_bytes(content)
        with pytest.raises(FileError, match=message):
            read_weights(path)
    with pytest.raises(FileError, match="larger than the 100 bytes"):
        read_weights(weight_file(tmp_path, {"a": tensor()}), max_bytes=100)
    with pytest.raises(FileError, match="expected 00ff"):
        read_weights(weight_file(tmp_path, {"a": tensor()}), sha256="00ff")


def test_damaged_files_are_refused_or_read_never_worse(tmp_path):
    content = weight_file(tmp_path, {"a": tensor(), "b": tensor(shape=(3, 4), strides=(4, 1))}).read_bytes()
    path = tmp_path / "damaged.pth"
    for end in range(0, len(content), 7):
        path.write_bytes(content[:end])
        with pytest.raises(FileError):
            read_weights(path)
    chance = random.Random(0)
    for _ in range(1500):
        damaged = bytearray(content)
        for _ in range(chance.randint(1, 3)):
            damaged[chance.randrange(len(content))] = chance.randrange(256)
        path.write_bytes(damaged)
        try:
            weights = read_weights(path)
        except FileError:
            continue
        assert all(array.size <= len(content) for array in weights.values())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_does_not_stop_the_reader(tmp_path):
    os.mkfifo(tmp_path / "weights.pth")
    with pytest.raises(FileError, match=r"weights\.pth: is a folder, pipe or device, not a file"):
        read_weights(tmp_path / "weights.pth")
