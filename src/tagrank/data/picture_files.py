"""Pictures from files: within bounds, upright, three colours whatever the file holds; what headers say."""

import base64
import io
import math
import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import IO

import numpy as np
from PIL import Image, ImageChops, JpegImagePlugin, features

from tagrank.data.raw_previews import RAW_SUFFIXES, RawPreview, read_preview
from tagrank.files import FileError, check_regular

MAX_PIXELS = 2**26
# What features need.
MIN_SIDE = 8
MAX_FILE_BYTES = 2**29
# Plain raster formats; others (EPS) would start foreign programs, or (JPEG XL) decode before anything can be
# asked about the size.
_FORMATS = ("BMP", "GIF", "JPEG", "PNG", "PPM", "TIFF", "WEBP")
_USUAL_SUFFIXES = frozenset(
    f".{ending}"
    for ending in "bmp gif jfif jpe jpeg jpg mpo pbm pgm png pnm ppm tif tiff webp".split()  # noqa: SIM905
)
AVIF_SUFFIXES = frozenset({".avif"})
HEIF_SUFFIXES = frozenset({".heic", ".heif", ".hif"})
HEIF_MISSING = (
    "HEIC pictures need pillow-heif, which is not installed: pip install 'tagrank[formats]'; "
    "or convert it to JPEG"
)
_HAS_AVIF, _HAS_HEIF = features.check("avif"), find_spec("pillow_heif") is not None
PICTURE_SUFFIXES = (
    _USUAL_SUFFIXES
    | RAW_SUFFIXES
    | (AVIF_SUFFIXES if _HAS_AVIF else frozenset())
    | (HEIF_SUFFIXES if _HAS_HEIF else frozenset())
)
# the largest value of 1-, 8- and 16-bit numbers, and of floats from 0 to 1
_WHITE_LEVELS = (1, 255, 65535)
IPTC_IN_PHOTOSHOP = 0x0404
_AVIF_BRANDS = (b"avif", b"avis")
# Formats that Pillow hands to another program
_STARTS_PROGRAMS = ("EPS", "WMF")
_ORIENTATION = 0x0112
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_CAMERA_NOTES, _TAKEN, _TURNED = 0x8769, 0x9003, (5, 6, 7, 8)
_MOMENT = re.compile(r"(\d{4}):(\d\d):(\d\d)\b")


def read_picture(
    path: str | os.PathLike,
    *,
    max_pixels: int = MAX_PIXELS,
    max_side: int | None = None,
    min_side: int = MIN_SIDE,
) -> np.ndarray:
    """One picture as a uint8 array of shape (height, width, 3), turned upright as its camera noted.

    Any colour mode is read, see `as_rgb`. Of a film the first picture is read.

    Parameters
    ----------
    path : a file in one of the usual formats (JPEG, PNG, GIF, BMP, TIFF, WebP, AVIF, PPM; HEIC with the extra
        "formats"), or a raw file of a camera, whose embedded JPEG is read
    max_pixels : a picture that is larger when decoded is refused before that
    max_side : a picture whose longer side has more pixels is shrunk to it. A JPEG is then decoded at a half,
        a quarter or an eighth of its size where that suffices, so very large ones can be read too.
    min_side : a picture with fewer pixels on a side is refused

    Raises
    ------
    FileError : the picture cannot be read; the message says why
    """
    with _decoding(path), _opened(path, allow_giants=max_side is not None) as image:
        return _pixels(path, image, max_pixels, max_side, min_side)


