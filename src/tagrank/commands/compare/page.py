"""The page of `compare`: who is best, by how much, and who loses to the simplest methods."""

import math
import os
from typing import Any

from tagrank.commands.compare.cells import (
    chosen_words,
    legend,
    rank_words,
    said,
    shown_metrics,
    table_lines,
)
from tagrank.commands.compare.result import BASELINES, FREQUENCY, SECONDS, Comparison, DataResult
from tagrank.reports.charts import interval_chart, rank_diagram
from tagrank.reports.pages import problems_section, write_page

HEADINGS = {
    "compared": "Side by side",
    "ranks": "Average ranks",
    "chosen": "What was chosen",
    "problems": "What could not be read",
}


def write_comparison_page(path: str | os.PathLike, found: Comparison) -> None:
    """Write a page that needs nothing else: no scripts, no network; whole or not at all."""
    names = ", ".join(one.name for one in found.data)
    write_page(
        path,
        title=f"Methods side by side on {names}",
        summary="",
        quality=(best_words(found), _origin(found)),
        facts=_facts(found),
        headings=HEADINGS,
        content={
            "compared": {
                "metrics": shown_metrics(found),
                "legend": legend(found),
                "data": [_data_section(found, one) for one in found.data],
            },
            "ranks": _ranks_section(found),
            "chosen": [_chosen_section(one) for one in found.data],
            "problems": problems_section(found.problems),
        },
    )


def best_words(found: Comparison) -> str:
    """Which method is best, and how many others might be."""
    if len(found.data) > 1:
        return _best_rank(found)
    one = found.data[0]
    done = [line for line in one.lines if line.is_done]
    if not done:
        return f"No method came to an end on {one.name}."
    n_like = sum(line.is_like_best for line in done) - 1
    return f"{done[0].method} is best on {one.name}{_others(n_like)}."


def _best_rank(found: Comparison) -> str:
    if found.ranks is None:
        return "No two methods came to an end on all data sets."
    ranks = found.ranks
    n_like = sum(rank - ranks.ranks[0] <= ranks.critical_difference for rank in ranks.ranks) - 1
    rank = (
        f"{ranks.names[0]} has the best average rank, {ranks.ranks[0]:.2f}, over {ranks.n_blocks} data sets"
    )
    return f"{rank}{_others(n_like)}."


def _others(n_like: int) -> str:
    if not n_like:
        return ""
    words = "one other is" if n_like == 1 else f"{n_like} others are"
    return f"; {words} not distinguishable from it"


def _origin(found: Comparison) -> str:
    where = "" if len(found.data) > 1 else f", on {found.data[0].sizes}"
    return (
        f"By {found.criterion}{where}. Parameters were chosen on the rows to learn from alone, by "
        "cross-validation."
    )


def _facts(found: Comparison) -> dict[str, str]:
    facts = {
        "methods": f"{len(found.data[0].lines):,}",
        "without figures": f"{sum(not line.is_done for one in found.data for line in one.lines):,}",
        "seconds of all methods": f"{_seconds(found):,.0f}",
    }
    return {"data sets": f"{len(found.data):,}", **facts} if len(found.data) > 1 else facts


def _seconds(found: Comparison) -> float:
    return sum(line.total_seconds for one in found.data for line in one.lines)


def _data_section(found: Comparison, one: DataResult) -> dict[str, Any]:
    lines = table_lines(found, one)
    values = {
        line.method: (line.values[found.criterion], *line.intervals[found.criterion])
        for line, _ in lines
        if not math.isnan(line.values[found.criterion])
    }
    marked = [line.method for line, _ in lines if found.criterion in line.below.get(FREQUENCY, ())]
    title = f"{found.criterion} on {one.name}"
    return {
        "name": one.name,
        "sizes": one.sizes,
        "chart": interval_chart(title, values, baselines=BASELINES, marked=marked) if values else None,
        "lines": [(line.method, cells, f"{line.total_seconds:,.1f}") for line, cells in lines],
        "said": said(one),
    }


def _ranks_section(found: Comparison) -> dict[str, Any] | None:
    if found.ranks is None:
        return None
    return {"diagram": rank_diagram(found.ranks), "words": rank_words(found), "ranks": found.ranks}


def _chosen_section(one: DataResult) -> dict[str, Any]:
    return {
        "name": one.name,
        "lines": [
            (line.method, [f"{line.seconds[part]:,.2f}" for part in SECONDS], chosen_words(line))
            for line in one.lines
            if line.is_done
        ],
    }
