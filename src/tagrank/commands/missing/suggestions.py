"""Steps of `missing`: which rows are looked at, and what is said of the pairs that were picked."""

import os
from collections.abc import Sequence
from dataclasses import asdict, astuple, fields

import numpy as np

from tagrank.annotation.describing import kind_of
from tagrank.commands.destinations import write_list
from tagrank.commands.missing.held_out import HeldOut
from tagrank.commands.missing.missing import Suggestion
from tagrank.data import Collection
from tagrank.errors import warn

STATE_NAMES = {1: "present", -1: "absent", 0: "unknown"}


def usable(rows: Collection, untagged: bool) -> Collection:
    """The rows of which something is known; with `untagged` all."""
    is_known = rows.known_rows()
    if not is_known.any():
        all_rows = f"{len(rows):,} {kind_of(rows.views)}s of {rows.name or 'the data'}"
        raise ValueError(f"none of the {all_rows} has tags to learn from")
    return rows if untagged else rows.subset(is_known)


def list_suggestions(
    rows: Collection, held_out: HeldOut, places: np.ndarray, columns: np.ndarray
) -> list[Suggestion]:
    """The pairs of picture and tag that were picked, in their order."""
    names = rows.names or ()
    return [
        Suggestion(
            names[i],
            rows.tags[j],
            float(held_out.probabilities[i, j]),
            float(held_out.scores[i, j]),
            rank,
            STATE_NAMES[int(held_out.states[i, j])],
        )
        for rank, (i, j) in enumerate(zip(places.tolist(), columns.tolist(), strict=True), start=1)
    ]


def unjudged_tags(tags: Sequence[str], held_out: HeldOut) -> list[str]:
    """Tags that some model had never seen; said once, by number."""
    found = [tags[int(j)] for j in np.flatnonzero(~np.all(held_out.is_judged, axis=0))]
    if found:
        warn(
            f"{len(found)} of {len(tags)} tags, such as {found[0]!r}, have too few pictures to be judged in "
            "all pictures; min_count skips rare tags"
        )
    return found


def write_suggestions(path: str | os.PathLike, suggestions: Sequence[Suggestion]) -> None:
    """Write suggestions as a ``.csv`` or ``.jsonl`` file, a line each, whole or not at all."""
    columns = [column.name for column in fields(Suggestion)]
    write_list(path, table=[columns, *map(astuple, suggestions)], documents=map(asdict, suggestions))
