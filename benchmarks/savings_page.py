"""The tables and the plot of docs/desk-savings.md, from the kept figures of desk_keeper.

python -m benchmarks.savings_page
"""

import re
from pathlib import Path

from benchmarks.output import read_results
from tagrank.reports.charts import line_chart
from tagrank_papers.plots import draw_charts
from tagrank_papers.text import markdown_table

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE, PLOT = DOCS / "desk-savings.md", DOCS / "desk-savings.svg"
DRAWN = {
    "missing, trained again": ("missing", True),
    "missing, once": ("missing", False),
    "in order, proposals": ("in order, proposals", False),
    "in order, frequent tags": ("in order, frequent tags", False),
}
LEARNING = ("missing", "informative", "random proposals", "random")


def render(page, lines):
    """The page with its tables written anew."""
    for name, table in {"found": found_table(lines), "learned": learned_table(lines)}.items():
        place = re.compile(rf"(?<=<!-- {name} -->\n).*?(?=<!-- end of {name} -->)", re.S)
        page = place.sub(lambda _, table=table: f"{table}\n", page)
    return page


def found_table(lines):
    """The share of the hidden tags that were found, after so many decisions."""
    counts = [500, 1000, 2000, 4000]
    rows = []
    for line in sorted(lines, key=lambda one: (one["hidden"], one["retrain"] > 0, -_last(one))):
        shares = {int(count): share for count, share in line["share"].items()}
        last = max(shares)
        twice = _percent(shares[last]) if last > counts[-1] else ""
        if counts[-1] < last < 2 * line["n_hidden"]:
            twice += f", nothing left after {last:,}"
        end = [*(_percent(shares.get(count)) for count in counts), twice]
        rows.append([f"{line['hidden']:.0%}", line["strategy"], "yes" if line["retrain"] else "no", *end])
    heads = [
        "hidden",
        "what is asked",
        "trained again",
        *(f"{count:,}" for count in counts),
        "twice the hidden",
    ]
    return markdown_table(heads, rows, numbers=True)


def learned_table(lines):
    """Mean average precision on the test photographs, by pictures and by tags."""
    rows = []
    for line in (one for one in lines if one["retrain"] and one["strategy"] in LEARNING):
        test = {int(count): quality for count, quality in line["test"].items()}
        cells = [
            f"{test[count]['image_map']:.3f} / {test[count]['tag_map']:.3f}" if count in test else ""
            for count in (0, 1000, 2000, 4000)
        ]
        rows.append([f"{line['hidden']:.0%}", line["strategy"], *cells])
    return markdown_table(["hidden", "what is asked", "0", "1,000", "2,000", "4,000"], rows, numbers=True)


def draw(lines):
    """Found tags over decisions, as SVG."""
    charts = []
    for hidden in sorted({line["hidden"] for line in lines}):
        found = {
            (one["strategy"], one["retrain"] > 0): one["share"] for one in lines if one["hidden"] == hidden
        }
        series = []
        for name, key in DRAWN.items():
            points = sorted((int(count), 100 * share) for count, share in found.get(key, {}).items())
            series.append((name, *zip((0, 0.0), *points, strict=True)))
        title, label = f"{hidden:.0%} hidden: % of them found", "decisions"
        charts.append(line_chart(title, series, description="", x_label=label))
    return draw_charts(charts)


def _last(line):
    return max(line["share"].values())


def _percent(share):
    return "" if share is None else f"{100 * share:.1f} %"


if __name__ == "__main__":
    kept = read_results("desk_keeper")["results"]
    PAGE.write_text(render(PAGE.read_text(), kept))
    PLOT.write_text(draw(kept))
