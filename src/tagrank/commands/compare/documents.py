"""A comparison as a page, as Markdown and as LaTeX."""

import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tagrank.commands.compare.result import (
    BASELINES,
    FREQUENCY,
    SECONDS,
    Comparison,
    DataResult,
    MarkedValue,
    chosen_words,
    legend,
    rank_words,
    said,
    shown_metrics,
    table_lines,
)
from tagrank.files import atomic_write
from tagrank.reports.charts import interval_chart, rank_diagram
from tagrank.reports.pages import problems_section, write_page

_LATEX = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "▼": r"$\downarrow$",
    "=": "$=$",
}


def write_markdown(path: str | os.PathLike, found: Comparison) -> None:
    """Write a Markdown file, whole or not at all; missing folders are made."""
    _write(path, _markdown(found))


def write_latex(path: str | os.PathLike, found: Comparison) -> None:
    """Write a LaTeX file of tables, to be included where booktabs is loaded; whole or not at all."""
    _write(path, _latex(found))


def _write(path: str | os.PathLike, text: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as file:
        file.write(text.encode("utf-8", errors="replace"))


def _header(found: Comparison) -> list[str]:
    criterion, *others = shown_metrics(found)
    return ["method", criterion, "95 %", *others, "seconds"]


def _rows(found: Comparison, one: DataResult, cell_text: Callable[[MarkedValue], str]) -> list[list[str]]:
    return [
        [
            line.method,
            cell_text(cells[0]),
            f"{cells[0].low}–{cells[0].high}",
            *map(cell_text, cells[1:]),
            f"{line.total_seconds:.1f}",
        ]
        for line, cells in table_lines(found, one)
    ]


def _chosen(one: DataResult) -> list[list[str]]:
    return [[line.method, chosen_words(line)] for line in one.lines if line.is_done]


def _markdown(found: Comparison) -> str:
    def bold(cell: MarkedValue) -> str:
        return f"{cell.marks}{f'**{cell.text}**' if cell.is_best else cell.text}"

    parts = []
    for one in found.data:
        parts += [
            f"## {_plain(one.name)}",
            f"{one.sizes}.",
            _markdown_table(_header(found), _rows(found, one, bold)),
            legend(found),
            "\n".join(f"- {_plain(words)}: {', '.join(who)}" for words, who in said(one).items()),
            _markdown_table(["method", "chosen parameters"], _chosen(one)),
        ]
    if found.ranks is not None:
        ranked = zip(found.ranks.names, found.ranks.ranks, strict=True)
        rows = [[name, f"{rank:.2f}"] for name, rank in ranked]
        parts += ["## Average ranks", rank_words(found), _markdown_table(["method", "rank"], rows)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)


def _plain(text: str) -> str:
    """In one line, so that a name makes no heading of its own."""
    return " ".join(text.split())


def _latex(found: Comparison) -> str:
    def bold(cell: MarkedValue) -> str:
        text = f"\\textbf{{{_escaped(cell.text)}}}" if cell.is_best else _escaped(cell.text)
        return _escaped(cell.marks) + text

    parts = []
    for one in found.data:
        caption = f"{_plain(one.name)}: {one.sizes}. {legend(found)}"
        rows = [
            [_escaped(method), value, _escaped(interval), *others, seconds]
            for method, value, interval, *others, seconds in _rows(found, one, bold)
        ]
        parts.append(_latex_table(_header(found), rows, caption))
    if found.ranks is not None:
        ranked = zip(found.ranks.names, found.ranks.ranks, strict=True)
        rows = [[_escaped(name), f"{rank:.2f}"] for name, rank in ranked]
        parts.append(_latex_table(["method", "rank"], rows, rank_words(found)))
    return "\n".join(parts)


def _latex_table(header: Sequence[str], rows: Sequence[Sequence[str]], caption: str) -> str:
    """Rows are LaTeX already."""
    lines = [
        r"\begin{table}",
        rf"\caption{{{_escaped(caption)}}}",
        rf"\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}",
        r"\toprule",
        " & ".join(map(_escaped, header)) + r" \\",
        r"\midrule",
        *(" & ".join(row) + r" \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in text)


HEADINGS = {
    "compared": "Comparison",
    "ranks": "Average ranks",
    "chosen": "Chosen parameters",
    "problems": "Files that could not be read",
}


def write_comparison_page(path: str | os.PathLike, found: Comparison) -> None:
    """Write a page that needs nothing else: no scripts, no network; whole or not at all."""
    names = ", ".join(one.name for one in found.data)
    write_page(
        path,
        title=f"Comparison of methods on {names}",
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
        return f"No method finished on {one.name}."
    n_like = sum(line.is_like_best for line in done) - 1
    return f"{done[0].method} is best on {one.name}{_others(n_like)}."


def _best_rank(found: Comparison) -> str:
    if found.ranks is None:
        return "No two methods finished on all data sets."
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
    return f"; {words} not significantly worse"


def _origin(found: Comparison) -> str:
    where = "" if len(found.data) > 1 else f", on {found.data[0].sizes}"
    return (
        f"By {found.criterion}{where}. Parameters were tuned by cross-validation on the training part only."
    )


def _facts(found: Comparison) -> dict[str, str]:
    facts = {
        "methods": f"{len(found.data[0].lines):,}",
        "failed": f"{sum(not line.is_done for one in found.data for line in one.lines):,}",
        "seconds in total": f"{_seconds(found):,.0f}",
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


WRITERS = {"report": write_comparison_page, "markdown": write_markdown, "latex": write_latex}
