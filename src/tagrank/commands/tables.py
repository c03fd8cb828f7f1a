"""What commands show on a terminal, and the tables that several of them share.

The library for tables is loaded by whoever shows one: a call from Python needs none.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tagrank.visible_text import printable

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

    from tagrank.annotation import RankedTags
    from tagrank.data.writers.sidecar_tags import SidecarChange
    from tagrank.files import Problem
    from tagrank.metrics import MetricTable
    from tagrank.reports.quality import QualityNote

BEST, FOUND, WRONG, QUIET = "bold green", "green", "yellow", "dim"
MAIN_METRICS = "Image-AUC", "Image-MAP", "P@1"  # by the first two models are chosen
LINES_SHOWN = 40
_SIDECAR_ACTIONS = {"create": "new", "change": "changed", "delete": "deleted", "keep": "unchanged"}


@dataclass(frozen=True)
class Screen:
    """What a command shows of its result.

    Parameters
    ----------
    tables : tables and text for people, unless JSON is asked for
    sentences : what is said beside them
    problems : files with which something went wrong, by what became of them
    text : what is printed as it is, such as lines of CSV
    document : what JSON shows; default: the result as a dict
    has_failed : whether the command ends with an error
    """

    tables: "Sequence[RenderableType]" = ()
    sentences: Sequence[str] = ()
    problems: "Mapping[str, Sequence[Problem]]" = field(default_factory=dict)
    text: str = ""
    document: Any = None
    has_failed: bool = False


def counted(number: int, thing: str) -> str:
    """The number with its noun: '1 picture', '2,000 pictures'."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def text_of(words: str, style: str = "") -> "Text":
    """Words without characters that cannot be seen."""
    from rich.text import Text

    return Text(printable(words), style=style)


def table_of(first: str, *others: str, numbers: bool = False, rows: Iterable[Sequence[str]] = ()) -> "Table":
    """A table with these columns, all but the first of which may be `numbers`, and with these rows."""
    from rich.table import Table

    table = Table(first, box=None, pad_edge=False, header_style="bold")
    for name in others:
        table.add_column(text_of(name), justify="right" if numbers else "left")
    for row in rows:
        table.add_row(*map(text_of, row))
    return table


def facts_table(lines: Mapping[str, str]) -> "Table":
    """Names and values, a line each."""
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    for name, value in lines.items():
        table.add_row(name, text_of(value))
    return table


def quality_lines(quality: "QualityNote | None") -> "list[RenderableType]":
    """What the predicted tags are worth, and how that was measured; nothing where it is not known."""
    if quality is None:
        return []
    return [text_of(quality.sentence, "bold"), text_of(quality.origin, QUIET), ""]


def metric_lines(tables: "Mapping[str, MetricTable]", *, every: bool = False) -> "list[RenderableType]":
    """The metrics that matter most, or all, and what they take for right."""
    n_left_out = 0 if every else len(next(iter(tables.values()))) - len(MAIN_METRICS)
    note = "the metrics treat listed tags as right and all other tags as wrong"
    if n_left_out > 0:
        note += f"; --all-metrics shows {n_left_out} more"
    return [_metric_table(tables, None if every else MAIN_METRICS), text_of(note, QUIET)]


def _metric_table(tables: "Mapping[str, MetricTable]", names: Sequence[str] | None) -> "Table":
    """Metrics down, methods across; the best value of a line stands out. Each has a line of explanation."""
    from rich.text import Text

    table = table_of("metric", *tables, numbers=True)
    table.add_column(style=QUIET)
    for column in table.columns[:-1]:
        column.no_wrap = True
    first = next(iter(tables.values()))
    for row in first:
        if names is not None and row.name not in names:
            continue
        values = [other[row.name] if row.name in other.names() else math.nan for other in tables.values()]
        defined = [value for value in values if not math.isnan(value)]
        if not defined:
            continue
        best = (max if row.higher_is_better else min)(defined)
        cells = [
            Text(_number(value), style=BEST if value == best and len(values) > 1 else "") for value in values
        ]
        table.add_row(
            f"{row.name} {'↑' if row.higher_is_better else '↓'}",
            *cells,
            Text(row.about, no_wrap=True, overflow="ellipsis"),
        )
    return table


def _number(value: float) -> str:
    if math.isnan(value):
        return "–"
    return f"{value:.0f}" if value.is_integer() and value > 1 else f"{value:.3f}"


def ranked_table(
    ranked: "Sequence[RankedTags]", true_tags: Sequence[Sequence[str]] = (), *, kind: str = "picture"
) -> "Table":
    """A line a picture: its tags, best first, those that the model would write down with a star.

    Where the true tags are known, predicted ones are marked as right or wrong instead.
    """
    table = table_of(kind, "ranked tags")
    for i, row in enumerate(ranked):
        line = text_of("")
        for tag, score, probability, predicted in row:
            style, mark = ("", "*") if predicted else (QUIET, "")
            if true_tags and predicted:
                style, mark = (FOUND, " ✓") if tag in true_tags[i] else (WRONG, " ✗")
            strength = f"{score:.2f}" if probability is None else f"{probability:.0%}"
            line.append(f"{printable(tag)} {strength}{mark}", style=style).append("   ")
        table.add_row(text_of(row.name), line)
    return table


def sidecar_table(changes: "Sequence[SidecarChange]", verb: str) -> "Table":
    """A line a picture: what is done to its sidecar."""
    has_present = any(change.present for change in changes)
    rows = (
        [
            change.picture,
            _SIDECAR_ACTIONS[change.action],
            ", ".join(change.tags),
            *([", ".join(change.present)] if has_present else []),
        ]
        for change in changes
    )
    return table_of("picture", "sidecar", verb, *(["there already"] if has_present else []), rows=rows)
