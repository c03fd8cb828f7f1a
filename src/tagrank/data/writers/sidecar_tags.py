"""Tags in sidecars: those that a model made, with a mark, and those that people gave; written and taken out.

Taken out is only what tagrank wrote: what a run of a model or an earlier export put there, as the user's
state knows, and what is marked as machine-written and was rejected. Tags that other programs put there stay.
"""

import os
from collections.abc import Collection as Words
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tagrank.data.readers.xmp import (
    LISTS,
    SUBJECT,
    Keywords,
    Mark,
    MarkedKeywords,
    existing_sidecars,
    parse_marks,
    read_marked,
)
from tagrank.data.writers.originals import EXPORT, Record, WrittenTag, earlier_contents, put_back, read_record
from tagrank.data.writers.sidecar import (
    Sidecar,
    checked_tags,
    embedded_keywords,
    keyword_lists,
    last_level,
    open_for_adding,
    open_sidecar,
    sidecar_path,
    sidecar_with,
    unmarked,
)
from tagrank.data.writers.tags import PictureTags
from tagrank.files import FileError


@dataclass(frozen=True)
class SidecarChange:
    """What was done to a sidecar, or would be.

    Attributes
    ----------
    picture : whose sidecar it is
    sidecar : its path
    tags : those that are added or accepted, or, where machine-written tags are undone, taken out
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
    sidecar, known, taken_over, checked = open_for_adding(picture, tags, style=style)
    path = sidecar.path
    present = tuple(tag for tag in checked if tag in known.all.flat or tag in known.all.trees)
    new = tuple(tag for tag in checked if tag not in present)
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
    of_people = set(known.chosen(machine_tags=False).flat)
    flat = {last_level(tag): tag for tag in new} | {word: word for word in known.machine.flat}
    trees = {_as_tree(tag): tag for tag in (*new, *known.machine.flat, *known.machine.trees)}
    for word, name in LISTS.items():
        for entry in added.get(name, ()):
            is_flat = name == SUBJECT
            tag = flat.get(entry) if is_flat else trees.get(_as_tree(entry))
            if tag is None or (is_flat and entry in of_people):
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


@dataclass(frozen=True)
class _Wish:
    """What a sidecar is to say of a picture: its tags, with the levels above them, and keywords elsewhere."""

    tags: PictureTags
    paths: Mapping[str, str]
    inside: MarkedKeywords
    elsewhere: MarkedKeywords


@dataclass(frozen=True)
class _Plan:
    added: tuple[str, ...]
    removed: tuple[str, ...]
    record: Record

    @property
    def is_empty(self) -> bool:
        return not self.added and not self.removed


def write_present_tags(
    picture: str | os.PathLike,
    tags: PictureTags,
    *,
    paths: Mapping[str, str] | None = None,
    style: str = "full",
    dry_run: bool = False,
) -> SidecarChange:
    """Let a sidecar hold all present tags of its picture, and no other that tagrank wrote.

    Only where somebody accepted a tag are tags added, all that are present; what the picture has already, in
    a sidecar or inside, is not written again. An accepted tag loses its mark as machine-written.

    Parameters
    ----------
    picture : the picture, which is not touched
    tags : all its tags, and what people said of them
    paths : tags with the levels above them, such as ``places|europe|rome`` of ``rome``; they are written as
        hierarchical keywords
    style : what a new sidecar is called, see `write_sidecar`
    dry_run : only tell what would be done
    """
    if not os.path.isfile(picture):
        raise FileError(picture, "this picture does not exist")
    path = sidecar_path(picture, style=style)
    sidecar, record = open_sidecar(path), read_record(path)
    elsewhere = MarkedKeywords()
    for other in existing_sidecars(picture):
        elsewhere = elsewhere.joined(read_marked(other)) if other != path else elsewhere
    inside = embedded_keywords(picture)
    tags = tags._replace(present=tuple(checked_tags(tags.present, path)))
    wish = _Wish(tags, paths or {}, inside, elsewhere)
    plan = _settle(sidecar, record, wish)
    there = tuple(tag for tag in tags.present if tag not in plan.added)
    change = SidecarChange(os.fspath(picture), str(path), plan.added, there, "keep", plan.removed)
    if plan.is_empty:
        return change
    action = (
        _put_back_export(sidecar, record, plan, wish, dry_run) if plan.removed and not plan.added else None
    )
    return replace(change, action=action or _save(sidecar, plan, dry_run))


def _settle(sidecar: Sidecar, record: Record, wish: _Wish) -> _Plan:
    """Change the document of a sidecar; which tags were added and removed, and what is known of it then."""
    removed, settled = _take_out_written(sidecar, record, wish)
    kept = [mark for mark in sidecar.marks if mark.place not in removed]
    added, written = _add(replace(sidecar, marks=kept), removed, wish)
    left = [mark for mark in unmarked(sidecar, wish.tags.accepted) if mark in kept]
    if left != sidecar.marks:
        sidecar.document.set_marks(left)
    tags = {tag: one for tag, one in record.tags.items() if tag in wish.tags.present} | written
    return _Plan(added, settled, replace(record, tags=tags))


def _take_out_written(
    sidecar: Sidecar, record: Record, wish: _Wish
) -> tuple[set[tuple[tuple[str, str], str]], tuple[str, ...]]:
    """Entries that go, by list, and the tags for which they stood."""
    needed = {
        (name, word)
        for name, words in keyword_lists(sidecar.document, Keywords(), wish.tags.present, wish.paths).items()
        for word in words
    }
    gone: dict[str, list[tuple[tuple[str, str], str]]] = {
        tag: [(LISTS[word], entry) for word, entry in one.entries if word in LISTS]
        for tag, one in record.tags.items()
        if tag not in wish.tags.present
    }
    for mark in sidecar.marks:
        if (tag := _rejected_tag(mark, wish.tags.rejected)) is not None:
            gone.setdefault(tag, []).append(mark.place)
    removed: set[tuple[tuple[str, str], str]] = set()
    tags: dict[str, None] = {}
    for tag, entries in gone.items():
        for name, entry in entries:
            if (name, entry) not in needed and sidecar.document.remove(name, [entry]):
                removed.add((name, entry))
                tags[tag] = None
    return removed, tuple(tags)


def _rejected_tag(mark: Mark, rejected: Words[str]) -> str | None:
    if mark.copied:
        return None
    tree = mark.word if mark.place[0] == SUBJECT else mark.word.replace("/", "|")
    return next((word for word in (mark.word, tree, last_level(tree)) if word in rejected), None)


def _add(
    sidecar: Sidecar, removed: Words[tuple[tuple[str, str], str]], wish: _Wish
) -> tuple[tuple[str, ...], dict[str, WrittenTag]]:
    """Add tags to the document; which these are, and what is to be known of them."""
    known = sidecar.keywords.joined(wish.inside).joined(wish.elsewhere).all
    gone = {word for _, word in removed}
    has = {word for word in (*known.flat, *known.trees) if word not in gone}
    # places|rome says places, too, where the tags mean the same
    has |= {level for tree in has.intersection(wish.paths.values()) for level in tree.split("|")}
    new = [tag for tag in wish.tags.present if tag not in has]
    if sidecar.is_new and not any(tag in wish.tags.accepted for tag in new):
        return (), {}
    stay = unmarked(sidecar, wish.tags.accepted)
    freed = [mark for mark in sidecar.marks if mark not in stay]
    words = {mark.word for mark in freed}
    confirmed = [
        tag for tag in wish.tags.present if tag in wish.tags.accepted and {tag, last_level(tag)} & words
    ]
    if not wish.tags.accepted or not (new or confirmed):
        return (), {}
    base = wish.inside.all.without(Keywords(tuple(wish.tags.rejected), tuple(wish.tags.rejected)))
    taken_over = base if sidecar.is_new else sidecar.keywords.all.without(Keywords(tuple(gone), tuple(gone)))
    lists = keyword_lists(sidecar.document, taken_over, new, wish.paths) if new else {}
    added = {name: sidecar.document.add(name, words) for name, words in lists.items()}
    written = {tag: WrittenTag(_entries_of(tag, added, wish.paths), tag in wish.tags.unlisted) for tag in new}
    for tag in confirmed:
        entries = [(mark.list, mark.word) for mark in freed if mark.word in (tag, last_level(tag))]
        written.setdefault(tag, WrittenTag(tuple(entries), tag in wish.tags.unlisted))
    return tuple(written), written


def _entries_of(
    tag: str, added: Mapping[tuple[str, str], Sequence[str]], paths: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    path = paths.get(tag, tag)
    words = {path, last_level(path), path.replace("|", "/")}
    names = {name: word for word, name in LISTS.items()}
    return tuple(
        (names[name], entry) for name, entries in added.items() for entry in entries if entry in words
    )


def _put_back_export(sidecar: Sidecar, record: Record, plan: _Plan, wish: _Wish, dry_run: bool) -> str | None:
    """Give the sidecar the bytes that it had before an export, if these hold the tags that are to stay.

    None where there are none: somebody changed it since, or a tag that stays came with that export.
    """
    planned = sidecar_with(sidecar.path, sidecar.document.to_bytes())
    stays = set(planned.keywords.chosen(machine_tags=False).flat)
    for content, before in earlier_contents(sidecar.path, record, sidecar.content, (EXPORT,)):
        earlier = sidecar_with(sidecar.path, content)
        tags = {tag: one for tag, one in plan.record.tags.items() if tag in earlier.keywords.all.flat}
        has = set(earlier.keywords.chosen(machine_tags=False).flat)
        is_same = stays == has or (content is None and stays <= set(wish.inside.all.flat))
        if is_same and _settle(earlier, replace(before, tags=tags), wish).is_empty:
            if not dry_run:
                put_back(sidecar.path, content, replace(before, tags=tags), before=sidecar.content)
            return "delete" if content is None else "change"
    return None


def _save(sidecar: Sidecar, plan: _Plan, dry_run: bool) -> str:
    is_over = sidecar.document.is_empty()
    if not dry_run and is_over:
        put_back(sidecar.path, None, Record(), before=sidecar.content)
    elif not dry_run:
        sidecar.save(EXPORT, plan.record)
    return "delete" if is_over else "create" if sidecar.is_new else "change"