def decode_picture(
    content: bytes | Image.Image, *, name: str, max_pixels: int = MAX_PIXELS, max_side: int | None = None
) -> np.ndarray:
    """The content of a picture file, or a picture of Pillow, as `read_picture` gives it.

    A picture of Pillow is decoded, if it was not yet, and otherwise left as it is. A `FileError` calls the
    picture by `name`.
    """
    with _decoding(name):
        if isinstance(content, Image.Image):
            if content.format in _STARTS_PROGRAMS:
                raise FileError(name, f"{content.format} pictures are not decoded; convert it to JPEG")
            # a draft would change the picture of the caller
            return _pixels(name, content, max_pixels, max_side, MIN_SIDE, may_draft=False)
        _check_size(name, len(content))
        stream, formats = io.BytesIO(content), _formats_of(content, name)
        with _identified(name, stream, formats, allow_giants=max_side is not None) as image:
            return _pixels(name, image, max_pixels, max_side, MIN_SIDE)


def shrink_pixels(pixels: np.ndarray, max_side: int) -> np.ndarray:
    """A uint8 array (height, width, 3) as it is, or shrunk to `max_side` as `read_picture` does it."""
    if max(pixels.shape[:2]) <= max_side:
        return pixels
    target = _fit((pixels.shape[1], pixels.shape[0]), max_side, MIN_SIDE)
    image = Image.fromarray(np.ascontiguousarray(pixels))
    return np.array(image.resize(target, Image.Resampling.BICUBIC, reducing_gap=3.0))


def _pixels(
    path: str | os.PathLike,
    image: Image.Image,
    max_pixels: int,
    max_side: int | None,
    min_side: int,
    *,
    may_draft: bool = True,
) -> np.ndarray:
    """The picture decoded, shrunk and turned upright."""
    if min(image.size) < min_side:
        raise FileError(
            path, f"too small: {_size(image)} pixels, at least {min_side} x {min_side} are needed"
        )
    original = _size(image)
    if max_side is not None and may_draft:
        _draft(image, _fit(image.size, max_side, min_side), max_pixels)
    if image.width * image.height > max_pixels:
        raise FileError(path, f"a picture of {original} pixels; at most {max_pixels:,} are decoded")
    pixels = as_rgb(image)
    if max_side is not None and max(pixels.size) > max_side:
        target = _fit(pixels.size, max_side, min_side)
        pixels = pixels.resize(target, Image.Resampling.BICUBIC, reducing_gap=3.0)
    # asked only now: Pillow turns TIFF while it decodes, and then forgets the note
    turn = _TURNS.get(_orientation(image))
    return np.array(pixels if turn is None else pixels.transpose(turn), dtype=np.uint8)


@contextmanager
def open_picture(path: str | os.PathLike) -> Iterator[Image.Image]:
    """The picture with its header read and nothing decoded; whatever is wrong becomes a `FileError`."""
    with _decoding(path), _opened(path, allow_giants=True) as image:
        yield image


@contextmanager
def _decoding(path: str | os.PathLike) -> Iterator[None]:
    try:
        with warnings.catch_warnings():
            # Pillow warns of oddities in files that it reads all the same
            warnings.simplefilter("ignore")
            yield
    except FileNotFoundError:
        raise FileError(
            path,
            "this picture does not exist (any more); paths in a list are relative to the folder of the list",
        ) from None
    except FileError:
        raise
    except Image.DecompressionBombError as error:
        raise FileError(path, f"too many pixels to decode ({error})") from None
    except PermissionError:
        raise FileError(path, "may not be read: permission denied") from None
    except Exception as error:
        # decoders meet damage in many ways: OSError, struct.error, IndexError, zlib.error, ...
        reason = str(error).replace(os.fspath(path), "the file") or type(error).__name__
        raise FileError(path, f"cannot be read as a picture ({reason})") from None


@contextmanager
def _opened(path: str | os.PathLike, *, allow_giants: bool) -> Iterator[Image.Image]:
    about = check_regular(path)
    _check_size(path, about.st_size)
    with open(path, "rb") as file:
        preview = read_preview(file) if _ending(path) in RAW_SUFFIXES else None
        stream: IO[bytes] = file if preview is None else io.BytesIO(preview.jpeg)
        formats = _formats(path) if preview is None else ("JPEG",)
        with _identified(path, stream, formats, allow_giants=allow_giants) as image:
            if preview is not None:
                _take_notes(image, preview)
            yield image


