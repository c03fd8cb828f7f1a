"""Probabilities that do not contradict parents: no tag is more probable than one that it implies.

Of all such probabilities those nearest to the given ones are taken, in least squares. The true ones are among
them, so this never leads further away from the truth. Each pair of a tag and one above it is a half-space;
Hildreth's method goes through them until hardly anything changes, and a last step makes it exact.
"""

import numpy as np
from scipy.special import expit, logit

_MOST_SWEEPS = 50
_NEAR = 1e-4


def make_coherent(probabilities: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """The nearest probabilities in which no tag exceeds one above it.

    Parameters
    ----------
    probabilities : shape (n, n_tags); nan where there is none, which stays so
    pairs : int array, shape (m, 2), columns of each tag and of every tag above it, near or far
    """
    if not len(pairs) or not len(probabilities):
        return probabilities
    is_wrong = np.zeros(len(probabilities), dtype=bool)
    for below, above in pairs:
        is_wrong |= probabilities[:, below] > probabilities[:, above]
    if not is_wrong.any():
        return probabilities
    coherent = probabilities.copy()
    coherent[is_wrong] = _project(probabilities[is_wrong].astype(np.float64), pairs)
    return coherent


def coherent_log_odds(scores: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Log-odds of the probabilities that `make_coherent` gives; those that it leaves stay as they are."""
    if not len(pairs) or not len(scores):
        return scores
    probabilities = expit(scores)
    coherent = make_coherent(probabilities, pairs)
    is_other = coherent != probabilities
    log_odds = scores.copy()
    log_odds[is_other] = logit(coherent[is_other])
    # where probabilities round to 0 or 1, the log-odds they came from are bounds
    log_odds = np.clip(log_odds, scores.min(axis=1, keepdims=True), scores.max(axis=1, keepdims=True))
    nearly = log_odds.copy()
    for below, above in pairs:
        np.maximum(log_odds[:, above], nearly[:, below], out=log_odds[:, above])
    return log_odds


def _project(P: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    forces = np.zeros((len(pairs), len(P)))
    for _ in range(_MOST_SWEEPS):
        moved = 0.0
        for force, (below, above) in zip(forces, pairs, strict=True):
            step = np.nan_to_num(np.maximum(-force, (P[:, below] - P[:, above]) / 2))
            force += step
            P[:, below] -= step
            P[:, above] += step
            moved = max(moved, float(np.abs(step).max()))
        if moved < _NEAR:
            break
    nearly = P.copy()
    for below, above in pairs:
        is_known = ~np.isnan(nearly[:, below]) & ~np.isnan(nearly[:, above])
        P[is_known, above] = np.maximum(P[is_known, above], nearly[is_known, below])
    return np.clip(P, 0, 1)
