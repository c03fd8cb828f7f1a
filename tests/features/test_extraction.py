"""Every descriptor through the same door."""

import numpy as np
import pytest

from tagrank.features import FEATURES, PRESETS, extract_features, feature_from_settings
from tagrank.features.networks.framing import Squash

RNG = np.random.default_rng(3)
PICTURES = [RNG.integers(0, 256, shape, dtype=np.uint8) for shape in ((20, 30, 3), (9, 8, 3), (64, 64, 3))]


def test_the_fast_preset_by_default():
    views = extract_features(PICTURES)
    assert list(views) == list(PRESETS["fast"])
    for name, rows in views.items():
        assert rows.shape[0] == len(PICTURES)
        assert np.array_equal(rows[1], FEATURES[name](PICTURES[1]))


def test_only_the_named():
    assert list(extract_features(PICTURES, "edges")) == ["edges"]
    assert list(extract_features(PICTURES, ["hog", "edges"])) == ["hog", "edges"]


def test_vocabularies_are_learned_from_the_same_pictures():
    bag = FEATURES["dense_hue_v3h1"]
    bag = bag.replace(vocabulary=bag.vocabulary.replace(n_words=5))
    views = extract_features(PICTURES, {"mine": bag})
    assert views["mine"].shape == (3, 15)


def test_unknown_names_are_told():
    with pytest.raises(
        ValueError, match=r"no features 'glitter'; presets are fast, papers, .* sets are colour"
    ):
        extract_features(PICTURES, ["glitter"])


@pytest.mark.parametrize("features", [[], {}])
def test_no_features(features):
    with pytest.raises(ValueError, match="no features were chosen"):
        extract_features(PICTURES, features)


def test_no_pictures():
    with pytest.raises(ValueError, match="no pictures"):
        extract_features([])


def test_presets_name_what_there_is():
    assert {name for names in PRESETS.values() for name in names} <= FEATURES.keys()
    assert len(PRESETS["papers"]) == 15


def test_a_step_is_no_feature():
    with pytest.raises(ValueError, match="Squash is a step of a feature"):
        feature_from_settings(Squash().settings(), {})
