"""scikit-learn's logistic regression, one label after another: what a user would pick instead."""

import warnings

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from tagrank.data import LabelStratifiedKFold
from tagrank.features import PRESETS
from tagrank.metrics import image_auc, image_average_precision
from tagrank.parallel import limited_threads
from tagrank.reproduction.protocols.data import dense

EXPONENTS, FIRST_EXPONENT = range(-4, 3), -1  # of ten: which C there are, and where the search begins
FOLDS, SEED, MOST_STEPS = 3, 0, 300
CERTAIN = 20.0  # log-odds of labels that no sample, or every one, has in training


def rank(train, test, *, tuned_on=None):
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
