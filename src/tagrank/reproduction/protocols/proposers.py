"""Who else proposes missing tags: one logistic regression for each label, and what cleanlab makes of it."""

import numpy as np
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from tagrank.annotation.describing import PICTURES
from tagrank.annotation.scaling import fit_scaler
from tagrank.data import LabelStratifiedKFold
from tagrank.kernels import Gaussian
from tagrank.reproduction.protocols.data import dense

SEED, FOLDS = 0, 5
LOGISTIC_COSTS = (0.001, 0.01, 0.1, 1.0)
MOST_TUNED = 20
MOST_COLUMNS = 300


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
