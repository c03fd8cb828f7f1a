"""Generated pictures with exact tags: the embedded default.

Small landscapes, harbours, streets and nights, drawn from a seed. No file is read and none is shipped. Their
tags depend on each other as in life: a scene has a place and a light. The place brings its things (a harbour
brings the sea, the sea allows boats), the light brings what hangs in the sky (only the night has stars), and
some things forbid others (no moon in the rain). Each place knows what stands where; far things are painted
first.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from tagrank.data.collection import Collection
from tagrank.data.scenery import nature, things
from tagrank.data.scenery.canvas import LIGHTS, OVERSAMPLING, Canvas, mix
from tagrank.validation import check_whole

# pictures are drawn independently, so a fixed pattern is as good as chance: 70 % train, 30 % test
_TEST_PICTURES = (2, 5, 8)
# "sky" is what people tag so: a clear daylight sky. Every other name is plain.
TAGS = (
    "beach", "birds", "boats", "bridge", "cars", "clouds", "flowers", "houses", "lighthouse", "moon",
    "mountains", "night", "people", "rain", "sea", "sky", "snow", "stars", "street", "sun", "sunset", "trees",
)  # fmt: skip

_PLACE_CHANCES = {"coast": 0.24, "harbour": 0.18, "mountains": 0.18, "country": 0.19, "street": 0.21}
_LIGHT_CHANCES = {"day": 0.43, "sunset": 0.18, "night": 0.24, "overcast": 0.15}

_THINGS = {
    "coast": {
        "sea": 1, "beach": 0.6, "lighthouse": 0.4, "boats": 0.45, "mountains": 0.25,
        "birds": 0.4, "trees": 0.35,
    },
    "harbour": {
        "sea": 1, "boats": 0.85, "houses": 0.75, "bridge": 0.5, "mountains": 0.3,
        "birds": 0.4, "people": 0.35,
    },
    "mountains": {
        "mountains": 1, "snow": 0.45, "trees": 0.65, "houses": 0.3, "flowers": 0.4,
        "birds": 0.2, "people": 0.2,
    },
    "country": {
        "trees": 0.75, "houses": 0.45, "flowers": 0.55, "people": 0.35,
        "birds": 0.3, "snow": 0.2, "mountains": 0.15,
    },
    "street": {
        "street": 1, "houses": 0.9, "cars": 0.7, "people": 0.6, "trees": 0.5, "snow": 0.15, "birds": 0.1,
    },
}  # fmt: skip
_SKIES = {
    "day": {"sky": 1, "sun": 0.4, "clouds": 0.5},
    "sunset": {"sunset": 1, "sun": 0.75, "clouds": 0.45},
    "night": {"night": 1, "stars": 0.7, "moon": 0.5, "clouds": 0.25, "rain": 0.12},
    "overcast": {"clouds": 1, "rain": 0.6},
}
_LUMA = np.array([0.299, 0.587, 0.114], dtype=np.float32)
_FILMS = {"grey": (1.0, 1.0, 1.0), "sepia": (1.07, 0.95, 0.78)}
_OLD_FILM = 0.08
Span = tuple[float, float]


def draw_pictures(n_pictures: int = 400, *, size: int = 96, random_state: int = 0) -> Collection:
    """Draw a collection of small tagged pictures.

    Parameters
    ----------
    n_pictures : number of pictures
    size : width and height in pixels, at least 16
    random_state : seed, an integer of at least 0; the same seed draws the same pictures

    Returns
    -------
    collection : Collection with the view "pictures", uint8 of shape (n_pictures, size, size, 3), 22 tags, and
        the parts "train" and "test"
    """
    n_pictures, size = check_whole("n_pictures", n_pictures, 1), check_whole("size", size, 16)
    images = np.empty((n_pictures, size, size, 3), dtype=np.uint8)
    labels = np.zeros((n_pictures, len(TAGS)))
    for i in range(n_pictures):
        # picture i depends on the seed and on i alone
        rng = np.random.default_rng([random_state, i])
        scene = plan_scene(rng)
        images[i] = draw_scene(scene, size=size, rng=rng)
        labels[i] = [tag in scene.tags for tag in TAGS]
    return Collection(
        views={"pictures": images},
        labels=labels,
        tags=TAGS,
        names=[f"drawing-{i:04d}" for i in range(n_pictures)],
        part=["test" if i % 10 in _TEST_PICTURES else "train" for i in range(n_pictures)],
        name="drawn pictures",
    )


@dataclass(frozen=True)
class Scene:
    """A scene before it is drawn: where, in which light, and everything that will be seen."""

    place: str
    light: str
    tags: frozenset[str]


def plan_scene(rng: np.random.Generator) -> Scene:
    """Draw a place, a light and the tags that go together there."""
    place, light = _pick(rng, _PLACE_CHANCES), _pick(rng, _LIGHT_CHANCES)
    tags = {tag for tag, chance in {**_THINGS[place], **_SKIES[light]}.items() if rng.random() < chance}
    if "rain" in tags:
        tags.add("clouds")
    if "beach" in tags and rng.random() < 0.6:
        tags.add("people")
    return Scene(place, light, frozenset(tags - _ruled_out(tags)))


def _ruled_out(tags: set[str]) -> set[str]:
    """What the rest of the scene forbids: no moon in the rain, no flowers in the snow."""
    out: set[str] = set()
    if "rain" in tags:
        out |= {"stars", "moon", "birds", "snow"}
    if tags & {"snow", "night"}:
        out |= {"flowers"}
    if "night" in tags:
        out |= {"birds"}
    return out


def _pick(rng: np.random.Generator, chances: dict[str, float]) -> str:
    return str(rng.choice(list(chances), p=list(chances.values())))


def draw_scene(scene: Scene, *, size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw a planned scene as a uint8 array of shape (size, size, 3)."""
    canvas = Canvas(size, LIGHTS[scene.light], rng)
    _PLACES[scene.place](canvas, scene.tags)
    if "rain" in scene.tags:
        nature.paint_rain(canvas)
    elif "snow" in scene.tags and canvas.chance(0.4):
        _snowfall(canvas)
    return _take_picture(canvas)


