"""Boats, cars and people."""

import numpy as np

from tagrank.data.scenery.canvas import Canvas, Colour, Figure, mix

LAMPLIGHT: Colour = (255, 214, 128)
PAINTS: list[Colour] = [
    (200, 44, 46), (38, 92, 160), (240, 240, 236), (238, 184, 44),
    (44, 128, 92), (60, 62, 72), (226, 112, 40),
]  # fmt: skip
HAIR: list[Colour] = [(40, 30, 26), (120, 80, 44), (214, 176, 104)]
TROUSERS: list[Colour] = [(44, 52, 84), (64, 58, 54), (120, 104, 84)]
SAILS: list[Colour] = [(250, 248, 240), (250, 248, 240), (226, 88, 66), (244, 206, 120)]
SKINS: list[Colour] = [(240, 204, 176), (206, 158, 120), (150, 104, 76), (98, 66, 50)]


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
