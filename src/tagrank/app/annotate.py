"""`tagrank annotate`"""

from pathlib import Path
from typing import Annotated

import typer

from tagrank.app.console import say, show, show_json
from tagrank.app.options import Config, Data, Debug, Json, Model


def annotate(
    model: Model,
    data: Data,
    top: Annotated[int, typer.Option(help="Tags to show for each picture.", min=1)] = 5,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write .csv (a line a tag) or .jsonl (a line a picture)."),
    ] = None,
    part: Annotated[str | None, typer.Option(help="Part to annotate.", show_default="all")] = None,
    config: Config = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Rank the tags of every picture or row.

    [bold]Examples[/bold]

    \b
    tagrank annotate model photo.jpg
    tagrank annotate model drawn-pictures --part test --top 3
    tagrank annotate model photos.csv --top 10 --output tags.jsonl
    """
    from tagrank import study
    from tagrank.app.tables import ranked_table

    ranked = study.annotate(model, data, output, part=part, top=top)
    if json:
        show_json([row.to_dict() for row in ranked])
    elif output is None:
        show(ranked_table(ranked))
    if output is not None:
        say(f"ranked tags of {len(ranked):,} pictures written to {output}")
