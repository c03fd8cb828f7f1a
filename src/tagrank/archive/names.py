"""Names that people and pages give: of tags, persons, requests; what is too long is refused."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from tagrank.archive.records import ANSWERS, Answer
from tagrank.errors import ArgumentError
from tagrank.visible_text import check_visible

LONGEST_TAG = 200
LONGEST_NAME = 100
LONGEST_DESCRIPTION = 1000
MOST_ANSWERS = 1000
_LARGEST = 2**63
_CONTROL = {"Cc", "Cs", "Zl", "Zp"}


@dataclass(frozen=True)
class Request:
    """A step that somebody asks for; ArgumentError where its words cannot be meant.

    Attributes
    ----------
    word : by which the page knows its request
    who : the person
    queue, model : from where, and by the proposals of which model
    reviewed : pictures that are marked as looked at
    is_unmarked : whether nothing was marked on a page that was accepted as a whole
    """

    word: str
    who: str
    queue: str = ""
    model: int | None = None
    reviewed: Sequence[int] = ()
    is_unmarked: bool = False

    def __post_init__(self) -> None:
        if len(self.reviewed) > MOST_ANSWERS:
            raise ArgumentError(
                f"at most {MOST_ANSWERS:,} pictures can be marked in one step, got {len(self.reviewed):,}"
            )
        _checked("request", self.word, LONGEST_NAME)
        object.__setattr__(self, "who", check_visible("the name of a person", self.who, LONGEST_NAME))
        if self.queue:
            _checked("queue", self.queue, LONGEST_NAME)
        for picture in self.reviewed:
            _check_number(picture)


def checked_tag(name: str) -> str:
    """A new tag's name, without blanks around it, with accents composed, and seen as it is."""
    return check_visible("a tag", name, LONGEST_TAG)


def checked_description(text: str) -> str:
    """A text about a tag; an empty one takes it away."""
    text = unicodedata.normalize("NFC", text).strip() if isinstance(text, str) else text
    return text if text == "" else _checked("a description", text, LONGEST_DESCRIPTION)


def checked_answers(answers: Sequence[Answer]) -> list[Answer]:
    """The answers, if they can be meant; pictures are looked for later."""
    if len(answers) > MOST_ANSWERS:
        raise ArgumentError(
            f"at most {MOST_ANSWERS:,} decisions can be made in one step, got {len(answers):,}"
        )
    for answer in answers:
        _check_number(answer.picture)
        if answer.answer not in ANSWERS:
            raise ArgumentError(
                f"answer must be one of {', '.join(ANSWERS)}, got {str(answer.answer)[:40]!r}"
            )
        if not isinstance(answer.tag, str):
            raise ArgumentError(f"a tag must be text, got {type(answer.tag).__name__}")
    return list(answers)


def is_inside(name: str) -> bool:
    """Whether the name of a picture, from a database that may come from elsewhere, stays below its folder."""
    # not by pathlib, which takes seconds for 100,000 names
    is_relative = bool(name.strip("./")) and not name.startswith("/")
    return is_relative and ".." not in name.split("/") and "\0" not in name


def _checked(what: str, text: str, longest: int) -> str:
    if not isinstance(text, str) or not 0 < len(text) <= longest:
        raise ArgumentError(f"{what} must have 1 to {longest} characters, got {len(text)}")
    if any(unicodedata.category(character) in _CONTROL for character in text):
        raise ArgumentError(f"{what} must not have control characters, got {text!r}")
    return text


def _check_number(picture: int) -> None:
    if isinstance(picture, bool) or not isinstance(picture, int) or not 0 <= picture < _LARGEST:
        raise ArgumentError(f"a picture must be given by its number, got {str(picture)[:40]!r}")
