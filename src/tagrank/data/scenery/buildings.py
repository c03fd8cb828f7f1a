"""Houses, lighthouse, bridge and street lamps."""

from itertools import pairwise

import numpy as np

from tagrank.data.scenery.canvas import Canvas, Colour, mix
from tagrank.data.scenery.land import SNOW

PLASTER: list[Colour] = [
    (222, 120, 92), (236, 196, 122), (240, 228, 206), (150, 178, 190),
    (198, 92, 80), (176, 196, 160), (228, 168, 150),
]  # fmt: skip
ROOFS: list[Colour] = [(164, 74, 58), (112, 70, 62), (86, 90, 104), (140, 96, 70)]
LAMPLIGHT: Colour = (255, 214, 128)


def paint_house(
    canvas: Canvas, x: float, base: float, width: float, height: float, *, snowy: bool, distance: float = 0.0
) -> None:
    """A gabled house with its left edge at `x`, standing on `base`."""
    wall = canvas.shade(canvas.vary(canvas.choose(PLASTER), 10), distance)
    roof = canvas.shade(SNOW if snowy else canvas.vary(canvas.choose(ROOFS), 8), distance * 0.8)
    top, peak = base - height, base - height - width * canvas.between(0.28, 0.55)
    right = x + width
    if canvas.chance(0.5):
        chimney = x + width * canvas.between(0.6, 0.75)
        canvas.box(chimney, peak, chimney + width * 0.1, top, mix(roof, (40, 30, 30), 0.3))
    canvas.box(x, top, right, base, wall)
    canvas.box(x + width * 0.7, top, right, base, mix(wall, (20, 20, 50), 0.5), 0.25)
    canvas.polygon([(x - width * 0.07, top), (x + width / 2, peak), (right + width * 0.07, top)], roof)
    _windows(canvas, x, top, width, height, distance)
    door, lintel = x + width * canvas.between(0.15, 0.6), base - min(height * 0.4, width * 0.36)
    canvas.box(door, lintel, door + width * 0.18, base, canvas.shade((92, 62, 48), distance))


def _windows(canvas: Canvas, x: float, top: float, width: float, height: float, distance: float) -> None:
    columns, rows = (3, 2) if height > width * 0.9 else (2, 1)
    pane, tall = width / (2 * columns + 1), height / (2 * rows + 1.4)
    for row in range(rows):
        for column in range(columns):
            left, upper = x + pane * (2 * column + 1), top + tall * (2 * row + 0.8)
            lit = canvas.chance(canvas.light.lit_windows)
            glass = canvas.vary(LAMPLIGHT, 10) if lit else canvas.shade((72, 92, 116), distance)
            canvas.box(left, upper, left + pane, upper + tall, glass)


def paint_village(
    canvas: Canvas, base: float, *, count: int, scale: float, snowy: bool, distance: float
) -> None:
    """A loose group of houses, some before others."""
    centre = canvas.between(0.25, 0.75)
    for offset in np.sort(canvas.rng.normal(0, 0.05 * count, count)):
        width = scale * canvas.between(0.8, 1.3)
        foot = base + canvas.between(-0.01, 0.02)
        height = width * canvas.between(0.6, 0.95)
        paint_house(canvas, centre + offset, foot, width, height, snowy=snowy, distance=distance)


def paint_terrace(canvas: Canvas, base: float, *, tallest: float, snowy: bool, distance: float = 0.0) -> None:
    """A row of houses wall to wall, with a gap now and then."""
    x = canvas.between(-0.1, 0.0)
    while x < 1.0:
        width = tallest * canvas.between(0.42, 0.72)
        if canvas.chance(0.9):
            paint_house(
                canvas, x, base, width, tallest * canvas.between(0.55, 1.0), snowy=snowy, distance=distance
            )
        x += width * canvas.between(1.0, 1.06)


def paint_lamps(canvas: Canvas, base: float) -> None:
    """Street lamps, glowing when the windows do."""
    for x in np.arange(canvas.between(0.05, 0.3), 1, canvas.between(0.32, 0.5)):
        top, post = base - 0.26, canvas.shade((52, 54, 60))
        canvas.line([(float(x), base), (float(x), top)], post, 0.01)
        canvas.line([(float(x), top), (float(x) + 0.035, top - 0.006)], post, 0.01)
        if canvas.light.lit_windows > 0.2:
            canvas.glow(float(x) + 0.035, top, 0.045, LAMPLIGHT, 0.6)
            canvas.ellipse(float(x) + 0.035, top, 0.012, 0.012, (255, 240, 200))


