"""The drawn pictures: seeded, tagged as in life, and their tags can be seen in the pixels."""

import numpy as np
import pytest

from tagrank.data.drawn_pictures import TAGS, draw_pictures, plan_scene

IMPLIED = {
    "boats": "sea",
    "beach": "sea",
    "lighthouse": "sea",
    "bridge": "sea",
    "cars": "street",
    "stars": "night",
    "moon": "night",
    "rain": "clouds",
}
EXCLUDED = [
    ("rain", "sun"),
    ("rain", "stars"),
    ("rain", "snow"),
    ("night", "sun"),
    ("night", "sky"),
    ("night", "sunset"),
    ("snow", "flowers"),
    ("snow", "sea"),
    ("street", "sea"),
]


@pytest.fixture(scope="module")
def drawn():
    return draw_pictures(150, size=48, random_state=7)


@pytest.fixture(scope="module")
def plans():
    return [plan_scene(np.random.default_rng([0, i])).tags for i in range(2000)]


def test_collection_is_complete(drawn):
    assert drawn.view("pictures").shape == (150, 48, 48, 3)
    assert drawn.view("pictures").dtype == np.uint8
    assert drawn.tags == list(TAGS)
    assert drawn.labels.shape == (150, len(TAGS))
    assert len(drawn.train) == 105
    assert len(drawn.test) == 45


def test_seed_decides_everything():
    first, same, other = (draw_pictures(4, size=32, random_state=seed) for seed in (1, 1, 2))
    assert np.array_equal(first.X, same.X)
    assert np.array_equal(first.Y, same.Y)
    assert not np.array_equal(first.X, other.X)


def test_a_picture_does_not_depend_on_how_many_are_drawn():
    few, many = draw_pictures(2, size=32).X, draw_pictures(5, size=32).X
    assert np.array_equal(few, many[:2])


@pytest.mark.parametrize(("tag", "brought"), IMPLIED.items())
def test_tags_bring_each_other(plans, tag, brought):
    scenes = [tags for tags in plans if tag in tags]
    assert scenes
    assert all(brought in tags for tags in scenes)


@pytest.mark.parametrize(("one", "other"), EXCLUDED)
def test_tags_exclude_each_other(plans, one, other):
    assert not any({one, other} <= tags for tags in plans)


@pytest.mark.parametrize("tag", TAGS)
def test_no_tag_is_too_rare_or_too_common(plans, tag):
    assert 0.03 < np.mean([tag in tags for tags in plans]) < 0.7


def test_every_picture_has_a_tag(plans):
    assert all(plans)


def test_light_is_in_the_pixels(drawn):
    brightness = drawn.view("pictures").mean(axis=(1, 2, 3))
    night = drawn.labels[:, drawn.tags.index("night")] == 1
    assert brightness[night].mean() < 0.6 * brightness[~night].mean()


def test_sunset_is_warmer_than_day(drawn):
    warmth = drawn.view("pictures")[..., 0].mean(axis=(1, 2)) - drawn.view("pictures")[..., 2].mean(
        axis=(1, 2)
    )
    sunset, day = (drawn.labels[:, drawn.tags.index(tag)] == 1 for tag in ("sunset", "sky"))
    assert np.median(warmth[sunset]) > np.median(warmth[day]) + 30


@pytest.mark.parametrize(("arguments", "message"), [((0, 96), "n_pictures"), ((3, 4), "size")])
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        draw_pictures(arguments[0], size=arguments[1])
