"""`tagrank annotate`"""

from pathlib import Path
from typing import Annotated

import typer

from tagrank.app.cli.console import DATA_ERROR, count, report_problems, say, show, show_json
from tagrank.app.cli.options import (
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
from tagrank.app.cli.progress import WorkProgress


def annotate(
    model: Model,
    data: Annotated[
        list[str],
        typer.Argument(help="Pictures and folders of pictures; or one file of rows or one name of data."),
    ],
    top: Annotated[
        int, typer.Option(help="Best tags of each picture; predicted ones are always among them.", min=1)
    ] = 5,
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
    import tagrank
    from tagrank.app.cli.tables import PREDICTED_NOTE, ranked_table, why_tables

    with WorkProgress() as progress:
        annotation = tagrank.annotate(
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
    kind = annotation.kind
    if json:
        show_json(annotation.to_dict())
    elif why:
        show(*why_tables(annotation, kind))
    elif output is None:
        show(ranked_table(annotation.ranked, kind=kind))
    if not json and (why or output is None):
        say(PREDICTED_NOTE)
    if output is not None:
        say(f"ranked tags of {count(len(annotation.ranked), kind)} written to {output}")
    if sidecars:
        say(f"predicted tags are in XMP files beside {count(annotation.n_sidecars, kind)}")
    report_problems(annotation.problems)
    report_problems(annotation.unwritten, "sidecar not written")
    if annotation.unwritten:
        raise typer.Exit(DATA_ERROR)
