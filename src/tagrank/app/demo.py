"""`tagrank demo`"""

from pathlib import Path
from typing import Annotated

import typer

from tagrank.app.console import say, show, show_json
from tagrank.app.options import Config, Debug, Jobs, Json, Seed
from tagrank.app.progress import WorkProgress


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for model and report.")] = Path(
        "tagrank-demo"
    ),
    n_pictures: Annotated[int, typer.Option(help="Pictures to draw.", min=20)] = 400,
    n_jobs: Jobs = None,
    seed: Seed = 0,
    config: Config = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Draw pictures, learn their tags, and write a report: the whole path in under a minute.

    [bold]Examples[/bold]

    \b
    tagrank demo
    tagrank demo --output tour --seed 7
    """
    from tagrank import study
    from tagrank.app.tables import metric_table, ranked_table

    with WorkProgress("learning") as progress:
        result = study.demo(
            output,
            n_pictures=n_pictures,
            seed=seed,
            n_jobs=n_jobs,
            callback=progress.gap,
            progress=progress.count,
        )
    if json:
        show_json(result.to_dict())
        return
    show(metric_table(result.tables), "", ranked_table(result.ranked, result.true_tags))
    say(f"model written to {result.model}")
    say(f"report written to {result.report}: open it in a browser")
