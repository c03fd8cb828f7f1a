"""Writes docs/reproduction.md and the pages of results from the figures that are kept: make docs.

python docs/results.py [--check]        writes the pages, or says which are not fresh
python docs/results.py NAME ...         measures these tables again first, and keeps the figures: make results
python docs/results.py all              measures everything again, for hours
"""

import sys
from pathlib import Path

from tagrank_papers.catalogue import EXPERIMENTS, TABLES, find_table
from tagrank_papers.measuring import KEPT, read_record
from tagrank_papers.page import render_page
from tagrank_papers.reproduce import reproduce

DOCS = Path(__file__).parent


def measure(names: list[str]) -> None:
    """Measure again and keep; tables of the same experiment are measured once."""
    tables = [table for table in TABLES if table.experiment] if names == ["all"] else map(find_table, names)
    for name in {table.experiment: table.name for table in tables}.values():
        reproduce(name, output=KEPT)


def pages() -> dict[str, str]:
    """Every page and drawing that is made of figures, by name."""
    found = {"reproduction.md": render_page()}
    for name, experiment in EXPERIMENTS.items():
        module, record = experiment.load(), read_record(name)
        if record is not None and hasattr(module, "render"):
            found |= module.render(record["results"], record["machine"])
    return found


def main() -> None:
    is_check = sys.argv[1:] == ["--check"]
    if not is_check:
        measure(sys.argv[1:])
    stale = {name: text for name, text in pages().items() if _read(DOCS / name) != text}
    if is_check and stale:
        sys.exit(f"{', '.join(stale)} differ from the figures that are kept; run: make docs")
    for name, text in stale.items():
        (DOCS / name).write_text(text, encoding="utf-8")
        print(f"written: docs/{name}")


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None


if __name__ == "__main__":
    main()
