"""What is done to pixels before they are described: grey levels, colour spaces, smoothing, another size.

OpenCV does it where it is installed. Elsewhere numpy does the same more slowly, so that the usual features
need no OpenCV: colours are equal to the last bit, other results but for rounding.
"""

from functools import cache, lru_cache
from importlib import import_module

import numpy as np

from tagrank.validation import check_choice

# fixed-point numbers of OpenCV: bits after the point
_GREY_BITS, _HUE_BITS, _LAB_BITS, _CURVE_BITS = 15, 12, 12, 15
_GREY_WEIGHTS = (9798, 19235, 3735)
# XYZ of linear red, green and blue (D65), and of white
_XYZ = ((0.412453, 0.357580, 0.180423), (0.212671, 0.715160, 0.072169), (0.019334, 0.119193, 0.950227))
_WHITE = (0.950456, 1.0, 1.088754)
_CUBIC = -0.75
# how a size changes, and what OpenCV calls it
_KINDS = {"area": "INTER_AREA", "linear": "INTER_LINEAR", "cubic": "INTER_CUBIC"}


@cache
def opencv():
    """The module cv2, or None where it is not installed."""
    try:
        return import_module("cv2")
    except ImportError:
        return None


def need_opencv(what="these features"):
    """The module cv2, or an error that says how to get it."""
    module = opencv()
    if module is None:
        raise ImportError(f"{what} need OpenCV, which is not installed: pip install 'tagrank[pictures]'")
    return module


def grey_levels(pixels):
    """Brightness in 256 levels: uint8 (height, width) from uint8 (height, width, 3)."""
    if cv2 := opencv():
        return cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    total = np.uint32(1 << _GREY_BITS >> 1)
    for channel, weight in zip(np.moveaxis(pixels, -1, 0), _GREY_WEIGHTS, strict=True):
        total = total + channel * np.uint32(weight)
    return (total >> _GREY_BITS).astype(np.uint8)


def to_hsv(pixels):
    """Hue (256 for a turn), saturation and value, uint8 (height, width, 3)."""
    if cv2 := opencv():
        return cv2.cvtColor(pixels, cv2.COLOR_RGB2HSV_FULL)
    red, green, blue = np.moveaxis(pixels, -1, 0).astype(np.int32)
    value = np.maximum(np.maximum(red, green), blue)
    chroma = value - np.minimum(np.minimum(red, green), blue)
    of_saturation, of_hue = _hsv_tables()
    sector = np.where(value == green, blue - red + 2 * chroma, red - green + 4 * chroma)
    hue = _shifted(np.where(value == red, green - blue, sector) * of_hue[chroma], _HUE_BITS)
    hue += (hue < 0) * 256
    saturation = _shifted(chroma * of_saturation[value], _HUE_BITS)
    return np.stack([np.minimum(hue, 255), saturation, value], axis=-1).astype(np.uint8)


@cache
def _hsv_tables():
    """255 and a sixth of 256 divided by each level, in fixed-point numbers; 0 for 0."""
    levels = np.arange(1, 256)
    saturations, hues = (255 << _HUE_BITS) / levels, (256 << _HUE_BITS) / (6 * levels)
    return tuple(np.rint(np.r_[0, quotients]).astype(np.int32) for quotients in (saturations, hues))


def to_lab(pixels):
    """Lab (D65), uint8 (height, width, 3): L * 255 / 100, a + 128, b + 128."""
    if cv2 := opencv():
        return cv2.cvtColor(pixels, cv2.COLOR_RGB2Lab)
    linear, curve, weights = _lab_tables()
    x, y, z = np.moveaxis(curve[_shifted(linear[pixels] @ weights.T, _LAB_BITS)], -1, 0)
    middle = 128 << _CURVE_BITS
    lightness = (116 * 255 + 50) // 100 * y - ((16 * 255 << _CURVE_BITS) + 50) // 100
    channels = np.stack([lightness, 500 * (x - y) + middle, 200 * (y - z) + middle], axis=-1)
    return _shifted(channels, _CURVE_BITS).clip(0, 255).astype(np.uint8)


