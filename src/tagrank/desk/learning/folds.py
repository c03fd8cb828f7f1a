"""Which models do not see which picture: folds that stay when labels change and pictures come and go."""

import numpy as np

from tagrank.data import LabelStratifiedKFold
from tagrank.labels import labels_from_states

N_FOLDS = 5
OUTSIDE = -1


def deal(states: np.ndarray, before: np.ndarray | None = None, *, seed: int = 0) -> np.ndarray:
    """The fold of each picture, int8 (n,); `OUTSIDE` for those about which nothing is known.

    Parameters
    ----------
    states : what is known, int8 (n, n_tags)
    before : the fold that each picture had, `OUTSIDE` for new ones. Those stay; new ones are dealt out
        evenly. Without it each tag keeps its share in every fold
    """
    known = np.flatnonzero(np.any(states != 0, axis=1))
    n_folds = min(N_FOLDS, len(known))
    folds = np.full(len(states), OUTSIDE, dtype=np.int8)
    if before is None or not _is_spread(before[known], n_folds):
        splitter = LabelStratifiedKFold(n_folds, shuffle=True, random_state=seed)
        parts = splitter.split(np.zeros((len(known), 1)), labels_from_states(states[known]))
        for number, (_, test) in enumerate(parts):
            folds[known[test]] = number
        return folds
    folds[known] = before[known]
    new = known[folds[known] == OUTSIDE]
    counts = np.bincount(folds[known][folds[known] >= 0], minlength=n_folds)
    for row in np.random.default_rng(seed).permutation(new):
        folds[row] = np.argmin(counts)
        counts[folds[row]] += 1
    return folds


def _is_spread(before: np.ndarray, n_folds: int) -> bool:
    """Whether enough pictures keep their folds, and each fold has some."""
    counts = np.bincount(before[before >= 0], minlength=n_folds)
    return len(counts) == n_folds and counts.min() > 0 and 2 * counts.sum() >= len(before)
