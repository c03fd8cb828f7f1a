"""How far a review is: decisions, pictures reviewed, tags completed, tags still missing, steps and models."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tagrank.archive.records import Step, Undone
from tagrank.data.vocabulary import TagChange, say_change
from tagrank.desk.memory import View
from tagrank.desk.queues import QUEUES, Wanted

MOST_COMPLETIONS = 20
FEWEST_ANSWERS = 5  # about a tag before it is called complete


def progress_json(view: View) -> dict[str, Any]:
    """The numbers of the archive and of its review."""
    tallies = [view.table.tally(column) for column in range(len(view.table.tags))]
    sums = {word: sum(tally[word] for tally in tallies) for word in ("yes", "no", "skip")}
    n_reviewed, n_pictures = int(view.is_reviewed.sum()), len(view.table.ids)
    return {
        "decisions": sum(sums.values()),
        **sums,
        "reviewed": n_reviewed,
        "share_reviewed": n_reviewed / n_pictures if n_pictures else 0.0,
        "tags_complete": sum(row["complete"] for row in tag_rows(view)),
        "missing": view.estimate.interval(),
    }


def archive_json(view: View, name: str) -> dict[str, Any]:
    """How large the archive is."""
    n_pictures, n_tagged = len(view.table.ids), view.table.n_tagged
    sizes = {"pictures": n_pictures, "tagged": n_tagged, "untagged": n_pictures - n_tagged}
    return {"name": name, **sizes, "tags": len(view.table.tags)}


def queue_rows(view: View) -> list[dict[str, Any]]:
    """Every queue, and how much is left of it; of single tags, those that are not complete."""
    counts = {
        name: view.reader.n_pictures(Wanted(name)) if queue.by_picture else view.reader.total(Wanted(name))
        for name, queue in QUEUES.items()
        if name != "tag"
    }
    counts["tag"] = sum(not row["complete"] for row in tag_rows(view))
    return [
        {"name": name, "title": queue.title, "about": queue.about, "count": counts[name]}
        for name, queue in QUEUES.items()
    ]


def tag_rows(view: View, text: str = "") -> list[dict[str, Any]]:
    """Every tag with its numbers, or those that contain a text.

    A tag is complete when it was answered about a few times and no undecided proposal is left.
    """
    _, columns = view.book.proposed()
    tags = list(view.table.tags)
    proposed = np.bincount(columns, minlength=len(tags))
    rows = []
    for column in (j for j, tag in enumerate(tags) if text.casefold() in tag.casefold()):
        tally = view.table.tally(column)
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


def completions(view: View, text: str) -> list[str]:
    """Tags that a text may become: first those that begin with it, the most frequent first.

    A tag is found by its synonyms, too, after those that are found by name.
    """
    wanted = text.strip().casefold()
    synonyms = view.vocabulary.synonyms.items()
    also = [tag for word, tag in synonyms if wanted and word.casefold().startswith(wanted)]
    found = [(j, tag.casefold()) for j, tag in enumerate(list(view.table.tags)) if wanted in tag.casefold()]
    found.sort(key=lambda one: (not one[1].startswith(wanted), -view.table.tally(one[0])["present"], one[1]))
    names = [view.table.tags[j] for j, _ in found] + [
        tag for tag in also if view.table.column(tag) is not None
    ]
    return list(dict.fromkeys(names))[:MOST_COMPLETIONS]


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


def undone_words(undone: Undone) -> str:
    """What was taken back, as a sentence."""
    tags = list(dict.fromkeys(cell.tag for cell in undone.restored))
    what = step_words(len(undone.restored), len(tags), tags, len(undone.reviewed), undone.changes)
    kept = f"; what was decided again later is kept ({len(undone.kept):,})" if undone.kept else ""
    return f"{what} undone{kept}."


def step_words(
    n_answers: int, n_tags: int, tags: Sequence[str], n_reviewed: int, changes: Sequence[TagChange] = ()
) -> str:
    """What a step was: "3 answers about “sky”", "1 picture marked as done", "a change of tags (...)"."""
    parts = []
    if n_answers or not (n_reviewed or changes):
        about = f" about “{tags[0]}”" if n_tags == 1 else f" about {n_tags:,} tags" if n_tags else ""
        parts.append(f"{_several(n_answers, 'answer')}{about}")
    if n_reviewed:
        parts.append(f"{_several(n_reviewed, 'picture')} marked as done")
    if changes:
        more = f" and {len(changes) - 1:,} more" if len(changes) > 1 else ""
        parts.append(f"a change of tags ({say_change(changes[0])}{more})")
    return " and ".join(parts)


def _several(number: int, one: str) -> str:
    return f"{number:,} {one}{'' if number == 1 else 's'}"


def model_rows(listed: list[dict[str, Any]], current: int | None) -> list[dict[str, Any]]:
    """The facts of models, the newest first, with their quality on the same pictures and labels.

    These are the labels that the newest was trained on, see `learning.changes`. A model that was not measured
    on them (`is_compared` says so) has the quality that it had when it was made.
    """
    newest = listed[0] if listed else {}
    others = newest.get("others", {})
    rows = []
    for facts in listed:
        told = others.get(str(facts["number"]), {}) if facts is not newest else facts
        row = {name: value for name, value in facts.items() if name != "others"} | {
            "quality": told.get("quality", facts.get("quality")),
            "metrics": told.get("metrics", facts["metrics"]),
            "is_compared": "quality" in told,
            "current": facts["number"] == current,
        }
        rows.append(row)
    return rows
