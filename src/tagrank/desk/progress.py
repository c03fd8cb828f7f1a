"""How far a review is: decisions, pictures reviewed, tags completed, tags still missing."""

from typing import Any

import numpy as np

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
    """Tags that a text may become: first those that begin with it, the most frequent first."""
    wanted = text.strip().casefold()
    found = [(j, tag.casefold()) for j, tag in enumerate(list(view.table.tags)) if wanted in tag.casefold()]
    found.sort(key=lambda one: (not one[1].startswith(wanted), -view.table.tally(one[0])["present"], one[1]))
    return [view.table.tags[j] for j, _ in found[:MOST_COMPLETIONS]]
