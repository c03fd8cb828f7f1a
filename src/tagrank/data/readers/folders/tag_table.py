"""What a folder says about its pictures, gathered picture by picture, and the collection that comes of it."""

import re
from collections.abc import Iterable, Sequence

from tagrank.data.collection import Collection
from tagrank.data.picture_folder import PictureFolder
from tagrank.data.readers.marks import Marks, encode_marks, marks_from_list
from tagrank.files import FileError, naming

UNLISTED = "unlisted"
_PART_WORD = re.compile(r"(?<![a-z])(train|val|test)(ing|id|idation)?(?![a-z])", re.IGNORECASE)


def part_in(text: str) -> str:
    """The word train, val or test in a file's name, or nothing."""
    found = _PART_WORD.search(text)
    return found[1].casefold() if found else ""


class TagTable:
    """Pictures of a folder with their tags in three states; listed without a tag means `empty`."""

    def __init__(self, folder: PictureFolder, *, empty: str = "unknown") -> None:
        self._folder, self._empty = folder, empty
        self._marks: dict[str, Marks] = {}
        self._parts: dict[str, str] = {}

    def add(self, name: str, tags: Iterable[str] | Marks | None, *, part: str = "") -> None:
        """Note the tags of a picture, by its name relative to the folder, and its part; None knows nothing.

        What is noted twice is joined, and its first part is kept.
        """
        marks = tags if isinstance(tags, Marks) else marks_from_list(tags, empty=self._empty)
        known = self._marks.get(name)
        self._marks[name] = marks if known is None else known.joined(marks)
        kept = self._parts.setdefault(name, part)
        if kept != part:
            self._folder.problems.add(
                self._folder.path(name), f"is listed as {part!r} too; it stays in {kept!r}"
            )

    def add_listed(
        self, listed: str, tags: Iterable[str] | Marks | None, *, part: str = "", hint: str = ""
    ) -> None:
        """As `add`, for the picture that a list means; one that cannot be found becomes a problem.

        `PictureFolder.find` looks for it, first in the folder that is a `hint`.
        """
        for guess in (f"{hint}/{listed}", listed) if hint else (listed,):
            try:
                return self.add(self._folder.find(guess), tags, part=part)
            except LookupError as error:
                reason = str(error)
        self._folder.problems.add(self._folder.path(listed), reason)

    def add_unlisted(self) -> None:
        """Note all other pictures of the folder as untagged."""
        for name in self._folder.pictures:
            self._marks.setdefault(name, Marks())

    def collection(self, *, tags: Sequence[str] | None = None) -> Collection:
        """The pictures in the order in which they were noted; the columns are `tags`, or all, sorted."""
        if not self._marks:
            found = "; ".join(str(problem) for problem in self._folder.problems.listed()[:1])
            raise FileError(
                self._folder.root,
                "no pictures here, expected JPEG, PNG, GIF, BMP, TIFF, WebP or PPM files"
                + (f" ({found})" if found else ""),
            )
        labels, columns = encode_marks(list(self._marks.values()), tags)
        parts = [self._parts.get(name) or UNLISTED for name in self._marks]
        with naming(self._folder.root):
            return Collection(
                views={"pictures": [self._folder.path(name) for name in self._marks]},
                labels=labels,
                tags=columns,
                names=list(self._marks),
                part=parts if any(self._parts.values()) else None,
                name=self._folder.root.absolute().name,
                problems=self._folder.problems.listed(),
            )
