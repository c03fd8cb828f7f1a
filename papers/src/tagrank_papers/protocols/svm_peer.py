"""scikit-learn's one-vs-rest support vector machines, beside which ours are timed."""

import warnings

import numpy as np
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC


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
