"""Weights of kernels by how well samples are ranked that were held out.

The margin objective likes peaked kernels, with which training samples are easily told apart; what counts is
how others are ranked. With coefficients T fixed, the scores of held-out samples are linear in the weights,

    F = sum_j beta_j S_j        S_j = K_j[held out, training] T

so that the weights on the simplex which rank them best are found without training. Where the sum of kernels
is raised to a power, S_j is the derivative by beta_j, and this holds near the weights. Coefficients answer to
new weights, and weaken their effect: the step to these goes further, the models are trained again, and the
step is kept if their held-out samples are ranked better, else it is shortened.
"""

import warnings
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.model_selection import KFold

from tagrank.labels import labels_from_states

N_FOLDS = 3
ROUNDS = 4
FIRST_STEP, LAST_STEP = 3.0, 0.5  # 1 leads to the weights that are best for the coefficients as they are
SHARPNESS = 30.0  # of the smooth comparison, in standard deviations of the scores of a sample
STEPS = 8  # towards these
SMALLEST = 0.02  # of the largest weight; what has less is not worth its computation
MOST_NUMBERS = 2**27  # scores by kernel, held at a time


class Ranked(NamedTuple):
    """Held-out samples that have both present and absent labels.

    Attributes
    ----------
    by_kernel : array, shape (n_kernels, n_samples, n_labels), S_j
    states : array, shape (n_samples, n_labels) of +1, -1 and 0
    """

    by_kernel: np.ndarray
    states: np.ndarray

    def scores(self, weights):
        return np.tensordot(weights.astype(self.by_kernel.dtype), self.by_kernel, axes=1)


def find_weights(stack, train, states, *, start=None, rng=None):
    """Weights that sum to one, and all that were tried, shape (n_rounds, n_kernels), in their order.

    Parameters
    ----------
    stack : KernelStack
    train : function of a part of the stack, the samples in it, weights, and coefficients to start from or
        None; returns coefficients (n_samples in it, n_labels), or None to end with what was found
    states : array (n_samples, n_labels) of +1, -1 and 0
    start : array (n_kernels,), weights to start from; equal ones by default
    rng : numpy Generator or seed, for the folds
    """
    folds = [_FoldModel(stack, states, *rows) for rows in _folds(stack, states, np.random.default_rng(rng))]
    weights = np.full(stack.n_kernels, 1.0) if start is None else np.array(start, np.float64)
    weights /= weights.sum()
    best, reached, step, tried = weights, -np.inf, FIRST_STEP, []
    for _ in range(ROUNDS):
        ranked = [fold.rank(train, weights) for fold in folds]
        if any(part is None for part in ranked):
            break
        value, sharpness = measure_ranking(ranked, weights)
        tried.append(weights)
        if value > reached:
            best, reached = weights, value
            target = best_for_scores(ranked, weights, sharpness)
        else:
            step /= 2
        if step < LAST_STEP:
            break
        weights = np.maximum(best + step * (target - best), 0)
        weights /= weights.sum()
    best = np.where(best < SMALLEST * best.max(), 0, best)
    return best / best.sum(), np.array(tried or [best])


def measure_ranking(ranked, weights):
    """Smooth average precision and AUC of the samples, and how sharply their scores were compared."""
    spread = np.mean([part.scores(weights).std(axis=1).mean() for part in ranked])
    sharpness = SHARPNESS / max(float(spread), np.finfo(np.float32).tiny)
    return -_loss(ranked, sharpness * weights)[0], sharpness


def best_for_scores(ranked, weights, sharpness):
    """The weights on the simplex by which these scores rank best."""

    def loss(weights):
        total = weights.sum()
        value, slope = _loss(ranked, sharpness / total * weights)
        return value, sharpness / total * (slope - slope @ weights / total)

    bounds = [(0, None)] * len(weights)
    # coefficients will answer to them anyway
    found = minimize(loss, weights, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": STEPS})
    return found.x / found.x.sum()


def _loss(ranked, weights):
    """Minus the mean over samples of smooth average precision and AUC, and its slope."""
    parts = [_loss_of_part(part, weights) for part in ranked]
    n_samples = sum(len(part.states) for part in ranked)
    return sum(value for value, _ in parts) / n_samples, sum(slope for _, slope in parts) / n_samples


def _loss_of_part(part, weights):
    """With s the logistic function, a present label has the smooth ranks

        a = sum of s(F_k - F) over absent labels k,    b = 1 + the same sum over the other present ones

    its precision is b / (a + b), its AUC 1 - a / n_absent.
    """
    F, is_present, is_absent = part.scores(weights), part.states > 0, part.states < 0
    i, own = np.nonzero(is_present)
    n_present, n_absent = is_present.sum(axis=1)[i], is_absent.sum(axis=1)[i]
    above = 1 / (1 + np.exp(np.clip(F[i, own][:, None] - F[i], -30, 30)))
    above[np.arange(len(i)), own] = 0
    a = (above * is_absent[i]).sum(axis=1)
    b = 1 + (above * is_present[i]).sum(axis=1)
    value = -((b / (a + b) + 1 - a / n_absent) / n_present).sum()
    by_a, by_b = b / (a + b) ** 2 + 1 / n_absent, -a / (a + b) ** 2
    slopes = above * (1 - above) * (is_absent[i] * by_a[:, None] + is_present[i] * by_b[:, None])
    slopes /= n_present[:, None]
    first = np.flatnonzero(np.diff(i, prepend=-1))
    by_score = np.add.reduceat(slopes, first, axis=0)
    by_score[np.cumsum(np.diff(i, prepend=i[0]) > 0), own] -= slopes.sum(axis=1)
    return value, np.tensordot(part.by_kernel, by_score.astype(F.dtype), axes=2).astype(np.float64)


class _FoldModel:
    """A model that does not see some samples; each training starts from the last."""

    def __init__(self, stack, states, training, held_out):
        self.rows, self.states, self.coefficients = training, states[held_out], None
        self.seen, self.unseen = (
            stack[np.ix_(training, training)],
            stack[np.ix_(held_out, training)],
        )

    def rank(self, train, weights):
        """The held-out samples; None where the training had to end."""
        self.coefficients = train(self.seen, self.rows, weights, self.coefficients)
        if self.coefficients is None:
            return None
        T = self.coefficients.astype(self.unseen.dtype)
        by_kernel = np.stack([slope @ T for slope in self.unseen.slopes(weights)])
        return Ranked(by_kernel, self.states)


def _folds(stack, states, rng):
    """Training and held-out samples; of the latter those that can be ranked, and no more than fit."""
    n_samples, n_labels = states.shape
    can_be_ranked = (states > 0).any(axis=1) & (states < 0).any(axis=1)
    if can_be_ranked.sum() < N_FOLDS:
        raise ValueError(
            f"weights='held-out' needs at least {N_FOLDS} samples with a present and an absent label, got "
            f"{can_be_ranked.sum()}; choose weights='learned'"
        )
    most = max(1, MOST_NUMBERS // (N_FOLDS * stack.n_kernels * n_labels))
    # every fold gets some that can be ranked
    order = rng.permutation(n_samples)
    order = np.concatenate([order[can_be_ranked[order]], order[~can_be_ranked[order]]])
    for fold in range(N_FOLDS):
        held_out = order[fold::N_FOLDS]
        yield np.setdiff1d(order, held_out), np.sort(held_out[can_be_ranked[held_out]][:most])


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
            held_out = np.asarray(fitted.decision_function(K[np.ix_(test, training)]))
            scores[test] = held_out.reshape(len(test), -1)
    return scores
