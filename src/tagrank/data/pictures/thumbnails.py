"""Small encoded copies of pictures, for pages that carry their pictures inside."""

import base64
import io

import numpy as np
from PIL import Image


def thumbnail_url(image: np.ndarray, *, longest: int = 192, quality: int = 88) -> str:
    """A picture as a ``data:`` address with a JPEG of at most `longest` pixels a side; never enlarged.

    Parameters
    ----------
    image : uint8 array, shape (height, width, 3), or (height, width) for grey
    longest : pixels of the longer side at most
    quality : of the JPEG, 1 to 95
    """
    image = np.asarray(image)
    if image.dtype != np.uint8 or image.ndim not in (2, 3) or (image.ndim == 3 and image.shape[2] != 3):
        raise ValueError(
            "a picture must be a uint8 array of shape (height, width, 3) or (height, width), "
            f"got {image.dtype} of shape {image.shape}"
        )
    picture = Image.fromarray(np.ascontiguousarray(image))
    picture.thumbnail((longest, longest), Image.Resampling.LANCZOS)
    stream = io.BytesIO()
    picture.save(stream, "JPEG", quality=quality)
    return "data:image/jpeg;base64," + base64.b64encode(stream.getvalue()).decode("ascii")
