"""The page docs/reproduction.md: every table of every paper, from entries and kept figures."""

from collections import Counter

from tagrank_papers.catalogue import OURS, PAPERS, STATES, TABLES
from tagrank_papers.reproduce import Reproduction, reproduce
from tagrank_papers.text import fill, markdown_table

INTRO = """# The tables of the papers

Written by `make docs` from `papers/src/tagrank_papers`; do not edit it by hand.

`tagrank reproduce` lists what stands here, `tagrank reproduce NAME` measures a table again, if the data is at
hand, and sets our figures beside the published ones; `--kept` shows the kept ones without measuring. In
Python: `tagrank.reproduce(name)`. In a checkout `pip install ./papers` installs them. Every table of the five
papers has a line, and every figure whose question can be asked in numbers; figures that show pictures or
diagrams are left out. [What of the papers holds](papers.md) is one page on top of this one.

{states}

"""
SECTION = """## {title}

{authors}.

{table}

"""


def render_page() -> str:
    """The whole page."""
    counts = Counter(table.state for table in TABLES)
    states = [[f"**{state}**", meaning, str(counts[state])] for state, meaning in STATES.items()]
    parts = [INTRO.format(states=markdown_table(["state", "what it means", "tables"], states))]
    for key, paper in PAPERS.items():
        some = [reproduce(table.name, kept=True) for table in TABLES if table.paper == key]
        listed = markdown_table(
            ["name", "number", "what", "state", "more"], [_row(reproduction) for reproduction in some]
        )
        parts.append(SECTION.format(title=paper.title, authors=paper.authors, table=listed))
        parts += [_details(reproduction) for reproduction in some if _has_section(reproduction)]
    return fill("".join(parts))


def _has_section(reproduction: Reproduction) -> bool:
    """Our own questions have pages of their own."""
    return reproduction.table.state != OURS and bool(reproduction.tables())


def _row(reproduction: Reproduction) -> list[str]:
    """Its line in the list; where figures follow, the line leads to them, otherwise it says why none do."""
    table, experiment = reproduction.table, reproduction.experiment
    more = f"[{experiment.page}]({experiment.page})" if experiment and experiment.page else ""
    if not _has_section(reproduction):
        more = f"{table.why} {more}".strip()
    name = (
        f"[`{table.name}`](#{table.name.lower().replace('.', '')})"
        if _has_section(reproduction)
        else f"`{table.name}`"
    )
    return [name, table.number, table.about, table.state, more]


def _details(reproduction: Reproduction) -> str:
    """A section of a table: figures, what they say, and how ours were measured."""
    table, experiment = reproduction.table, reproduction.experiment
    lines = [f"### {table.name}\n\n{table.about} **{table.state.capitalize()}.**\n\n"]
    for title, figures in reproduction.tables():
        lines.append(f"{title}:\n\n{figures.to_markdown()}\n\n")
    lines.append(" ".join(reproduction.sentences()) + "\n\n")
    if experiment is not None:
        measured = reproduction.origin[0] if reproduction.origin else ""
        data = f"{', '.join(experiment.data)}. " if experiment.data else ""
        lines.append(f"Ours: {data}{experiment.protocol} {measured}".strip() + "\n\n")
    return "".join(lines)
