"""`tagrank annotate`"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tagrank.app.cli.arguments.checks import dataset_names
from tagrank.app.cli.arguments.options import (
    DECISION,
    ROWS,
    Config,
    Debug,
    Json,
    MinProbability,
    Model,
    Precision,
    Style,
    option,
    reading,
    takes,
)
from tagrank.app.cli.terminal.console import DATA_ERROR, count, report_problems, say, show, show_json
from tagrank.app.cli.terminal.progress import WorkProgress

if TYPE_CHECKING:
    from tagrank.commands.sidecars import SidecarWriting


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
            "Add the predicted tags, marked as machine-made, to an XMP file beside each picture; the picture "
            "stays as it is. Unless --min-probability or --precision is given, only tags that are more "
            "probably true than not. 'tagrank undo' takes them out again.",
            "--sidecars",
        ),
    ] = False,
    dry_run: Annotated[
        bool, option(None, "With --sidecars: show what would be added, and write no sidecar.", "--dry-run")
    ] = False,
    style: Style = "full",
    why: Annotated[
        bool, option(None, "Tell which training pictures and features the tags come from.", "--why")
    ] = False,
    min_probability: MinProbability = None,
    precision: Precision = None,
    max_tags: Annotated[
        int | None,
        option(
            DECISION,
            "Predict so many for each picture at most, the best ones.",
            usual="all; 20 with --sidecars",
            min=1,
        ),
    ] = None,
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
    tagrank annotate model holiday/ --sidecars --dry-run
    tagrank annotate model holiday/ --sidecars --max-tags 10
    tagrank annotate model holiday/ --sidecars --precision 0.8
    tagrank annotate model holiday/ --min-probability 0.3
    tagrank annotate model drawn-pictures --part test --top 3
    """
    import tagrank
    from tagrank.app.cli.terminal.tables import (
        PREDICTED_NOTE,
        quality_lines,
        ranked_table,
        sidecar_table,
        why_tables,
    )

    with WorkProgress() as progress:
        annotation = tagrank.annotate(
            model,
            data,
            output,
            part=part,
            top=top,
            why=why,
            sidecars=sidecars,
            style=style,
            dry_run=dry_run,
            min_probability=min_probability,
            precision=precision,
            max_tags=max_tags,
            progress=progress.count,
            **reading(**shared),
        )
    kind = annotation.kind
    if json:
        show_json(annotation.to_dict())
    else:
        is_ranked = why or (output is None and not dry_run)
        if is_ranked or dry_run:
            show(*quality_lines(annotation.quality))
        if is_ranked:
            show(*(why_tables(annotation, kind) if why else [ranked_table(annotation.ranked, kind=kind)]))
            say(PREDICTED_NOTE)
        if dry_run:
            show(sidecar_table(annotation.sidecars.changes, "would be added"))
    if output is not None:
        say(f"ranked tags of {count(len(annotation.ranked), kind)} written to {output}")
    if sidecars:
        say(_summary(annotation.sidecars, max_tags))
    report_problems(annotation.problems)
    report_problems(annotation.unwritten, "sidecar not written")
    if annotation.unwritten:
        raise typer.Exit(DATA_ERROR)


def _summary(written: "SidecarWriting", max_tags: int | None) -> str:
    """What was written into sidecars, or would be, in a line."""
    from tagrank.commands.sidecars import MOST_TAGS

    changed = [change for change in written.changes if change.tags]
    n_new = sum(change.action == "create" for change in changed)
    n_present = sum(len(change.present) for change in written.changes)
    verb = "would be added" if written.dry_run else "added"
    line = f"{count(written.n_added, 'tag')} {verb} to {count(len(changed), 'sidecar')} ({n_new:,} new)"
    line += f"; {n_present:,} {'is' if n_present == 1 else 'are'} there already" if n_present else ""
    if written.n_cut:
        line += f"; {count(written.n_cut, 'picture')} got only the best {max_tags or MOST_TAGS} (--max-tags)"
    if written.dry_run:
        return f"{line}; no sidecar was written"
    return f"{line}; 'tagrank undo' takes them out again" if changed else line
