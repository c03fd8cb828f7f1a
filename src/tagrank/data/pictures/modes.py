"""Whatever a picture file holds (grey, wide numbers, inks, palettes, transparency) as three colours."""

import numpy as np
from PIL import Image, ImageChops

# the largest value of 1-, 8- and 16-bit numbers, and of floats from 0 to 1
_WHITE_LEVELS = (1, 255, 65535)


def as_rgb(image: Image.Image) -> Image.Image:
    """`image` in mode RGB.

    Transparent places become white. Grey of 16 bits is scaled to 8, not clipped. Integers of 32 bits and
    floats are read on the first scale of 0 to 1, 0 to 255 and 0 to 65535 that holds them all, else from
    their smallest to their largest value.
    """
    if image.mode.startswith("I") or image.mode == "F":
        return Image.fromarray(_eight_bits(image)).convert("RGB")
    if image.mode == "CMYK" and image.format == "JPEG" and "adobe" not in image.info:
        # Pillow takes every CMYK JPEG for Adobe's, whose inks are stored inverted
        image = ImageChops.invert(image)
    if not image.has_transparency_data:
        return image.convert("RGB")
    layers = image.convert("RGBA")
    page = Image.new("RGBA", layers.size, "white")
    return Image.alpha_composite(page, layers).convert("RGB")


def _eight_bits(image: Image.Image) -> np.ndarray:
    values = np.nan_to_num(np.asarray(image, dtype=np.float32), nan=0, posinf=0, neginf=0)
    black, white = float(values.min()), float(values.max())
    if image.mode.startswith("I;16") or image.format in ("PNG", "PPM"):
        black, white = 0, _WHITE_LEVELS[-1]
    elif black >= 0 and white <= _WHITE_LEVELS[-1]:
        black, white = 0, next(level for level in _WHITE_LEVELS if white <= level)
    scale = 255 / (white - black) if white > black else 0
    return np.rint((values - black) * scale).clip(0, 255).astype(np.uint8)