def _check_size(path: str | os.PathLike, n_bytes: int) -> None:
    if n_bytes == 0:
        raise FileError(path, "is empty")
    if n_bytes > MAX_FILE_BYTES:
        raise FileError(path, f"a file of {n_bytes:,} bytes; at most {MAX_FILE_BYTES:,} are read")


@contextmanager
def _identified(
    path: str | os.PathLike, stream: IO[bytes], formats: tuple[str, ...], *, allow_giants: bool
) -> Iterator[Image.Image]:
    """The picture in a stream that may have one of some formats, its header read."""
    try:
        image: Image.Image = Image.open(stream, formats=formats)
    except Image.UnidentifiedImageError:
        raise FileError(path, "not a picture in a known format") from None
    except Image.DecompressionBombError:
        if not (allow_giants and _can_stream(stream)):
            raise
        image = JpegImagePlugin.JpegImageFile(stream)
    with image:
        yield image


def _ending(path: str | os.PathLike) -> str:
    return os.path.splitext(path)[1].casefold()


def _formats(path: str | os.PathLike) -> tuple[str, ...]:
    """What Pillow may take a file for."""
    if _ending(path) not in HEIF_SUFFIXES:
        return (*_FORMATS, "AVIF") if _HAS_AVIF else _FORMATS
    return _with_heif(path)


def _formats_of(content: bytes, name: str) -> tuple[str, ...]:
    """What Pillow may take the content of a file for; without an ending, its first bytes tell HEIC."""
    is_heif = content[4:8] == b"ftyp" and content[8:12] not in _AVIF_BRANDS
    return _with_heif(name) if is_heif else _formats(name)


def _with_heif(path: str | os.PathLike) -> tuple[str, ...]:
    try:
        register_heif()
    except ImportError:
        raise FileError(path, HEIF_MISSING) from None
    return (*_FORMATS, "HEIF")


@cache
def register_heif() -> None:
    """Let Pillow read HEIC files from now on; ImportError where the extra "formats" is not installed."""
    import_module("pillow_heif").register_heif_opener()


def _take_notes(image: Image.Image, preview: RawPreview) -> None:
    """What the raw file says beside its JPEG, as if the JPEG said it."""
    image.getexif().setdefault(_ORIENTATION, preview.orientation)
    # no text, so that no file can name this entry
    image.info[_CAMERA_NOTES, _TAKEN] = preview.taken
    if preview.xmp:
        image.info["xmp"] = preview.xmp
    if preview.iptc:
        image.info["photoshop"] = {IPTC_IN_PHOTOSHOP: preview.iptc}


def _can_stream(stream: IO[bytes]) -> bool:
    """Whether it is a JPEG that is decoded line by line: a progressive one is held in memory as a whole."""
    stream.seek(0)
    if stream.read(3) != b"\xff\xd8\xff":
        return False
    stream.seek(0)
    image = JpegImagePlugin.JpegImageFile(stream)
    # the header of the first scan ends here: length, number of colours, 2 bytes for each, 3 more
    stream.seek(-(6 + 2 * image.layers), io.SEEK_CUR)
    header = stream.read(3)
    stream.seek(0)
    is_single_scan = header == bytes([0, 6 + 2 * image.layers, image.layers])
    return is_single_scan and not image.info.get("progressive")


def _orientation(image: Image.Image) -> int:
    try:
        return int(image.getexif().get(_ORIENTATION, 1))
    except Exception:
        # damaged notes of the camera do not spoil the picture
        return 1


def _fit(size: tuple[int, int], max_side: int, min_side: int) -> tuple[int, int]:
    """`size` scaled down to `max_side`; a very long strip keeps `min_side` pixels across."""
    scale = min(1.0, max_side / max(size))
    width, height = (max(round(side * scale), min(side, min_side)) for side in size)
    return width, height


