"""What holds for every descriptor of a whole picture."""

import json

import numpy as np
import pytest

from tagrank.features.feature import Picture
from tagrank.features.whole_picture.colour import ColourHistogram, QuickColour
from tagrank.features.whole_picture.covariance import RegionCovariance
from tagrank.features.whole_picture.edges import Hog, PyramidEdges, QuickEdges
from tagrank.features.whole_picture.gist import Gist
from tagrank.features.whole_picture.lbp import LocalBinaryPatterns
from tagrank.features.whole_picture.miniature import Miniature

COLUMNS = {
    Gist(): 512,
    ColourHistogram(): 4096,
    ColourHistogram(space="hsv"): 4096,
    ColourHistogram(space="lab"): 4096,
    ColourHistogram(bins=12, bands=3): 5184,
    ColourHistogram(space="hsv", bins=12, bands=3): 5184,
    ColourHistogram(space="lab", bins=12, bands=3): 5184,
    QuickColour(): 288,
    QuickEdges(): 136,
    Hog(): 1764,
    Hog(cells=2, orientations=6): 24,
    PyramidEdges(): 3400,
    PyramidEdges(oriented=True): 3400,
    PyramidEdges(bins=8, levels=1): 8,
    Miniature(): 1024,
    Miniature(side=8): 64,
    LocalBinaryPatterns(): 1239,
    LocalBinaryPatterns(rotation_invariant=True, levels=2): 50,
    RegionCovariance(): 945,
    RegionCovariance(levels=1): 45,
}
# those of HOG are normalised block by block
HISTOGRAMS = [feature for feature in COLUMNS if feature.kernel == "chi2" and not isinstance(feature, Hog)]
RNG = np.random.default_rng(0)
ODD_PICTURES = {
    "smallest": RNG.integers(0, 256, (8, 8, 3), dtype=np.uint8),
    "wide": RNG.integers(0, 256, (8, 2000, 3), dtype=np.uint8),
    "high": RNG.integers(0, 256, (2000, 8, 3), dtype=np.uint8),
    "odd sides": RNG.integers(0, 256, (31, 57, 3), dtype=np.uint8),
    "black": np.zeros((20, 30, 3), dtype=np.uint8),
    "white": np.full((20, 30, 3), 255, dtype=np.uint8),
    "one colour": np.full((33, 17, 3), (200, 30, 90), dtype=np.uint8),
    "one bright pixel": np.pad(np.full((1, 1, 3), 255, dtype=np.uint8), ((10, 9), (10, 9), (0, 0))),
    "view": RNG.integers(0, 256, (60, 40, 3), dtype=np.uint8)[::-2, ::2],
}


@pytest.mark.parametrize("feature", COLUMNS, ids=repr)
@pytest.mark.parametrize("kind", ODD_PICTURES)
def test_every_picture_has_a_finite_row_of_the_same_length(feature, kind):
    row = feature(ODD_PICTURES[kind])
    assert row.shape == (COLUMNS[feature],)
    assert row.dtype == np.float32
    assert np.isfinite(row).all()


@pytest.mark.parametrize("feature", COLUMNS, ids=repr)
def test_rows_do_not_depend_on_what_was_described_before(feature):
    pixels = ODD_PICTURES["odd sides"].copy()
    pixels.flags.writeable = False
    shared = Picture(pixels)
    for other in COLUMNS:
        other(shared)
    assert np.array_equal(feature(shared), feature(pixels.copy()))


@pytest.mark.parametrize("feature", COLUMNS, ids=repr)
def test_rows_suit_their_kernel(feature):
    assert feature.kernel == ("rbf" if isinstance(feature, Gist | Miniature | RegionCovariance) else "chi2")
    assert feature.kernel == "rbf" or feature(ODD_PICTURES["odd sides"]).min() >= 0


@pytest.mark.parametrize("feature", HISTOGRAMS, ids=repr)
def test_histograms_sum_to_one(feature):
    row = feature(ODD_PICTURES["odd sides"])
    assert row.min() >= 0
    assert row.sum() == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("feature", COLUMNS, ids=repr)
def test_settings_rebuild_the_feature(feature):
    settings = json.loads(json.dumps(feature.settings()))
    assert settings.pop("type") == type(feature).__name__
    assert settings.pop("version") == feature.version
    rebuilt = type(feature)(**settings)
    assert rebuilt == feature
    assert rebuilt.fingerprint() == feature.fingerprint()


def test_fingerprints_differ():
    assert len({feature.fingerprint() for feature in COLUMNS}) == len(COLUMNS)


@pytest.mark.parametrize(
    ("feature", "settings", "message"),
    [
        (ColourHistogram, {"space": "xyz"}, "space must be one of 'rgb', 'hsv', 'lab'"),
        (ColourHistogram, {"bins": 1000}, "bins must be a whole number from 1 to 32, got 1000"),
        (ColourHistogram, {"bands": 0}, "bands"),
        (Hog, {"cells": 1}, "cells must be a whole number from 2 to 32, got 1"),
        (Hog, {"orientations": 9.0}, "orientations"),
        (PyramidEdges, {"bins": True}, "bins"),
        (PyramidEdges, {"levels": 30}, "levels"),
        (LocalBinaryPatterns, {"levels": "2"}, "levels"),
        (RegionCovariance, {"levels": 9}, "levels"),
    ],
)
def test_wrong_settings_are_named(feature, settings, message):
    with pytest.raises(ValueError, match=message):
        feature(**settings)
