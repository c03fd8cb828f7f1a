"""`tagrank export` and `tagrank import`"""

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tagrank.app.cli.arguments.options import Debug, FollowLinks, Json, Style, option
from tagrank.app.cli.terminal.console import (
    DATA_ERROR,
    count,
    printable,
    report_problems,
    say,
    show,
    show_json,
)
from tagrank.app.cli.terminal.progress import WorkProgress

if TYPE_CHECKING:
    from rich.table import Table

    from tagrank.archive.copies import Merge
    from tagrank.archive.exports import SidecarExport
    from tagrank.archive.imports import Import
    from tagrank.data.writers.tag_list import TagListExport

LINES_SHOWN = 40
Photos = Annotated[Path, typer.Argument(help="A folder of pictures.")]
DecisionFile = Annotated[
    Path | None,
    option(None, "File with the decisions.", metavar="FILE.sqlite", usual="PHOTOS/.tagrank/desk.sqlite"),
]


def export(
    photos: Photos,
    output: Annotated[
        Path | None,
        option(None, "Write .csv or .jsonl, a line a decision.", "--output", "-o", usual="CSV on stdout"),
    ] = None,
    tags: Annotated[
        Path | None,
        option(
            None,
            "Write every picture with all its tags, as a list from which a folder is read; the folder's own "
            "tags.csv may be named.",
            metavar="FILE.csv",
        ),
    ] = None,
    sidecars: Annotated[
        bool,
        option(
            None,
            "Bring all tags of pictures with accepted ones into XMP files beside them, and take out what an "
            "earlier export wrote and was taken back or rejected since.",
            "--sidecars",
        ),
    ] = False,
    style: Style = "full",
    dry_run: Annotated[
        bool,
        option(None, "With --sidecars or --tags, show what would change, and write nothing.", "--dry-run"),
    ] = False,
    decisions: DecisionFile = None,
    follow_links: FollowLinks = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Take decisions of the desk elsewhere, or all tags: as a list, or as sidecars that photo programs read.

    What other programs wrote into sidecars stays. The pictures are never touched.

    [bold]Examples[/bold]

    \b
    tagrank export photos/ -o decisions.csv
    tagrank export photos/ --tags photos/tags.csv --dry-run
    tagrank export photos/ --sidecars --dry-run
    tagrank export photos/ --sidecars
    tagrank export /mnt/archive --decisions ~/archive.sqlite -o decisions.jsonl
    """
    import tagrank

    with WorkProgress() as progress:
        done = tagrank.export_decisions(
            photos,
            output,
            tags=tags,
            sidecars=sidecars,
            style=style,
            dry_run=dry_run,
            decisions=decisions,
            follow_links=follow_links,
            progress=progress.count,
        )
    if json:
        show_json(done.to_dict())
    elif output is None and done.sidecars is None and done.tags is None:
        from tagrank.archive.exports import list_lines

        typer.echo("".join(list_lines(done.rows, "csv")), nl=False)
    if output is not None:
        say(f"{count(len(done.rows), 'decision')} written to {output}")
    if done.tags is not None:
        _report_tags(done.tags, json)
    if done.sidecars is not None:
        _report_sidecars(done.sidecars, json)


def _report_tags(done: "TagListExport", json: bool) -> None:
    from tagrank.app.cli.terminal.tables import difference_table

    if done.changes and not json:
        rows = [(change.name, change.added, change.removed) for change in done.changes[:LINES_SHOWN]]
        show(difference_table("picture", rows))
    if len(done.changes) > LINES_SHOWN:
        say(f"{len(done.changes) - LINES_SHOWN:,} more pictures; --json lists all")
    line = (
        f"{printable(done.path)}: {count(done.n_added, 'tag')} added, {count(done.n_removed, 'tag')} removed"
    )
    line += f"; {count(done.n_pictures, 'picture')} with tags"
    say(f"dry run, nothing was written: {line}" if done.dry_run else line)
    if done.kept:
        command = shlex.join(["cp", done.kept, done.path])
        say(f"the list as it was is kept; to get it back: {command}")


def _report_sidecars(done: "SidecarExport", json: bool) -> None:
    from tagrank.app.cli.terminal.tables import difference_table

    if done.changes and not json:
        rows = [
            (os.path.basename(change.sidecar), change.tags, change.removed)
            for change in done.changes[:LINES_SHOWN]
        ]
        show(difference_table("sidecar", rows))
    if len(done.changes) > LINES_SHOWN:
        say(f"{len(done.changes) - LINES_SHOWN:,} more sidecars; --json lists all")
    line = f"{count(done.n_added, 'tag')} added to {count(len(done.changes), 'sidecar')}"
    if done.n_removed:
        line = f"{count(done.n_added, 'tag')} added, {count(done.n_removed, 'tag')} removed"
        line += f" in {count(len(done.changes), 'sidecar')}"
    line += f"; {count(done.n_pictures, 'picture')} with accepted tags"
    say(f"dry run, nothing was written: {line}" if done.dry_run else line)
    report_problems(done.problems, "sidecar not changed")
    if done.problems:
        raise typer.Exit(DATA_ERROR)


def import_(
    photos: Photos,
    file: Annotated[
        Path,
        typer.Argument(
            help="A list: .csv or .jsonl, of 'tagrank export' or as tags.csv; or another's .sqlite file."
        ),
    ],
    dry_run: Annotated[bool, option(None, "Show the differences, and record nothing.", "--dry-run")] = False,
    who: Annotated[
        str | None, option(None, "Whose answers these are.", metavar="NAME", usual="as the list says")
    ] = None,
    decisions: DecisionFile = None,
    follow_links: FollowLinks = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Take over decisions from a list: yes, no and skip as 'tagrank export' writes them, or tags of pictures.

    Pictures are found by content, else by name. Each person's answers are one step that the desk can undo.

    [bold]Examples[/bold]

    \b
    tagrank import photos/ decisions.csv --dry-run
    tagrank import photos/ decisions.csv
    tagrank import photos/ tags.csv --who anna
    tagrank import photos/ bens-copy.sqlite
    """
    import tagrank
    from tagrank.archive.copies import Merge

    with WorkProgress() as progress:
        done = tagrank.import_decisions(
            photos,
            file,
            who=who,
            dry_run=dry_run,
            decisions=decisions,
            follow_links=follow_links,
            progress=progress.count,
        )
    if json:
        show_json(done.to_dict())
    if isinstance(done, Merge):
        return _report_merge(done)
    if not json and done.changes:
        show(_change_table(done))
        if len(done.changes) > LINES_SHOWN:
            say(f"{len(done.changes) - LINES_SHOWN:,} more; --json lists all")
    line = f"{count(len(done.changes), 'decision')} recorded of {count(done.n_read, 'answer')}"
    say(f"dry run, nothing was recorded: {line}" if dry_run else line)
    report_problems(done.problems, "not used")
    if done.problems:
        raise typer.Exit(DATA_ERROR)


def _report_merge(done: "Merge") -> None:
    parts = [
        f"{count(done.n_answers, 'answer')} and {count(done.n_tag_changes, 'change')} of tags in "
        f"{count(done.n_steps, 'step')} taken over"
    ]
    parts += [f"by {', '.join(map(printable, done.people))}"] if done.people else []
    parts += [f"{count(done.n_undone, 'step')} undone"] if done.n_undone else []
    parts += [f"{count(done.n_unknown, 'picture')} not here yet"] if done.n_unknown else []
    line = "; ".join(parts)
    say(f"dry run, nothing was recorded: {line}" if done.dry_run else line)
    report_problems(done.problems, "not used")
    if done.problems:
        raise typer.Exit(DATA_ERROR)


def backup(
    photos: Photos,
    output: Annotated[
        Path | None,
        option(
            None, "Where the copy goes.", "--output", "-o", metavar="FILE.sqlite", usual="by name and day"
        ),
    ] = None,
    decisions: DecisionFile = None,
    debug: Debug = False,
) -> None:
    """Copy all that was decided into one file, also while a desk is open.

    [bold]Examples[/bold]

    \b
    tagrank backup photos/
    tagrank backup photos/ -o /mnt/safe/photos.sqlite
    """
    import tagrank

    path, n_decisions = tagrank.backup_decisions(photos, output, decisions=decisions)
    say(f"{count(n_decisions, 'decision')} copied to {path}; 'tagrank restore' puts them back")


def restore(
    photos: Photos,
    file: Annotated[Path, typer.Argument(help="A copy that 'tagrank backup' wrote.")],
    decisions: DecisionFile = None,
    debug: Debug = False,
) -> None:
    """Put a copy in the place of all that was decided; what was there is kept beside it.

    [bold]Examples[/bold]

    \b
    tagrank restore photos/ photos-decisions-2026-05-01.sqlite
    tagrank restore /mnt/archive copy.sqlite --decisions ~/archive.sqlite
    """
    import tagrank

    n_decisions, kept = tagrank.restore_decisions(photos, file, decisions=decisions)
    say(f"{count(n_decisions, 'decision')} restored" + (f"; what was there is now {kept}" if kept else ""))


def _change_table(done: "Import") -> "Table":
    from rich.text import Text

    from tagrank.app.cli.terminal.tables import table_of

    table = table_of("picture", "tag", "before", "after", "by")
    for change in done.changes[:LINES_SHOWN]:
        words = (change.name, change.tag, change.before, change.after, change.who)
        table.add_row(*(Text(printable(word)) for word in words))
    return table
