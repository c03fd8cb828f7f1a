"""Hills, mountains, ground, sea, beach and road."""

import numpy as np
from PIL import Image

from tagrank.data.scenery.canvas import Canvas, Colour, Point, mix
from tagrank.data.scenery.sky import WHITE

SNOW: Colour = (238, 243, 250)


def rough_ridge(canvas: Canvas, base: float, height: float, *, roughness: float = 0.52) -> np.ndarray:
    """A mountain line by midpoint displacement: heights on the canvas at 129 places from left to right."""
    ridge = base - height * canvas.rng.uniform(0.15, 1.0, 5)
    swing = height * 0.38
    while len(ridge) < 129:
        middle = (ridge[:-1] + ridge[1:]) / 2 + canvas.rng.uniform(-swing, swing, len(ridge) - 1)
        longer = np.empty(2 * len(ridge) - 1)
        longer[::2], longer[1::2] = ridge, middle
        ridge, swing = longer, swing * roughness
    return np.minimum(ridge, base)


def soft_ridge(canvas: Canvas, base: float, height: float) -> np.ndarray:
    """A line of rolling hills: a few slow waves."""
    x = np.linspace(0, 1, 129)
    waves = [
        np.sin(x * canvas.between(2, 9) + canvas.between(0, 6.3)) * canvas.between(0.2, 0.5) for _ in range(3)
    ]
    return base - height * (0.5 + 0.5 * np.clip(np.sum(waves, axis=0), -1, 1))


def fill_below(canvas: Canvas, ridge: np.ndarray, colour: Colour, bottom: float = 1.0) -> None:
    canvas.polygon([*_points(ridge), (1.0, bottom), (0.0, bottom)], colour)


def _points(ridge: np.ndarray) -> list[Point]:
    return [(float(x), float(y)) for x, y in zip(np.linspace(0, 1, len(ridge)), ridge, strict=True)]


def paint_mountains(canvas: Canvas, horizon: float, *, height: float, snowy: bool) -> None:
    """Two or three ranges, the far ones paler; white caps on the near one, more of it in snow."""
    stone = canvas.vary(canvas.choose([(96, 96, 112), (112, 98, 92), (84, 102, 108)]))
    ranges = canvas.count(2, 3)
    for step in range(ranges):
        distance = 0.72 - 0.55 * (step + 1) / ranges
        ridge = rough_ridge(canvas, horizon + 0.01, height * (1 - 0.22 * step))
        fill_below(canvas, ridge, canvas.shade(stone, distance), horizon + 0.02)
        _shade_slopes(canvas, ridge, horizon, canvas.shade(mix(stone, (30, 34, 60), 0.55), distance))
        if snowy or (step == 0 and canvas.chance(0.6)):
            _cap_with_snow(
                canvas, ridge, height * (0.9 if snowy else 0.3), canvas.shade(SNOW, distance * 0.5)
            )


def _shade_slopes(canvas: Canvas, ridge: np.ndarray, base: float, colour: Colour) -> None:
    """The side of each peak that the light does not reach."""
    points = _points(ridge)
    peaks = [i for i in range(6, len(ridge) - 6) if ridge[i] == ridge[max(i - 9, 0) : i + 10].min()]
    for peak in peaks:
        valley = peak + int(np.argmax(ridge[peak : peak + 24]))
        x, y = points[peak]
        depth = min(base, ridge[valley] + 0.05) - y
        zigzag = [
            (x + depth * (0.2 * t + 0.09 * (-1) ** k), y + depth * t)
            for k, t in enumerate((0.95, 0.7, 0.45, 0.2))
        ]
        canvas.polygon([*points[peak : valley + 1], *zigzag], colour, 0.6)


def _cap_with_snow(canvas: Canvas, ridge: np.ndarray, depth: float, colour: Colour) -> None:
    line = np.quantile(ridge, 0.25) + depth * 0.4
    jags = canvas.rng.uniform(0.5, 1.15, len(ridge))
    lower = ridge + np.clip(line - ridge, 0, None) * jags
    canvas.polygon([*_points(ridge), *_points(lower)[::-1]], colour, 0.95)


def paint_ground(canvas: Canvas, horizon: float, *, snowy: bool) -> None:
    """Meadows in three or four overlapping folds, darker and richer towards the viewer."""
    green = canvas.vary(canvas.choose([(112, 152, 76), (138, 156, 78), (96, 142, 84), (176, 164, 92)]), 9)
    base = SNOW if snowy else green
    folds = canvas.count(3, 4)
    for step in range(folds):
        near = step / folds
        top = horizon + (1 - horizon) * near * 0.8
        colour = (
            mix(base, (120, 146, 200), (1 - near) * 0.3) if snowy else mix(base, (44, 84, 44), near * 0.75)
        )
        ridge = soft_ridge(canvas, top + 0.03, canvas.between(0.06, 0.12) * (1 if step else 0.6))
        fill_below(canvas, ridge, canvas.shade(colour, 0.5 * (1 - near) ** 2))


