"""From a plan to pixels: each place knows what stands where, and the far things are painted first."""

from collections.abc import Callable
from functools import partial

import numpy as np

from tagrank.data.scenery import buildings, land, movers, plants, sky
from tagrank.data.scenery.canvas import LIGHTS, OVERSAMPLING, Canvas, mix
from tagrank.data.scenery.plan import Plan

_LUMA = np.array([0.299, 0.587, 0.114], dtype=np.float32)
_FILMS = {"grey": (1.0, 1.0, 1.0), "sepia": (1.07, 0.95, 0.78)}
_OLD_FILM = 0.08
Span = tuple[float, float]


def draw_scene(plan: Plan, *, size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw a planned scene as a uint8 array of shape (size, size, 3)."""
    canvas = Canvas(size, LIGHTS[plan.light], rng)
    _PLACES[plan.place](canvas, plan.tags)
    if "rain" in plan.tags:
        sky.paint_rain(canvas)
    elif "snow" in plan.tags and canvas.chance(0.4):
        _snowfall(canvas)
    return _take_picture(canvas)


def _heaven(canvas: Canvas, tags: frozenset[str], horizon: float) -> float | None:
    """All that hangs in the sky; returns where the sun or the moon stands, if either is there."""
    sky.paint_sky(canvas, horizon)
    x = canvas.between(0.15, 0.85)
    if "stars" in tags:
        sky.paint_stars(canvas, horizon)
    if "moon" in tags:
        sky.paint_moon(canvas, x, horizon * canvas.between(0.2, 0.55))
    if "sunset" in tags:
        canvas.glow(x, horizon, 0.28, (255, 176, 96), 0.6)
    if "sun" in tags:
        low = "sunset" in tags
        sky.paint_sun(
            canvas, x, horizon * (canvas.between(0.72, 0.94) if low else canvas.between(0.18, 0.5)), low=low
        )
    if "clouds" in tags:
        sky.paint_clouds(canvas, horizon, heavy="sky" not in tags and "sunset" not in tags)
    return x if tags & {"sun", "moon"} else None


def _birds(canvas: Canvas, tags: frozenset[str], horizon: float) -> None:
    if "birds" in tags:
        sky.paint_birds(canvas, horizon)


def _coast(canvas: Canvas, tags: frozenset[str]) -> None:
    horizon = canvas.between(0.4, 0.58)
    shine = _heaven(canvas, tags, horizon)
    if "mountains" in tags:
        land.paint_mountains(canvas, horizon, height=canvas.between(0.12, 0.24), snowy=False)
    land.paint_sea(canvas, horizon, shine=shine)
    if "lighthouse" in tags:
        buildings.paint_lighthouse(canvas, horizon)
    shore = canvas.between(0.74, 0.84)
    if "boats" in tags:
        movers.paint_boats(canvas, horizon, shore - 0.06, count=canvas.count(1, 3))
    if "beach" in tags:
        land.paint_beach(canvas, shore)
    elif tags & {"trees", "people"}:
        cliff = land.soft_ridge(canvas, shore + 0.1, 0.12)
        land.fill_below(canvas, cliff, canvas.shade(canvas.vary((104, 132, 78), 8)))
    if "trees" in tags:
        _shore_trees(canvas, kind="palm" if "beach" in tags else "round")
    if "people" in tags:
        movers.paint_people(canvas, shore + 0.1, 0.98, count=canvas.count(2, 5), height=0.17)
    _birds(canvas, tags, horizon)


def _shore_trees(canvas: Canvas, *, kind: str) -> None:
    """A few tall trees near the left or the right edge, as a frame."""
    for _ in range(canvas.count(1, 3)):
        x = abs(canvas.count(0, 1) - canvas.between(0.02, 0.3))
        foot, height = canvas.between(0.9, 1.0), canvas.between(0.3, 0.5)
        plants.paint_tree(canvas, x, foot, height, kind=kind, snowy=False)


def _harbour(canvas: Canvas, tags: frozenset[str]) -> None:
    horizon = canvas.between(0.46, 0.58)
    shine = _heaven(canvas, tags, horizon)
    if "mountains" in tags:
        land.paint_mountains(canvas, horizon, height=canvas.between(0.18, 0.3), snowy=False)
    else:
        hills = land.soft_ridge(canvas, horizon, canvas.between(0.05, 0.14))
        land.fill_below(canvas, hills, canvas.shade(canvas.vary((92, 118, 88)), 0.5), horizon + 0.01)
    if "houses" in tags:
        buildings.paint_terrace(
            canvas, horizon, tallest=canvas.between(0.14, 0.22), snowy=False, distance=0.15
        )
    if "bridge" in tags:
        buildings.paint_bridge(canvas, horizon)
    land.paint_sea(canvas, horizon, shine=shine)
    near = 0.86 if "people" in tags else 0.94
    if "boats" in tags:
        movers.paint_boats(canvas, horizon + 0.04, near - 0.04, count=canvas.count(2, 5))
    if "people" in tags:
        quay = canvas.shade(canvas.vary((150, 138, 124), 8))
        canvas.box(0, 0.87, 1, 1, quay)
        canvas.box(0, 0.87, 1, 0.885, mix(quay, (255, 255, 255), 0.3))
        movers.paint_people(canvas, 0.93, 0.99, count=canvas.count(2, 4), height=0.2)
    _birds(canvas, tags, horizon)


def _open_country(canvas: Canvas, tags: frozenset[str], *, horizons: Span, heights: Span) -> None:
    horizon, range_height, snowy = canvas.between(*horizons), canvas.between(*heights), "snow" in tags
    _heaven(canvas, tags, horizon)
    if "mountains" in tags:
        land.paint_mountains(canvas, horizon, height=range_height, snowy=snowy)
    land.paint_ground(canvas, horizon, snowy=snowy)
    if "houses" in tags:
        foot = horizon + (1 - horizon) * canvas.between(0.25, 0.5)
        count = canvas.count(1, 4)
        buildings.paint_village(
            canvas, foot, count=count, scale=canvas.between(0.13, 0.2), snowy=snowy, distance=0.12
        )
    if "trees" in tags:
        kind = "conifer" if canvas.chance(0.65 if tags & {"mountains", "snow"} else 0.2) else "round"
        count, scale = canvas.count(3, 13), canvas.between(0.18, 0.36)
        plants.paint_wood(canvas, horizon + 0.06, 0.92, kind=kind, count=count, scale=scale, snowy=snowy)
    if "people" in tags:
        movers.paint_people(canvas, 0.82, 0.93, count=canvas.count(1, 3), height=0.18)
    if "flowers" in tags:
        plants.paint_flowers(canvas, canvas.between(0.76, 0.86))
    _birds(canvas, tags, horizon)


def _street(canvas: Canvas, tags: frozenset[str]) -> None:
    kerb, snowy = canvas.between(0.7, 0.78), "snow" in tags
    foot = kerb - 0.08
    _heaven(canvas, tags, foot)
    hills = land.soft_ridge(canvas, foot, 0.12)
    land.fill_below(canvas, hills, canvas.shade(canvas.vary((104, 116, 110)), 0.55))
    if "houses" in tags:
        buildings.paint_terrace(canvas, foot, tallest=canvas.between(0.26, 0.46), snowy=snowy)
    land.paint_road(canvas, kerb, snowy=snowy, wet="rain" in tags)
    if "trees" in tags:
        for x in np.arange(canvas.between(0, 0.3), 1.05, canvas.between(0.25, 0.6)):
            plants.paint_tree(
                canvas, float(x), foot + 0.03, canvas.between(0.24, 0.36), kind="round", snowy=snowy
            )
    buildings.paint_lamps(canvas, kerb - 0.02)
    if "people" in tags:
        movers.paint_people(canvas, kerb - 0.05, kerb - 0.01, count=canvas.count(2, 5), height=0.17)
    if "cars" in tags:
        movers.paint_cars(canvas, kerb, count=canvas.count(1, 3))
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
