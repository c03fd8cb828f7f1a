"""Writes docs/papers.md, docs/reproduction.md and the pages of results from kept figures: make docs.

python docs/results.py [--check]        writes the pages, or says which are not fresh
python docs/results.py NAME ...         measures these tables again first, and keeps the figures: make results
python docs/results.py all              measures everything whose code changed since, for hours; Ctrl-C ends
                                        it, and the same command goes on where it was
"""

import sys
from pathlib import Path
from textwrap import fill

from tagrank_papers.catalogue import EXPERIMENTS, TABLES, find_table
from tagrank_papers.measuring import KEPT, read_record
from tagrank_papers.origin import is_current, tell_origin
from tagrank_papers.overview import render_overview
from tagrank_papers.page import render_page
from tagrank_papers.reproduce import reproduce

DOCS = Path(__file__).parent


def measure(names: list[str]) -> None:
    """Measure again and keep; tables of the same experiment are measured once."""
    tables = [table for table in TABLES if table.experiment] if names == ["all"] else map(find_table, names)
    found = {table.experiment: table.name for table in tables}
    left = {name: table for name, table in found.items() if names != ["all"] or _is_due(name)}
    for done, (name, table) in enumerate(left.items()):
        minutes = sum(EXPERIMENTS[other].minutes for other in list(left)[done:])
        print(f"{name}: {done + 1} of {len(left)}, about {minutes} minutes to the end of all", flush=True)
        try:
            reproduce(table, output=KEPT)
        except (FileNotFoundError, ImportError) as error:
            if names != ["all"]:
                raise
            print(f"{name}: left out, {error}", file=sys.stderr)


def _is_due(name: str) -> bool:
    """Whether figures are missing, or older than the code that measures them."""
    is_done = is_current(read_record(name), name)
    if is_done:
        print(f"{name}: measured by the code of today")
    return not is_done


def pages() -> dict[str, str]:
    """Every page and drawing that is made of figures, by name."""
    found = {"reproduction.md": render_page(), "papers.md": render_overview()}
    for name, experiment in EXPERIMENTS.items():
        module, record = experiment.load(), read_record(name)
        if record is not None and hasattr(module, "render"):
            written = module.render(record["results"], record["machine"])
            origin = fill(tell_origin(record), 110)
            found |= {
                page: f"{text.rstrip()}\n\n{origin}\n" if page.endswith(".md") else text
                for page, text in written.items()
            }
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