def paint_sea(canvas: Canvas, horizon: float, *, shine: float | None) -> None:
    """Water that mirrors all that was painted before, with ripples; `shine` is where sun or moon glitters."""
    mirror_below(canvas, horizon, canvas.shade(canvas.vary((38, 104, 138), 9), 0.12), 0.56)
    for _ in range(110):
        depth = canvas.rng.random() ** 1.6
        y = horizon + (1 - horizon) * depth
        x, length = canvas.between(-0.1, 1), canvas.between(0.02, 0.06) * (0.4 + 1.6 * depth)
        tone = canvas.light.sky[2] if canvas.chance(0.55) else canvas.shade((14, 52, 84))
        canvas.line([(x, y), (x + length, y)], tone, 0.003 + 0.003 * depth, 0.32)
    if shine is not None:
        _glitter(canvas, horizon, shine)


def mirror_below(canvas: Canvas, horizon: float, colour: Colour, cover: float) -> None:
    """Fold the picture down at the horizon and lay a colour over it."""
    line, pixels = round(horizon * canvas.pixels), canvas.pixels
    reach = min(line, pixels - line)
    above = canvas.image.crop((0, line - reach, pixels, line)).transpose(Image.Transpose.FLIP_TOP_BOTTOM)
    below = above.resize((pixels, pixels - line))
    tint = Image.new("RGB", below.size, tuple(int(min(max(c, 0), 255)) for c in colour))
    canvas.image.paste(Image.blend(below, tint, cover), (0, line))


def _glitter(canvas: Canvas, horizon: float, x: float) -> None:
    warm = mix(canvas.light.sky[2], WHITE, 0.55)
    for depth in np.linspace(0.01, 0.95, 34):
        spread = 0.03 + 0.09 * depth
        middle, half = x + canvas.rng.normal(0, spread * 0.4), spread * canvas.between(0.3, 0.9)
        y = horizon + (1 - horizon) * float(depth)
        canvas.line([(middle - half, y), (middle + half, y)], warm, 0.006, 0.62 * (1 - 0.6 * float(depth)))


def paint_beach(canvas: Canvas, shore: float) -> np.ndarray:
    """Sand with a wet edge and a line of foam; returns the line of the shore."""
    slope = canvas.between(-0.12, 0.12)
    line = soft_ridge(canvas, shore + 0.03, 0.07) + slope * np.linspace(-1, 1, 129)
    sand = canvas.vary(canvas.choose([(226, 200, 152), (234, 214, 172), (208, 182, 138)]), 6)
    fill_below(canvas, line - 0.012, canvas.shade(WHITE))
    fill_below(canvas, line, canvas.shade(mix(sand, (96, 84, 70), 0.45)))
    fill_below(canvas, line + 0.03, canvas.shade(sand))
    for _ in range(40):
        x, depth = canvas.between(0, 1), canvas.between(0.05, 0.4)
        y, tone = float(line[int(x * 128)]) + depth, canvas.shade(mix(sand, (120, 96, 66), 0.4))
        canvas.ellipse(x, y, 0.006, 0.003, tone, 0.6)
    return line


def paint_road(canvas: Canvas, kerb: float, *, snowy: bool, wet: bool) -> None:
    """Pavement, kerb and an asphalt lane with a dashed line; a wet lane mirrors the houses."""
    stone = SNOW if snowy else canvas.vary((176, 170, 162), 8)
    canvas.box(0, kerb - 0.09, 1, kerb, canvas.shade(stone))
    asphalt = canvas.shade(mix(canvas.vary((78, 80, 88), 7), SNOW, 0.35 if snowy else 0))
    if wet:
        mirror_below(canvas, kerb, asphalt, 0.62)
    else:
        canvas.box(0, kerb, 1, 1, asphalt)
    canvas.box(0, kerb, 1, kerb + 0.012, canvas.shade((206, 202, 196)))
    middle, start = (kerb + 1) / 2 + 0.02, canvas.between(-0.12, 0)
    for x in np.arange(start, 1, 0.2):
        canvas.box(float(x), middle, float(x) + 0.1, middle + 0.012, canvas.shade((236, 232, 214)))
