"""Tags that a person accepted, merged into what the sidecar of a picture holds."""

import os
from collections.abc import Iterable

from tagrank.data.writers.machine_tags import SidecarChange
from tagrank.data.writers.sidecar import keyword_lists, open_for_adding, unmarked


def add_accepted_tags(
    picture: str | os.PathLike, tags: Iterable[str], *, dry_run: bool = False
) -> SidecarChange:
    """Add a person's tags to the sidecar of a picture; see `write_sidecar`.

    A tag that the picture has already, in a sidecar or inside, is not added; one that is marked as
    machine-made is so no longer.

    Parameters
    ----------
    picture : the picture, which is not touched
    tags : its tags
    dry_run : only tell what would be done
    """
    sidecar, known, taken_over, wanted = open_for_adding(picture, tags)
    path = sidecar.path
    new = [tag for tag in wanted if tag not in known.all.flat and tag not in known.all.trees]
    for name, words in keyword_lists(sidecar.document, taken_over, new).items() if new else ():
        sidecar.document.add(name, words)
    marks = unmarked(sidecar, wanted)
    left = {mark.word for mark in sidecar.marks} - {mark.word for mark in marks}
    given = tuple(tag for tag in wanted if tag in new or tag in left)
    present = tuple(tag for tag in wanted if tag not in given)
    if not new and marks == sidecar.marks:
        return SidecarChange(os.fspath(picture), str(path), present=present)
    sidecar.document.set_marks(marks)
    if not dry_run:
        sidecar.save()
    return SidecarChange(
        os.fspath(picture), str(path), given, present, "create" if sidecar.is_new else "change"
    )
