"""Pages that need nothing else: no scripts, no network, pictures inside."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tagrank._version import __version__
from tagrank.files import Problem, atomic_write
from tagrank.visible_text import shown

MOST_PROBLEMS = 200


def write_page(
    path: str | os.PathLike,
    *,
    title: str,
    summary: str,
    facts: Mapping[str, str],
    headings: Mapping[str, str],
    content: Mapping[str, Any],
    methods: Sequence[str] = (),
    quality: tuple[str, str] | None = None,
) -> None:
    """Write an HTML page, whole or not at all; missing folders are made.

    `headings` are those of the sections, in the order of the page, and `content` is what the template of a
    section's name draws; an empty section is left out. `methods` are the names of those that are compared.
    `quality` is a sentence for the top of the page, and how it was measured.
    """
    environment = Environment(
        loader=PackageLoader("tagrank.reports", "templates"),
        autoescape=True,
        finalize=_visible,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = environment.get_template("report.html.j2").render(
        version=__version__,
        title=title,
        summary=summary,
        quality=quality,
        facts=facts,
        methods=methods,
        sections={name: heading for name, heading in headings.items() if content[name]},
        **content,
    )
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as file:
        # names of files may hold bytes that are no text: in drawings they become question marks
        file.write(page.encode("utf-8", errors="replace"))


def _visible(value: Any) -> Any:
    """Tags and names of files come from elsewhere; drawings and the like do not."""
    return shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def problems_section(problems: Sequence[Problem]) -> dict[str, Any] | None:
    """The first problems, and how many there are."""
    if not problems:
        return None
    shown = [(problem.path, problem.reason) for problem in problems[:MOST_PROBLEMS]]
    return {"shown": shown, "n_all": len(problems)}
