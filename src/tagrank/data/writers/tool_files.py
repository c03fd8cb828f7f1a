"""The tags of pictures for tools that show and edit them: Label Studio and FiftyOne.

Label Studio imports a list of tasks. A picture about which somebody decided has an annotation, another one
with listed tags a prediction, which is shown and can be corrected. Pictures are named for its storage of
local files, below the folder of the archive. FiftyOne reads classes and, for each picture by its whole path,
its classifications, as the type FiftyOneImageClassificationDataset.
"""

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.sax.saxutils import quoteattr

from tagrank.data.writers.tags import PictureTags
from tagrank.files import atomic_write
from tagrank.validation import check_choice

_CONTROL, _OBJECT = "tags", "image"
_UNSTORABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
LOCAL_FILES = "/data/local-files/?d="


def write_tool_files(
    path: str | os.PathLike, tool: str, pictures: Sequence[PictureTags], folder: Path
) -> list[Path]:
    """Write what a tool imports, each file whole or not at all; answers the files.

    Parameters
    ----------
    path : the ``.json`` file; beside it Label Studio gets its labelling configuration as ``.xml``
    tool : {"label-studio", "fiftyone"}
    pictures : with their tags
    folder : in which they lie
    """
    make = _TOOLS[check_choice("to", tool, tuple(_TOOLS))]
    pictures = [one._replace(present=tuple(map(_storable, one.present))) for one in pictures]
    tags = sorted({tag for picture in pictures for tag in picture.present})
    contents = make(pictures, tags, folder.resolve())
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    written = []
    for ending, text in contents.items():
        written.append(Path(path).with_suffix(ending))
        with atomic_write(written[-1], text=True) as stream:
            stream.write(text)
    return written


def _storable(tag: str) -> str:
    """The tag without what XML or UTF-8 cannot hold: most control characters, and lone surrogates."""
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", tag)


def _label_studio(pictures: Sequence[PictureTags], tags: Sequence[str], folder: Path) -> Mapping[str, str]:
    tasks = [_task(picture) for picture in pictures]
    choices = "".join(f"    <Choice value={quoteattr(tag)}/>\n" for tag in tags)
    configuration = (
        f'<View>\n  <Image name="{_OBJECT}" value="${_OBJECT}"/>\n'
        f'  <Choices name="{_CONTROL}" toName="{_OBJECT}" choice="multiple">\n{choices}'
        "  </Choices>\n</View>\n"
    )
    return {".json": json.dumps(tasks, indent=1), ".xml": configuration}


def _task(picture: PictureTags) -> dict[str, Any]:
    # names of files may hold bytes that are no text
    task: dict[str, Any] = {"data": {_OBJECT: LOCAL_FILES + quote(os.fsencode(picture.name))}}
    region = {
        "from_name": _CONTROL,
        "to_name": _OBJECT,
        "type": "choices",
        "value": {"choices": list(picture.present)},
    }
    result = [region] if picture.present else []
    if picture.was_decided:
        task["annotations"] = [{"result": result}]
    elif result:
        task["predictions"] = [{"model_version": "listed tags", "result": result}]
    return task


def _fiftyone(pictures: Sequence[PictureTags], tags: Sequence[str], folder: Path) -> Mapping[str, str]:
    labels = {
        str(folder / picture.name): [
            {"label": tag, "attributes": {"accepted": tag in picture.accepted}} for tag in picture.present
        ]
        for picture in pictures
    }
    return {".json": json.dumps({"classes": list(tags), "labels": labels}, indent=1)}


_TOOLS: dict[str, Callable[[Sequence[PictureTags], Sequence[str], Path], Mapping[str, str]]] = {
    "label-studio": _label_studio,
    "fiftyone": _fiftyone,
}
