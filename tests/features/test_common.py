"""What holds for every set of features, and for every step of one, that the registry knows."""

import json
import os
import pkgutil
import subprocess
import sys
from functools import cache
from importlib import import_module

import numpy as np
import pytest

from tagrank import features
from tagrank.features.extraction import fit_features
from tagrank.features.feature import Part
from tagrank.features.registry import FEATURES, PARTS, PRESETS, feature_from_settings

RNG = np.random.default_rng(5)
ORDINARY = [RNG.integers(0, 256, shape, dtype=np.uint8) for shape in ((40, 56, 3), (64, 48, 3), (50, 50, 3))]
ODD = {
    "as small as can be": ORDINARY[0][:8, :8],
    "a wide strip": RNG.integers(0, 256, (8, 700, 3), dtype=np.uint8),
    "a tall strip": RNG.integers(0, 256, (700, 8, 3), dtype=np.uint8),
    "black": np.zeros((33, 47, 3), np.uint8),
    "white": np.full((33, 47, 3), 255, np.uint8),
    "one colour": np.full((33, 47, 3), (200, 10, 90), np.uint8),
    "grey": np.repeat(ORDINARY[0][:, :, :1], 3, axis=2),
    "turned around": ORDINARY[1][::-1, ::-1],
    "every other pixel": np.indices((40, 40)).sum(axis=0)[:, :, None].repeat(3, axis=2).astype(np.uint8)
    % 2
    * 255,
}
NO_PICTURES = {
    "one pixel": np.zeros((1, 1, 3), np.uint8),
    "one line": np.zeros((1, 90, 3), np.uint8),
    "seven lines": np.zeros((7, 90, 3), np.uint8),
    "no pixel": np.zeros((0, 9, 3), np.uint8),
    "one channel": np.zeros((9, 9), np.uint8),
    "four channels": np.zeros((9, 9, 4), np.uint8),
    "floats": np.zeros((9, 9, 3)),
}


@cache
def fitted(name):
    """A set of features that can describe; vocabularies are small, to be learned quickly."""
    feature = FEATURES[name]
    if not feature.is_fitted:
        feature = feature.replace(vocabulary=feature.vocabulary.replace(n_words=6))
    return fit_features({name: feature}, ORDINARY)[name]


def all_parts(part=Part):
    for module in pkgutil.walk_packages(features.__path__, "tagrank.features."):
        import_module(module.name)
    own = [kind for kind in part.__subclasses__() if kind.__module__.startswith("tagrank.")]
    return set().union([] if own else [part], *map(all_parts, own))


def test_every_part_is_registered():
    assert all_parts() == set(PARTS.values())


def test_every_kind_of_feature_has_a_name_or_a_file():
    named = {type(feature) for feature in FEATURES.values()}
    kinds = {kind for kind in PARTS.values() if issubclass(kind, features.Feature)}
    # an embedding of several looks is made by with_looks
    assert {kind.__name__ for kind in kinds - named} == {"MeanRow", "OnnxEmbedding"}
    assert {name for names in PRESETS.values() for name in names} <= FEATURES.keys()


@pytest.mark.parametrize("name", FEATURES)
def test_settings_come_back(name):
    for feature in (FEATURES[name], fitted(name)):
        settings = json.loads(json.dumps(feature.settings()))
        again = feature_from_settings(settings, feature.arrays())
        assert again == feature
        assert again.fingerprint() == feature.fingerprint()


def test_fingerprints_differ_from_each_other_but_not_between_processes():
    code = "from tagrank.features import FEATURES; print(*(f.fingerprint() for f in FEATURES.values()))"
    result = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.split() == [feature.fingerprint() for feature in FEATURES.values()]
    assert len(set(result.stdout.split())) == len(FEATURES)


@pytest.mark.parametrize("name", FEATURES)
def test_odd_pictures_have_finite_rows_of_the_same_length(name):
    feature = fitted(name)
    expected = feature(ORDINARY[0])
    assert expected.dtype == np.float32
    assert expected.ndim == 1
    assert np.array_equal(feature(ORDINARY[0]), expected)
    for kind, picture in ODD.items():
        row = feature(picture)
        assert row.shape == expected.shape, kind
        assert row.dtype == np.float32, kind
        assert np.isfinite(row).all(), kind


@pytest.mark.parametrize("name", FEATURES)
def test_what_is_no_picture_is_refused(name):
    for image in NO_PICTURES.values():
        with pytest.raises(ValueError, match="a picture must be"):
            fitted(name)(image)


@pytest.mark.parametrize("name", FEATURES)
def test_features_tell_what_they_are(name):
    feature = FEATURES[name]
    assert feature.about.endswith(".")
    assert feature.kernel in ("chi2", "rbf", "linear", "hellinger", "intersection")
    assert feature.family in ("descriptor", "embedding")
