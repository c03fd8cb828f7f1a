"""A canvas in unit coordinates: (0, 0) is the top left corner, (1, 1) the bottom right.

Everything is drawn three times too large and reduced at the end, which smooths all edges. Colours are tuples
of floats between 0 and 255.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw

OVERSAMPLING = 3

Colour = tuple[float, float, float]
Point = tuple[float, float]


class Light(NamedTuple):
    """Colours of the sky from the top down, the colour of the light on things, and of the far haze."""

    sky: tuple[Colour, Colour, Colour]
    lamp: Colour
    haze: Colour
    lit_windows: float


LIGHTS = {
    "day": Light(((62, 124, 200), (128, 180, 226), (206, 228, 238)), (1.0, 1.0, 1.0), (190, 212, 228), 0.0),
    "sunset": Light(
        ((66, 62, 122), (214, 112, 104), (255, 200, 124)), (0.92, 0.66, 0.6), (238, 158, 120), 0.3
    ),
    "night": Light(((12, 17, 48), (30, 43, 94), (72, 90, 142)), (0.42, 0.47, 0.66), (48, 62, 106), 0.6),
    "overcast": Light(
        ((122, 132, 144), (158, 166, 174), (196, 200, 202)), (0.78, 0.8, 0.82), (180, 186, 190), 0.15
    ),
}


def mix(first: Colour, second: Colour, share: float) -> Colour:
    """`first` with a `share` between 0 and 1 of `second`."""
    a, b, c = (x + (y - x) * share for x, y in zip(first, second, strict=True))
    return a, b, c


def opaque(colour: Colour, alpha: float = 1.0) -> tuple[int, int, int, int]:
    r, g, b = (int(min(max(channel, 0), 255)) for channel in colour)
    return r, g, b, int(255 * alpha)


class Canvas:
    """An image under way, with its light and its source of chance."""

    def __init__(self, size: int, light: Light, rng: np.random.Generator) -> None:
        self.size = size
        self.pixels = size * OVERSAMPLING
        self.light = light
        self.rng = rng
        self.image = Image.new("RGB", (self.pixels, self.pixels))
        self._pen = ImageDraw.Draw(self.image, "RGBA")

    def shade(self, colour: Colour, distance: float = 0.0) -> Colour:
        """A thing's own colour as this light shows it; `distance` 1 is lost in the haze."""
        r, g, b = (channel * lamp for channel, lamp in zip(colour, self.light.lamp, strict=True))
        return mix((r, g, b), self.light.haze, distance)

    def between(self, low: float, high: float) -> float:
        return float(self.rng.uniform(low, high))

    def count(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return int(self.rng.integers(low, high + 1))

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def vary(self, colour: Colour, spread: float = 12.0) -> Colour:
        """The same colour, a little different each time."""
        r, g, b = (
            channel + shift for channel, shift in zip(colour, self.rng.normal(0, spread, 3), strict=True)
        )
        return r, g, b

    def choose(self, colours: Sequence[Colour]) -> Colour:
        return colours[int(self.rng.integers(len(colours)))]

    def polygon(self, points: Iterable[Point], colour: Colour, alpha: float = 1.0) -> None:
        corners = [(x * self.pixels, y * self.pixels) for x, y in points]
        self._pen.polygon(corners, fill=opaque(colour, alpha))

    def line(self, points: Iterable[Point], colour: Colour, width: float, alpha: float = 1.0) -> None:
        corners = [(x * self.pixels, y * self.pixels) for x, y in points]
        thickness = max(1, round(width * self.pixels))
        self._pen.line(corners, fill=opaque(colour, alpha), width=thickness, joint="curve")

    def box(
        self, left: float, top: float, right: float, bottom: float, colour: Colour, alpha: float = 1.0
    ) -> None:
        if right > left and bottom > top:
            self._pen.rectangle(self.corners(left, top, right, bottom), fill=opaque(colour, alpha))

    def ellipse(self, x: float, y: float, rx: float, ry: float, colour: Colour, alpha: float = 1.0) -> None:
        self._pen.ellipse(self.corners(x - rx, y - ry, x + rx, y + ry), fill=opaque(colour, alpha))

    def corners(
        self, left: float, top: float, right: float, bottom: float
    ) -> tuple[float, float, float, float]:
        return left * self.pixels, top * self.pixels, right * self.pixels, bottom * self.pixels

    def glow(self, x: float, y: float, radius: float, colour: Colour, strength: float) -> None:
        """A soft light around a point, fading to nothing at about three radii."""
        grid = (np.arange(self.size) + 0.5) / self.size
        distance = np.hypot(grid[None, :] - x, grid[:, None] - y)
        mask = Image.fromarray((255 * strength * np.exp(-distance / radius)).astype(np.uint8))
        self.stain(mask.resize(self.image.size, Image.Resampling.BILINEAR), colour)

    def stain(self, mask: Image.Image, colour: Colour) -> None:
        """Lay a colour over the canvas where the mask (mode L, full size) is light."""
        self.image.paste(opaque(colour)[:3], (0, 0), mask)


class Figure:
    """A pen in a thing's own units: its foot is (0, 0), up is negative; `facing` -1 mirrors it."""

    def __init__(self, canvas: Canvas, x: float, y: float, unit: float, facing: int = 1) -> None:
        self._canvas, self._x, self._y, self._unit, self._facing = canvas, x, y, unit, facing

    def point(self, x: float, y: float) -> Point:
        return self._x + self._facing * x * self._unit, self._y + y * self._unit

    def polygon(self, points: Iterable[Point], colour: Colour, alpha: float = 1.0) -> None:
        self._canvas.polygon([self.point(*point) for point in points], colour, alpha)

    def line(self, points: Iterable[Point], colour: Colour, width: float) -> None:
        self._canvas.line([self.point(*point) for point in points], colour, width * self._unit)

    def ellipse(self, x: float, y: float, rx: float, ry: float, colour: Colour, alpha: float = 1.0) -> None:
        self._canvas.ellipse(*self.point(x, y), rx * self._unit, ry * self._unit, colour, alpha)
