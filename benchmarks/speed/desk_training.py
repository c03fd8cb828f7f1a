"""Trainings of the desk: the first, those after decisions from the last solution and from nothing, a new tag.

The photographs of Corel5k with some of their tags hidden; their features are read from the bank, or computed
when it is run for the first time. A keeper decides on the best proposals by the truth, then it is trained
again: warm, from the solutions before, and cold, with the same model, folds and rows. Quick runs draw rows.
"""

import time
from dataclasses import replace

import numpy as np

from tagrank.data.splits import hide_labels
from tagrank.desk.learning.examples import Examples
from tagrank.desk.learning.learn import learn
from tagrank_papers.text import show

MINUTES = 3
QUICK = {"drawn": 80, "decisions": 10}


def run(*, hidden=0.4, decisions=100, pictures=None, drawn=0):
    rows, features = draw_rows(drawn) if drawn else photographs()
    if pictures is not None:
        rows = rows.subset(np.arange(min(pictures, len(rows))))
    lines = []
    truth = rows.states() > 0
    labels = hide_labels(dense(rows.labels), hidden, random_state=0)
    ids, decided = np.arange(len(rows)), np.zeros(truth.shape, dtype=bool)

    def examples(labels, tags=None):
        collection = rows.with_labels(labels, rows.tags if tags is None else tags)
        mask = np.zeros(labels.shape, dtype=bool)
        mask[:, : decided.shape[1]] = decided
        return Examples(collection, ids, np.nonzero(mask), features)

    first, seconds = timed(learn, examples(labels))
    lines.append(facts("first model", first, seconds, seconds))
    yield lines
    best = np.argsort(np.where(first.states < 0, -first.proposed(), 0), axis=None)[:decisions]
    labels.flat[best], decided.flat[best] = truth.flat[best], True
    cold, cold_seconds = timed(learn, examples(labels), without_solutions(first))
    warm, seconds = timed(learn, examples(labels), first)
    lines.append(facts(f"cold, after {decisions} decisions", cold, cold_seconds, cold_seconds))
    lines.append(facts(f"warm, after {decisions} decisions", warm, seconds, cold_seconds))
    yield lines
    tagged = np.column_stack([labels, np.zeros(len(labels))])
    tagged[np.random.default_rng(0).choice(len(labels), 3, replace=False), -1] = 1
    new, seconds = timed(learn, examples(tagged, [*rows.tags, "new"]), warm)
    lines.append(facts("a new tag on three pictures", new, seconds, cold_seconds))
    yield lines


def without_solutions(learned):
    """The same choice, folds and rows, but nothing to start from."""
    return replace(learned, solutions=learned.solutions.only_folds())


def photographs():
    """Those of Corel5k, with features; what they came from."""
    from tagrank import load_dataset
    from tagrank.annotation.describing import describe_rows

    described = describe_rows(load_dataset("corel5k_images_260"), None, cache=True)
    return described.collection, described.features


def draw_rows(n_rows):
    """Rows that stand in for pictures."""
    from tagrank.data import Collection

    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 6))
    Y = (X @ rng.normal(size=(6, 5)) > 1).astype(float)
    Y[~Y.any(axis=1), 0] = 1
    return Collection({"rows": X}, Y), None


def dense(labels):
    return np.array(labels.todense() if hasattr(labels, "todense") else labels, dtype=float)


def timed(function, *arguments):
    """The answer, and seconds on the wall and of the processor."""
    wall, processor = time.perf_counter(), time.process_time()
    answer = function(*arguments)
    return answer, (time.perf_counter() - wall, time.process_time() - processor)


def facts(case, learned, seconds, peer):
    """One line of the table; the ratio is against the cold training."""
    found = {
        "case": case,
        "seconds": seconds[0],
        "processor_seconds": seconds[1],
        "ratio": peer[0] / seconds[0],
        "processor_ratio": peer[1] / seconds[1],
        "pictures": len(learned.ids),
        "tags": len(learned.tags),
        "passes": int(learned.model.estimator_.n_iter_),
        "gap": learned.gap,
        "objective": float(learned.model.estimator_.primal_objective_),
        "method": learned.chosen.words,
        **{name: float(value) for name, value in learned.metrics.items()},
    }
    show(found, *found)
    return found
