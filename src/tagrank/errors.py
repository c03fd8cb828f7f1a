"""What is said to users: wrong arguments, what a mistyped name probably meant, warnings at their own line."""

import sys
import warnings
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

_LONGEST, _MOST = 100, 1000
_PACKAGE = str(Path(__file__).parent)


class ArgumentError(ValueError):
    """Arguments that cannot be meant, or not together; the command line calls it a usage error."""


def nearest(name: str, known: Iterable[str], n: int = 3) -> list[str]:
    """The known names that are written most alike, the nearest first; small and capital letters are alike."""
    # names from files may be long and many, and each comparison takes the product of two lengths
    short = [candidate for candidate in known if len(candidate) <= _LONGEST][:_MOST]
    by_word: dict[str, str] = {}
    for candidate in short:
        by_word.setdefault(candidate.casefold(), candidate)
    return [by_word[word] for word in get_close_matches(name[:_LONGEST].casefold(), list(by_word), n=n)]


def did_you_mean(name: str, known: Iterable[str], rest: str = "") -> str:
    """The end of an error about an unknown name: the nearest known name, if there is one, then `rest`."""
    names = nearest(name, known, 1)
    if not names:
        return f"; {rest}" if rest else ""
    return f"; did you mean {names[0]!r}?{rest and ' '}{rest[:1].upper()}{rest[1:]}"


def one_line(error: BaseException) -> str:
    """What went wrong, in one line; an unforeseen kind of error says its kind."""
    message = " ".join(str(error).split()) or "no reason given"
    is_foreseen = isinstance(error, ValueError | MemoryError | OSError)
    return message if is_foreseen else f"{type(error).__name__}: {message}"


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn about what the caller of tagrank did: at the outermost line that is not ours."""
    depth, outermost, frame = 0, 0, sys._getframe()
    while frame is not None:
        depth += 1
        if frame.f_code.co_filename.startswith(_PACKAGE):
            outermost = depth
        frame = frame.f_back  # type: ignore[assignment]
    warnings.warn(message, category, stacklevel=outermost + 1)
