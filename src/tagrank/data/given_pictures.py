"""Pictures in whatever form people have them: paths, folders, Pillow's pictures, arrays, contents of files.

They become paths, and arrays of the size that features look at: nothing is held that a file can give again.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from PIL import Image
from scipy import sparse

from tagrank.array_files import LARGEST_SHARE
from tagrank.data.picture_files import (
    MAX_FILE_BYTES,
    MAX_PIXELS,
    MIN_SIDE,
    as_rgb,
    decode_picture,
    eight_bits,
    shrink_pixels,
)
from tagrank.data.picture_folder import PictureFolder
from tagrank.files import FileError, ProblemLog
from tagrank.resources import available_memory, gibibytes

# As `FeatureBank` shrinks files
MAX_SIDE = 512
ONE_PICTURE = (
    "a path, a Pillow picture, an array of shape (height, width), (height, width, 3) or (height, width, 4), "
    "or the bytes of a picture file"
)
_COLOURS = (1, 2, 3, 4)


class GivenPictures(NamedTuple):
    """Pictures that were handed over.

    Attributes
    ----------
    pictures : paths as text, and uint8 arrays of shape (height, width, 3), of those that could be read so far
    rows : which of the given pictures those are
    names : of all given pictures
    reasons : place of a picture that cannot be read to why it cannot
    """

    pictures: list[str | np.ndarray]
    rows: np.ndarray
    names: list[str]
    reasons: dict[int, str]


def is_one_picture(data: Any) -> bool:
    """Whether `data` is a single picture, or a folder of them; a grey array could be rows of numbers."""
    if isinstance(data, str | os.PathLike | bytes | bytearray | Image.Image) or _is_file(data):
        return True
    return _is_array(data, 3)


def without_iterator(data: Any) -> Any:
    """An iterator, such as that of ``Path.glob``, as a list; anything else as it is."""
    return list(data) if isinstance(data, Iterator) and not is_one_picture(data) else data


def are_pictures(data: Any) -> bool:
    """Whether `data` is one picture or a list of pictures, rather than rows of numbers."""
    if is_one_picture(data):
        return True
    if sparse.issparse(data) or hasattr(data, "columns") or isinstance(data, Mapping):
        return False
    if isinstance(data, np.ndarray) and data.dtype != object:
        return _is_array(data, 4) or data.dtype.kind == "U"
    if not isinstance(data, Iterable) or isinstance(data, Iterator | memoryview):
        return False
    first = next(iter(data), None)
    return is_one_picture(first) or _is_array(first, 2)


def list_pictures(data: Any, log: ProblemLog) -> list[Any]:
    """One picture, a folder or several of both as a list, in which no folder is left."""
    several = [data] if is_one_picture(data) else list(data)
    listed: list[Any] = []
    for entry in several:
        if isinstance(entry, str | os.PathLike) and os.path.isdir(entry):
            folder = PictureFolder(os.fspath(entry), log)
            listed += [folder.path(name) for name in folder.pictures]
        else:
            listed.append(entry)
    if several and not listed:
        raise FileError(_name(several[0], 0), "has no pictures; expected JPEG, PNG or TIFF files")
    return listed


def gather_pictures(given: Sequence[Any], *, strict: bool = False) -> GivenPictures:
    """Pictures as paths and arrays.

    Whatever is neither a path nor an array as features take it is decoded, within bounds, and shrunk to
    `MAX_SIDE`. A path is not opened yet.

    Parameters
    ----------
    given : pictures without folders, see `list_pictures`
    strict : raise the first problem instead of leaving the picture out
    """
    names = [_name(entry, place) for place, entry in enumerate(given)]
    pictures: list[str | np.ndarray] = []
    rows: list[int] = []
    reasons: dict[int, str] = {}
    most = LARGEST_SHARE * available_memory()
    for place, entry in enumerate(given):
        try:
            picture = _picture(entry, names[place])
        except FileError as error:
            if strict:
                raise
            reasons[place] = str(error).removeprefix(f"{names[place]}: ")
            continue
        most -= 0 if picture is entry or isinstance(picture, str) else picture.nbytes
        if most < 0:
            raise MemoryError(
                f"the decoded pictures take more than {gibibytes(LARGEST_SHARE * available_memory())}; "
                "pass fewer at once, or save them as files and pass their paths"
            )
        pictures.append(picture)
        rows.append(place)
    return GivenPictures(pictures, np.array(rows, dtype=np.intp), names, reasons)


def _is_array(data: Any, n_dimensions: int) -> bool:
    """Whether it is an array of some library with so many dimensions."""
    is_plain = hasattr(data, "dtype") and data.dtype != np.dtype(object) and not sparse.issparse(data)
    return is_plain and getattr(data, "ndim", 0) == n_dimensions


def _is_file(entry: Any) -> bool:
    return callable(getattr(entry, "read", None)) and callable(getattr(entry, "seek", None))


def _name(entry: Any, place: int) -> str:
    if isinstance(entry, Image.Image):
        entry = getattr(entry, "filename", "")
    elif _is_file(entry):
        entry = getattr(entry, "name", "")
    is_path = isinstance(entry, str | os.PathLike) and os.fspath(entry)
    return str(os.fsdecode(entry)) if is_path else f"picture {place}"


def _picture(entry: Any, name: str) -> str | np.ndarray:
    if isinstance(entry, str | os.PathLike):
        return str(os.fsdecode(entry))
    if _is_file(entry):
        entry = entry.read(MAX_FILE_BYTES + 1)
        if not isinstance(entry, bytes):
            raise FileError(name, "is open as text; open it with mode 'rb'")
    if isinstance(entry, bytes | bytearray):
        return decode_picture(bytes(entry), name=name, max_side=MAX_SIDE)
    if isinstance(entry, Image.Image):
        return decode_picture(entry, name=name, max_side=MAX_SIDE)
    if hasattr(entry, "__array__") or isinstance(entry, np.ndarray):
        return _from_array(np.asarray(entry), name)
    raise TypeError(f"{name} must be {ONE_PICTURE}, got {_kind(entry)}")


def _kind(entry: Any) -> str:
    return "None" if entry is None else f"a value of type {type(entry).__name__}"


def _from_array(values: np.ndarray, name: str) -> np.ndarray:
    """An array of any depth and number type as features take it."""
    if values.ndim not in (2, 3) or (values.ndim == 3 and values.shape[2] not in _COLOURS):
        is_planar = values.ndim == 3 and values.shape[0] in _COLOURS
        way = "put the colours last: np.moveaxis(picture, 0, -1)" if is_planar else "pass several as a list"
        raise FileError(
            name,
            f"an array of shape {values.shape}, expected (height, width), (height, width, 3) or (height, "
            f"width, 4); {way}",
        )
    if values.dtype.kind not in "biuf":
        raise FileError(name, f"an array of {values.dtype}, expected numbers")
    height, width = values.shape[:2]
    if min(height, width) < MIN_SIDE:
        raise FileError(
            name, f"too small: {width} x {height} pixels, at least {MIN_SIDE} x {MIN_SIDE} are needed"
        )
    if height * width > MAX_PIXELS:
        raise FileError(name, f"a picture of {width} x {height} pixels; at most {MAX_PIXELS:,} are taken")
    if values.dtype != np.uint8:
        is_whole_range = values.dtype == np.uint16
        values = eight_bits(values, is_sixteen=is_whole_range)
    if values.ndim == 2 or values.shape[2] != 3:
        grey = values if values.ndim == 2 or values.shape[2] > 1 else values[:, :, 0]
        values = np.array(as_rgb(Image.fromarray(np.ascontiguousarray(grey))))
    return shrink_pixels(values, MAX_SIDE)