def _draft(image: Image.Image, target: tuple[int, int], max_pixels: int) -> None:
    """Let a JPEG be decoded at a fraction of its size, not below `target`; other formats stay as they are."""
    # twice the size that is wanted leaves the quality to the resampling, unless the bound forbids it
    gap = min(2.0, max(1.0, math.sqrt(max_pixels / (4 * target[0] * target[1]))))
    image.draft(None, (math.ceil(gap * target[0]), math.ceil(gap * target[1])))


def _size(image: Image.Image) -> str:
    return f"{image.width} x {image.height}"


def as_rgb(image: Image.Image) -> Image.Image:
    """`image` in mode RGB.

    Transparent places become white. Grey of 16 bits is scaled to 8, not clipped. Integers of 32 bits and
    floats are read on the first scale of 0 to 1, 0 to 255 and 0 to 65535 that holds them all, else from
    their smallest to their largest value.
    """
    if image.mode.startswith("I") or image.mode == "F":
        is_sixteen = image.mode.startswith("I;16") or image.format in ("PNG", "PPM")
        grey = eight_bits(np.asarray(image, dtype=np.float32), is_sixteen=is_sixteen)
        return Image.fromarray(grey).convert("RGB")
    if image.mode == "CMYK" and image.format == "JPEG" and "adobe" not in image.info:
        # Pillow takes every CMYK JPEG for Adobe's, whose inks are stored inverted
        image = ImageChops.invert(image)
    if not image.has_transparency_data:
        return image.convert("RGB")
    layers = image.convert("RGBA")
    page = Image.new("RGBA", layers.size, "white")
    return Image.alpha_composite(page, layers).convert("RGB")


def eight_bits(values: np.ndarray, *, is_sixteen: bool = False) -> np.ndarray:
    """Levels of brightness or colour as uint8; `is_sixteen` says that white is 65535, see `as_rgb`."""
    values = np.nan_to_num(values.astype(np.float32, copy=False), nan=0, posinf=0, neginf=0)
    black, white = float(values.min()), float(values.max())
    if is_sixteen:
        black, white = 0, _WHITE_LEVELS[-1]
    elif black >= 0 and white <= _WHITE_LEVELS[-1]:
        black, white = 0, next(level for level in _WHITE_LEVELS if white <= level)
    scale = 255 / (white - black) if white > black else 0
    return np.rint((values - black) * scale).clip(0, 255).astype(np.uint8)


def thumbnail_url(image: np.ndarray, *, longest: int = 192, quality: int = 88) -> str:
    """A picture as a ``data:`` address with a JPEG, see `thumbnail`."""
    data = thumbnail(image, longest=longest, quality=quality)
    return "data:image/jpeg;base64," + base64.b64encode(data).decode("ascii")


def thumbnail(image: np.ndarray, *, longest: int = 192, quality: int = 88) -> bytes:
    """A picture as a JPEG of at most `longest` pixels a side; never enlarged.

    It is a uint8 array of shape (height, width, 3), or (height, width) for grey.
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
    return stream.getvalue()


def read_facts(path: str | os.PathLike) -> tuple[int, int, str]:
    """Width and height of the upright picture in pixels, and the day on which it was taken, as 2024-05-01.

    The day is empty where the camera noted none: when a file was written says nothing about the picture. Only
    the header is read; FileError if it cannot be.
    """
    with open_picture(path) as image:
        width, height = image.size
        orientation, day = _camera_notes(image)
    if orientation in _TURNED:
        width, height = height, width
    return width, height, day


def _camera_notes(image: Image.Image) -> tuple[int, str]:
    """Orientation and day, 1 and "" where they are missing; damaged notes do not spoil the picture."""
    try:
        notes = image.getexif()
        taken = notes.get_ifd(_CAMERA_NOTES).get(_TAKEN) or image.info.get((_CAMERA_NOTES, _TAKEN), "")
        moment = _MOMENT.match(str(taken))
        day = date.fromisoformat("-".join(moment.groups())).isoformat() if moment else ""
        return int(notes.get(_ORIENTATION, 1)), day
    except Exception:
        return 1, ""
