"""Any network in an ONNX file as an embedding.

The file may come from elsewhere: it is bounded in size, it may not refer to other files, only the operators
that onnxruntime brings along run, and they run in a process that is bounded in memory and time.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar

import numpy as np

from tagrank.features.base import Feature
from tagrank.features.networks.checksum import checksum, read_checked
from tagrank.features.networks.framing import Framing, Squash
from tagrank.features.networks.network_process import NetworkProcess, network_limits


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
