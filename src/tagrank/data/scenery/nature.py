"""What nature puts into a drawn picture: sky, land, sea, trees and flowers."""

import numpy as np
from PIL import Image, ImageChops, ImageDraw, ImageFilter

from tagrank.data.scenery.canvas import Canvas, Colour, Point, mix

WHITE: Colour = (255, 255, 255)
SNOW: Colour = (238, 243, 250)
LEAVES: list[Colour] = [(66, 122, 58), (88, 138, 60), (52, 104, 70), (196, 132, 48), (120, 138, 56)]
PETALS: list[Colour] = [
    (232, 64, 72), (250, 206, 62), (236, 120, 178), (246, 246, 240), (150, 96, 204), (244, 138, 52),
]  # fmt: skip


def paint_sky(canvas: Canvas, horizon: float) -> None:
    """Three colours blended from the top down to the horizon."""
    heights = np.arange(canvas.pixels) / (canvas.pixels * horizon)
    stops = [0.0, canvas.between(0.45, 0.7), 1.0]
    sky = np.array([canvas.vary(colour, 7) for colour in canvas.light.sky])
    rows = np.stack([np.interp(heights, stops, sky[:, channel]) for channel in range(3)], axis=-1)
    column = Image.fromarray(np.clip(rows, 0, 255).astype(np.uint8)[:, None])
    canvas.image.paste(column.resize(canvas.image.size), (0, 0))


def paint_sun(canvas: Canvas, x: float, y: float, *, low: bool) -> None:
    """A disc in its glow; a low sun is large and orange."""
    tint: Colour = (255, 196, 110) if low else (255, 246, 214)
    radius = canvas.between(0.05, 0.085) if low else canvas.between(0.04, 0.065)
    canvas.glow(x, y, radius * 3.2, tint, 0.6)
    canvas.glow(x, y, radius * 1.1, mix(tint, WHITE, 0.4), 0.95)
    canvas.ellipse(x, y, radius, radius, (255, 226, 160) if low else (255, 250, 226))


def paint_moon(canvas: Canvas, x: float, y: float) -> None:
    """Full or a crescent, cut out by a disc of the sky's own colour."""
    radius = canvas.between(0.04, 0.07)
    pixel = (int(x * canvas.pixels) % canvas.pixels, int(y * canvas.pixels) % canvas.pixels)
    behind = canvas.image.getpixel(pixel)
    assert isinstance(behind, tuple)
    canvas.glow(x, y, radius * 1.8, (170, 186, 230), 0.55)
    canvas.ellipse(x, y, radius, radius, (244, 240, 220))
    if canvas.chance(0.55):
        shadow = mix((behind[0], behind[1], behind[2]), (170, 186, 230), 0.18)
        canvas.ellipse(
            x + radius * canvas.between(0.4, 0.7), y - radius * 0.25, radius * 0.92, radius * 0.92, shadow
        )
    else:
        for dx, dy, share in ((-0.3, -0.2, 0.25), (0.25, 0.1, 0.18), (-0.05, 0.4, 0.2)):
            canvas.ellipse(x + dx * radius, y + dy * radius, radius * share, radius * share, (214, 210, 198))


def paint_stars(canvas: Canvas, horizon: float) -> None:
    """A few dozen points of different brightness, denser towards the top."""
    for _ in range(canvas.count(12, 69)):
        y = horizon * canvas.rng.beta(1.0, 1.6)
        radius = 0.0022 + 0.0045 * canvas.rng.random() ** 3
        canvas.ellipse(
            canvas.between(0, 1), y, radius, radius, canvas.vary((250, 246, 235), 6), canvas.between(0.6, 1)
        )


