"""Take machine-made tags out of sidecars again, or accept them as if a person had given them."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tagrank.annotation.describing import PICTURES
from tagrank.commands.given_data import open_pictures
from tagrank.data import Collection
from tagrank.data.readers.xmp import existing_sidecars, read_marks
from tagrank.data.writers.sidecar_tags import SidecarChange, settle_machine_tags
from tagrank.errors import ArgumentError
from tagrank.files import FileError
from tagrank.problems import Problem, ProblemLog

ALL_RUNS = "all"
Places = Collection | str | os.PathLike | Sequence[str | os.PathLike]


@dataclass(frozen=True)
class Settlement:
    """What became of machine-made tags.

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
    data: Places,
    *,
    run: str | None = None,
    dry_run: bool = False,
    strict: bool = False,
    follow_links: bool = False,
) -> Settlement:
    """Take the tags that a run of `annotate` wrote out of the sidecars again.

    A sidecar that nobody changed since is again what it was, byte for byte; one that the run made is deleted.
    Of others exactly the entries that the run added go, as far as they are still marked; all else in them
    keeps its meaning, but blanks and quotes may differ.

    Parameters
    ----------
    data : pictures and folders, as `annotate` takes them
    run : the run, as its marks call it; None for the latest of these pictures, "all" for all
    dry_run : only tell what would be done
    strict : stop at the first sidecar that cannot be read or written instead of listing it
    follow_links : follow links to folders in a folder of pictures
    """
    rows = open_pictures(data, strict=strict, follow_links=follow_links)
    return _settle(rows, run, accept=False, dry_run=dry_run, strict=strict)


def accept(
    data: Places,
    *,
    run: str | None = None,
    dry_run: bool = False,
    strict: bool = False,
    follow_links: bool = False,
) -> Settlement:
    """Take the tags that a run of `annotate` wrote for the truth from now on: only their marks are removed.

    The parameters are those of `undo`.

    Parameters
    ----------
    data : pictures and folders of pictures
    run : accept only what this run of `annotate` wrote
    dry_run : change nothing, only say what would be changed
    strict : stop at the first file that cannot be read
    follow_links : also enter folders that are links
    """
    rows = open_pictures(data, strict=strict, follow_links=follow_links)
    return _settle(rows, run, accept=True, dry_run=dry_run, strict=strict)


def _settle(rows: Collection, run: str | None, *, accept: bool, dry_run: bool, strict: bool) -> Settlement:
    problems = ProblemLog(strict=strict)
    found, counts = _marked_sidecars(rows, problems)
    if run is not None and run != ALL_RUNS and run not in counts:
        known = ", ".join(sorted(counts)) or "none"
        raise ArgumentError(f"run={run} has no tags here; expected 'all' or one of: {known}")
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
    found: dict[Path, str] = {}
    counts: Counter[str] = Counter()
    for picture in rows.views.get(PICTURES, ()):
        if not isinstance(picture, str | os.PathLike):
            raise ValueError("sidecars lie beside pictures in files; these data are none")
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
