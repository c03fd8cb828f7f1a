"""Published figures and ours, side by side: as Markdown, and what the difference is."""

from tagrank.reproduction.declarations import Answer, Figures, Table
from tagrank.reproduction.text import markdown_table


def figures_table(figures: Figures) -> str:
    """As Markdown."""
    rows = [[name, *cells] for name, cells in figures.rows.items()]
    return markdown_table(["", *figures.columns], rows, numbers=True)


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


def tables(table: Table, answer: Answer | None) -> list[tuple[str, Figures]]:
    """What to show, with a heading each: both in one table where they have cells in common."""
    published, ours = table.published, answer.figures if answer else None
    if published and ours and (both := join(published, ours)):
        return [("Published, and ours", both)]
    found = [("Published", published), ("Ours", ours)]
    return [(title, figures) for title, figures in found if figures is not None]


def differences(table: Table, answer: Answer | None) -> str:
    """How far ours are from the published figures, column by column; empty where no cell is in common."""
    if table.published is None or answer is None:
        return ""
    published = {(row, column): value for row, column, value in table.published.numbers()}
    words = []
    for column in answer.figures.columns:
        gaps = {
            row: value - published[row, name]
            for row, name, value in answer.figures.numbers()
            if name == column and (row, name) in published
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
