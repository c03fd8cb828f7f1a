"""What `Annotator()` chooses by itself, against scikit-learn's logistic regression, one label at a time.

Both learn from the training part and are measured on the test part; both choose by the mean of image AUC and
image MAP on three folds.
"""

import warnings

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from tagrank.annotation import Annotator
from tagrank.data import LabelStratifiedKFold
from tagrank.features import PRESETS
from tagrank.metrics import image_auc, image_average_precision
from tagrank.resources import limited_threads
from tagrank_papers.figures import Answer, Figures
from tagrank_papers.measuring import best_time
from tagrank_papers.protocols.data import DRAWN, dense, read_parts
from tagrank_papers.text import markdown_table, show

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
    peer = best_time(rank_by_peer, train, test, tuned_on=tuned_on, repeats=1)
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


EXPONENTS, FIRST_EXPONENT = range(-4, 3), -1  # of ten: which C there are, and where the search begins
FOLDS, SEED, MOST_STEPS = 3, 0, 300
CERTAIN = 20.0  # log-odds of labels that no sample, or every one, has in training


def rank_by_peer(train, test, *, tuned_on=None):
    """Log-odds of the test rows at the C that is best on held-out folds, and that C.

    C is chosen on `tuned_on` rows of the training part, drawn at random; on all of them by default.
    """
    X, Z = columns(train), columns(test)
    if not sparse.issparse(X):
        scaler = StandardScaler().fit(X)
        X, Z = scaler.transform(X), scaler.transform(Z)
    Y = (train.states() > 0).astype(float)
    some = np.sort(np.random.default_rng(SEED).permutation(len(Y))[:tuned_on])
    cost = choose_cost(X[some], Y[some])
    return fit_and_rank(X, Y, Z, cost), cost


def columns(rows):
    """All columns side by side; of pictures those of their embeddings."""
    views = [rows.views[name] for name in PRESETS["embedding"] if name in rows.views]
    views = views or list(rows.views.values())
    if len(views) > 1 or not sparse.issparse(views[0]):
        return np.hstack([dense(view) for view in views])
    X = sparse.csr_matrix(views[0], copy=True)
    # liblinear takes no others
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X


def choose_cost(X, Y):
    """The power of ten, as C, below and above which the held-out folds are ranked worse."""
    best, value = FIRST_EXPONENT, hold_out(X, Y, 10.0**FIRST_EXPONENT)
    for step in (-1, 1):
        while (other := best + step) in EXPONENTS and (its := hold_out(X, Y, 10.0**other)) > value:
            best, value = other, its
        if best != FIRST_EXPONENT:
            break
    return 10.0**best


def hold_out(X, Y, cost):
    """The mean over folds of image AUC and image MAP, added up."""
    values = []
    for train, test in LabelStratifiedKFold(FOLDS, shuffle=True, random_state=SEED).split(Y, Y):
        scores = fit_and_rank(X[train], Y[train], X[test], cost)
        values.append(image_auc(Y[test], scores) + image_average_precision(Y[test], scores))
    return float(np.mean(values))


def fit_and_rank(X, Y, Z, cost):
    solver = "liblinear" if sparse.issparse(X) else "lbfgs"
    scores = np.tile(np.where(Y.any(axis=0), CERTAIN, -CERTAIN), (Z.shape[0], 1))
    # products of one label are too small to share
    with warnings.catch_warnings(), limited_threads(1):
        warnings.simplefilter("ignore", ConvergenceWarning)
        for label in np.flatnonzero(Y.any(axis=0) & ~Y.all(axis=0)):
            model = LogisticRegression(C=cost, solver=solver, max_iter=MOST_STEPS, random_state=SEED)
            scores[:, label] = model.fit(X, Y[:, label]).decision_function(Z)
    return scores


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

MOST_BELOW = 0.3  # points that the choice may rank worse than the peer
TUNED_ON = {"delicious": 2000, "corel5k_images_260": 1500}  # rows for the C of the peer; all take hours
INTRO = f"""
# The automatic choice against logistic regression

Measured by `tagrank reproduce automatic-choice`; written by `make docs` from the figures that are kept, with
machine and versions, in `papers/src/tagrank_papers/results/automatic_choice.json`. Do not edit it by hand.

- Ours is `Annotator()` with nothing given: it chooses among four methods, with and without intercept, kernels
  and C, and may add up two models. Its log-odds are what is ranked by.
- The peer is scikit-learn's `LogisticRegression`, one tag after another: liblinear on sparse rows, lbfgs on
  dense columns, which are brought to mean 0 and deviation 1. One C for all tags, a power of ten from
  {10.0 ** EXPONENTS[0]:g} to {10.0 ** EXPONENTS[-1]:g}: from {10.0**FIRST_EXPONENT:g} on down, or else up,
  as long as {FOLDS} folds, in which each tag keeps its share, are ranked better; by the mean of image AUC and
  image MAP, which is what ours goes by. On delicious the peer chooses C on {TUNED_ON["delicious"]:,} rows
  drawn at random, on the photographs of Corel5k on {TUNED_ON["corel5k_images_260"]:,}; it is trained on all.
- Of photographs ours sees what `tagrank train` takes (two embeddings, dense SIFT, colour), the peer the two
  embeddings side by side.
- The official parts; where there are none (corel16k001, rcv1_subset1), a third is held out for the test.
  Everything is chosen on the training part. Image AUC and 11-point image MAP in percent.
- Seconds: choosing and training, picture features in the cache. Other programs kept the two cores busy, so
  that they tell the order of magnitude only.
- Differences are in points, with their standard error over the test samples: what is below two of them may be
  chance. One split, one seed.
"""


def render_page(lines, missing, machine):
    """The page: what was aimed at and reached, both tables."""
    parts = [INTRO.strip(), f"Measured on {machine}.", "## Ranking", _ranking(lines), _verdict(lines)]
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
