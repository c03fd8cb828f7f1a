"""The layout of Corel5k: ``train/ID.jpeg`` and ``test/ID.jpeg``, and numbers of words in ``labels``.

A line of ``labels/training_label`` or ``labels/test_label`` is ``ID w1 w2 ...``; the numbers count the lines
of ``labels/words`` from 1.
"""

from tagrank.data.collection import Collection
from tagrank.data.picture_folder import PictureFolder
from tagrank.data.readers.marks import TagTable
from tagrank.files import MAX_BYTES, ROW_BYTES, FileError, MemoryBound, open_text

_WORDS = "labels/words"
_LABELS = {"train": "labels/training_label", "test": "labels/test_label"}


def is_corel(folder: PictureFolder) -> bool:
    """Whether the files with words and labels are there."""
    return {_WORDS, *_LABELS.values()} <= set(folder.files)


def read_corel(folder: PictureFolder, *, words: str = "", max_bytes: int = MAX_BYTES) -> Collection:
    """The pictures that have a line, training pictures first.

    With words="260" the tags are those in ``labels/words260.txt``, not all in ``labels/words``. No file may
    be larger than `max_bytes`, nor what is made of it in memory.
    """
    if not is_corel(folder):
        raise FileError(folder.root, f"expected the files {_WORDS}, {', '.join(_LABELS.values())} here")
    vocabulary = _lines(folder, _WORDS, max_bytes)
    table = TagTable(folder)
    for part, name in _LABELS.items():
        for number, line in enumerate(_lines(folder, name, max_bytes), 1):
            picture, *indices = line.split()
            try:
                tags = [vocabulary[_position(index, len(vocabulary))] for index in indices]
            except ValueError as error:
                raise FileError(folder.path(name), str(error), line=number) from None
            table.add_listed(f"{part}/{picture}.jpeg", tags, part=part)
    return table.collection(
        tags=_lines(folder, f"labels/words{words}.txt", max_bytes) if words else vocabulary
    )


def _lines(folder: PictureFolder, name: str, max_bytes: int) -> list[str]:
    if name not in folder.files:
        raise FileError(folder.path(name), "no such file")
    lines, bound = [], MemoryBound(folder.path(name), max_bytes)
    with open_text(folder.path(name), max_bytes=max_bytes) as stream:
        for line in stream:
            bound.add(ROW_BYTES + len(line))
            lines.append(line.strip())
    return [line for line in lines if line]


def _position(index: str, n_words: int) -> int:
    if not index.isdecimal() or not 1 <= int(index) <= n_words:
        raise ValueError(f"expected the number of a word, 1 to {n_words}, got {index!r}")
    return int(index) - 1
