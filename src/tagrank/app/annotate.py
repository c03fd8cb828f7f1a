"""`tagrank annotate`"""

from pathlib import Path
from typing import Annotated

import typer

from tagrank.app.console import count, report_problems, say, show, show_json
from tagrank.app.options import (
    CacheFolder,
    Config,
    Debug,
    Json,
    Model,
    NoCache,
    PictureJobs,
    Strict,
    cache_place,
    part_option,
)
from tagrank.app.progress import WorkProgress


def annotate(
    model: Model,
    data: Annotated[
        list[str],
        typer.Argument(help="Pictures and folders of pictures; or one file of rows or one name of data."),
    ],
    top: Annotated[int, typer.Option(help="Tags to show for each picture.", min=1)] = 5,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write .csv (a line a tag) or .jsonl (a line a picture)."),
    ] = None,
    sidecars: Annotated[
        bool,
        typer.Option(
            "--sidecars",
            help="Add the predicted tags to an XMP file beside each picture; the picture stays as it is.",
        ),
    ] = False,
    why: Annotated[
        bool,
        typer.Option("--why", help="Tell which training pictures and features spoke for the tags."),
    ] = False,
    part: Annotated[str | None, part_option("Part to annotate.", "all")] = None,
    strict: Strict = False,
    cache: CacheFolder = None,
    no_cache: NoCache = False,
    n_jobs: PictureJobs = None,
    config: Config = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Rank the tags of every picture or row.

    [bold]Examples[/bold]

    \b
    tagrank annotate model photo.jpg --why
    tagrank annotate model holiday/ scans/*.tif --output tags.jsonl
    tagrank annotate model holiday/ --sidecars
    tagrank annotate model drawn-pictures --part test --top 3
    """
    from tagrank import study
    from tagrank.app.tables import ranked_table, why_tables

    with WorkProgress() as progress:
        annotation = study.annotate(
            model,
            data,
            output,
            part=part,
            top=top,
            why=why,
            sidecars=sidecars,
            cache=cache_place(cache, no_cache),
            n_jobs=n_jobs,
            strict=strict,
            progress=progress.count,
        )
    if json:
        show_json(annotation.to_dict())
    elif why:
        show(*why_tables(annotation))
    elif output is None:
        show(ranked_table(annotation.ranked))
    if output is not None:
        say(f"ranked tags of {count(len(annotation.ranked), 'picture')} written to {output}")
    if sidecars:
        say(f"predicted tags are in XMP files beside {count(annotation.n_sidecars, 'picture')}")
    report_problems(annotation.problems)
