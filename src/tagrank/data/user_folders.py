"""The folders of this user: a cache, which may be deleted at any time, and a state, which is believed.

A folder of pictures may come from anywhere, and so may all files in it. What is executed, deleted or believed
therefore lies in the state: models, passwords, sign-ins, and the originals of files that were changed.
"""

import os
import stat
from pathlib import Path

from platformdirs import user_state_path

from tagrank.files import FileError
from tagrank.resources import cache_folder

__all__ = ["cache_folder", "state_folder"]


def state_folder(*parts: str) -> Path:
    """A folder below ``TAGRANK_STATE``, or below the place that the system names; made if it is missing.

    Only this user may write to it: a folder of somebody else, or one that others may write to, is refused.
    """
    named = os.environ.get("TAGRANK_STATE")
    folder = Path(named).absolute() if named else user_state_path("tagrank", appauthor=False)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise PermissionError(
            f"{folder} cannot be created ({error.strerror}); name your own folder with TAGRANK_STATE"
        ) from None
    _check_own(folder)
    for part in parts:
        folder /= part
        folder.mkdir(mode=0o700, exist_ok=True)
        if folder.is_symlink():
            raise FileError(folder, "is a link, expected a folder of tagrank; remove the link")
    return folder


def _check_own(folder: Path) -> None:
    if not hasattr(os, "geteuid"):
        return  # on Windows the profile of a user is closed to others
    about = folder.stat()
    if about.st_uid != os.geteuid():
        raise FileError(folder, "belongs to another user; name your own folder with TAGRANK_STATE")
    if about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise FileError(folder, "can be written to by others; fix this with: chmod go-w")
