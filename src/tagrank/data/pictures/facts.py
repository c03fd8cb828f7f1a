"""What the header of a picture says: its size, and when it was taken."""

import os
import re
from datetime import date
from typing import NamedTuple

from PIL import Image

from tagrank.data.pictures.files import open_picture

_ORIENTATION, _CAMERA_NOTES, _TAKEN, _TURNED = 0x0112, 0x8769, 0x9003, (5, 6, 7, 8)
_MOMENT = re.compile(r"(\d{4}):(\d\d):(\d\d)\b")


class PictureFacts(NamedTuple):
    """Width and height of the upright picture in pixels, and the day on which it was taken, as 2024-05-01.

    The day is empty where the camera noted none: when a file was written says nothing about the picture.
    """

    width: int
    height: int
    date: str


def read_facts(path: str | os.PathLike) -> PictureFacts:
    """The facts of a picture, of which only the header is read; FileError if it cannot be."""
    with open_picture(path) as image:
        width, height = image.size
        orientation, taken = _camera_notes(image)
    if orientation in _TURNED:
        width, height = height, width
    return PictureFacts(width, height, taken)


def _camera_notes(image: Image.Image) -> tuple[int, str]:
    """Orientation and day, 1 and "" where they are missing; damaged notes do not spoil the picture."""
    try:
        notes = image.getexif()
        found = _MOMENT.match(str(notes.get_ifd(_CAMERA_NOTES).get(_TAKEN, "")))
        taken = date.fromisoformat("-".join(found.groups())).isoformat() if found else ""
        return int(notes.get(_ORIENTATION, 1)), taken
    except Exception:
        return 1, ""
