"""Several looks at a picture: rows of an embedding from the whole, its mirror image and its centre.

1 look     the whole picture
2 looks    the whole picture and its mirror image, averaged
4 looks    these two, and as a set of features of its own the centre and its mirror image, averaged
"""

from dataclasses import dataclass

import numpy as np

from tagrank.features.feature import Feature
from tagrank.features.networks.framing import CentreCrop, Flipped, Squash

LOOKS = (1, 2, 4)
CENTRE_SHARE = 0.76  # of each side of the picture
CENTRE = "_centre"


@dataclass(frozen=True)
class MeanRow(Feature):
    """The mean of the rows of two embeddings, such as those of a picture and of its mirror image.

    Parameters
    ----------
    first, second : features of one look each, such as `EfficientNetEmbedding`
    """

    first: Feature
    second: Feature

    def __post_init__(self):
        for look in self.looks:
            # also bounds what a model file can ask for: each look runs a network
            if not hasattr(look, "framing"):
                raise ValueError(f"a look must be an embedding, got {type(look).__name__}")

    @property
    def kernel(self):
        return self.first.kernel

    @property
    def family(self):
        return self.first.family

    @property
    def about(self):
        return f"{self.first.about[:-1]}; the mean of two looks at the picture."

    @property
    def looks(self):
        return self.first, self.second

    def check_ready(self):
        for look in self.looks:
            look.check_ready()

    def describe(self, picture):
        return np.mean([look.describe(picture) for look in self.looks], axis=0)


def with_looks(features, n_looks):
    """Sets of features whose embeddings look at each picture so many times.

    Parameters
    ----------
    features : sets of features by name, each embedding with one look
    n_looks : 1, 2 or 4
    """
    if n_looks not in LOOKS:
        raise ValueError(f"looks must be 1, 2 or 4, got {n_looks!r}")
    if n_looks == 1:
        return dict(features)
    if not any(hasattr(feature, "framing") for feature in features.values()):
        raise ValueError(
            f"looks={n_looks} needs an embedding, but the features are {', '.join(features)}; add "
            "features=embedding, or leave looks out"
        )
    changed = {}
    for name, feature in features.items():
        changed[name] = _both_sides(feature) if hasattr(feature, "framing") else feature
        if n_looks == 4 and getattr(feature, "framing", None) == Squash():
            changed[f"{name}{CENTRE}"] = _both_sides(feature.replace(framing=CentreCrop(CENTRE_SHARE)))
    return changed


def _both_sides(feature):
    return MeanRow(feature, feature.replace(framing=Flipped(feature.framing)))
