"""What `Annotator()` chooses by itself, against scikit-learn's logistic regression, one label at a time.

Both learn from the training part and are measured on the test part; both choose by the mean of image AUC and
image MAP on three folds.
"""

import warnings

import numpy as np

from tagrank.annotation import Annotator
from tagrank.metrics import image_auc, image_average_precision
from tagrank.reproduction.pages.automatic_choice import TUNED_ON, render_page
from tagrank.reproduction.protocols import logistic_peer
from tagrank.reproduction.protocols.data import DRAWN, dense, read_parts
from tagrank.reproduction.protocols.timing import best_time
from tagrank.reproduction.text import show

PAGES = ("choice-results.md",)
QUICK = {"only": (DRAWN,)}
SETS = (
    *("emotions", "scene", "birds", "yeast", "medical", "genbase", "enron"),
    *("corel5k_images_260", "coco_multilabel_4k"),
    *("corel5k", "bibtex", "corel16k001", "rcv1_subset1", "delicious"),
)


def run(*, only=SETS):
    warnings.filterwarnings("ignore", message=".*never present in training")
    lines = []
    for name in only:
        lines.append({"data": name, **measure(*read_parts(name), TUNED_ON.get(name))})
        show(lines[-1], *(key for key in lines[-1] if key != "choice"))
        yield lines


def render(results, machine):
    missing = [name for name in SETS if name not in {line["data"] for line in results}]
    return {PAGES[0]: render_page(results, missing, f"{machine['processor']}, {machine['cores']} cores")}


def measure(train, test, features, tuned_on):
    """One line: image AUC and MAP of both in percent, what they chose, and seconds."""
    truth = dense(test.Y)
    ours = best_time(Annotator(features=features).fit, train, repeats=1)
    peer = best_time(logistic_peer.rank, train, test, tuned_on=tuned_on, repeats=1)
    scores, peer_cost = peer.answer
    return {
        "n_train": len(train),
        "n_test": len(test),
        "n_tags": len(train.tags),
        **compare(image_auc, "auc", truth, ours.answer.scores(test), scores),
        **compare(image_average_precision, "map", truth, ours.answer.scores(test), scores),
        "chosen": ours.answer.choice_.words,
        "lead": ours.answer.choice_.lead,
        "peer_C": peer_cost,
        "seconds": ours.seconds,
        "peer_seconds": peer.seconds,
        "choice": ours.answer.choice_.to_dict(),
    }


def compare(measure, name, truth, ours, peer):
    """A measure of both in percent, and the standard error of their difference over the test samples."""
    rows = [slice(row, row + 1) for row in range(len(truth)) if truth[row].any() and not truth[row].all()]
    ours, peer = (
        100 * np.array([measure(truth[row], scores[row]) for row in rows]) for scores in (ours, peer)
    )
    return {
        f"ours_{name}": float(ours.mean()),
        f"peer_{name}": float(peer.mean()),
        f"{name}_error": float((ours - peer).std(ddof=1) / np.sqrt(len(rows))),
    }
