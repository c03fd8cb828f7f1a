"""Figures as a table prints them: read from lines, set side by side, and compared."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from tagrank_papers.text import markdown_table


@dataclass(frozen=True)
class Figures:
    """A table as it is printed.

    Attributes
    ----------
    columns : their headings, but for that of the first column
    rows : heading of each row to its cells; a cell that is empty was not measured
    """

    columns: tuple[str, ...]
    rows: Mapping[str, tuple[str, ...]]

    @classmethod
    def read(cls, text: str) -> "Figures":
        """A table of lines, whose cells are parted by ``|``; the first line has the headings."""
        lines = [[cell.strip() for cell in line.split("|")] for line in text.strip().splitlines()]
        wrong = [line[0] for line in lines if len(line) != len(lines[0])]
        if wrong:
            raise ValueError(f"every row must have {len(lines[0])} cells, which {', '.join(wrong)} has not")
        (_, *columns), *rows = lines
        return cls(tuple(columns), {name: tuple(cells) for name, *cells in rows})

    @classmethod
    def fill(cls, rows: Iterable[str], columns: Iterable[str], cell: Callable[[str, str], str]) -> "Figures":
        """A table whose cells are made from the headings of their row and column."""
        headings = tuple(columns)
        return cls(headings, {row: tuple(cell(row, column) for column in headings) for row in rows})

    def numbers(self) -> Iterator[tuple[str, str, float]]:
        """Row, column and number of every cell that begins with one."""
        for row, cells in self.rows.items():
            for column, cell in zip(self.columns, cells, strict=True):
                if number := re.match(r"-?\d+(?:\.\d+)?(?![:\d])", cell.replace(",", "")):
                    yield row, column, float(number[0])

    def to_markdown(self) -> str:
        """A table, all columns but the first aligned to the right."""
        rows = [[name, *cells] for name, cells in self.rows.items()]
        return markdown_table(["", *self.columns], rows, numbers=True)


class Answer(NamedTuple):
    """Our figures for a table, and what they say, in a sentence."""

    figures: Figures
    verdict: str = ""


def join(published: Figures, ours: Figures) -> Figures | None:
    """One table, in which our columns follow those of the same heading; None where no cell is in common."""
    if not (set(published.columns) & set(ours.columns) and set(published.rows) & set(ours.rows)):
        return None
    headings = dict.fromkeys((*published.columns, *ours.columns))
    columns = [
        (figures, name) for name in headings for figures in (published, ours) if name in figures.columns
    ]
    return Figures(
        tuple(f"{name}, ours" if figures is ours else name for figures, name in columns),
        {
            row: tuple(_cell(figures, row, name) for figures, name in columns)
            for row in dict.fromkeys((*published.rows, *ours.rows))
        },
    )


def _cell(figures: Figures, row: str, column: str) -> str:
    return figures.rows[row][figures.columns.index(column)] if row in figures.rows else ""


def differences(published: Figures, ours: Figures) -> str:
    """How far ours are from the published figures, column by column; empty where no cell is in common."""
    printed = {(row, column): value for row, column, value in published.numbers()}
    words = []
    for column in ours.columns:
        gaps = {
            row: value - printed[row, name]
            for row, name, value in ours.numbers()
            if name == column and (row, name) in printed
        }
        if gaps:
            words.append(f"{column} {_range(gaps)}")
    return f"Ours less published: {'; '.join(words)}." if words else ""


def _range(gaps: dict[str, float]) -> str:
    low, high = min(gaps, key=gaps.__getitem__), max(gaps, key=gaps.__getitem__)
    if gaps[low] == gaps[high]:
        return _signed(gaps[low]) if gaps[low] else "the same"
    return f"{_signed(gaps[low])} ({low}) to {_signed(gaps[high])} ({high})"


def _signed(gap: float) -> str:
    return f"{gap:+,.0f}" if abs(gap) >= 100 else f"{gap:+.3g}"
