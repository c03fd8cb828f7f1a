"""A user's ONNX file as an embedding: layouts, outputs, and files that must be refused."""

import json
import pickle
import resource
import sys

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tagrank.features.networks import onnx_embedding
from tagrank.features.networks.efficientnet import (
    VARIANTS,
    EfficientNetEmbedding,
    efficientnet_model,
    load_weights,
)
from tagrank.features.networks.framing import Mirrored, Squash, resize
from tagrank.features.networks.onnx_embedding import NetworkProcess, OnnxEmbedding, checksum
from tagrank.files import FileError
from tagrank.workers import Worker

PLAIN = {"mean": (0, 0, 0), "scale": (1, 1, 1)}


@pytest.fixture(scope="module")
def pixels():
    return np.random.default_rng(0).integers(0, 256, (30, 40, 3), dtype=np.uint8)


def network(path, nodes, shape, *, outputs=("out",), dtype=TensorProto.FLOAT, constants=(), domains=("",)):
    """Write a network with the input "pixels"."""
    graph = helper.make_graph(
        list(nodes),
        "test",
        [helper.make_tensor_value_info("pixels", dtype, shape)],
        [helper.make_tensor_value_info(name, dtype, None) for name in outputs],
        list(constants),
    )
    opsets = [helper.make_opsetid(domain, 17 if domain == "" else 1) for domain in domains]
    path.write_bytes(helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString())
    return path


def identity(path, shape, **options):
    return network(path, [helper.make_node("Identity", ["pixels"], ["out"])], shape, **options)


def test_channels_first_of_fixed_size(tmp_path, pixels):
    path = identity(tmp_path / "a.onnx", [1, 3, 12, 16])
    row = OnnxEmbedding(str(path), **PLAIN)(pixels)
    np.testing.assert_allclose(row, resize(pixels, 12, 16).mean(axis=(0, 1)), rtol=1e-5)
    assert row.dtype == np.float32


def test_channels_last_of_any_size(tmp_path, pixels):
    path = identity(tmp_path / "a.onnx", ["n", "height", "width", 3])
    feature = OnnxEmbedding(str(path), mean=(10, 20, 30), scale=(2, 4, 8), side=9)
    expected = (resize(pixels, 9, 9).mean(axis=(0, 1)) - [10, 20, 30]) / [2, 4, 8]
    np.testing.assert_allclose(feature(pixels), expected, rtol=1e-4)


def test_half_precision_networks(tmp_path, pixels):
    path = identity(tmp_path / "a.onnx", [1, 3, 4, 4], dtype=TensorProto.FLOAT16)
    row = OnnxEmbedding(str(path))(pixels)
    assert row.dtype == np.float32
    reference = OnnxEmbedding(str(identity(tmp_path / "b.onnx", [1, 3, 4, 4])))(pixels)
    np.testing.assert_allclose(row, reference, atol=1e-2)


def test_outputs_are_chosen_by_name(tmp_path, pixels):
    nodes = [
        helper.make_node("Flatten", ["pixels"], ["flat"]),
        helper.make_node("GlobalMaxPool", ["pixels"], ["most"]),
    ]
    path = network(tmp_path / "a.onnx", nodes, [1, 3, 4, 5], outputs=("flat", "most"))
    small = resize(pixels, 4, 5)
    np.testing.assert_array_equal(OnnxEmbedding(str(path), **PLAIN)(pixels), small.max(axis=(0, 1)))
    flat = OnnxEmbedding(str(path), output="flat", **PLAIN)(pixels)
    np.testing.assert_array_equal(flat, small.transpose(2, 0, 1).ravel())
    with pytest.raises(FileError, match=r"has no output 'best'; choose one of \['flat', 'most'\]"):
        OnnxEmbedding(str(path), output="best")(pixels)


def test_agrees_with_the_built_in_network(tmp_path, pixels):
    path = tmp_path / "lite0.onnx"
    path.write_bytes(efficientnet_model(load_weights(0), VARIANTS[0]))
    feature = OnnxEmbedding(str(path), mean=(127,) * 3, scale=(128,) * 3)
    for framing in (Squash(), Mirrored()):
        row = feature.replace(framing=framing)(pixels)
        np.testing.assert_allclose(row, EfficientNetEmbedding(0, framing).averages(pixels), atol=1e-4)


