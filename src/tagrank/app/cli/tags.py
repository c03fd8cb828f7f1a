"""`tagrank tags`"""

import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tagrank.app.cli.arguments.options import Debug, Json, option
from tagrank.app.cli.decisions import LINES_SHOWN, DecisionFile, Photos
from tagrank.app.cli.terminal.console import count, printable, say, show, show_json

if TYPE_CHECKING:
    from rich.table import Table

    from tagrank.archive.tag_changes import ArchiveTags

CHANGES, FILES = "Changes (each may be repeated; all are one step)", "Tables"
Words = list[str] | None


def tags(
    photos: Photos,
    rename: Annotated[Words, option(CHANGES, "Call a tag otherwise.", metavar="OLD=NEW")] = None,
    merge: Annotated[Words, option(CHANGES, "Make one tag of two.", metavar="FROM=INTO")] = None,
    synonym: Annotated[Words, option(CHANGES, "Another word for a tag.", metavar="WORD=TAG")] = None,
    no_synonym: Annotated[Words, option(CHANGES, "A word that is a tag of its own.", metavar="WORD")] = None,
    parent: Annotated[Words, option(CHANGES, "A tag implies another.", metavar="TAG=PARENT")] = None,
    no_parent: Annotated[Words, option(CHANGES, "It does not.", metavar="TAG=PARENT")] = None,
    describe: Annotated[Words, option(CHANGES, "A text about a tag.", metavar="TAG=TEXT")] = None,
    delete: Annotated[Words, option(CHANGES, "Hide a tag; what was decided is kept.", metavar="TAG")] = None,
    restore: Annotated[Words, option(CHANGES, "Show a deleted tag again.", metavar="TAG")] = None,
    undo: Annotated[bool, option(CHANGES, "Take the last step back.", "--undo")] = False,
    import_: Annotated[
        Path | None,
        option(FILES, "Take over tags, parents, synonyms and descriptions.", "--import", metavar="FILE.csv"),
    ] = None,
    export: Annotated[Path | None, option(FILES, "Write the same.", metavar="FILE.csv")] = None,
    conflicts: Annotated[bool, option(None, "List answers that cannot both be true.", "--conflicts")] = False,
    history: Annotated[bool, option(None, "List what was changed.", "--history")] = False,
    dry_run: Annotated[
        bool, option(None, "Tell what would change, and record nothing.", "--dry-run")
    ] = False,
    name: Annotated[
        str | None, option(None, "Who changes the tags.", usual="the name you are logged in by")
    ] = None,
    decisions: DecisionFile = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """List the tags of an archive, or change what they mean: names, synonyms, parents, descriptions.

    A picture with a tag has its parents, too; one without a parent has none of its children.

    [bold]Examples[/bold]

    \b
    tagrank tags photos/
    tagrank tags photos/ --rename automobile=car
    tagrank tags photos/ --parent jet=plane --parent plane=vehicle
    tagrank tags photos/ --describe "jet=with jet engines"
    tagrank tags photos/ --undo
    tagrank tags photos/ --import hierarchy.csv --dry-run
    """
    import tagrank

    pairs = {"rename": rename, "merge": merge, "synonym": synonym, "parent": parent, "no parent": no_parent}
    pairs["describe"] = describe
    words = {"no synonym": no_synonym, "delete": delete, "restore": restore}
    wanted: list[tuple[str, ...]] = [
        (verb, *_pair(verb, pair)) for verb, given in pairs.items() for pair in given or ()
    ]
    wanted += [(verb, word) for verb, given in words.items() for word in given or ()]
    who = name if name is not None else getpass.getuser()
    if undo and (wanted or import_ or dry_run):
        raise typer.BadParameter("--undo takes the last step back and goes with no other change")
    if undo:
        for line in map(_sentence, tagrank.undo_tags(photos, who=who, decisions=decisions)):
            say(f"taken back: {line}")
    elif wanted or import_ is not None:
        done = tagrank.change_tags(
            photos, wanted, table=import_, who=who, dry_run=dry_run, decisions=decisions
        )
        _report_effects(done, dry_run, json)
    else:
        found = tagrank.list_tags(photos, export, decisions=decisions)
        _report(found, conflicts=conflicts, history=history, json=json, quiet=export is not None)
        if export is not None:
            say(f"{count(len(found.tags), 'tag')} written to {export}")


def _pair(verb: str, text: str) -> tuple[str, str]:
    tag, sign, other = text.partition("=")
    if not sign or not tag.strip():
        raise typer.BadParameter(
            f"--{verb.replace(' ', '-')} takes two tags with = between them, got {text!r}"
        )
    return tag.strip(), other.strip()


def _report_effects(done: list[str], dry_run: bool, json: bool) -> None:
    if json:
        show_json({"changes": done, "applied": not dry_run})
    for line in done[:LINES_SHOWN]:
        say(f"dry run, nothing was recorded: {printable(line)}" if dry_run else printable(line))
    if len(done) > LINES_SHOWN:
        say(f"{len(done) - LINES_SHOWN:,} more; --json lists all")
    if not done:
        say("nothing would change: the tags are like this already")


def _report(found: "ArchiveTags", *, conflicts: bool, history: bool, json: bool, quiet: bool) -> None:
    if json:
        show_json(found.to_dict())
    elif conflicts:
        show(_conflict_table(found))
    elif history:
        show(_history_table(found))
    elif not quiet:
        show(_tag_table(found))
    for circle in found.circles:
        say(f"parents go in a circle and do not count: {', '.join(map(printable, circle))}; use --no-parent")
    if found.n_conflicts and not conflicts:
        say(f"{count(found.n_conflicts, 'conflict')} between answers; --conflicts lists them")
    if conflicts and not found.n_conflicts:
        say("there are no conflicts between answers")


def _tag_table(found: "ArchiveTags") -> "Table":
    from rich.text import Text

    from tagrank.app.cli.terminal.tables import table_of

    table = table_of("tag", "pictures", "synonyms", "parents", "description")
    for one in found.tags:
        parents = [f"{name} (files)" if name in one.listed_parents else name for name in one.parents]
        cells = (
            f"{one.tag} (deleted)" if one.is_deleted else one.tag,
            f"{one.present:,}",
            ", ".join(one.synonyms),
            ", ".join(parents),
            one.description,
        )
        table.add_row(*(Text(printable(cell)) for cell in cells))
    return table


def _conflict_table(found: "ArchiveTags") -> "Table":
    from rich.text import Text

    from tagrank.app.cli.terminal.tables import table_of

    table = table_of("picture", "present", "by", "absent", "by", "what holds")
    for one in found.conflicts:
        by = one.present_by or "(files)"
        cells = (one.name, one.present, by, one.absent, one.absent_by, f"the latest: {one.holds}")
        table.add_row(*(Text(printable(cell)) for cell in cells))
    return table


def _history_table(found: "ArchiveTags") -> "Table":
    from rich.text import Text

    from tagrank.app.cli.terminal.tables import table_of

    table = table_of("when", "by", "change", "undone by")
    for batch in found.history:
        for change in batch.changes:
            cells = (batch.at[:19], batch.who, _sentence(change), batch.undone_by or "")
            table.add_row(*(Text(printable(cell)) for cell in cells))
    return table


def _sentence(change: tuple[str, str, str]) -> str:
    from tagrank.data.vocabulary import say_change

    return printable(say_change(change))
