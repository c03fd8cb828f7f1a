"""Writes the tables that come from the code into the pages that show them: make docs.

python docs/tables.py [--check]
"""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from tagrank.estimators.methods import METHODS
from tagrank.metrics import catalog_metrics

DOCS = Path(__file__).parent


def method_table() -> str:
    """One line a method, as Markdown."""
    headings = ("class", "method", "family", "good for", "training time grows with", "paper")
    lines: list[Sequence[str]] = [headings, ["---"] * len(headings)]
    for method in METHODS:
        paper = ": ".join(filter(None, [", ".join(method.also), method.paper]))
        name = f"`{method.name}`"
        lines.append((_linked(method.estimator), name, method.family, method.good_for, method.growth, paper))
    return _markdown(lines)


def metric_table() -> str:
    """One line a metric, as Markdown; of the lists of several lengths one."""
    lines: list[Sequence[str]] = [
        ("name", "function", "formula of a row, or definition", "better"),
        ["---"] * 4,
    ]
    for metric in catalog_metrics(ks=(5,)).values():
        function = getattr(metric.function, "func", metric.function)
        words = getattr(metric.function, "keywords", {})
        name = function.__name__
        if "average" in words:
            name += f'(average="{words["average"]}")'
        elif "field" in words:
            name = f"annotation_scores(...).{words['field']}"
        better = "higher" if metric.higher_is_better else "lower"
        lines.append((metric.name.replace("@5", "@k"), f"`{name}`", metric.formula, better))
    return _markdown(lines)


def _markdown(lines: list[Sequence[str]]) -> str:
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _linked(name: str) -> str:
    """The class, which leads to the page whose heading names it, where there is one."""
    for page in sorted((DOCS / "methods").glob("*.md")):
        if name in re.findall(r"\w+", page.read_text().partition("\n")[0]):
            return f"[`{name}`](methods/{page.name})"
    return f"`{name}`"


TABLES = {("models.md", "methods"): method_table, ("metrics.md", "metrics"): metric_table}


def main() -> None:
    for (name, mark), make_table in TABLES.items():
        page = DOCS / name
        place = re.compile(rf"(?<=<!-- {mark} -->\n).*?(?=<!-- end of {mark} -->)", re.S)
        written, table = page.read_text(), make_table()
        fresh = place.sub(lambda match, table=table: table, written)
        if "--check" not in sys.argv:
            page.write_text(fresh)
        elif fresh != written:
            sys.exit(f"{page} differs from the entries of {mark}; run: make docs")


if __name__ == "__main__":
    main()