def paint_lighthouse(canvas: Canvas, horizon: float) -> None:
    """A banded tower on a rock; at night it sends a beam."""
    x, height = canvas.between(0.12, 0.88), canvas.between(0.26, 0.42)
    base, half = horizon + 0.035, height * 0.085
    rock = canvas.shade(canvas.vary((92, 84, 78)))
    shape = [(-3.4, 0.035), (-2.6, -0.008), (-1.2, -0.02), (0.9, -0.024), (2.2, -0.004), (3.6, 0.035)]
    canvas.polygon([(x + dx * half * 1.2, base + dy) for dx, dy in shape], rock)
    top = base - height
    if canvas.light.lit_windows > 0.4:
        side = 1 if x < 0.5 else -1
        canvas.polygon([(x, top), (x + side, top - 0.1), (x + side, top + 0.1)], (255, 240, 190), 0.28)
    _tower(canvas, x, base - 0.015, top, half)
    canvas.box(x - half * 1.05, top - 0.005, x + half * 1.05, top + 0.008, canvas.shade((40, 42, 50)))
    lamp: Colour = (255, 244, 196) if canvas.light.lit_windows else canvas.shade((150, 190, 204))
    canvas.box(x - half * 0.55, top - 0.04, x + half * 0.55, top - 0.005, lamp)
    canvas.polygon(
        [(x - half * 0.8, top - 0.038), (x, top - 0.075), (x + half * 0.8, top - 0.038)],
        canvas.shade((166, 50, 44)),
    )
    if canvas.light.lit_windows > 0.2:
        canvas.glow(x, top - 0.02, 0.04, (255, 240, 190), 0.8)


def _tower(canvas: Canvas, x: float, base: float, top: float, half: float) -> None:
    band = canvas.shade(canvas.choose([(198, 50, 44), (40, 66, 120), (60, 60, 66)]))
    white = canvas.shade((246, 244, 238))
    levels = np.linspace(0, 1, 6)
    for k, (low, high) in enumerate(pairwise(levels)):
        wide, narrow = half * (1 - 0.4 * float(low)), half * (1 - 0.4 * float(high))
        below, above = base + (top - base) * float(low), base + (top - base) * float(high)
        corners = [(x - wide, below), (x + wide, below), (x + narrow, above), (x - narrow, above)]
        canvas.polygon(corners, white if k % 2 else band)
        canvas.polygon(
            [(x + wide * 0.3, below), *corners[1:3], (x + narrow * 0.3, above)], (20, 20, 50), 0.22
        )


def paint_bridge(canvas: Canvas, horizon: float) -> None:
    """A suspension bridge or a row of stone arches across the water."""
    deck = horizon - canvas.between(0.05, 0.1)
    if canvas.chance(0.55):
        _suspension(canvas, horizon, deck)
    else:
        _arches(canvas, horizon, deck)


def _suspension(canvas: Canvas, horizon: float, deck: float) -> None:
    steel = canvas.shade(canvas.vary(canvas.choose([(178, 64, 48), (92, 108, 124), (70, 74, 84)]), 8), 0.15)
    left, right = canvas.between(0.12, 0.3), canvas.between(0.66, 0.88)
    top = deck - canvas.between(0.14, 0.22)
    middle, half = (left + right) / 2, (right - left) / 2
    xs = np.linspace(-0.05, 1.05, 45)
    # inside the towers the cable is a parabola; outside it falls straight to the shore
    inside = deck - 0.015 + (top - deck + 0.015) * ((xs - middle) / half) ** 2
    outside = top + (deck - top) * (np.abs(xs - middle) - half) / 0.3
    cable = np.where(np.abs(xs - middle) <= half, inside, np.minimum(outside, deck))
    for x, y in zip(xs, cable, strict=True):
        canvas.line([(float(x), float(y)), (float(x), deck)], steel, 0.003, 0.8)
    canvas.line([(float(x), float(y)) for x, y in zip(xs, cable, strict=True)], steel, 0.008)
    for x in (left, right):
        canvas.box(x - 0.014, top - 0.01, x + 0.014, horizon + 0.012, steel)
    canvas.box(0, deck, 1, deck + 0.018, steel)


def _arches(canvas: Canvas, horizon: float, deck: float) -> None:
    stone = canvas.shade(canvas.vary((176, 156, 130), 10), 0.12)
    inner = mix(stone, canvas.light.haze, 0.62)
    canvas.box(0, deck - 0.018, 1, horizon + 0.008, stone)
    canvas.box(0, deck - 0.02, 1, deck - 0.008, mix(stone, (255, 255, 255), 0.3))
    width = canvas.between(0.16, 0.24)
    for x in np.arange(canvas.between(0.0, width), 1 + width, width):
        rise = horizon - deck - 0.012
        canvas.ellipse(float(x), horizon, width * 0.4, rise, inner)
    canvas.box(0, horizon + 0.004, 1, horizon + 0.05, stone, 0.2)