def test_settings_survive_json_and_pickle(tmp_path, pixels):
    path = identity(tmp_path / "a.onnx", [1, 3, 4, 4])
    feature = OnnxEmbedding(str(path))
    feature(pixels)
    settings = json.loads(json.dumps(feature.settings()))
    assert len(settings["sha256"]) == 64
    again = OnnxEmbedding(**{k: v for k, v in settings.items() if k not in ("type", "version", "framing")})
    assert again == feature
    assert again.fingerprint() == feature.fingerprint()
    assert pickle.loads(pickle.dumps(feature)) == feature


def test_changed_moved_and_missing_files(tmp_path, pixels):
    path = identity(tmp_path / "a.onnx", [1, 3, 4, 4])
    feature = OnnxEmbedding(str(path))
    moved = feature.replace(path=str(path.rename(tmp_path / "b.onnx")))
    with pytest.raises(FileError, match=r"a\.onnx: cannot be read .*put it back or name its new place"):
        feature(pixels)
    assert moved(pixels).shape == (3,)
    identity(path, [1, 3, 5, 5])
    with pytest.raises(FileError, match="is not the expected file"):
        feature(pixels)
    with pytest.raises(FileError, match="cannot be read"):
        OnnxEmbedding(str(tmp_path / "none.onnx"))


def external(location):
    tensor = numpy_helper.from_array(np.zeros(3, np.float32), "weights")
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    return tensor


def test_weights_in_other_files_are_refused_wherever_they_hide(tmp_path, pixels):
    (tmp_path / "secret").write_bytes(b"\0" * 12)
    for location in ("secret", "../secret", "/etc/passwd", "*/_ORT_MEM_ADDR_/*"):
        tensor = external(location)
        constant = helper.make_node("Constant", [], ["weights"], value=tensor)
        add = helper.make_node("Add", ["pixels", "weights"], ["out"])
        inner = helper.make_graph([constant], "inner", [], [], [])
        nested = helper.make_node("If", ["pixels"], ["out"], then_branch=inner, else_branch=inner)
        for nodes, constants in (([add], [tensor]), ([constant, add], []), ([nested], [])):
            path = network(tmp_path / "a.onnx", nodes, [1, 3, 4, 4], constants=constants)
            with pytest.raises(FileError, match="keeps 'weights' in another file"):
                OnnxEmbedding(str(path))(pixels)


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [
        ([1, 1, 8, 8], TensorProto.FLOAT),
        ([3, 8, 8], TensorProto.FLOAT),
        ([8, 3, 8, 8], TensorProto.FLOAT),
        (["n", "c", "h", "w"], TensorProto.FLOAT),
        ([1, 3, 100_000, 100_000], TensorProto.FLOAT),
        ([1, 3, 8, 8], TensorProto.INT64),
    ],
)
def test_inputs_that_are_no_picture(tmp_path, pixels, shape, dtype):
    path = identity(tmp_path / "a.onnx", shape, dtype=dtype)
    with pytest.raises(FileError, match="input"):
        OnnxEmbedding(str(path))(pixels)


def test_networks_that_cannot_be_used(tmp_path, pixels):
    custom = helper.make_node("Mystery", ["pixels"], ["out"], domain="stranger")
    logarithm = helper.make_node("Log", ["pixels"], ["out"])
    reshape = helper.make_node("Reshape", ["pixels", "shape"], ["out"])
    shape = numpy_helper.from_array(np.array([11, -1], np.int64), "shape")
    flatten = helper.make_node("Flatten", ["pixels"], ["out"])
    bad = {
        "operators beyond its own": dict(nodes=[custom], domains=("", "stranger")),
        "not finite": dict(nodes=[logarithm]),
        "cannot run": dict(nodes=[reshape], constants=[shape], shape=[1, 3, "height", "width"]),
        "choose a pooled output": dict(nodes=[flatten], shape=[1, 3, 200, 200]),
    }
    for message, options in bad.items():
        path = network(tmp_path / "a.onnx", **{"shape": [1, 3, 4, 4]} | options)
        with pytest.raises(FileError, match=message):
            OnnxEmbedding(str(path))(pixels)