def paint_clouds(canvas: Canvas, horizon: float, *, heavy: bool) -> None:
    """Puffs with a lit top and a shaded flat base."""
    mask = Image.new("L", canvas.image.size)
    pen = ImageDraw.Draw(mask)
    for _ in range(canvas.count(6, 9) if heavy else canvas.count(1, 4)):
        _puff_up(
            canvas, pen, canvas.between(0, 1), horizon * canvas.between(0.12, 0.7), canvas.between(0.1, 0.34)
        )
    mask = mask.filter(ImageFilter.GaussianBlur(canvas.pixels * 0.008))
    top = ImageChops.multiply(mask, ImageChops.offset(mask, 0, -round(canvas.pixels * 0.022)))
    light = canvas.light
    bright = mix(light.sky[2], WHITE, 0.7 if sum(light.lamp) > 2.5 else 0.12)
    if heavy:
        bright = mix(bright, light.sky[0], 0.45)
    canvas.stain(
        mask.point(lambda value: int(value * 0.9)), mix(bright, light.sky[0], 0.5 if heavy else 0.36)
    )
    canvas.stain(top, bright)


def _puff_up(canvas: Canvas, pen: ImageDraw.ImageDraw, x: float, y: float, width: float) -> None:
    for offset in np.linspace(-0.5, 0.5, canvas.count(5, 8)):
        radius = width * (0.22 - 0.3 * offset**2) * canvas.between(0.7, 1.15)
        centre = x + offset * width
        lift = y - radius * canvas.between(0.2, 0.7)
        pen.ellipse(
            canvas.corners(centre - 1.3 * radius, lift - radius, centre + 1.3 * radius, lift + radius),
            fill=255,
        )
    pen.rounded_rectangle(
        canvas.corners(x - 0.5 * width, y - 0.05 * width, x + 0.5 * width, y + 0.06 * width),
        radius=canvas.pixels * width * 0.05,
        fill=255,
    )


def paint_rain(canvas: Canvas) -> None:
    """Slanted strokes over everything, and a veil of grey."""
    slant = canvas.between(-0.03, 0.03)
    canvas.box(0, 0, 1, 1, canvas.light.haze, 0.16)
    pale = mix(canvas.light.sky[2], WHITE, 0.45)
    for _ in range(canvas.count(40, 139)):
        x, y, length = canvas.between(0, 1), canvas.between(-0.1, 1), canvas.between(0.04, 0.11)
        canvas.line([(x, y), (x + slant, y + length)], pale, 0.0035, canvas.between(0.35, 0.7))


def paint_birds(canvas: Canvas, horizon: float) -> None:
    """A loose flock, each bird two bent wings."""
    x, y = canvas.between(0.2, 0.8), horizon * canvas.between(0.2, 0.65)
    colour: Colour = canvas.choose([(38, 40, 52), (62, 58, 64), (248, 248, 246)])
    for _ in range(canvas.count(2, 7)):
        span = canvas.between(0.022, 0.05)
        left, top = x + canvas.between(-0.2, 0.2), y + canvas.between(-0.12, 0.12)
        rise = span * canvas.between(0.35, 0.7)
        wings = [
            (left - span, top - rise * 0.5), (left - span * 0.5, top - rise), (left, top),
            (left + span * 0.5, top - rise), (left + span, top - rise * 0.4),
        ]  # fmt: skip
        canvas.line(wings, colour, 0.0085)


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


def paint_tree(
    canvas: Canvas, x: float, base: float, height: float, *, kind: str, snowy: bool, distance: float = 0.0
) -> None:
    """One tree with its foot at (x, base); `kind` is a key of `KINDS`."""
    KINDS[kind](canvas, x, base, height, snowy, distance)


def _round_tree(canvas: Canvas, x: float, base: float, height: float, snowy: bool, distance: float) -> None:
    canvas.line([(x, base), (x, base - height * 0.5)], canvas.shade((94, 68, 48), distance), height * 0.09)
    leaf = canvas.vary(mix(canvas.choose(LEAVES), SNOW, 0.55 if snowy else 0), 9)
    crown = height * 0.26
    blobs = [
        (canvas.between(-0.75, 0.75), canvas.between(-0.6, 0.5), canvas.between(0.45, 0.7)) for _ in range(9)
    ]
    for tone, shift in (
        (mix(leaf, (20, 40, 40), 0.45), 0.22),
        (leaf, 0.0),
        (mix(leaf, (255, 250, 190), 0.25), -0.22),
    ):
        shrink = 1 - 0.3 * abs(min(shift, 0)) / 0.22
        for dx, dy, share in blobs:
            centre = (x + crown * (dx + shift * 0.6), base - height * 0.68 + crown * (dy + shift))
            canvas.ellipse(
                *centre, crown * share * shrink, crown * share * shrink * 0.9, canvas.shade(tone, distance)
            )


