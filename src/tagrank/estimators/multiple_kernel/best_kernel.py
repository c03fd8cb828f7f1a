"""Which single kernel ranks best, told by cross-validation."""

import warnings

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold

from tagrank.labels import labels_from_states

FOLDS = 3


def find_best_kernel(model, stack, states, measure):
    """The kernel whose held-out scores measure best; of equal ones the first.

    Parameters
    ----------
    model : estimator with kernel="precomputed", not fitted
    stack : KernelStack
    states : array (n_samples, n_labels) of +1, -1 and 0
    measure : function of labels and scores, (n_samples, n_labels) each, that returns numbers, the larger the
        better

    Returns
    -------
    int, or an array of them if `measure` returns an array
    """
    if stack.kind == "rows":
        raise ValueError(
            "weights='best' compares Gram matrices, got a LowRankStack; let the weights be learned, or try "
            "the kernels one by one with a vector of weights"
        )
    labels = labels_from_states(states)
    measured = [
        measure(labels, _held_out_scores(model, stack.kernel(j), labels)) for j in range(len(stack.names))
    ]
    return np.argmax(np.nan_to_num(measured, nan=-np.inf), axis=0)


def _held_out_scores(model, K, labels):
    scores = np.empty(labels.shape)
    with warnings.catch_warnings():
        # what a fold lacks, and how near it comes to its end, is not the user's concern
        warnings.simplefilter("ignore")
        for training, test in KFold(min(FOLDS, len(K)), shuffle=True, random_state=0).split(K):
            fitted = clone(model).fit(K[np.ix_(training, training)], labels[training])
            scores[test] = fitted.decision_function(K[np.ix_(test, training)]).reshape(len(test), -1)
    return scores
