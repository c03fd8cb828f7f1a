"""What descriptors check: pictures, and settings that a model file could use to fill the memory."""

import numbers

import numpy as np


def check_image(image):
    """A picture as a uint8 array of shape (height, width, 3), or an error that says what is wrong."""
    image = np.asarray(image)
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8:
        raise ValueError(
            "a picture must be a uint8 array of shape (height, width, 3), "
            f"got {image.dtype} of shape {image.shape}; convert grey or transparent pictures to RGB first"
        )
    if min(image.shape[:2]) < 8:
        raise ValueError(f"a picture must be at least 8 pixels wide and high, got shape {image.shape}")
    return image


def check_count(name, value, *, least=1, most):
    """`value` if it is a whole number from `least` to `most`, or a ValueError that names it."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not whole or not least <= value <= most:
        raise ValueError(f"{name} must be a whole number from {least} to {most}, got {value!r}")
    return int(value)
