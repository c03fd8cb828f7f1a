"""`tagrank annotate`"""

from pathlib import Path
from typing import Annotated, Any

import typer

from tagrank.app.cli.checks import dataset_names
from tagrank.app.cli.console import DATA_ERROR, count, report_problems, say, show, show_json
from tagrank.app.cli.options import ROWS, Config, Debug, Json, Model, option, reading, takes
from tagrank.app.cli.progress import WorkProgress


@takes(reading, after="part")
def annotate(
    model: Model,
    data: Annotated[
        list[str],
        typer.Argument(
            help="Pictures and folders of pictures; or one file of rows or one name of data.",
            autocompletion=dataset_names,
        ),
    ],
    top: Annotated[
        int, option(None, "Best tags of each picture; predicted ones are always among them.", min=1)
    ] = 5,
    output: Annotated[
        Path | None, option(None, "Write .csv (a line a tag) or .jsonl (a line a picture).", "--output", "-o")
    ] = None,
    sidecars: Annotated[
        bool,
        option(
            None,
            "Add the predicted tags to an XMP file beside each picture; the picture stays as it is.",
            "--sidecars",
        ),
    ] = False,
    why: Annotated[
        bool, option(None, "Tell which training pictures and features the tags come from.", "--why")
    ] = False,
    part: Annotated[str | None, option(ROWS, "Part to annotate.", usual="all")] = None,
    config: Config = None,
    json: Json = False,
    debug: Debug = False,
    **shared: Any,
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
            progress=progress.count,
            **reading(**shared),
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
