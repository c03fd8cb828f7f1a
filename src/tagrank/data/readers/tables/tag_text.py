r"""Several tags in one text, as a column of a table holds them: ``sky|sea``.

Where a tag itself contains the separator (its first character, if it has several) or a backslash, a backslash
stands before that: ``places\|rome``. A backslash before anything else is itself. A cell that a spreadsheet
would run as a formula has an apostrophe before it.
"""

import re
from collections.abc import Iterable

# Text that spreadsheets run as a formula, perhaps with apostrophes before it.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")


def protect_cell(text: str) -> str:
    """`text` with an apostrophe before it where a spreadsheet would run it as a formula."""
    return f"'{text}" if _FORMULA.match(text) else text


def bare_cell(text: str) -> str:
    """The text that `protect_cell` was given."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def split_tags(text: str, separator: str) -> list[str]:
    """The tags in `text`; blanks around them and empty ones go."""
    if "\\" not in text or separator.startswith("\\"):
        pieces = text.split(separator)
    else:
        escaped, whole = rf"\\([{re.escape(separator[0])}\\])", re.escape(separator)
        found = re.findall(rf"((?:{escaped}|(?!{whole}).)*)(?:{whole}|\Z)", text, re.DOTALL)
        pieces = [re.sub(escaped, r"\1", piece) for piece, _ in found]
    return [tag for piece in pieces if (tag := piece.strip())]


def join_tags(tags: Iterable[str], separator: str) -> str:
    """`tags` as a text from which `split_tags` reads the same tags."""
    return separator.join(_escape(tag, separator) for tag in tags)


def _escape(tag: str, separator: str) -> str:
    if not tag.strip() or tag != tag.strip():
        raise ValueError(f"a list of tags cannot hold {tag!r}: blanks around a tag are lost; tidy the tags")
    if not separator.startswith("\\"):
        return tag.replace("\\", "\\\\").replace(separator[0], f"\\{separator[0]}")
    if separator in tag:
        raise ValueError(f"the tag {tag!r} contains the separator {separator!r}; pass another one")
    return tag