@cache
def _lab_tables():
    """Linear light of each level in eighths of a level; CIE's curve of such light; and the weights of XYZ."""
    levels = np.arange(256) / 255
    linear = np.where(levels <= 0.04045, levels / 12.92, ((levels + 0.055) / 1.055) ** 2.4)
    # OpenCV computes this table in float32: in float64 two of its numbers would differ
    light = np.arange(256 * 8 * 3 // 2, dtype=np.float32) * np.float32(1 / (255 * 8))
    dark = light * np.float32(7.787) + np.float32(16 / 116)
    curve = np.where(light < np.float32(0.008856), dark, np.cbrt(light)) * np.float32(1 << _CURVE_BITS)
    weights = np.array(_XYZ) / np.array(_WHITE)[:, None] * (1 << _LAB_BITS)
    return tuple(np.rint(table).astype(np.int32) for table in (255 * 8 * linear, curve, weights))


def _shifted(numbers, bits):
    """Fixed-point numbers, rounded to whole ones."""
    return (numbers + (1 << bits >> 1)) >> bits


def smooth(grey, sigma):
    """Gaussian smoothing of float32 (height, width); beyond its borders a picture goes on as it ends."""
    if cv2 := opencv():
        return cv2.GaussianBlur(grey, (0, 0), sigma, borderType=cv2.BORDER_REPLICATE)
    reach = round(8 * sigma + 1) // 2
    weights = np.exp(-((np.arange(-reach, reach + 1) / sigma) ** 2) / 2)
    weights /= weights.sum()
    for axis in (0, 1):
        size = grey.shape[axis]
        places = np.clip(np.arange(size)[:, None] + np.arange(-reach, reach + 1), 0, size - 1)
        grey = _weighted(grey, axis, places, np.broadcast_to(weights, places.shape))
    return grey


def resize(image, *, height, width):
    """An image, uint8 or float32, stretched to a given size, whatever its proportions were.

    One axis after the other, so that an axis that shrinks is averaged even where the other one grows.
    """
    for axis, length in enumerate((height, width)):
        kind = "area" if length < image.shape[axis] else "linear"
        size = (length, image.shape[1]) if axis == 0 else (image.shape[0], length)
        image = stretch(image, *size, kind)
    return image


def stretch(image, height, width, kind):
    """An image, uint8 or float32, in another size: means of an "area", "linear" or "cubic" between pixels."""
    method = _KINDS[check_choice("kind", kind, _KINDS)]
    if cv2 := opencv():
        # a copy where pixels are a mirrored or cropped view, which OpenCV cannot take
        image = np.ascontiguousarray(image)
        return cv2.resize(image, (width, height), interpolation=getattr(cv2, method))
    stretched = image.astype(np.float32)
    for axis, length in enumerate((height, width)):
        if length != image.shape[axis]:
            stretched = _weighted(stretched, axis, *_taps(image.shape[axis], length, kind))
    return np.rint(stretched).clip(0, 255).astype(np.uint8) if image.dtype == np.uint8 else stretched


@lru_cache(maxsize=64)
def _taps(size, length, kind):
    """Which of `size` pixels, and how much of each, make each of `length` new ones: (length, n) arrays."""
    if kind == "area":
        start = np.arange(length)[:, None] * (size / length)
        end = start + size / length
        places = np.floor(start + 1e-9).astype(np.intp) + np.arange(int(np.ceil(size / length)) + 1)
        weights = np.clip(np.minimum(end, places + 1) - np.maximum(start, places), 0, None)
        # rounding of the borders of areas is no share of a pixel
        weights[weights < 1e-6] = 0
    else:
        centre = (np.arange(length)[:, None] + 0.5) * (size / length) - 0.5
        around = np.arange(2) if kind == "linear" else np.arange(-1, 3)
        places = np.floor(centre).astype(np.intp) + around
        weights = (_between if kind == "linear" else _cubic)(np.abs(centre - places))
    return places.clip(0, size - 1), weights / weights.sum(axis=1, keepdims=True)


def _between(distance):
    return np.maximum(1 - distance, 0)


def _cubic(distance):
    near = ((_CUBIC + 2) * distance - (_CUBIC + 3)) * distance**2 + 1
    far = ((_CUBIC * distance - 5 * _CUBIC) * distance + 8 * _CUBIC) * distance - 4 * _CUBIC
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0))


def _weighted(image, axis, places, weights):
    """Sums of pixels along an axis, float32; `places` and `weights` have the shape (length, n)."""
    lines = np.ascontiguousarray(np.moveaxis(image, axis, 0))
    total = np.zeros((len(places), *lines.shape[1:]), np.float32)
    shares = weights.astype(np.float32).reshape(*weights.shape, *[1] * (lines.ndim - 1))
    for tap in range(places.shape[1]):
        total += lines[places[:, tap]] * shares[:, tap]
    return np.moveaxis(total, 0, axis)
