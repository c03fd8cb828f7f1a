"""Writes the tables that come from the code into the pages that show them: make docs.

python docs/tables.py [--check]
"""

import re
import sys
from pathlib import Path

from tagrank.estimators.methods import METHODS

PAGE = Path(__file__).parent / "models.md"
PLACE = re.compile(r"(?<=<!-- methods -->\n).*?(?=<!-- end of methods -->)", re.S)


def method_table() -> str:
    """One line a method, as Markdown."""
    headings = ("class", "method", "family", "good for", "training grows with", "paper")
    lines = [headings, ["---"] * len(headings)]
    for method in METHODS:
        paper = f"{method.acronym}: {method.paper}" if method.acronym else method.paper
        name = f"`{method.name}`"
        lines.append((_linked(method.estimator), name, method.family, method.good_for, method.growth, paper))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _linked(name: str) -> str:
    """The class, which leads to the page whose heading names it, where there is one."""
    for page in sorted((PAGE.parent / "methods").glob("*.md")):
        if name in re.findall(r"\w+", page.read_text().partition("\n")[0]):
            return f"[`{name}`](methods/{page.name})"
    return f"`{name}`"


def main() -> None:
    written = PAGE.read_text()
    fresh = PLACE.sub(method_table().replace("\\", r"\\"), written)
    if "--check" not in sys.argv:
        PAGE.write_text(fresh)
    elif fresh != written:
        sys.exit(f"{PAGE} differs from the registry of methods; run: make docs")


if __name__ == "__main__":
    main()
