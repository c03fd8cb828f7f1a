"""What `Annotator()` chooses by itself, against scikit-learn's logistic regression, one label at a time.

Both learn from the training part and are measured on the test part; both choose by the mean of image AUC and
image MAP on three folds.
"""

import time
import warnings
from copy import copy

import numpy as np

from tagrank.annotation import Annotator
from tagrank.metrics import image_auc, image_average_precision
from tagrank_papers.figures import Answer, Figures
from tagrank_papers.measuring import best_time
from tagrank_papers.protocols.data import DOCUMENTS, DRAWN, dense, read_parts
from tagrank_papers.protocols.peers import EXPONENTS, FIRST_EXPONENT, FOLDS, rank_by_regression
from tagrank_papers.text import markdown_table, read_text, show

TEXT = read_text("automatic_choice")
PAGES = ("choice-results.md",)
QUICK = {"only": (DRAWN,)}
SETS = (
    *("emotions", "scene", "birds", "yeast", "medical", "genbase", "enron"),
    *("iaprtc12", "coco_multilabel_4k", "voc2006", "corel5k", "bibtex", "corel16k001"),
    *("corel5k_images_260", "delicious"),
)
TUNED_ON = {"delicious": 2000, "corel5k_images_260": 1500}  # rows for the C of the peer; all take hours
MOST_BELOW = 0.3  # points that the choice may rank worse than the peer
MOST_LOST = 0.2  # points that probabilities may rank worse than scores


def run(*, only=(DOCUMENTS, *SETS)):
    warnings.filterwarnings("ignore", message=".*never present in training")
    lines = []
    for name in only:
        lines.append({"data": name, **measure(*read_parts(name), TUNED_ON.get(name))})
        show(lines[-1], *(key for key in lines[-1] if key != "choice"))
        yield lines


def render(results, machine):
    missing = [name for name in (*SETS, DOCUMENTS) if name not in {line["data"] for line in results}]
    return {PAGES[0]: render_page(results, missing, f"{machine['processor']}, {machine['cores']} cores")}


def measure(train, test, features, tuned_on):
    """One line: image AUC and MAP of both in percent, what they chose, and seconds."""
    truth = dense(test.Y)
    started = time.process_time()
    ours = best_time(Annotator(features=features).fit, train, repeats=1)
    processor_seconds = time.process_time() - started
    peer = best_time(rank_by_regression, train, test, tuned_on=tuned_on, repeats=1)
    scores, peer_cost, peer_rows = peer.answer
    by_score = order_by_score(ours.answer, test)
    return {
        "n_train": len(train),
        "n_test": len(test),
        "n_tags": len(train.tags),
        **compare(image_auc, "auc", truth, ours.answer.scores(test), scores),
        **compare(image_average_precision, "map", truth, ours.answer.scores(test), scores),
        "score_auc": 100 * float(image_auc(truth, by_score)),
        "score_map": 100 * float(image_average_precision(truth, by_score)),
        "chosen": ours.answer.choice_.words,
        "lead": ours.answer.choice_.lead,
        "peer_C": peer_cost,
        "peer_rows": peer_rows,
        "seconds": ours.seconds,
        "processor_seconds": processor_seconds,
        "peer_seconds": peer.seconds,
        "choice": ours.answer.choice_.to_dict(),
    }


def order_by_score(annotator, test):
    """What the chosen model says before it is made log-odds."""
    plain = copy(annotator)
    plain.estimator_ = annotator.estimator_.estimator_
    return plain.scores(test)


def compare(measure, name, truth, ours, peer):
    """A measure of both in percent, and the standard error of their difference over the test samples."""
    rows = [slice(row, row + 1) for row, one in enumerate(truth) if (one > 0).any() and (one == 0).any()]
    ours, peer = (
        100 * np.array([measure(truth[row], scores[row]) for row in rows]) for scores in (ours, peer)
    )
    return {
        f"ours_{name}": float(ours.mean()),
        f"peer_{name}": float(peer.mean()),
        f"{name}_error": float((ours - peer).std(ddof=1) / np.sqrt(len(rows))),
    }


# Its answers to tables


