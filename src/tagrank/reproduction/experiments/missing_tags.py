"""How many tags hidden on purpose does `missing` find? Against cleanlab and label frequency.

A share of all present labels is hidden (they look absent). Every proposer then orders all absent pairs of
sample and label, and is measured by where the hidden ones stand.
"""

import time
import warnings

import numpy as np
from sklearn.metrics import average_precision_score

from tagrank.annotation.describing import PICTURES, describe_pictures
from tagrank.annotation.recipe import Recipe
from tagrank.commands.missing.held_out import hold_out
from tagrank.data import hide_labels, load_dataset
from tagrank.data.drawn_pictures import draw_pictures
from tagrank.features import choose_features, usual_features
from tagrank.parallel import limited_threads
from tagrank.reproduction.pages.missing_tags import FIRST, render_page
from tagrank.reproduction.protocols.proposers import FOLDS, SEED, adjust, find_issues, regress
from tagrank.reproduction.text import show

PAGES = ("missing-results.md",)
QUICK = {"only": ("drawn-pictures",), "cleanlab": False}
SHARES = {
    "scene": (0.2, 0.4, 0.6),
    "yeast": (0.2, 0.4, 0.6),
    "corel5k": (0.4,),
    "corel5k_images_260": (0.4,),
}
PROPOSING = (
    "label-ranker",
    "incomplete-label-ranker",
    "one-vs-all",
    "prior-margin",
    "joint-svm",
    "online-joint-svm",
    "label-frequency",
)
DRAWN = "drawn-pictures"
FREQUENCY = "label-frequency"


def run(*, only=tuple(SHARES), cleanlab=True):
    warnings.filterwarnings("ignore", message=".*never positive in training")
    lines = []
    for name in only:
        rows, features = load(name)
        for share in SHARES.get(name, (0.4,)):
            with limited_threads(1 if name == DRAWN else None):  # small problems are not worth sharing
                for line in measure(rows, features, share, cleanlab):
                    lines.append({"data": name, **line})
                    show(
                        lines[-1],
                        "data",
                        "share",
                        "proposer",
                        "average_precision",
                        "precision_at_100",
                        "seconds",
                    )
        yield lines


def render(results, machine):
    return {PAGES[0]: render_page(results, f"{machine['processor']}, {machine['cores']} cores")}


def load(name):
    """A collection, described if it is of pictures, and the features by which it was."""
    if name == DRAWN:
        described = describe_pictures(draw_pictures(100, size=32), choose_features("lbp"), n_jobs=1)
        return described.collection, described.features
    collection = load_dataset(name)
    if PICTURES not in collection.views:
        return collection, None
    described = describe_pictures(collection, choose_features(usual_features()), cache=True)
    return described.collection, described.features


def measure(rows, features, share, with_cleanlab):
    """One line for each proposer."""
    truth = rows.states() > 0
    incomplete = rows.with_labels(hide(rows, share))
    is_candidate = incomplete.states() < 0
    hidden = truth[is_candidate]
    frequent = average_precision_score(hidden, propose(incomplete, features, FREQUENCY)[is_candidate])
    started = time.perf_counter()
    for proposer, values in proposers(incomplete, features, with_cleanlab):
        ordered = hidden[np.argsort(-values[is_candidate], kind="stable")]
        precision = average_precision_score(hidden, values[is_candidate])
        yield {
            "share": share,
            "proposer": proposer,
            "n_hidden": int(hidden.sum()),
            "n_candidates": len(hidden),
            "average_precision": float(precision),
            "ratio_to_frequency": float(precision / frequent),
            **{f"precision_at_{k}": float(ordered[:k].mean()) for k in FIRST},
            **{f"recall_at_{k}": float(ordered[:k].sum() / hidden.sum()) for k in FIRST},
            "found": float(ordered[: hidden.sum()].mean()),
            "seconds": time.perf_counter() - started,
        }
        started = time.perf_counter()


def hide(rows, share):
    """Labels of which a share is hidden; where too few samples have a second label, from all of them."""
    present = np.argwhere(rows.states() > 0)
    if len(present) * (1 - share) >= len(np.unique(present[:, 0])):
        return hide_labels(rows.labels, share, random_state=SEED)
    drawn = np.random.default_rng(SEED).choice(present, round(share * len(present)), replace=False)
    labels = rows.labels.toarray() if hasattr(rows.labels, "toarray") else rows.labels.copy()
    labels[tuple(drawn.T)] = 0
    return labels


def proposers(rows, features, with_cleanlab):
    """Names and how much each finds every pair missing, shape (n_samples, n_labels)."""
    for method in PROPOSING:
        values = propose(rows, features, method)
        yield f"missing, {method}", values
        if method == "label-ranker":
            ranker = values
    yield "logistic regression", (logistic := regress(rows))
    if not with_cleanlab:
        return
    present = rows.states() > 0
    for source, values in (("logistic regression", logistic), ("missing, label-ranker", ranker)):
        yield f"cleanlab issues, {source}", find_issues(present, values)
        yield f"cleanlab adjusted, {source}", adjust(present, values)


def propose(rows, features, method):
    """The probabilities of `missing`; pairs that it cannot judge come last."""
    recipe = Recipe(method, calibration=None, seed=SEED)
    found = hold_out(rows, recipe, features=features, folds=FOLDS, seed=SEED)
    return np.where(found.is_judged, found.probabilities, 0.0)
