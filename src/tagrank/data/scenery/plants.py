"""Trees of three kinds and beds of flowers."""

import numpy as np

from tagrank.data.scenery.canvas import Canvas, Colour, mix
from tagrank.data.scenery.land import SNOW

LEAVES: list[Colour] = [(66, 122, 58), (88, 138, 60), (52, 104, 70), (196, 132, 48), (120, 138, 56)]
PETALS: list[Colour] = [
    (232, 64, 72), (250, 206, 62), (236, 120, 178), (246, 246, 240), (150, 96, 204), (244, 138, 52),
]  # fmt: skip


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
