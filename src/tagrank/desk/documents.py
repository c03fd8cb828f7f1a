"""What the desk answers, as plain values for JSON: pictures, tags, queues, progress, steps, models, files."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tagrank.annotation import Annotator
from tagrank.annotation.explanation import Contribution, explain
from tagrank.archive import Archive, ArchivedPicture, Cell
from tagrank.archive.exports import export_sidecars, export_tags, list_path
from tagrank.archive.records import Step, Undone
from tagrank.data.vocabulary import TagChange, say_change
from tagrank.desk.learning.models import PROPOSED
from tagrank.desk.queues import QUEUES, Queue, is_doubtful, make_queue
from tagrank.desk.review import Page, Review
from tagrank.desk.shifts import known_by
from tagrank.desk.states import DOUBTED, OPEN, is_in_state, state_of
from tagrank.errors import nearest

MOST_COMPLETIONS = 20
N_EXAMPLES = 6  # training pictures for and against a tag
FEWEST_ANSWERS = 5  # about a tag before it is called complete


def progress_json(review: Review) -> dict[str, Any]:
    """The numbers of the archive and of its review."""
    tallies = [review.table.tally(column) for column in range(len(review.table.tags))]
    sums = {word: sum(tally[word] for tally in tallies) for word in ("yes", "no", "skip")}
    n_reviewed, n_pictures = int(review.is_reviewed.sum()), len(review.table.ids)
    return {
        "decisions": sum(sums.values()),
        **sums,
        "reviewed": n_reviewed,
        "share_reviewed": n_reviewed / n_pictures if n_pictures else 0.0,
        "tags_complete": sum(row["complete"] for row in tag_rows(review)),
        "missing": review.estimate.interval(),
    }


def archive_json(review: Review, name: str) -> dict[str, Any]:
    """How large the archive is."""
    n_pictures, n_tagged = len(review.table.ids), review.table.n_tagged
    sizes = {"pictures": n_pictures, "tagged": n_tagged, "untagged": n_pictures - n_tagged}
    return {"name": name, **sizes, "tags": len(review.table.tags)}


def queue_rows(review: Review) -> list[dict[str, Any]]:
    """Every queue, and how much is left of it."""
    return [
        {
            "name": name,
            "title": queue.title,
            "about": queue.told(review.table, n_left),
            "count": queue.n_wanted(n_left, review.table),
        }
        for name, queue in QUEUES.items()
        for n_left in [_n_left(review, queue)]
    ]


def _n_left(review: Review, queue: type[Queue]) -> int:
    """Items or pictures; of a queue that needs a tag, the tags that are not complete."""
    if queue.needs_tag:
        return sum(not row["complete"] for row in tag_rows(review))
    whole = make_queue(queue.name)
    return review.n_pictures(whole) if queue.by_picture else review.total(whole)


def tag_rows(review: Review, text: str = "") -> list[dict[str, Any]]:
    """Every tag with its numbers, or those that contain a text.

    A tag is complete when it was answered about a few times and no undecided proposal is left.
    """
    _, columns = review.proposed()
    tags = list(review.table.tags)
    proposed = np.bincount(columns, minlength=len(tags))
    rows = []
    for column in (j for j, tag in enumerate(tags) if text.casefold() in tag.casefold()):
        tally = review.table.tally(column)
        is_seen = tally["yes"] + tally["no"] >= FEWEST_ANSWERS
        rows.append(
            {
                "tag": tags[column],
                "present": tally["present"],
                "proposed": int(proposed[column]),
                "yes": tally["yes"],
                "no": tally["no"],
                "complete": is_seen and not proposed[column],
            }
        )
    return rows


def completions_json(review: Review, text: str) -> dict[str, Any]:
    """Tags that a text may become, whether it is one, what it is a synonym of, and what is near it."""
    tag, table = text.strip(), review.table
    is_known = table.column(tag) is not None
    near = [] if is_known or not tag else nearest(tag, list(table.tags))
    meant = review.vocabulary.synonyms.get(tag)
    return {"tags": _completions(review, text), "known": is_known, "near": near, "meant": meant}


def _completions(review: Review, text: str) -> list[str]:
    """Tags that a text may become: first those that begin with it, the most frequent first.

    A tag is found by its synonyms, too, after those that are found by name.
    """
    typed, table = text.strip().casefold(), review.table
    by_name = [(j, tag.casefold()) for j, tag in enumerate(list(table.tags)) if typed in tag.casefold()]
    by_name.sort(key=lambda one: (not one[1].startswith(typed), -table.tally(one[0])["present"], one[1]))
    by_synonym = [
        tag
        for word, tag in review.vocabulary.synonyms.items()
        if typed and word.casefold().startswith(typed) and table.column(tag) is not None
    ]
    names = [table.tags[j] for j, _ in by_name] + by_synonym
    return list(dict.fromkeys(names))[:MOST_COMPLETIONS]


def picture_json(picture: ArchivedPicture) -> dict[str, Any]:
    """A picture for pages; no path."""
    return {
        "id": picture.id,
        "name": picture.name,
        "folder": picture.folder,
        "date": picture.date,
        "width": picture.width,
        "height": picture.height,
        "tagged": picture.is_tagged,
        "reviewed": picture.is_reviewed,
        "changed": picture.is_changed,
    }


def page_json(review: Review, archive: Archive, page: Page, queue: Queue) -> dict[str, Any]:
    """A page of a wall: pictures, each with one of its tags, and what becomes of those that nobody marks."""
    # a column of -1: there is no tag to ask about
    pairs = [pair for pair in page.items if pair[1] >= 0]
    pictures = archive.pictures_of([int(review.table.ids[row]) for row, _ in pairs])
    return {
        "items": [
            {"picture": picture_json(picture)} | _pair_json(review, row, column)
            for picture, (row, column) in zip(pictures, pairs, strict=True)
        ],
        "cursor": page.cursor,
        "total": review.total(queue),
        "rule": page.rule,
        "right": None if page.right is None else round(page.right, 2),
        "nothing": None if pairs else review.why_nothing(queue, is_wall=True),
    }


def no_picture_json(review: Review, queue: Queue) -> dict[str, Any]:
    """In the place of `picture_tags_json` at the end of a queue."""
    empty: dict[str, Any] = {"tags": [], "proposed": [], "doubtful": [], "rejected": []}
    return {"picture": None, **empty, "left": 0, "nothing": review.why_nothing(queue, is_wall=False)}


def picture_tags_json(review: Review, archive: Archive, picture: int, queue: Queue) -> dict[str, Any]:
    """A picture with its tags, present, proposed, doubted and rejected, and how much is left of a queue."""
    row = review.table.row(picture)
    nobody = {"listed": False, "answer": None, "by": None}
    answers = {
        tag: {"listed": known.is_listed, "answer": known.answer, "by": known.who}
        for tag, known in archive.states_of(picture).items()
    }
    probabilities = review.probabilities.of_rows(np.array([row]))[0]
    codes = review.table.codes[row, : len(probabilities)]
    n_present = review.table.n_present_of_tags()[: len(codes)]
    is_doubted = (codes == DOUBTED) & is_doubtful(probabilities, n_present, review.table.n_tagged)
    is_present = is_in_state(codes, "present") & ~is_doubted
    is_rejected = (codes != OPEN) & ~is_in_state(codes, "present")

    def pairs(columns: Iterable[int]) -> list[dict[str, Any]]:
        tags = review.table.tags
        return [_pair_json(review, row, int(j)) | answers.get(tags[int(j)], nobody) for j in columns]

    doubted = np.flatnonzero(is_doubted)
    is_of_queue = doubted == review.table.column(queue.tag)
    doubted = doubted[np.lexsort((probabilities[doubted], ~is_of_queue))]
    return {
        "picture": picture_json(archive.picture(picture)),
        "tags": pairs(np.flatnonzero(is_present)),
        "proposed": pairs(review.proposed_columns(queue, row)),
        "doubtful": pairs(doubted),
        "rejected": pairs(np.flatnonzero(is_rejected)),
        "left": review.n_pictures(queue),
        "nothing": None,
    }


def moved_json(review: Review, queue: Queue, pictures: set[int]) -> dict[str, Any]:
    """What is proposed for a picture after an answer about it; nothing for several, as those of a wall."""
    if len(pictures) != 1 or (picture := next(iter(pictures))) not in review.table:
        return {}
    row = review.table.row(picture)
    return {"proposed": [_pair_json(review, row, int(j)) for j in review.proposed_columns(queue, row)]}


def picture_rows(review: Review, archive: Archive, ids: Sequence[int]) -> list[dict[str, Any]]:
    """Pictures with the names of their tags."""
    return [picture_json(one) | tag_names_json(review, one.id) for one in archive.pictures_of(ids)]


def tag_names_json(review: Review, picture: int) -> dict[str, Any]:
    """The names of the tags that a picture has, and how many are proposed for it."""
    if picture not in review.table:
        return {"tags": [], "proposed": 0}
    row, tags = review.table.row(picture), review.table.tags
    codes = review.table.codes[row, : len(tags)]
    probabilities = review.probabilities.of_rows(np.array([row]))[0]
    n_proposed = np.count_nonzero((codes[: len(probabilities)] == OPEN) & (probabilities >= PROPOSED))
    return {
        "tags": [tags[j] for j in np.flatnonzero(is_in_state(codes, "present"))],
        "proposed": int(n_proposed),
    }


def _pair_json(review: Review, row: int, column: int) -> dict[str, Any]:
    probability = float(review.probabilities.of_pairs(np.array([row]), np.array([column]))[0])
    return {
        "tag": review.table.tags[column],
        "probability": None if np.isnan(probability) else round(probability, 4),
        "state": state_of(int(review.table.codes[row, column])),
    }


def known_tags(review: Review, picture: int) -> dict[str, int]:
    """The tags that are known of a picture: 1 if it has them, -1 if somebody decided that it has not."""
    table = review.table
    known = known_by(table.codes[table.row(picture), : len(table.tags)])
    return {table.tags[j]: int(known[j]) for j in np.flatnonzero(known)}


def why_json(
    annotator: Annotator, path: Path, tag: str, ids: Mapping[str, int], known: Mapping[str, int]
) -> dict[str, Any]:
    """What each training picture and each set of features adds to the score of a tag.

    Parameters
    ----------
    annotator : the current model
    path : the picture
    tag : one that the model knows
    ids : name of a picture to its number; training pictures that are gone have none, and are told with None
    known : as `known_tags` gives it; what these tags say about this one is told, too
    """
    states = np.array([[known.get(one, 0) for one in annotator.tags]])
    (reasons,) = explain(annotator, [str(path)], tags=[tag], n_examples=N_EXAMPLES, known=states)

    def tell(examples: tuple[Contribution, ...]) -> list[dict[str, Any]]:
        return [{"picture": ids.get(one.name)} | one._asdict() for one in examples]

    return {
        "tag": tag,
        "probability": reasons.probability,
        "note": reasons.note,
        "for": tell(reasons.for_),
        "against": tell(reasons.against),
        "features": dict(reasons.shares),
        "known": [one._asdict() for one in reasons.known],
    }


def step_json(step: Step) -> dict[str, Any]:
    """A step for pages; "said" tells in words what it was."""
    same = ("id", "picture", "name", "tag", "answer", "before")
    return {
        **{name: getattr(step, name) for name in ("batch", "at", "queue", "answers")},
        "by": step.who,
        "undone": step.undone_by is not None,
        "undone_by": step.undone_by,
        "said": step_words(sum(step.answers.values()), step.n_tags, step.tags, step.n_reviewed, step.changes),
        "shown": [{name: getattr(one, name) for name in same} for one in step.decisions],
        "reviewed": [{"picture": picture, "name": name} for picture, name in step.reviewed],
        "n_reviewed": step.n_reviewed,
    }


def decision_rows(
    archive: Archive, *, limit: int, before: int | None = None, who: str | None = None
) -> list[dict[str, Any]]:
    """Decisions for pages, the latest first."""
    same = ("id", "batch", "picture", "name", "tag", "answer", "before", "at", "queue")
    return [
        {name: getattr(one, name) for name in same} | {"by": one.who, "undone": one.is_undone}
        for one in archive.history(limit, before=before, who=who)
    ]


def cell_rows(archive: Archive, cells: Iterable[Cell]) -> list[dict[str, Any]]:
    """Pairs of picture and tag after something changed."""
    cells = list(cells)
    names = {one.id: one.name for one in archive.pictures_of(list({cell.picture for cell in cells}))}
    return [
        {"picture": cell.picture, "name": names[cell.picture], "tag": cell.tag, "state": cell.state}
        for cell in cells
    ]


def undone_json(archive: Archive, undone: Undone) -> dict[str, Any]:
    """A step that was taken back; "said" tells which it was."""
    return {
        "batch": undone.batch,
        "restored": cell_rows(archive, undone.restored),
        "kept": cell_rows(archive, undone.kept),
        "reviewed": list(undone.reviewed),
        "said": undone_words(undone),
    }


def undone_words(undone: Undone) -> str:
    """What was taken back, as a sentence."""
    tags = list(dict.fromkeys(cell.tag for cell in undone.restored))
    what = step_words(len(undone.restored), len(tags), tags, len(undone.reviewed), undone.changes)
    kept = f"; later decisions about the same tags are kept ({len(undone.kept):,})" if undone.kept else ""
    return f"{what} undone{kept}."


def step_words(
    n_answers: int, n_tags: int, tags: Sequence[str], n_reviewed: int, changes: Sequence[TagChange] = ()
) -> str:
    """What a step was: "3 decisions about “sky”", "1 picture marked as done", "a change of tags (...)"."""
    parts = []
    if n_answers or not (n_reviewed or changes):
        about = f" about “{tags[0]}”" if n_tags == 1 else f" about {n_tags:,} tags" if n_tags else ""
        parts.append(f"{_several(n_answers, 'decision')}{about}")
    if n_reviewed:
        parts.append(f"{_several(n_reviewed, 'picture')} marked as done")
    if changes:
        more = f" and {len(changes) - 1:,} more" if len(changes) > 1 else ""
        parts.append(f"a change of tags ({say_change(changes[0])}{more})")
    return " and ".join(parts)


def _several(number: int, one: str) -> str:
    return f"{number:,} {one}{'' if number == 1 else 's'}"


def sidecars_json(archive: Archive, *, style: str, dry_run: bool, follow_links: bool) -> dict[str, Any]:
    """Write all tags beside the pictures, or only tell what would be written."""
    written = export_sidecars(archive, style=style, dry_run=dry_run, follow_links=follow_links).to_dict()
    for change in written["changes"]:
        # people at other machines know the folder by its name only
        change["sidecar"] = os.path.relpath(change["sidecar"], archive.folder)
    return written


def tag_list_json(archive: Archive, *, dry_run: bool, tells_place: bool) -> dict[str, Any]:
    """Write all tags into the list of the folder, or only tell what would be written.

    Unless `tells_place`, people at other machines are not told where the user keeps the former list.
    """
    written = export_tags(archive, list_path(archive), dry_run=dry_run).to_dict()
    kept = written["kept"]
    name = os.path.basename(written["path"])
    return written | {"path": name, "is_kept": kept is not None, "kept": kept if tells_place else None}
