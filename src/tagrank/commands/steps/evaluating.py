"""Steps of `evaluate`: tags as the model spells them, what it answers, and which pictures it knows."""

from collections.abc import Sequence

import numpy as np

from tagrank.annotation import Annotator
from tagrank.annotation.describing import kind_of
from tagrank.commands.evaluate import SPELLING
from tagrank.data import Collection, clean_tags
from tagrank.errors import warn
from tagrank.labels import labels_from_states
from tagrank.reports.scores import Answers

MOST_NAMED = 5


def measured_on(rows: Collection, place: str) -> str:
    """What was measured on, in words."""
    return f"on {len(rows):,} {kind_of(rows.views)}{'' if len(rows) == 1 else 's'} {place}"


def flattery_of(rows: Collection, trained_on: np.ndarray) -> str:
    """What is to be said of measuring on training pictures, if it was done."""
    n_seen = int(trained_on.sum())
    if not n_seen:
        return ""
    return f"{n_seen:,} of these {len(rows):,} pictures were used for training, so the figures are too good"


def unseen(rows: Collection, trained_on: np.ndarray) -> Collection:
    """The pictures that the model was not trained on."""
    if not trained_on.any():
        return rows
    if trained_on.all():
        raise ValueError(
            f"the model was trained on all {len(rows):,} pictures; name other pictures to measure on"
        )
    return rows.subset(~trained_on)


def answer(annotator: Annotator, rows: Collection) -> Answers:
    """What a model says about rows whose tags are known, beside what is true."""
    scores = annotator.scores(rows)
    return Answers(
        annotator.tags,
        rows.Y,
        scores,
        annotator.choose(scores),
        annotator.probabilities_of(scores),
    )


def spelled(rows: Collection, annotator: Annotator) -> Collection:
    """The rows with their tags written as in training."""
    found = annotator.metadata.get(SPELLING) or {}
    wanted = {
        name: found[name] for name in ("hierarchy", "fold_case", "synonyms", "parents") if name in found
    }
    return clean_tags(rows, **wanted)


def align_tags(collection: Collection, tags: Sequence[str]) -> Collection:
    """The collection with the label columns of a model, in its order.

    A tag that the collection lacks is absent, as everywhere in a row whose tags are known, and unknown in a
    row about which nothing is known. Tags that only the collection has are left out. Both are warned about.
    """
    if list(collection.tags) == list(tags):
        return collection
    column = {tag: j for j, tag in enumerate(collection.tags)}
    shared = [tag for tag in tags if tag in column]
    if not shared:
        raise ValueError(
            f"the model and {collection.name or 'the data'} have no tag in common; the model knows "
            f"{', '.join(tags[:3])} ..., the data have {', '.join(collection.tags[:3]) or 'none'} ..."
        )
    _warn_differences(
        [tag for tag in tags if tag not in column], [tag for tag in column if tag not in shared]
    )
    otherwise = np.where(collection.known_rows(), np.int8(-1), np.int8(0))
    aligned = np.repeat(otherwise[:, None], len(tags), axis=1)
    is_shared = [tag in column for tag in tags]
    aligned[:, is_shared] = collection.label_matrix.take_columns([column[tag] for tag in shared]).states()
    return collection.with_labels(labels_from_states(aligned), list(tags))


def _warn_differences(missing: Sequence[str], extra: Sequence[str]) -> None:
    if missing:
        warn(f"treating tags of the model that the data do not have as absent: {_counted(missing)}")
    if extra:
        warn(f"ignoring tags of the data that the model does not know: {_counted(extra)}")


def _counted(tags: Sequence[str]) -> str:
    """How many, and the first of them by name."""
    return f"{len(tags)} ({', '.join(tags[:MOST_NAMED])}{', ...' if len(tags) > MOST_NAMED else ''})"
