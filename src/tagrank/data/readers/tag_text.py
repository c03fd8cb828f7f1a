r"""Several tags in one text, as a column of a table holds them: ``sky|sea``.

A separator that belongs to a tag is written with a backslash before it (``places\|rome``), and a backslash
before a separator or another backslash is doubled; any other backslash is itself.
"""

import re
from collections.abc import Iterable


def split_tags(text: str, separator: str) -> list[str]:
    """The tags in `text`; blanks around them and empty ones go."""
    if "\\" not in text or separator == "\\":
        pieces = text.split(separator)
    else:
        escape = re.escape(separator)
        pieces = [
            re.sub(rf"\\({escape}|\\)", r"\1", piece)
            for piece in re.findall(
                rf"((?:\\(?:{escape}|\\)|(?!{escape}).)*)(?:{escape}|\Z)", text, re.DOTALL
            )
        ]
    return [tag for piece in pieces if (tag := piece.strip())]


def join_tags(tags: Iterable[str], separator: str) -> str:
    """`tags` as a text from which `split_tags` reads the same tags."""
    return separator.join(_escaped(tag, separator) for tag in tags)


def _escaped(tag: str, separator: str) -> str:
    if not tag.strip() or tag != tag.strip():
        raise ValueError(f"a list of tags cannot hold {tag!r}: blanks around a tag are lost; tidy the tags")
    if separator == "\\" and separator in tag:
        raise ValueError(f"the tag {tag!r} contains the separator {separator!r}; pass another one")
    if separator == "\\":
        return tag
    return tag.replace("\\", "\\\\").replace(separator, f"\\{separator}")
