"""The page docs/papers.md: what of the papers holds, in sentences whose figures come from kept results."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

from tagrank_papers.catalogue import NO_FIGURES, OURS, STATES, TABLES
from tagrank_papers.figures import Figures
from tagrank_papers.measuring import read_record
from tagrank_papers.reproduce import reproduce
from tagrank_papers.text import fill

TEMPLATE = Path(__file__).parent / "overview.md"
NOT_YET = "Not measured yet."


def render_overview() -> str:
    """The whole page."""
    asked = [table for table in TABLES if table.state not in (OURS, NO_FIGURES)]
    counts = Counter(table.state for table in asked)
    found = {table.name: reproduce(table.name, kept=True) for table in asked}
    answers = {name: one.answer for name, one in found.items()}
    text = TEMPLATE.read_text(encoding="utf-8").format(
        tables=len(asked),
        states=", ".join(f"{counts[state]} *{state}*" for state in STATES if counts[state]),
        published={table.name: _cells(table.published) for table in asked if table.published},
        ours={name: _cells(answer.figures) for name, answer in answers.items() if answer},
        said={name: first_sentence(answer.verdict if answer else "") for name, answer in answers.items()},
        state={table.name: f"{table.number}: {table.state}" for table in asked},
        strong=_strong_ties("corel5k_images_260"),
    )
    return fill(text)


def first_sentence(verdict: str) -> str:
    """The first sentence of a verdict that has a figure in it."""
    sentences = re.split(r"(?<=[\w)%])\. (?=[A-Z])", verdict)
    chosen = next((sentence for sentence in sentences if re.search(r"\d", sentence)), "")
    return f"{chosen.rstrip('.')}." if chosen else NOT_YET


def _cells(figures: Figures) -> dict[str, dict[str, str]]:
    return {row: dict(zip(figures.columns, cells, strict=True)) for row, cells in figures.rows.items()}


def _strong_ties(name: str) -> dict[str, str]:
    """Shares of strongly correlated pairs of labels, in percent, by part of a data set."""
    lines: list[dict[str, Any]] = (read_record("set_sizes") or {})["results"]
    (found,) = (line["correlations"] for line in lines if line["data"] == name)
    return {part: f"{100 * shares['strong']:.2f}" for part, shares in found.items()}
