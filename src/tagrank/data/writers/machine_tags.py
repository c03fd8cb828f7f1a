"""Tags that a model made: written into sidecars with a mark, and taken out of them again."""

import os
from collections.abc import Collection as Words
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tagrank.data.readers.machine_marks import LISTS, SUBJECT, Mark
from tagrank.data.readers.xmp import MarkedKeywords, parse_marks
from tagrank.data.writers.originals import Record, earlier_contents, put_back, read_record
from tagrank.data.writers.sidecar import Sidecar, keyword_lists, last_level, open_for_adding, open_sidecar


@dataclass(frozen=True)
class SidecarChange:
    """What was done to a sidecar, or would be.

    Attributes
    ----------
    picture : whose sidecar it is
    sidecar : its path
    tags : those that are added or accepted, or, where machine-made tags are undone, taken out
    present : tags to add that the picture has already
    action : "create", "change" or "delete"; "keep" where nothing is done
    removed : those that an export takes out again
    """

    picture: str
    sidecar: str
    tags: tuple[str, ...] = ()
    present: tuple[str, ...] = ()
    action: str = "keep"
    removed: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def new_run() -> str:
    """What a run that begins now is called: the time, which also orders runs."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def add_machine_tags(
    picture: str | os.PathLike,
    tags: Mapping[str, float | None],
    *,
    run: str,
    model: str = "",
    dry_run: bool = False,
    style: str = "full",
) -> SidecarChange:
    """Add tags to the sidecar of a picture, each with a mark that a machine made it.

    A tag that the picture has already, in a sidecar or inside, is neither added nor marked.

    Parameters
    ----------
    picture : the picture, which is not touched
    tags : its tags, each with its probability or None
    run : of `new_run`
    model : what the model is called
    dry_run : only tell what would be done
    style : what a new sidecar is called, see `write_sidecar`
    """
    sidecar, known, taken_over, wanted = open_for_adding(picture, tags, style=style)
    path = sidecar.path
    present = tuple(tag for tag in wanted if tag in known.all.flat or tag in known.all.trees)
    new = tuple(tag for tag in wanted if tag not in present)
    if not new:
        return SidecarChange(os.fspath(picture), str(path), present=present)
    lists = keyword_lists(sidecar.document, taken_over, new)
    added = {name: sidecar.document.add(name, words) for name, words in lists.items()}
    chances = {tag: f"{tags[tag]:.3f}" for tag in new if tags.get(tag) is not None}
    sidecar.document.set_marks([*sidecar.marks, *_marks(added, new, known, run, model, chances)])
    if not dry_run:
        sidecar.save(run)
    action = "create" if sidecar.is_new else "change"
    return SidecarChange(os.fspath(picture), str(path), new, present, action)


def _marks(
    added: Mapping[tuple[str, str], Sequence[str]],
    new: Sequence[str],
    known: MarkedKeywords,
    run: str,
    model: str,
    chances: Mapping[str, str],
) -> Iterator[Mark]:
    """Marks of the entries that were added to lists; keywords of people that a list lacked are copied."""
    given = set(known.chosen(machine_tags=False).flat)
    flat = {last_level(tag): tag for tag in new} | {word: word for word in known.machine.flat}
    trees = {_as_tree(tag): tag for tag in (*new, *known.machine.flat, *known.machine.trees)}
    for word, name in LISTS.items():
        for entry in added.get(name, ()):
            is_flat = name == SUBJECT
            tag = flat.get(entry) if is_flat else trees.get(_as_tree(entry))
            if tag is None or (is_flat and entry in given):
                yield Mark(word, entry, run, copied="True")
            else:
                yield Mark(word, entry, run, model, chances.get(tag, ""))


def _as_tree(entry: str) -> str:
    return entry.replace("/", "|")


def settle_machine_tags(
    picture: str | os.PathLike,
    sidecar: Path,
    runs: Words[str],
    *,
    accept: bool = False,
    dry_run: bool = False,
) -> SidecarChange:
    """Take the tags of some runs out of a sidecar, or accept them: then only their marks go.

    A sidecar that nobody changed since gets the bytes that it had before these runs. Else only their entries
    are taken out, and a sidecar that we made and that says nothing else is deleted.
    """
    opened = open_sidecar(sidecar)
    settled = [mark for mark in opened.marks if mark.run in runs]
    tags = dict.fromkeys(
        mark.word if mark.place[0] == SUBJECT else last_level(_as_tree(mark.word))
        for mark in settled
        if not mark.copied
    )
    action = "keep"
    if settled and accept:
        action = _accept(opened, runs, dry_run)
    elif settled:
        action = _put_back(opened, runs, dry_run) or _take_out(opened, runs, dry_run)
    return SidecarChange(os.fspath(picture), str(sidecar), tuple(tags), action=action)


def _accept(opened: Sidecar, runs: Words[str], dry_run: bool) -> str:
    opened.document.set_marks(mark for mark in opened.marks if mark.run not in runs)
    if not dry_run:
        opened.save()
    return "change"


def _put_back(opened: Sidecar, runs: Words[str], dry_run: bool) -> str | None:
    """Give the sidecar the bytes from before the runs; None if others changed it, or other runs since."""
    path, record = opened.path, read_record(opened.path)
    for content, before in earlier_contents(path, record, opened.content, runs):
        if content is None or not any(mark.run in runs for mark in parse_marks(content, path)[1]):
            if not dry_run:
                put_back(path, content, before, before=opened.content)
            return "delete" if content is None else "change"
    return None


def _take_out(opened: Sidecar, runs: Words[str], dry_run: bool) -> str:
    for word, name in LISTS.items():
        entries = {mark.word for mark in opened.marks if mark.run in runs and mark.list == word}
        opened.document.remove(name, entries)
    opened.document.set_marks(mark for mark in opened.marks if mark.run not in runs)
    is_over = opened.document.is_empty()
    if not dry_run and is_over:
        put_back(opened.path, None, Record(), before=opened.content)
    elif not dry_run:
        opened.save()
    return "delete" if is_over else "change"
