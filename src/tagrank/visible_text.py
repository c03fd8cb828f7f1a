"""Text that looks like what it is: without characters that are not seen or that turn the text around them.

Two names that differ in such a character look the same to everybody who has to tell them apart.
"""

import re
import unicodedata
from collections.abc import Iterator

from tagrank.errors import ArgumentError

# A name from a file must neither steer a terminal nor turn the text around it: no controls, no marks of
# direction, separators of lines or halves of characters; but joiners, which scripts and pictograms need.
_STEERING = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_HIDDEN_CATEGORIES = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
# letters and marks by their category, but nothing is seen of them
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180e\u180f\u2800\u3164\uffa0")
# signs before numbers of Arabic and other scripts are seen, though their category says format
_SEEN = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
_JOINERS = "\u200c\u200d"
_PICTOGRAM = "\ufe0f"
_VARIANTS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_KEYCAP = "\u20e3"
# scripts whose letters look the same with a joiner between them
_UNJOINED = ("LATIN", "GREEK", "CYRILLIC", "CJK", "HIRAGANA", "KATAKANA", "HANGUL")


def check_visible(what: str, text: str, longest: int) -> str:
    """A name of people or tags in one line, with accents composed and single blanks; others are refused."""
    if not isinstance(text, str):
        raise ArgumentError(f"{what} must be text, got {type(text).__name__}")
    name = re.sub(" +", " ", _plain_blanks(unicodedata.normalize("NFC", text))).strip()
    if not 0 < len(name) <= longest:
        raise ArgumentError(f"{what} has 1 to {longest} characters, got {len(name)}")
    for place in hidden_places(name):
        raise ArgumentError(
            f"{what} may not hold characters that cannot be seen, got U+{ord(name[place]):04X} in {name!a}"
        )
    return name


def hidden_places(text: str) -> Iterator[int]:
    """Where characters stand that are not seen, or that change how the others are read."""
    if text.isascii() and text.isprintable():
        return
    for place, character in enumerate(text):
        if _is_hidden(character) and not _is_needed(text, place):
            yield place


def shown(text: str) -> str:
    """The text with the number of each character that cannot be seen in its place; lines stay lines."""
    hidden = {place for place in hidden_places(text) if text[place] not in "\t\n\r"}
    if not hidden:
        return text
    return "".join(
        f"‹U+{ord(character):04X}›" if place in hidden else character for place, character in enumerate(text)
    )


def printable(text: str) -> str:
    """The text for a terminal, in one line: what cannot be seen, or would steer it, is replaced by a sign."""
    if text.isprintable():
        return text
    return "".join(
        "\N{REPLACEMENT CHARACTER}"
        if unicodedata.category(character) in _STEERING and character not in _JOINERS
        else character
        for character in text
    )


def _plain_blanks(text: str) -> str:
    return "".join(" " if unicodedata.category(character) == "Zs" else character for character in text)


def _is_hidden(character: str) -> bool:
    if character in _BLANK or _VARIANTS.match(character):
        return True
    return unicodedata.category(character) in _HIDDEN_CATEGORIES and character not in _SEEN


def _is_needed(text: str, place: int) -> bool:
    """Whether a script is written with this character here, or a pictogram is made of several."""
    character, before, after = text[place], text[place - 1 : place], text[place + 1 : place + 2]
    if not before:
        return False
    if character in _JOINERS:
        return bool(after) and (
            (_joins(before) and _joins(after)) or (_is_pictogram(before) and _is_pictogram(after))
        )
    if character == _PICTOGRAM:
        return _is_pictogram(before) or (before in "0123456789#*" and after == _KEYCAP)
    return bool(_VARIANTS.match(character)) and unicodedata.name(before, "").startswith("CJK")


def _joins(character: str) -> bool:
    if unicodedata.category(character)[0] not in "LM" or _is_hidden(character):
        return False
    return not unicodedata.name(character, "").startswith(_UNJOINED)


def _is_pictogram(character: str) -> bool:
    # arrows that became pictograms are signs of mathematics, and colours of skin are modifiers
    return character == _PICTOGRAM or unicodedata.category(character) in ("So", "Sm", "Sk")
