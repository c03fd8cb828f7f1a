"""How many tags hidden on purpose does `missing` find? Against cleanlab and label frequency.

A share of all present labels is hidden (they look absent). Every proposer then orders all absent pairs of
sample and label, and is measured by where the hidden ones stand.
"""

import time
import warnings

import numpy as np
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, log_loss

from tagrank.annotation.choosing import Recipe
from tagrank.annotation.describing import PICTURES, describe_pictures
from tagrank.annotation.scaling import fit_scaler
from tagrank.commands.missing.held_out import hold_out
from tagrank.data import LabelStratifiedKFold, hide_labels, load_dataset
from tagrank.data.drawn_pictures import draw_pictures
from tagrank.features import choose_features, usual_features
from tagrank.kernels import Gaussian
from tagrank.resources import limited_threads
from tagrank_papers.figures import Answer, Figures
from tagrank_papers.lines import listed, where
from tagrank_papers.protocols.data import dense
from tagrank_papers.text import markdown_table, read_text, show

TEXT = read_text("missing_tags")
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
SHOWN = ("data", "share", "proposer", "average_precision", "precision_at_100", "seconds")
FIRST = (100, 500)  # proposals, of which the share of hidden ones is shown
SEED, FOLDS = 0, 5
LOGISTIC_COSTS = (0.001, 0.01, 0.1, 1.0)
MOST_TUNED = 20
MOST_COLUMNS = 300


def run(*, only=tuple(SHARES), cleanlab=True):
    warnings.filterwarnings("ignore", message=".*never positive in training")
    lines = []
    for name in only:
        rows, features = load(name)
        for share in SHARES.get(name, (0.4,)):
            with limited_threads(1 if name == DRAWN else None):  # small problems are not worth sharing
                for line in measure(rows, features, share, cleanlab):
                    lines.append({"data": name, **line})
                    show(lines[-1], *SHOWN)
        yield lines


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
    # methods are compared by what they see in a picture
    found = hold_out(rows, recipe, features=features, folds=FOLDS, known_tags=False, seed=SEED)
    return np.where(found.is_judged, found.probabilities, 0.0)


def regress(rows):
    """Held-out probabilities of one logistic regression for each label; 0 where it has no positive."""
    views = {name: matrix for name, matrix in rows.views.items() if name != PICTURES}
    X = np.hstack([scaled(view, name) for name, view in views.items()])
    if min(X.shape) > MOST_COLUMNS:
        X = PCA(MOST_COLUMNS, random_state=SEED).fit_transform(X)
    present = rows.states() > 0
    folds = list(LabelStratifiedKFold(FOLDS, shuffle=True, random_state=SEED).split(X, rows.labels))
    frequent = np.argsort(-present.sum(axis=0), kind="stable")[:MOST_TUNED]
    C = min(LOGISTIC_COSTS, key=lambda cost: log_loss_of(X, present, frequent, folds[0], cost))
    values = np.zeros(present.shape)
    for train, test in folds:
        for label in np.flatnonzero(np.ptp(present[train].astype(int), axis=0)):
            model = fit_logistic(X[train], present[train, label], C)
            values[test, label] = model.predict_proba(X[test])[:, 1]
    return values


def log_loss_of(X, present, labels, fold, cost):
    train, test = fold
    return sum(
        log_loss(
            present[test, j],
            fit_logistic(X[train], present[train, j], cost).predict_proba(X[test]),
            labels=[0, 1],
        )
        for j in labels
    )


def fit_logistic(X, is_present, cost):
    return LogisticRegression(C=cost, max_iter=1000).fit(X, is_present)


def scaled(view, name):
    """Columns scaled as for a Gaussian kernel."""
    scaler = fit_scaler(view, "auto", Gaussian(), name)
    return dense(view if scaler is None else scaler.apply(view), dtype=None)


def find_issues(present, probabilities):
    """The pairs that cleanlab's filter flags before all others, both by probability."""
    from cleanlab.multilabel_classification.filter import find_multilabel_issues_per_class

    judged = np.any(present, axis=0)
    flags = find_multilabel_issues_per_class(as_lists(present[:, judged]), probabilities[:, judged], n_jobs=1)
    values = probabilities.copy()
    values[:, judged] += np.asarray(flags)
    return values


def adjust(present, probabilities):
    """1 - quality of an absent label, from probabilities that cleanlab corrected label by label."""
    from cleanlab.multilabel_classification.rank import get_label_quality_scores_per_class

    judged = np.any(present, axis=0)
    quality = get_label_quality_scores_per_class(
        as_lists(present[:, judged]), probabilities[:, judged], adjust_pred_probs=True
    )
    values = np.zeros(present.shape)
    values[:, judged] = 1 - np.asarray(quality).reshape(len(present), -1)
    return values


def as_lists(present):
    return [np.flatnonzero(row).tolist() for row in present]


# Its answers to tables


def answer(table, results):
    found, cases = {}, {}
    for line in results:
        case = f"{line['data']}, {line['share']:.0%}"
        cases[case] = None
        found.setdefault(line["proposer"], {})[case] = f"{line['average_precision']:.3f}"
    rows = {who: tuple(values.get(case, "") for case in cases) for who, values in found.items()}
    return Answer(Figures(tuple(cases), rows), "Average precision of the hidden tags among all absent ones.")


# Its page


def render(results, machine):
    """The page: a table for each data set and share, the best of each column in bold."""
    parts = [
        TEXT.intro.format(
            folds=FOLDS,
            costs=listed(LOGISTIC_COSTS),
            most_tuned=MOST_TUNED,
            most_columns=MOST_COLUMNS,
        ).strip(),
        f"Measured on {machine['processor']}, {machine['cores']} cores.",
    ]
    for data, share in dict.fromkeys((line["data"], line["share"]) for line in results):
        some = where(results, data=data, share=share)
        columns = ["average_precision", *(f"precision_at_{k}" for k in FIRST), "found"]
        best = {column: f"{max(line[column] for line in some):.3f}" for column in columns}
        rows = []
        for line in some:
            cells = {column: f"{line[column]:.3f}" for column in columns}
            bold = (f"**{cell}**" if cell == best[column] else cell for column, cell in cells.items())
            rows.append([line["proposer"], *bold])
        n_hidden, n_candidates = some[0]["n_hidden"], some[0]["n_candidates"]
        parts.append(f"## {data}, {share:.0%} hidden")
        parts.append(
            f"{n_hidden:,} hidden labels among {n_candidates:,} absent ones ({n_hidden / n_candidates:.1%})."
        )
        header = ["proposer", "AP", *(f"P@{k}" for k in FIRST), "found"]
        parts.append(markdown_table(header, rows))
    return {PAGES[0]: "\n\n".join(parts) + "\n"}