def test_files_that_are_no_network(tmp_path, pixels, capfd):
    whole = identity(tmp_path / "a.onnx", [1, 3, 4, 4]).read_bytes()
    path = tmp_path / "b.onnx"
    for content in (
        b"",
        b"hello",
        b"\x08\xff" * 40,
        whole[: len(whole) // 2],
        onnx.ModelProto().SerializeToString(),
    ):
        path.write_bytes(content)
        with pytest.raises(FileError, match=r"b\.onnx: "):
            OnnxEmbedding(str(path))(pixels)
    with path.open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(FileError, match="larger than"):
        OnnxEmbedding(str(path))
    assert capfd.readouterr().err == ""


def test_bad_settings(tmp_path):
    path = str(identity(tmp_path / "a.onnx", [1, 3, 4, 4]))
    for options in ({"mean": (1, 2)}, {"scale": (1, 0, 1)}):
        with pytest.raises(ValueError, match="mean and scale"):
            OnnxEmbedding(path, **options)
    with pytest.raises(ValueError, match="side"):
        OnnxEmbedding(path, side=0)


def filling(path, *, n_bytes):
    """A network of some hundred bytes that asks for so much memory."""
    shape = numpy_helper.from_array(np.array([n_bytes // 4], np.int64), "shape")
    nodes = [
        helper.make_node("ConstantOfShape", ["shape"], ["much"]),
        helper.make_node("ReduceSum", ["much"], ["sum"], keepdims=0),
        helper.make_node("Add", ["pixels", "sum"], ["out"]),
    ]
    return network(path, nodes, [1, 3, 4, 4], constants=[shape])


def looping(path):
    """A network that repeats a step as often as an int64 can count."""
    inner = helper.make_graph(
        [helper.make_node("Identity", [name], [f"{name}_out"]) for name in ("going", "value")],
        "step",
        [
            helper.make_tensor_value_info("number", TensorProto.INT64, []),
            helper.make_tensor_value_info("going", TensorProto.BOOL, []),
            helper.make_tensor_value_info("value", TensorProto.FLOAT, None),
        ],
        [
            helper.make_tensor_value_info("going_out", TensorProto.BOOL, []),
            helper.make_tensor_value_info("value_out", TensorProto.FLOAT, None),
        ],
    )
    constants = [
        numpy_helper.from_array(np.array(2**62, np.int64), "times"),
        numpy_helper.from_array(np.array(True), "yes"),
    ]
    loop = helper.make_node("Loop", ["times", "yes", "pixels"], ["out"], body=inner)
    return network(path, [loop], [1, 3, 4, 4], constants=constants)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited there alone")
@pytest.mark.parametrize("n_bytes", [2**32, 2**50])
def test_a_network_that_fills_the_memory(tmp_path, pixels, n_bytes):
    path = filling(tmp_path / "a.onnx", n_bytes=n_bytes)
    assert path.stat().st_size < 300
    with pytest.raises(FileError, match=r"needs more than 2 GB .*set TAGRANK_NETWORK_GB and"):
        OnnxEmbedding(str(path))(pixels)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 2.6e6


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited there alone")
def test_memory_and_time_can_be_raised(tmp_path, pixels, monkeypatch):
    path = filling(tmp_path / "a.onnx", n_bytes=2**26)
    monkeypatch.setenv("TAGRANK_NETWORK_GB", "0.01")
    with pytest.raises(FileError, match=r"needs more than 0\.01 GB"):
        OnnxEmbedding(str(path))(pixels)
    monkeypatch.setenv("TAGRANK_NETWORK_GB", "1")
    assert OnnxEmbedding(str(path))(pixels).shape == (3,)
    monkeypatch.setenv("TAGRANK_NETWORK_GB", "much")
    with pytest.raises(ValueError, match="TAGRANK_NETWORK_GB must be a positive number, got 'much'"):
        OnnxEmbedding(str(path), output="out")(pixels)


def test_a_network_that_never_ends(tmp_path, pixels, monkeypatch):
    path = looping(tmp_path / "a.onnx")
    network = NetworkProcess(str(path), checksum(path.read_bytes()), "", 2, 600)
    network._seconds = 1
    started = []
    monkeypatch.setattr(onnx_embedding, "Worker", lambda: started.append(1) or Worker())
    for _ in range(10):
        with pytest.raises(FileError, match="600 seconds for a picture"):
            network.run(resize(pixels, 4, 4))
    # after three in a row the others are not tried
    assert len(started) == 2
