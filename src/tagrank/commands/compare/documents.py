"""A comparison as Markdown and as LaTeX."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from tagrank.commands.compare.cells import (
    Cell,
    chosen_words,
    legend,
    rank_words,
    said,
    shown_metrics,
    table_lines,
)
from tagrank.commands.compare.result import Comparison, DataResult
from tagrank.files import atomic_write

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


def _rows(found: Comparison, one: DataResult, cell_text: Callable[[Cell], str]) -> list[list[str]]:
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
    def bold(cell: Cell) -> str:
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
    def bold(cell: Cell) -> str:
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
