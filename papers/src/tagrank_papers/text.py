"""Lines of results on the screen, and the words and tables of a page."""

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

PAGES = Path(__file__).parent / "pages"


def read_text(name: str) -> SimpleNamespace:
    """The texts of a page, by name: the parts of pages/NAME.md, each below a comment with its name.

    Braces are filled in by `str.format`.
    """
    _, *parts = re.split(r"^<!-- (\w+) -->\n", (PAGES / f"{name}.md").read_text(encoding="utf-8"), flags=re.M)
    return SimpleNamespace(**{key: text[:-1] for key, text in zip(parts[::2], parts[1::2], strict=True)})


def show(line: Mapping[str, Any], *keys: str) -> None:
    """Print some entries of a line of results."""
    print("  ".join(f"{key} {_text(line[key])}" for key in keys))


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: bool = False) -> str:
    """A table, without an end of line; with `numbers` all columns but the first are aligned to the right."""
    rules = ["---", *["---:" if numbers else "---"] * (len(header) - 1)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, rules, *rows))


def fill(text: str, width: int = 110) -> str:
    """A page whose paragraphs and items are broken into lines anew; headings, tables and pictures stay."""
    blocks = []
    for block in text.split("\n\n"):
        if block.lstrip("\n").startswith(("#", "|", "![")):
            blocks.append(block)
            continue
        items = re.split(r"\n(?=- )", block)
        blocks.append("\n".join(_fill_item(item, width) for item in items))
    return "\n\n".join(blocks).rstrip("\n") + "\n"


def _fill_item(item: str, width: int) -> str:
    indent = "  " if item.startswith("- ") else ""
    wrapper = textwrap.TextWrapper(
        width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return wrapper.fill(" ".join(item.split()))


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return ",".join(map(_text, value)) if isinstance(value, list) else str(value)