def _conifer(canvas: Canvas, x: float, base: float, height: float, snowy: bool, distance: float) -> None:
    canvas.line([(x, base), (x, base - height * 0.2)], canvas.shade((84, 60, 44), distance), height * 0.06)
    needle = canvas.vary((40, 82, 62), 8)
    for step in range(4):
        low, half = base - height * (0.1 + 0.2 * step), height * (0.24 - 0.048 * step)
        tip = low - height * 0.34
        canvas.polygon([(x - half, low), (x, tip), (x + half, low)], canvas.shade(needle, distance))
        canvas.polygon(
            [(x, tip), (x + half, low), (x + half * 0.1, low)],
            canvas.shade(mix(needle, (10, 20, 40), 0.5), distance),
        )
        if snowy:
            drift = [
                (x - half * 0.62, low - height * 0.13),
                (x, tip),
                (x + half * 0.5, low - height * 0.16),
                (x, low - height * 0.1),
            ]
            canvas.polygon(drift, canvas.shade(SNOW, distance * 0.6))


def _palm(canvas: Canvas, x: float, base: float, height: float, snowy: bool, distance: float) -> None:
    lean = height * canvas.between(-0.25, 0.25)
    trunk = [(x + lean * t**2, base - height * t) for t in np.linspace(0, 1, 7)]
    canvas.line(trunk, canvas.shade((124, 92, 62), distance), height * 0.05)
    top_x, top_y = trunk[-1]
    for angle in np.linspace(-0.3, np.pi + 0.3, canvas.count(6, 8)):
        reach = height * canvas.between(0.34, 0.48)
        tip = (top_x + reach * float(np.cos(angle)), top_y - reach * float(np.sin(angle)) * 0.5 + reach * 0.3)
        bend = (
            top_x + reach * 0.55 * float(np.cos(angle)),
            top_y - reach * 0.5 * float(np.sin(angle)) - reach * 0.08,
        )
        under = (bend[0], bend[1] + reach * 0.16)
        canvas.polygon(
            [(top_x, top_y), bend, tip, under], canvas.shade(canvas.vary((58, 120, 64), 10), distance)
        )


KINDS = {"round": _round_tree, "conifer": _conifer, "palm": _palm}


def paint_wood(
    canvas: Canvas, base: float, near: float, *, kind: str, count: int, scale: float, snowy: bool
) -> None:
    """Trees between two lines of the ground, the far ones first, smaller and paler."""
    centre, spread = canvas.between(0.15, 0.85), canvas.between(0.15, 0.4)
    for closeness in np.sort(canvas.rng.random(count)):
        x = float(canvas.rng.normal(centre, spread))
        height = scale * (0.45 + 0.65 * float(closeness)) * canvas.between(0.8, 1.2)
        foot = base + (near - base) * float(closeness)
        paint_tree(canvas, x, foot, height, kind=kind, snowy=snowy, distance=0.35 * (1 - float(closeness)))


def paint_flowers(canvas: Canvas, top: float) -> None:
    """A bed of one or two colours over dark green, larger towards the viewer."""
    colours = [canvas.choose(PETALS), canvas.choose(PETALS)]
    centre, spread = canvas.between(0.1, 0.9), canvas.between(0.12, 0.5)
    for closeness in np.sort(canvas.rng.random(canvas.count(20, 109))):
        x, y = float(canvas.rng.normal(centre, spread)), top + (1 - top) * float(closeness)
        radius = 0.006 + 0.015 * float(closeness) * canvas.between(0.7, 1.2)
        canvas.line([(x, y), (x, y + 3 * radius)], canvas.shade((52, 96, 48)), radius * 0.5)
        petal = canvas.shade(canvas.vary(canvas.choose(colours), 10))
        for dx, dy in ((-0.7, 0), (0.7, 0), (0, -0.7), (0, 0.7)):
            canvas.ellipse(x + dx * radius, y + dy * radius, radius * 0.75, radius * 0.75, petal)
        canvas.ellipse(x, y, radius * 0.42, radius * 0.42, canvas.shade((250, 220, 110)))
