"""One run over a collection: fill the store with what is missing, then put the views together."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tagrank.annotation.bank.picture_keys import PictureLike, Source, identify_pictures
from tagrank.annotation.bank.row_maker import RowMaker, describe_error
from tagrank.annotation.bank.row_store import RowStore, StoreDamage
from tagrank.annotation.bank.view_files import assemble_view
from tagrank.problems import Problem, ProblemLog
from tagrank.progress import Progress


@dataclass(frozen=True)
class Extraction:
    """The features of a collection.

    Attributes
    ----------
    views : name of each set to its float32 array, shape (n_kept, n_columns), read-only, mapped from a file
        where it is large; shape (0, 0) if no picture could be read
    rows : int array, shape (n_kept,): which pictures those are, in their order
    problems : the pictures that were left out, and why
    seconds : name of each set to the seconds spent on it now, summed over processes; 0 if all was known
    seconds_a_picture : the same as a mean over all pictures ever measured
    reading_seconds : spent on decoding now
    keys : what stands for the content of each picture that was kept
    n_computed, n_cached : different pictures for which something was computed, and for which nothing had to
    """

    views: dict[str, np.ndarray]
    rows: np.ndarray
    problems: tuple[Problem, ...]
    seconds: dict[str, float]
    seconds_a_picture: dict[str, float]
    reading_seconds: float
    n_computed: int
    n_cached: int
    keys: tuple[bytes, ...] = ()


def extract_views(
    pictures: Sequence[PictureLike],
    store: RowStore,
    maker: RowMaker,
    *,
    view_folder: Path | None = None,
    strict: bool = False,
    progress: Progress | None = None,
) -> Extraction:
    """The features of pictures; may be called again with the same maker after a StoreDamage.

    Large views are kept in `view_folder`; None builds them in memory.
    """
    sources = identify_pictures(pictures, store, progress)
    reasons = {n: describe_error(found) for n, found in enumerate(sources) if isinstance(found, OSError)}
    # a strict bank stops here
    _list_problems(pictures, reasons, strict=strict)
    distinct = {source.key: source for source in sources if isinstance(source, Source)}
    store.mark_used(maker.stored_as.values(), distinct)
    failures = maker.fill(store, distinct, progress)
    keys = [source.key if isinstance(source, Source) else b"" for source in sources]
    reasons |= {number: failures[key] for number, key in enumerate(keys) if key in failures}
    kept = [number for number in range(len(keys)) if number not in reasons]
    problems = _list_problems(pictures, dict(sorted(reasons.items())), strict=strict)
    stored_as = maker.stored_as.items()
    return Extraction(
        views=_assemble(store, maker.stored_as, [keys[number] for number in kept], view_folder),
        rows=np.array(kept, dtype=np.intp),
        problems=problems,
        seconds=dict(maker.seconds),
        seconds_a_picture={name: store.seconds_a_picture(stored) for name, stored in stored_as},
        reading_seconds=maker.reading_seconds,
        n_computed=len(maker.computed),
        n_cached=len(distinct) - len(failures) - len(maker.computed),
        keys=tuple(keys[number] for number in kept),
    )


def _assemble(
    store: RowStore, stored_as: Mapping[str, str], keys: Sequence[bytes], view_folder: Path | None
) -> dict[str, np.ndarray]:
    """All views; if some are damaged, StoreDamage when all were looked through."""
    views, damage = {}, None
    for name, stored in stored_as.items():
        try:
            views[name] = assemble_view(store, stored, keys, view_folder)
        except StoreDamage as error:
            damage = f"{name}: {error}"
    if damage is not None:
        raise StoreDamage(damage)
    return views


def _list_problems(
    pictures: Sequence[PictureLike], reasons: Mapping[int, str], *, strict: bool
) -> tuple[Problem, ...]:
    log = ProblemLog(strict=strict)
    for number, reason in reasons.items():
        picture = pictures[number]
        log.add(f"picture {number}" if isinstance(picture, np.ndarray) else os.fsdecode(picture), reason)
    return log.listed()
