"""`tagrank evaluate`"""

from pathlib import Path
from typing import Annotated

import typer

from tagrank.app.cli.console import report_problems, say, show, show_json
from tagrank.app.cli.options import (
    PICTURES,
    CacheFolder,
    Config,
    Data,
    Debug,
    Json,
    Model,
    NoCache,
    PictureJobs,
    Strict,
    cache_place,
    part_option,
)
from tagrank.app.cli.progress import WorkProgress


def evaluate(
    model: Model,
    data: Data,
    part: Annotated[str | None, part_option("Part to measure on, or 'all'.", "test if there is one")] = None,
    n_tags: Annotated[int, typer.Option(help="Tags for each picture in Annotation-P, -R, -F1.", min=1)] = 5,
    report: Annotated[Path | None, typer.Option(help="Write an HTML page, too.")] = None,
    pictures: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Where --report finds training pictures that are elsewhere now.",
            rich_help_panel=PICTURES,
        ),
    ] = None,
    strict: Strict = False,
    cache: CacheFolder = None,
    no_cache: NoCache = False,
    n_jobs: PictureJobs = None,
    config: Config = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Measure a model on data whose tags are known.

    [bold]Examples[/bold]

    \b
    tagrank evaluate model drawn-pictures
    tagrank evaluate model photos/ --part all --report report.html
    tagrank evaluate model scene --json
    """
    import tagrank
    from tagrank.app.cli.tables import metric_table

    with WorkProgress() as progress:
        evaluation = tagrank.evaluate(
            model,
            data,
            part=part,
            n_tags=n_tags,
            report=report,
            pictures=pictures,
            cache=cache_place(cache, no_cache),
            n_jobs=n_jobs,
            strict=strict,
            progress=progress.count,
        )
    if json:
        show_json(evaluation.to_dict())
    else:
        show(metric_table({evaluation.name or "value": evaluation.table}))
    if report is not None:
        say(f"report written to {report}")
    report_problems(evaluation.problems)
