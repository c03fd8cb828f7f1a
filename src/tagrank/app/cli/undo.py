"""`tagrank undo` and `tagrank accept`"""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tagrank.app.cli.arguments.options import Debug, FollowLinks, Json, Strict, option
from tagrank.app.cli.terminal.console import DATA_ERROR, count, report_problems, say, show, show_json

if TYPE_CHECKING:
    from tagrank.commands.undo import Settlement

Pictures = Annotated[list[str], typer.Argument(help="Pictures and folders of pictures.")]
Run = Annotated[
    str | None, option(None, "The run, by its date as shown; or 'all'.", usual="the latest of these pictures")
]
DryRun = Annotated[bool, option(None, "Show what would be done, and write nothing.", "--dry-run")]


def undo(
    data: Pictures,
    run: Run = None,
    dry_run: DryRun = False,
    strict: Strict = False,
    follow_links: FollowLinks = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Take the tags that 'annotate --sidecars' wrote out of the sidecars again.

    A sidecar that nobody changed since is again what it was, byte for byte. Of others only tags go that are
    still marked as machine-made; a sidecar that was made for them is deleted.

    [bold]Examples[/bold]

    \b
    tagrank undo holiday/ --dry-run
    tagrank undo holiday/
    tagrank undo holiday/beach.jpg --run all
    """
    import tagrank

    asked: dict[str, Any] = {"run": run, "dry_run": dry_run, "strict": strict, "follow_links": follow_links}
    _report(tagrank.undo(data, **asked), "removed", json)


def accept(
    data: Pictures,
    run: Run = None,
    dry_run: DryRun = False,
    strict: Strict = False,
    follow_links: FollowLinks = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Take the tags that 'annotate --sidecars' wrote for the truth from now on.

    The tags stay, only their marks go; 'train', 'missing' and 'evaluate' then read them as a person's.

    [bold]Examples[/bold]

    \b
    tagrank accept holiday/beach.jpg holiday/harbour.jpg
    tagrank accept holiday/ --run all
    """
    import tagrank

    asked: dict[str, Any] = {"run": run, "dry_run": dry_run, "strict": strict, "follow_links": follow_links}
    _report(tagrank.accept(data, **asked), "accepted", json)


def _report(settled: "Settlement", verb: str, json: bool) -> None:
    from tagrank.app.cli.terminal.tables import sidecar_table

    if json:
        show_json(settled.to_dict())
    elif settled.changes:
        show(sidecar_table(settled.changes, verb))
    say(_summary(settled, verb))
    report_problems(settled.problems)
    report_problems(settled.unwritten, "sidecar not changed")
    if settled.unwritten:
        raise typer.Exit(DATA_ERROR)


def _summary(settled: "Settlement", verb: str) -> str:
    if not settled.runs:
        return "there are no machine-made tags in the sidecars of these pictures"
    n_tags = sum(len(change.tags) for change in settled.changes)
    n_deleted = sum(change.action == "delete" for change in settled.changes)
    line = f"{count(n_tags, 'tag')} of {count(len(settled.changes), 'sidecar')} {verb}"
    line += f" ({n_deleted:,} deleted)" if n_deleted else ""
    line += f", run {settled.runs[0]}" if len(settled.runs) == 1 else f", {len(settled.runs)} runs"
    if settled.others:
        others = ", ".join(f"{run} ({count(n, 'tag')})" for run, n in settled.others.items())
        line += f"; marked by other runs: {others}"
    return f"dry run, nothing was written: {line}" if settled.dry_run else line
