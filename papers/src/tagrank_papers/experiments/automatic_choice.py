"""What `Annotator()` chooses by itself, against scikit-learn's logistic regression, one label at a time.

Both learn from the training part and are measured on the test part; both choose by the mean of image AUC and
image MAP on three folds.
"""

import warnings

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
    *("corel5k_images_260", "coco_multilabel_4k"),
    *("corel5k", "bibtex", "corel16k001", "rcv1_subset1", "delicious"),
)
TUNED_ON = {"delicious": 2000, "corel5k_images_260": 1500}  # rows for the C of the peer; all take hours
MOST_BELOW = 0.3  # points that the choice may rank worse than the peer


def run(*, only=(*SETS, DOCUMENTS)):
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
    ours = best_time(Annotator(features=features).fit, train, repeats=1)
    peer = best_time(rank_by_regression, train, test, tuned_on=tuned_on, repeats=1)
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
    header = ("data", "train", "test", "tags", "AUC", "peer", "differ", "MAP", "peer", "differ")
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
    return f"{ours:.2f}", f"{peer:.2f}", f"{ours - peer:+.2f} ± {line[f'{measure}_error']:.2f}"


def _chosen(lines):
    header = ("data", "chosen", "lead", "seconds", "C of the peer", "its seconds")
    rows = [
        [
            line["data"],
            line["chosen"],
            f"{100 * line['lead']:.2f}",
            f"{line['seconds']:.1f}",
            f"{line['peer_C']:g}",
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
    aim = f"The aim was: never more than {MOST_BELOW:g} points below in either, above on most."
    return " ".join([aim, *sentences])