def answer(table, results):
    keys = ("ours_auc", "peer_auc", "ours_map", "peer_map")
    rows = {line["data"]: tuple(f"{line[key]:.2f}" for key in keys) for line in results}
    above = sum(line["ours_map"] > line["peer_map"] for line in results)
    return Answer(
        Figures(("our AUC", "peer's AUC", "our MAP", "peer's MAP"), rows),
        f"In image MAP the choice is above its peer on {above} of {len(results)} sets.",
    )


# Its page


def render_page(lines, missing, machine):
    """The page: what was aimed at and reached, both tables."""
    parts = [
        TEXT.intro.format(
            lowest=10.0 ** EXPONENTS[0],
            highest=10.0 ** EXPONENTS[-1],
            first=10.0**FIRST_EXPONENT,
            folds=FOLDS,
            n_delicious=TUNED_ON["delicious"],
            n_photographs=TUNED_ON["corel5k_images_260"],
        ).strip(),
        f"Measured on {machine}.",
        "## Ranking",
        _ranking(lines),
        _verdict(lines),
    ]
    if missing:
        parts.append(f"Not measured yet: {', '.join(missing)}.")
    parts += ["## What was chosen", _chosen(lines)]
    return "\n\n".join(parts) + "\n"


def _ranking(lines):
    header = ("data", "train", "test", "tags", *2 * ("", "by score", "peer", "differ"))
    header = (*header[:4], "AUC", *header[5:8], "MAP", *header[9:])
    rows = [
        [
            line["data"],
            *(f"{line[key]:,}" for key in ("n_train", "n_test", "n_tags")),
            *_compared(line, "auc"),
            *_compared(line, "map"),
        ]
        for line in lines
    ]
    return markdown_table(header, rows, numbers=True)


def _compared(line, measure):
    ours, peer = line[f"ours_{measure}"], line[f"peer_{measure}"]
    cells = (ours, line[f"score_{measure}"], peer)
    return *(f"{cell:.2f}" for cell in cells), f"{ours - peer:+.2f} ± {line[f'{measure}_error']:.2f}"


def _chosen(lines):
    header = (
        "data",
        "chosen",
        "lead",
        "seconds",
        "processor seconds",
        "C of the peer",
        "its rows",
        "its seconds",
    )
    rows = [
        [
            line["data"],
            line["chosen"],
            f"{100 * line['lead']:.2f}",
            f"{line['seconds']:.1f}",
            f"{line['processor_seconds']:.1f}",
            f"{line['peer_C']:g}",
            line["peer_rows"],
            f"{line['peer_seconds']:.1f}",
        ]
        for line in lines
    ]
    return (
        "Lead: points of the mean of image AUC and MAP, on held-out rows, before the best of what was not "
        f"chosen.\n\n{markdown_table(header, rows)}"
    )


def _verdict(lines):
    """How often it is above, and every set on which it is further below than it should."""
    sentences = []
    for title, measure in (("image AUC", "auc"), ("image MAP", "map")):
        lead = {line["data"]: round(line[f"ours_{measure}"] - line[f"peer_{measure}"], 2) for line in lines}
        above = sum(value > 0 for value in lead.values())
        missed = [f"{name} ({value:+.2f})" for name, value in lead.items() if value < -MOST_BELOW]
        below = f"more than {MOST_BELOW:g} points below"
        sentences.append(
            f"In {title} the choice is above the peer on {above} of {len(lead)} sets, and "
            + (f"{below} on {', '.join(missed)}." if missed else f"nowhere {below}.")
        )
    lost = [
        f"{line['data']} ({title}, {line[f'ours_{measure}'] - line[f'score_{measure}']:+.2f})"
        for line in lines
        for title, measure in (("image AUC", "auc"), ("image MAP", "map"))
        if line[f"ours_{measure}"] < line[f"score_{measure}"] - MOST_LOST
    ]
    sentences.append(
        f"Order by probability is more than {MOST_LOST:g} points below order by score "
        + (f"on {', '.join(lost)}." if lost else "nowhere.")
    )
    aim = f"The aim was: never more than {MOST_BELOW:g} points below in either, above on most."
    return " ".join([aim, *sentences])