def _heaven(canvas: Canvas, tags: frozenset[str], horizon: float) -> float | None:
    """All that hangs in the sky; returns where the sun or the moon stands, if either is there."""
    nature.paint_sky(canvas, horizon)
    x = canvas.between(0.15, 0.85)
    if "stars" in tags:
        nature.paint_stars(canvas, horizon)
    if "moon" in tags:
        nature.paint_moon(canvas, x, horizon * canvas.between(0.2, 0.55))
    if "sunset" in tags:
        canvas.glow(x, horizon, 0.28, (255, 176, 96), 0.6)
    if "sun" in tags:
        low = "sunset" in tags
        nature.paint_sun(
            canvas, x, horizon * (canvas.between(0.72, 0.94) if low else canvas.between(0.18, 0.5)), low=low
        )
    if "clouds" in tags:
        nature.paint_clouds(canvas, horizon, heavy="sky" not in tags and "sunset" not in tags)
    return x if tags & {"sun", "moon"} else None


def _birds(canvas: Canvas, tags: frozenset[str], horizon: float) -> None:
    if "birds" in tags:
        nature.paint_birds(canvas, horizon)


def _coast(canvas: Canvas, tags: frozenset[str]) -> None:
    horizon = canvas.between(0.4, 0.58)
    shine = _heaven(canvas, tags, horizon)
    if "mountains" in tags:
        nature.paint_mountains(canvas, horizon, height=canvas.between(0.12, 0.24), snowy=False)
    nature.paint_sea(canvas, horizon, shine=shine)
    if "lighthouse" in tags:
        things.paint_lighthouse(canvas, horizon)
    shore = canvas.between(0.74, 0.84)
    if "boats" in tags:
        things.paint_boats(canvas, horizon, shore - 0.06, count=canvas.count(1, 3))
    if "beach" in tags:
        nature.paint_beach(canvas, shore)
    elif tags & {"trees", "people"}:
        cliff = nature.soft_ridge(canvas, shore + 0.1, 0.12)
        nature.fill_below(canvas, cliff, canvas.shade(canvas.vary((104, 132, 78), 8)))
    if "trees" in tags:
        _shore_trees(canvas, kind="palm" if "beach" in tags else "round")
    if "people" in tags:
        things.paint_people(canvas, shore + 0.1, 0.98, count=canvas.count(2, 5), height=0.17)
    _birds(canvas, tags, horizon)


def _shore_trees(canvas: Canvas, *, kind: str) -> None:
    """A few tall trees near the left or the right edge, as a frame."""
    for _ in range(canvas.count(1, 3)):
        x = abs(canvas.count(0, 1) - canvas.between(0.02, 0.3))
        foot, height = canvas.between(0.9, 1.0), canvas.between(0.3, 0.5)
        nature.paint_tree(canvas, x, foot, height, kind=kind, snowy=False)


def _harbour(canvas: Canvas, tags: frozenset[str]) -> None:
    horizon = canvas.between(0.46, 0.58)
    shine = _heaven(canvas, tags, horizon)
    if "mountains" in tags:
        nature.paint_mountains(canvas, horizon, height=canvas.between(0.18, 0.3), snowy=False)
    else:
        hills = nature.soft_ridge(canvas, horizon, canvas.between(0.05, 0.14))
        nature.fill_below(canvas, hills, canvas.shade(canvas.vary((92, 118, 88)), 0.5), horizon + 0.01)
    if "houses" in tags:
        things.paint_terrace(canvas, horizon, tallest=canvas.between(0.14, 0.22), snowy=False, distance=0.15)
    if "bridge" in tags:
        things.paint_bridge(canvas, horizon)
    nature.paint_sea(canvas, horizon, shine=shine)
    near = 0.86 if "people" in tags else 0.94
    if "boats" in tags:
        things.paint_boats(canvas, horizon + 0.04, near - 0.04, count=canvas.count(2, 5))
    if "people" in tags:
        quay = canvas.shade(canvas.vary((150, 138, 124), 8))
        canvas.box(0, 0.87, 1, 1, quay)
        canvas.box(0, 0.87, 1, 0.885, mix(quay, (255, 255, 255), 0.3))
        things.paint_people(canvas, 0.93, 0.99, count=canvas.count(2, 4), height=0.2)
    _birds(canvas, tags, horizon)


