"""Warnings that point at the line of the caller, however deep inside tagrank they arise."""

import sys
import warnings
from pathlib import Path

_PACKAGE = str(Path(__file__).parent)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn about what the caller of tagrank did: at the outermost line that is not ours."""
    depth, outermost, frame = 0, 0, sys._getframe()
    while frame is not None:
        depth += 1
        if frame.f_code.co_filename.startswith(_PACKAGE):
            outermost = depth
        frame = frame.f_back  # type: ignore[assignment]
    warnings.warn(message, category, stacklevel=outermost + 1)
