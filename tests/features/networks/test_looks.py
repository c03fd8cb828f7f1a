"""Several looks at a picture."""

import json

import numpy as np
import pytest
import skimage.data

from tagrank import choose_features
from tagrank.features import feature_from_settings
from tagrank.features.networks.efficientnet import EfficientNetEmbedding
from tagrank.features.networks.framing import CentreCrop, Flipped, Squash
from tagrank.features.networks.looks import MeanRow, with_looks

pytest.importorskip("onnxruntime")


def test_a_mirror_image_seen_twice_is_the_picture():
    pixels = skimage.data.chelsea()
    np.testing.assert_array_equal(Flipped(Flipped())(pixels, 20, 20), Squash()(pixels, 20, 20))
    np.testing.assert_array_equal(Flipped()(pixels, 20, 20), Squash()(pixels, 20, 20)[:, :, ::-1])


def test_two_looks_do_not_tell_a_picture_from_its_mirror_image():
    pixels = skimage.data.chelsea()[:96, :120]
    mirrored = np.ascontiguousarray(pixels[:, ::-1])
    one = choose_features("efficientnet_lite0")
    two = with_looks(one, 2)["efficientnet_lite0"]
    np.testing.assert_allclose(two(pixels), two(mirrored), atol=1e-4)
    single = one["efficientnet_lite0"]
    assert abs(single(pixels) - single(mirrored)).max() > 1e-3
    np.testing.assert_allclose(two(pixels), (single(pixels) + single(mirrored)) / 2, atol=1e-4)


def test_four_looks_have_the_centre_as_a_set_of_its_own():
    four = with_looks(choose_features(["efficientnet_lite0", "gist"]), 4)
    assert list(four) == ["efficientnet_lite0", "efficientnet_lite0_centre", "gist"]
    centre = four["efficientnet_lite0_centre"]
    assert centre.first.framing == CentreCrop(0.76)
    assert (centre.kernel, centre.family, len(centre.looks)) == ("rbf", "embedding", 2)
    assert four["gist"].looks == (four["gist"],)


def test_settings_bring_looks_back():
    feature = with_looks(choose_features("efficientnet_lite0"), 4)["efficientnet_lite0_centre"]
    again = feature_from_settings(json.loads(json.dumps(feature.settings())), feature.arrays())
    assert again == feature
    assert again.fingerprint() == feature.fingerprint()


def test_looks_of_strangers_stay_few():
    """Means of means could ask for any number of networks."""
    two = MeanRow(EfficientNetEmbedding(), EfficientNetEmbedding(1))
    settings = two.settings() | {"first": two.settings()}
    with pytest.raises(ValueError, match="a look must be an embedding, got MeanRow"):
        feature_from_settings(settings, {})


def test_looks_need_an_embedding():
    with pytest.raises(ValueError, match="the features are gist; add features=embedding"):
        with_looks(choose_features("gist"), 2)
    with pytest.raises(ValueError, match="looks must be 1, 2 or 4, got 3"):
        with_looks(choose_features("gist"), 3)
    assert with_looks(choose_features("gist"), 1) == choose_features("gist")
