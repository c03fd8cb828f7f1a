"""Pixels with OpenCV and without: colours are equal, the rest but for rounding."""

import numpy as np
import pytest

from tagrank.features import FEATURES, choose_features, pixels, registry
from tagrank.features.extraction import extract_features, fit_features
from tagrank.features.feature import Picture

CONVERSIONS = (pixels.grey_levels, pixels.to_hsv, pixels.to_lab)
NEED_OPENCV = {"geometric_blur", "hog", "phog", "phog_oriented", "self_similarity"}


@pytest.fixture
def without_opencv(monkeypatch):
    """A context that leaves OpenCV out."""

    def answer(function, *arguments, **named):
        with monkeypatch.context() as patch:
            patch.setattr(pixels, "opencv", lambda: None)
            return function(*arguments, **named)

    return answer


def photograph(height=90, width=120):
    noise = np.random.default_rng(0).integers(0, 256, (height, width, 3)).astype(np.float32)
    smooth = np.stack(
        [pixels.smooth(np.ascontiguousarray(channel), 2.0) for channel in noise.transpose(2, 0, 1)], -1
    )
    low, high = smooth.min(), smooth.max()
    return np.rint((smooth - low) / (high - low) * 255).astype(np.uint8)


@pytest.mark.parametrize("convert", CONVERSIONS, ids=lambda convert: convert.__name__)
def test_colours_are_equal_to_the_last_bit(convert, without_opencv):
    levels = np.r_[0:256:5, 255].astype(np.uint8)
    colours = np.stack(np.meshgrid(levels, levels, levels), axis=-1).reshape(len(levels), -1, 3)
    random = np.random.default_rng(0).integers(0, 256, (300, 300, 3), dtype=np.uint8)
    for image in (colours, random):
        np.testing.assert_array_equal(without_opencv(convert, image), convert(image))


@pytest.mark.parametrize("sigma", [0.5, 1.4, 3.0])
def test_smoothing(sigma, without_opencv):
    grey = Picture(photograph()).grey
    np.testing.assert_allclose(
        without_opencv(pixels.smooth, grey, sigma), pixels.smooth(grey, sigma), atol=2e-6
    )


@pytest.mark.parametrize("size", [(30, 40), (45, 33), (89, 119), (90, 120), (224, 300), (12, 400)])
def test_other_sizes(size, without_opencv):
    named = dict(zip(("height", "width"), size, strict=True))
    image = photograph()
    grey = Picture(image).grey
    np.testing.assert_allclose(
        without_opencv(pixels.resize, grey, **named), pixels.resize(grey, **named), atol=2e-6
    )
    difference = without_opencv(pixels.resize, image, **named).astype(int) - pixels.resize(image, **named)
    # each axis is rounded
    assert np.abs(difference).max() <= 2


@pytest.mark.parametrize(("kind", "size"), [("area", (40, 50)), ("cubic", (180, 333))])
def test_both_axes_at_once(kind, size, without_opencv):
    image = photograph()
    difference = without_opencv(pixels.stretch, image, *size, kind).astype(int)
    difference -= pixels.stretch(image, *size, kind)
    assert np.abs(difference).max() <= 1
    assert (difference != 0).mean() < 0.02


def test_the_usual_features_need_no_opencv(without_opencv):
    features = choose_features(
        ["colour", "edges", "gist", "lbp", "hsv_v3h1", "lab", "covariance", "dense_hue"]
    )
    image = photograph()
    fitted = fit_features(features, [image], random_state=0)
    for name, feature in fitted.items():
        without_opencv(feature.check_ready)
        row = without_opencv(feature, Picture(image))
        np.testing.assert_allclose(row, feature(Picture(image)), atol=2e-4, err_msg=name)


@pytest.mark.parametrize("name", ["dense_sift", "geometric_blur"])
def test_dense_descriptors_without_opencv(name, without_opencv):
    descriptor = FEATURES[name].descriptor
    image = Picture(photograph())
    points = FEATURES["dense_sift"].sampling.points(image)
    expected = descriptor.compute(image, points)
    np.testing.assert_allclose(
        without_opencv(descriptor.compute, Picture(image.pixels), points), expected, atol=1e-4
    )


def test_other_features_say_what_to_install(without_opencv):
    needy = {name for name, feature in FEATURES.items() if feature.needs_opencv}
    assert needy == NEED_OPENCV | {name for name in FEATURES if name.startswith("harris")}
    for name in sorted(needy):
        with pytest.raises(ImportError, match=r"pip install 'tagrank\[pictures\]'"):
            without_opencv(FEATURES[name].check_ready)
    with pytest.raises(ImportError, match="OpenCV"):
        without_opencv(extract_features, [photograph()], "hog")


def test_features_that_are_not_installed_are_left_out(monkeypatch):
    names = ["gist", "hog", "harris_sift"]
    assert list(registry.installed_features(names)) == names
    monkeypatch.setattr(registry, "opencv", lambda: None)
    assert list(registry.installed_features(names)) == ["gist"]
