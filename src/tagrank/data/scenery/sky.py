"""Sky, sun, moon, stars, clouds, rain and birds."""

import numpy as np
from PIL import Image, ImageChops, ImageDraw, ImageFilter

from tagrank.data.scenery.canvas import Canvas, Colour, mix

WHITE: Colour = (255, 255, 255)


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
