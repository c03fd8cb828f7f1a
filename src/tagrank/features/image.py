"""What every descriptor expects of a picture."""

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
