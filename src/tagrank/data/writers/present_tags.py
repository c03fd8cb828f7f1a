"""The tags of a picture that people gave or confirmed, brought into its sidecar, and taken out again.

Taken out is only what tagrank wrote: what an earlier export put there, as the user's state knows, and what
is marked as machine-made and was rejected. Tags that other programs put there stay.
"""

import os
from collections.abc import Collection as Words
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from tagrank.data.readers.machine_marks import LISTS, SUBJECT, Mark
from tagrank.data.readers.xmp import Keywords, MarkedKeywords, existing_sidecars, read_marked
from tagrank.data.writers.machine_tags import SidecarChange
from tagrank.data.writers.originals import Record, WrittenTag, earlier_contents, put_back, read_record
from tagrank.data.writers.sidecar import (
    Sidecar,
    checked_tags,
    embedded_keywords,
    keyword_lists,
    last_level,
    open_sidecar,
    sidecar_path,
    sidecar_with,
    unmarked,
)
from tagrank.files import FileError

EXPORT = "export"


@dataclass(frozen=True)
class _Wish:
    """What is known of a picture: tags as `write_present_tags` takes them, and keywords elsewhere."""

    present: Sequence[str]
    accepted: Words[str]
    unlisted: Words[str]
    rejected: Words[str]
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
    present: Iterable[str],
    *,
    accepted: Words[str] = (),
    unlisted: Words[str] = (),
    rejected: Words[str] = (),
    paths: Mapping[str, str] | None = None,
    style: str = "full",
    dry_run: bool = False,
) -> SidecarChange:
    """Let a sidecar hold all present tags of its picture, and no other that tagrank wrote.

    Only where somebody accepted a tag are tags added, all that are present; what the picture has already, in
    a sidecar or inside, is not written again. An accepted tag that is marked as machine-made is so no longer.

    Parameters
    ----------
    picture : the picture, which is not touched
    present : all its tags
    accepted : those of them that somebody accepted
    unlisted : those of them that only answers speak for, so that the folder is not to list them one day
    rejected : tags that somebody rejected
    paths : tags with the levels above them, such as ``places|europe|rome`` of ``rome``; they are written as
        hierarchical keywords
    style : what a new sidecar is called, see `write_sidecar`
    dry_run : only tell what would be done
    """
    if not os.path.isfile(picture):
        raise FileError(picture, "no such picture")
    path = sidecar_path(picture, style=style)
    sidecar, record = open_sidecar(path), read_record(path)
    elsewhere = MarkedKeywords()
    for other in existing_sidecars(picture):
        elsewhere = elsewhere.joined(read_marked(other)) if other != path else elsewhere
    inside = embedded_keywords(picture)
    wish = _Wish(checked_tags(present, path), accepted, unlisted, rejected, paths or {}, inside, elsewhere)
    plan = _settle(sidecar, record, wish)
    there = tuple(tag for tag in wish.present if tag not in plan.added)
    change = SidecarChange(os.fspath(picture), str(path), plan.added, there, "keep", plan.removed)
    if plan.is_empty:
        return change
    action = _put_back(sidecar, record, plan, wish, dry_run) if plan.removed and not plan.added else None
    return replace(change, action=action or _save(sidecar, plan, dry_run))


def _settle(sidecar: Sidecar, record: Record, wish: _Wish) -> _Plan:
    """Change the document of a sidecar; which tags were added and removed, and what is known of it then."""
    removed, settled = _take_out(sidecar, record, wish)
    kept = [mark for mark in sidecar.marks if mark.place not in removed]
    added, written = _add(replace(sidecar, marks=kept), removed, wish)
    left = [mark for mark in unmarked(sidecar, wish.accepted) if mark in kept]
    if left != sidecar.marks:
        sidecar.document.set_marks(left)
    tags = {tag: one for tag, one in record.tags.items() if tag in wish.present} | written
    return _Plan(added, settled, replace(record, tags=tags))


def _take_out(
    sidecar: Sidecar, record: Record, wish: _Wish
) -> tuple[set[tuple[tuple[str, str], str]], tuple[str, ...]]:
    """Entries that go, by list, and the tags for which they stood."""
    needed = {
        (name, word)
        for name, words in keyword_lists(sidecar.document, Keywords(), wish.present, wish.paths).items()
        for word in words
    }
    gone: dict[str, list[tuple[tuple[str, str], str]]] = {
        tag: [(LISTS[word], entry) for word, entry in one.entries if word in LISTS]
        for tag, one in record.tags.items()
        if tag not in wish.present
    }
    for mark in sidecar.marks:
        if (tag := _rejected_tag(mark, wish.rejected)) is not None:
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
    new = [tag for tag in wish.present if tag not in has]
    if sidecar.is_new and not any(tag in wish.accepted for tag in new):
        return (), {}
    stay = unmarked(sidecar, wish.accepted)
    freed = [mark for mark in sidecar.marks if mark not in stay]
    words = {mark.word for mark in freed}
    given = [tag for tag in wish.present if tag in wish.accepted and {tag, last_level(tag)} & words]
    if not wish.accepted or not (new or given):
        return (), {}
    base = wish.inside.all.without(Keywords(tuple(wish.rejected), tuple(wish.rejected)))
    taken_over = base if sidecar.is_new else sidecar.keywords.all.without(Keywords(tuple(gone), tuple(gone)))
    lists = keyword_lists(sidecar.document, taken_over, new, wish.paths) if new else {}
    added = {name: sidecar.document.add(name, words) for name, words in lists.items()}
    written = {tag: WrittenTag(_entries_of(tag, added, wish.paths), tag in wish.unlisted) for tag in new}
    for tag in given:
        entries = [(mark.list, mark.word) for mark in freed if mark.word in (tag, last_level(tag))]
        written.setdefault(tag, WrittenTag(tuple(entries), tag in wish.unlisted))
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


def _put_back(sidecar: Sidecar, record: Record, plan: _Plan, wish: _Wish, dry_run: bool) -> str | None:
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
