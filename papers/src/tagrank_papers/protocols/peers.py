"""What a user would take instead: LIBSVM, logistic regression label by label, himalaya for many kernels."""

import warnings

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import FunctionTransformer, Normalizer, StandardScaler
from sklearn.svm import SVC

from tagrank.data import LabelStratifiedKFold
from tagrank.features import PRESETS
from tagrank.metrics import image_auc, image_average_precision
from tagrank.resources import limited_threads
from tagrank_papers.protocols.data import dense

EXPONENTS, FIRST_EXPONENT = range(-4, 3), -1  # of ten: which C there are, and where the search begins
FOLDS, SEED, MOST_STEPS = 3, 0, 300
# how rows are brought to the peer, which takes what is best on held-out folds
FORMS = {
    "dense": {"standard": StandardScaler()},
    "sparse": {
        "as they are": FunctionTransformer(accept_sparse=True),
        "unit length": Normalizer(),
        "tf-idf": TfidfTransformer(),
    },
}
CERTAIN = 20.0  # log-odds of labels that no sample, or every one, has in training
DRAWS, PENALTIES = 100, np.logspace(-3, 3, 7)  # of himalaya: of weights, its default, and of ridge


def train_peer(K, Y, C, *, n_jobs=None):
    """LIBSVM, one label after another, on a Gram matrix, at its default tolerance."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Label .* is present in all training examples")
        return OneVsRestClassifier(SVC(C=C, kernel="precomputed"), n_jobs=n_jobs).fit(K, Y)


def peer_gap(model, K, Y, C):
    """Relative duality gap of one-vs-rest SVMs with a free bias, summed over labels."""
    primal = dual = 0.0
    for label, machine in enumerate(model.estimators_):
        signs = np.where(Y[:, label] > 0, 1.0, -1.0)
        coefficients = machine.dual_coef_.ravel()
        scores = K[:, machine.support_] @ coefficients
        norm = coefficients @ scores[machine.support_]
        primal += norm / 2 + C * np.maximum(0, 1 - signs * (scores + machine.intercept_[0])).sum()
        dual += np.abs(coefficients).sum() - norm / 2
    return (primal - dual) / primal


def rank_by_regression(train, test, *, tuned_on=None):
    """Log-odds of the test rows at the C and the form of rows that are best on held-out folds, and these two.

    Both are chosen on `tuned_on` rows of the training part, drawn at random; on all of them by default.
    """
    X, Z = _columns(train), _columns(test)
    Y = (train.states() > 0).astype(float)
    some = np.sort(np.random.default_rng(SEED).permutation(len(Y))[:tuned_on])
    tried = []
    for form, scaler in FORMS["sparse" if sparse.issparse(X) else "dense"].items():
        rows = clone(scaler).fit(X).transform(X)
        value, cost = _choose_cost(rows[some], Y[some])
        tried.append((value, cost, form, scaler))
    _, cost, form, scaler = max(tried, key=lambda one: one[0])
    scaler = clone(scaler).fit(X)
    return _fit_and_rank(scaler.transform(X), Y, scaler.transform(Z), cost), cost, form


def _columns(rows):
    """All columns side by side; of pictures those of their embeddings."""
    views = [rows.views[name] for name in PRESETS["embedding"] if name in rows.views]
    views = views or list(rows.views.values())
    if len(views) > 1 or not sparse.issparse(views[0]):
        return np.hstack([dense(view) for view in views])
    X = sparse.csr_matrix(views[0], copy=True)
    # liblinear takes no others
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X


def _choose_cost(X, Y):
    """What held-out folds reach, and the power of ten, as C, below and above which they are ranked worse."""
    best, value = FIRST_EXPONENT, _hold_out(X, Y, 10.0**FIRST_EXPONENT)
    for step in (-1, 1):
        while (other := best + step) in EXPONENTS and (its := _hold_out(X, Y, 10.0**other)) > value:
            best, value = other, its
        if best != FIRST_EXPONENT:
            break
    return value, 10.0**best


def _hold_out(X, Y, cost):
    """The mean over folds of image AUC and image MAP, added up."""
    values = []
    for train, test in LabelStratifiedKFold(FOLDS, shuffle=True, random_state=SEED).split(Y, Y):
        scores = _fit_and_rank(X[train], Y[train], X[test], cost)
        values.append(image_auc(Y[test], scores) + image_average_precision(Y[test], scores))
    return float(np.mean(values))


def _fit_and_rank(X, Y, Z, cost):
    solver = "liblinear" if sparse.issparse(X) else "lbfgs"
    scores = np.tile(np.where(Y.any(axis=0), CERTAIN, -CERTAIN), (Z.shape[0], 1))
    # products of one label are too small to share
    with warnings.catch_warnings(), limited_threads(1):
        warnings.simplefilter("ignore", ConvergenceWarning)
        for label in np.flatnonzero(Y.any(axis=0) & ~Y.all(axis=0)):
            model = LogisticRegression(C=cost, solver=solver, max_iter=MOST_STEPS, random_state=SEED)
            scores[:, label] = model.fit(X, Y[:, label]).decision_function(Z)
    return scores


def rank_by_ridge(data, n_iter=DRAWS):
    """Scores of the test samples by himalaya's multiple kernel ridge regression, and its settings.

    Weights are drawn at random, and the best for each label are kept; its own 5-fold cross-validation chooses
    the rest. By default its folds are blocks of rows: photographs of one kind stand together, and it chose
    badly.
    """
    from himalaya.kernel_ridge import MultipleKernelRidgeCV

    model = MultipleKernelRidgeCV(
        kernels="precomputed",
        solver="random_search",
        solver_params={"n_iter": n_iter, "alphas": PENALTIES, "progress_bar": False},
        fit_intercept=True,
        cv=KFold(5, shuffle=True, random_state=SEED),
        random_state=SEED,
    )
    with limited_threads(1):
        model.fit(_matrices(data.stack), data.Y.astype(np.float32))
    return np.asarray(model.predict(_matrices(data.test))), {"n_iter": n_iter}


def _matrices(stack):
    return np.stack([stack.kernel(j) for j in range(stack.n_kernels)])
