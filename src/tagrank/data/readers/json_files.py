"""JSON from files of strangers: within a bound, and errors that name the file."""

import json
import os
from typing import Any

from tagrank.files import FileError, open_bounded

# The largest annotation file of COCO has 470 million bytes.
MAX_JSON_BYTES = 2**29


def read_json(path: str | os.PathLike, *, max_bytes: int = MAX_JSON_BYTES) -> Any:
    """The value in a JSON file."""
    with open_bounded(path, max_bytes=max_bytes) as stream:
        return parse_json(stream.read(), path)


def parse_json(text: str | bytes, path: str | os.PathLike, *, line: int | None = None) -> Any:
    """The value in `text`, which stands in `path`."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileError(path, f"not JSON ({error})", line=line) from None
