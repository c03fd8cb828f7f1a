"""A collection of pictures as a folder of files, as people keep them."""

import os
import secrets
import shutil
from pathlib import Path

from PIL import Image

from tagrank.data.collection import Collection
from tagrank.data.writers.tags import write_tags
from tagrank.files import FileError


def write_picture_folder(collection: Collection, folder: str | os.PathLike) -> None:
    """Write pictures as PNG files and their present tags as ``tags.csv``; all of it, or nothing.

    Parameters
    ----------
    collection : with a view "pictures" of arrays
    folder : must not exist yet
    """
    folder = Path(folder)
    if os.path.lexists(folder):
        raise FileError(folder, "exists already; name a folder that does not")
    temporary = folder.with_name(f".{folder.name}.{secrets.token_hex(6)}.part")
    try:
        temporary.mkdir(parents=True)
        tagged = {}
        for name, pixels, states in zip(
            collection.names or (), collection.view("pictures"), collection.states(), strict=True
        ):
            path = temporary / f"{name}.png"
            Image.fromarray(pixels).save(path)
            tagged[str(path)] = [tag for tag, state in zip(collection.tags, states, strict=True) if state > 0]
        write_tags(tagged, temporary / "tags.csv")
        temporary.rename(folder)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