def _open_country(canvas: Canvas, tags: frozenset[str], *, horizons: Span, heights: Span) -> None:
    horizon, range_height, snowy = canvas.between(*horizons), canvas.between(*heights), "snow" in tags
    _heaven(canvas, tags, horizon)
    if "mountains" in tags:
        nature.paint_mountains(canvas, horizon, height=range_height, snowy=snowy)
    nature.paint_ground(canvas, horizon, snowy=snowy)
    if "houses" in tags:
        foot = horizon + (1 - horizon) * canvas.between(0.25, 0.5)
        count = canvas.count(1, 4)
        things.paint_village(
            canvas, foot, count=count, scale=canvas.between(0.13, 0.2), snowy=snowy, distance=0.12
        )
    if "trees" in tags:
        kind = "conifer" if canvas.chance(0.65 if tags & {"mountains", "snow"} else 0.2) else "round"
        count, scale = canvas.count(3, 13), canvas.between(0.18, 0.36)
        nature.paint_wood(canvas, horizon + 0.06, 0.92, kind=kind, count=count, scale=scale, snowy=snowy)
    if "people" in tags:
        things.paint_people(canvas, 0.82, 0.93, count=canvas.count(1, 3), height=0.18)
    if "flowers" in tags:
        nature.paint_flowers(canvas, canvas.between(0.76, 0.86))
    _birds(canvas, tags, horizon)


def _street(canvas: Canvas, tags: frozenset[str]) -> None:
    kerb, snowy = canvas.between(0.7, 0.78), "snow" in tags
    foot = kerb - 0.08
    _heaven(canvas, tags, foot)
    hills = nature.soft_ridge(canvas, foot, 0.12)
    nature.fill_below(canvas, hills, canvas.shade(canvas.vary((104, 116, 110)), 0.55))
    if "houses" in tags:
        things.paint_terrace(canvas, foot, tallest=canvas.between(0.26, 0.46), snowy=snowy)
    nature.paint_road(canvas, kerb, snowy=snowy, wet="rain" in tags)
    if "trees" in tags:
        for x in np.arange(canvas.between(0, 0.3), 1.05, canvas.between(0.25, 0.6)):
            nature.paint_tree(
                canvas, float(x), foot + 0.03, canvas.between(0.24, 0.36), kind="round", snowy=snowy
            )
    things.paint_lamps(canvas, kerb - 0.02)
    if "people" in tags:
        things.paint_people(canvas, kerb - 0.05, kerb - 0.01, count=canvas.count(2, 5), height=0.17)
    if "cars" in tags:
        things.paint_cars(canvas, kerb, count=canvas.count(1, 3))
    _birds(canvas, tags, foot * 0.6)


def _snowfall(canvas: Canvas) -> None:
    for _ in range(canvas.count(60, 139)):
        radius = canvas.between(0.004, 0.009)
        canvas.ellipse(
            canvas.between(0, 1), canvas.between(0, 1), radius, radius, canvas.shade((255, 255, 255)), 0.85
        )


_PLACES: dict[str, Callable[[Canvas, frozenset[str]], None]] = {
    "coast": _coast,
    "harbour": _harbour,
    "mountains": partial(_open_country, horizons=(0.55, 0.68), heights=(0.34, 0.5)),
    "country": partial(_open_country, horizons=(0.42, 0.58), heights=(0.1, 0.2)),
    "street": _street,
}


def _take_picture(canvas: Canvas) -> np.ndarray:
    """The painted scene as a small camera would keep it, uint8 of shape (size, size, 3)."""
    rng = canvas.rng
    picture = np.asarray(canvas.image.reduce(OVERSAMPLING), dtype=np.float32)
    warmth, green = rng.normal(0, [0.075, 0.02])
    picture = picture * canvas.between(0.8, 1.06) * (1 + warmth, 1 + green, 1 - warmth)
    if canvas.chance(0.12):
        veil = canvas.between(0.15, 0.45)
        picture = picture * (1 - veil) + np.mean(canvas.light.haze) * veil
    if canvas.chance(_OLD_FILM):
        tint = _FILMS["sepia" if canvas.chance(0.5) else "grey"]
        picture = (picture @ _LUMA)[..., None] * tint
    grain = canvas.between(1.5, 6)
    shape = (canvas.size, canvas.size, 1)
    picture = picture + rng.normal(0, grain, shape) + rng.normal(0, grain / 2, picture.shape)
    return np.clip(picture, 0, 255).astype(np.uint8)
