"""Pictures from files of strangers: within bounds, upright, three colours."""

import os
import warnings

import numpy as np
from PIL import Image, ImageOps

from tagrank.files import FileError

MAX_PIXELS = 2**26
# Plain raster formats; others (EPS) would start foreign programs.
_FORMATS = ("BMP", "GIF", "JPEG", "PNG", "PPM", "TIFF", "WEBP")


def read_picture(path: str | os.PathLike, *, max_pixels: int = MAX_PIXELS) -> np.ndarray:
    """One picture as a uint8 array of shape (height, width, 3), turned upright as its camera noted.

    Transparent places become white. Of a film the first picture is read.

    Parameters
    ----------
    path : a file in one of the usual formats (JPEG, PNG, GIF, BMP, TIFF, WebP, PPM)
    max_pixels : a larger picture is refused before it is decoded
    """
    try:
        with warnings.catch_warnings():
            # Pillow's own, larger bound warns
            warnings.simplefilter("ignore")
            with Image.open(path, formats=_FORMATS) as image:
                if image.width * image.height > max_pixels:
                    size = f"{image.width} x {image.height} pixels"
                    raise FileError(path, f"a picture of {size}; at most {max_pixels:,} are read")
                upright = ImageOps.exif_transpose(image)
                return np.array(_on_white(upright), dtype=np.uint8)
    except FileNotFoundError:
        raise FileError(path, "no such picture; paths count from the folder of the list") from None
    except FileError:
        raise
    except (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError) as error:
        reason = str(error).replace(os.fspath(path), "the file")
        raise FileError(path, f"cannot be read as a picture ({reason})") from None


def _on_white(image: Image.Image) -> Image.Image:
    if not image.has_transparency_data:
        return image.convert("RGB")
    layers = image.convert("RGBA")
    page = Image.new("RGBA", layers.size, "white")
    return Image.alpha_composite(page, layers).convert("RGB")
