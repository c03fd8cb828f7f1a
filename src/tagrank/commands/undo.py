"""Take machine-written tags out of sidecars again, or accept them as if a person had given them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tagrank.commands.options import FOLLOW_LINKS, STRICT
from tagrank.commands.tables import Screen, counted, sidecar_table
from tagrank.errors import ArgumentError
from tagrank.files import FileError, Problem, ProblemLog
from tagrank.options import Option

if TYPE_CHECKING:
    from tagrank.data import Collection
    from tagrank.data.writers.sidecar_tags import SidecarChange

    Places = Collection | str | os.PathLike | Sequence[str | os.PathLike]

ALL_RUNS = "all"
PLACES = Option(kind=str, is_argument=True, is_many=True)
RUN = Option(usual="the latest run on these pictures")


@dataclass(frozen=True)
class Settlement:
    """What became of machine-written tags.

    Attributes
    ----------
    changes : one for each sidecar that was changed or deleted, or would be
    runs : the runs that were settled
    others : runs that remain, each with the number of its marked tags
    problems : files that were passed over, and why
    unwritten : sidecars that could not be read or written, and why
    dry_run : whether nothing was written
    """

    changes: Sequence[SidecarChange]
    runs: Sequence[str]
    others: dict[str, int]
    problems: Sequence[Problem] = ()
    unwritten: Sequence[Problem] = ()
    dry_run: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers for JSON."""
        return {
            "runs": list(self.runs),
            "dry_run": self.dry_run,
            "changes": [change.to_dict() for change in self.changes],
            "other_runs": self.others,
            "problems": [vars(problem) for problem in self.problems],
            "unwritten": [vars(problem) for problem in self.unwritten],
        }


def undo(
    data: Annotated[Places, PLACES],
    *,
    run: Annotated[str | None, RUN] = None,
    dry_run: Annotated[bool, Option()] = False,
    strict: Annotated[bool, STRICT] = False,
    follow_links: Annotated[bool, FOLLOW_LINKS] = False,
) -> Settlement:
    """Remove the tags that 'annotate --sidecars' wrote.

    A sidecar that nobody has changed since becomes what it was before, byte for byte. From other sidecars
    only the tags are removed that are still marked as machine-written. A sidecar that was created for these
    tags is deleted.

    Parameters
    ----------
    data : pictures and folders of pictures
    run : the run to undo, named by its date as shown; or 'all'
    dry_run : show what would change, but write nothing
    strict : stop at the first sidecar that cannot be read or written, instead of listing it
    follow_links : follow links to folders; in a folder that somebody else made, links may lead anywhere

    Command line
    ------------
    tagrank undo holiday/ --dry-run
    tagrank undo holiday/
    tagrank undo holiday/beach.jpg --run all
    """
    from tagrank.commands.given_data import open_pictures

    rows = open_pictures(data, strict=strict, follow_links=follow_links)
    return _settle(rows, run, accept=False, dry_run=dry_run, strict=strict)


def accept(
    data: Annotated[Places, PLACES],
    *,
    run: Annotated[str | None, RUN] = None,
    dry_run: Annotated[bool, Option()] = False,
    strict: Annotated[bool, STRICT] = False,
    follow_links: Annotated[bool, FOLLOW_LINKS] = False,
) -> Settlement:
    """Confirm machine-written tags.

    The tags that 'annotate --sidecars' wrote stay in the sidecars, but lose their marks: 'train', 'missing'
    and 'evaluate' then treat them like tags that a person gave.

    Parameters
    ----------
    run : the run to confirm, named by its date as shown; or 'all'
    data, dry_run, strict, follow_links : as in `undo`

    Command line
    ------------
    tagrank accept holiday/beach.jpg holiday/harbour.jpg
    tagrank accept holiday/ --run all
    """
    from tagrank.commands.given_data import open_pictures

    rows = open_pictures(data, strict=strict, follow_links=follow_links)
    return _settle(rows, run, accept=True, dry_run=dry_run, strict=strict)


def _settle(rows: Collection, run: str | None, *, accept: bool, dry_run: bool, strict: bool) -> Settlement:
    from tagrank.data.writers.sidecar_tags import settle_machine_tags

    problems = ProblemLog(strict=strict)
    found, counts = _marked_sidecars(rows, problems)
    if run is not None and run != ALL_RUNS and run not in counts:
        known = ", ".join(sorted(counts)) or "none"
        raise ArgumentError(f"run={run} wrote no tags here; expected 'all' or one of: {known}")
    runs = sorted(counts) if run == ALL_RUNS else [run] if run else sorted(counts)[-1:]
    changes = []
    for sidecar, picture in found.items():
        try:
            change = settle_machine_tags(picture, sidecar, runs, accept=accept, dry_run=dry_run)
        except FileError as error:
            problems.add_error(sidecar, error)
            continue
        if change.action != "keep":
            changes.append(change)
    others = {name: counts[name] for name in sorted(counts) if name not in runs}
    return Settlement(changes, runs, others, rows.problems, problems.listed(), dry_run)


def _marked_sidecars(rows: Collection, problems: ProblemLog) -> tuple[dict[Path, str], Counter[str]]:
    """The sidecars with marks, each with its picture, and how many tags of each run are marked."""
    from tagrank.annotation.describing import PICTURES
    from tagrank.data.readers.xmp import existing_sidecars, read_marks

    found: dict[Path, str] = {}
    counts: Counter[str] = Counter()
    for picture in rows.views.get(PICTURES, ()):
        if not isinstance(picture, str | os.PathLike):
            raise ValueError("sidecars belong to picture files; name pictures or a folder of pictures")
        for sidecar in existing_sidecars(picture):
            if sidecar in found:
                continue
            try:
                marks = read_marks(sidecar)
            except FileError as error:
                problems.add_error(sidecar, error)
                continue
            if marks:
                found[sidecar] = os.fspath(picture)
                counts.update(mark.run for mark in marks if not mark.copied)
    return found, counts


def show_undone(settled: Settlement) -> Screen:
    """What was taken out of sidecars."""
    return _show(settled, "removed")


def show_accepted(settled: Settlement) -> Screen:
    """What was confirmed in sidecars."""
    return _show(settled, "confirmed")


def _show(settled: Settlement, verb: str) -> Screen:
    tables = [sidecar_table(settled.changes, verb)] if settled.changes else []
    problems = {"skipped": settled.problems, "sidecar not changed": settled.unwritten}
    return Screen(tables, [_summary(settled, verb)], problems, has_failed=bool(settled.unwritten))


def _summary(settled: Settlement, verb: str) -> str:
    if not settled.runs:
        return "the sidecars of these pictures have no machine-written tags"
    n_tags = sum(len(change.tags) for change in settled.changes)
    n_deleted = sum(change.action == "delete" for change in settled.changes)
    line = f"{counted(n_tags, 'tag')} in {counted(len(settled.changes), 'sidecar')} {verb}"
    line += f" ({n_deleted:,} deleted)" if n_deleted else ""
    line += f", run {settled.runs[0]}" if len(settled.runs) == 1 else f", {len(settled.runs)} runs"
    if settled.others:
        others = ", ".join(f"{run} ({counted(n, 'tag')})" for run, n in settled.others.items())
        line += f"; other runs also wrote tags here: {others}"
    return f"dry run, nothing was written: {line}" if settled.dry_run else line
