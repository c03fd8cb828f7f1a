"""What people put into a drawn picture: houses, lighthouse, bridge and lamps; boats, cars and people."""

from itertools import pairwise

import numpy as np

from tagrank.data.scenery.canvas import Canvas, Colour, Figure, mix
from tagrank.data.scenery.nature import SNOW

PLASTER: list[Colour] = [
    (222, 120, 92), (236, 196, 122), (240, 228, 206), (150, 178, 190),
    (198, 92, 80), (176, 196, 160), (228, 168, 150),
]  # fmt: skip
ROOFS: list[Colour] = [(164, 74, 58), (112, 70, 62), (86, 90, 104), (140, 96, 70)]
LAMPLIGHT: Colour = (255, 214, 128)
PAINTS: list[Colour] = [
    (200, 44, 46), (38, 92, 160), (240, 240, 236), (238, 184, 44),
    (44, 128, 92), (60, 62, 72), (226, 112, 40),
]  # fmt: skip
HAIR: list[Colour] = [(40, 30, 26), (120, 80, 44), (214, 176, 104)]
TROUSERS: list[Colour] = [(44, 52, 84), (64, 58, 54), (120, 104, 84)]
SAILS: list[Colour] = [(250, 248, 240), (250, 248, 240), (226, 88, 66), (244, 206, 120)]
SKINS: list[Colour] = [(240, 204, 176), (206, 158, 120), (150, 104, 76), (98, 66, 50)]


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


def paint_boats(canvas: Canvas, horizon: float, near: float, *, count: int) -> None:
    """Sailing and fishing boats, larger towards the viewer, each with its smear of reflection."""
    for closeness in np.sort(canvas.rng.random(count)).tolist():
        length = 0.08 + 0.19 * closeness
        x, y = canvas.between(0.08, 0.92), horizon + 0.02 + (near - horizon - 0.02) * closeness
        boat = Figure(canvas, x, y, length, 1 if canvas.chance(0.5) else -1)
        hull = canvas.shade(canvas.vary(canvas.choose(PAINTS), 8), 0.25 * (1 - closeness))
        boat.ellipse(0, 0.13, 0.5, 0.12, mix(hull, (10, 40, 60), 0.6), 0.5)
        (_sails if canvas.chance(0.6) else _cabin)(canvas, boat)
        boat.polygon([(-0.5, -0.08), (0.52, -0.1), (0.36, 0.09), (-0.38, 0.09)], hull)
        boat.line([(-0.49, -0.07), (0.51, -0.09)], mix(hull, (255, 255, 255), 0.5), 0.035)


def _sails(canvas: Canvas, boat: Figure) -> None:
    mast = canvas.between(0.95, 1.3)
    cloth = canvas.shade(canvas.choose(SAILS))
    boat.line([(0, 0), (0, -mast)], canvas.shade((90, 70, 56)), 0.04)
    boat.polygon([(0.03, -mast), (0.03, -0.18), (0.46, -0.18)], cloth)
    boat.polygon([(-0.03, -mast * 0.9), (-0.03, -0.18), (-0.4, -0.18)], mix(cloth, (90, 100, 130), 0.25))


def _cabin(canvas: Canvas, boat: Figure) -> None:
    glass = LAMPLIGHT if canvas.light.lit_windows > 0.4 else canvas.shade((70, 96, 120))
    boat.line([(0.1, 0), (0.1, -0.6)], canvas.shade((80, 70, 64)), 0.04)
    wall = [(-0.25, -0.34), (0.08, -0.34), (0.08, -0.06), (-0.25, -0.06)]
    boat.polygon(wall, canvas.shade((240, 236, 226)))
    boat.polygon([(-0.2, -0.28), (0.03, -0.28), (0.03, -0.18), (-0.2, -0.18)], glass)


def paint_cars(canvas: Canvas, kerb: float, *, count: int) -> None:
    """Cars on the two lanes, those of the near lane larger and in front."""
    for lane, places in zip((0.3, 0.78), np.array_split(canvas.rng.uniform(0.1, 0.9, count), 2), strict=True):
        for x in places.tolist():
            length = canvas.between(0.24, 0.32) * (0.8 + 0.45 * lane)
            _car(
                canvas,
                Figure(canvas, x, kerb + (1 - kerb) * lane + 0.05, length, 1 if canvas.chance(0.5) else -1),
            )


def _car(canvas: Canvas, car: Figure) -> None:
    paint, glass = canvas.shade(canvas.vary(canvas.choose(PAINTS), 8)), canvas.shade((150, 184, 204))
    body = [(-0.5, -0.06), (-0.49, -0.24), (-0.28, -0.28), (0.28, -0.28), (0.47, -0.22), (0.5, -0.06)]
    car.ellipse(0, 0.02, 0.52, 0.06, (10, 10, 20), 0.45)
    car.polygon([(-0.28, -0.26), (-0.2, -0.43), (0.12, -0.43), (0.26, -0.26)], paint)
    car.polygon([(-0.22, -0.27), (-0.17, -0.39), (-0.04, -0.39), (-0.04, -0.27)], glass)
    car.polygon([(0.0, -0.27), (0.0, -0.39), (0.1, -0.39), (0.19, -0.27)], glass)
    car.polygon(body, paint)
    for x in (-0.29, 0.29):
        car.ellipse(x, -0.05, 0.1, 0.1, (26, 26, 30))
        car.ellipse(x, -0.05, 0.045, 0.045, canvas.shade((190, 190, 196)))
    car.ellipse(0.47, -0.17, 0.03, 0.03, (255, 240, 190))
    if canvas.light.lit_windows > 0.4:
        canvas.glow(*car.point(0.54, -0.15), 0.035, (255, 236, 180), 0.75)


def paint_people(canvas: Canvas, top: float, bottom: float, *, count: int, height: float) -> None:
    """Figures standing or walking between two lines of the ground, now and then as a pair."""
    x = canvas.between(0.1, 0.9)
    for closeness in np.sort(canvas.rng.random(count)).tolist():
        beside = x < 0.88 and canvas.chance(0.4)
        x = x + canvas.between(0.06, 0.08) if beside else canvas.between(0.06, 0.94)
        tall = height * (0.75 + 0.35 * closeness) * canvas.between(0.85, 1.1)
        _person(canvas, Figure(canvas, x, top + (bottom - top) * closeness, tall))


def _person(canvas: Canvas, person: Figure) -> None:
    shirt = canvas.shade(canvas.vary(canvas.choose(PAINTS)))
    trousers = canvas.shade(canvas.choose(TROUSERS))
    step = canvas.between(0.04, 0.13)
    person.ellipse(0, 0, 0.2, 0.035, (10, 10, 30), 0.3)
    for side in (-1, 1):
        person.line([(0, -0.45), (side * step, 0)], trousers, 0.09)
        person.line([(side * 0.1, -0.76), (side * 0.17, -0.46)], shirt, 0.07)
    person.polygon([(-0.12, -0.8), (0.12, -0.8), (0.09, -0.4), (-0.09, -0.4)], shirt)
    person.ellipse(0, -0.9, 0.085, 0.1, canvas.shade(canvas.choose(SKINS)))
    person.ellipse(0, -0.94, 0.09, 0.065, canvas.shade(canvas.choose(HAIR)))
