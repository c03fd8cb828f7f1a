"""How labels go together, as a matrix: priors for `PriorMarginClassifier`.

A prior R (n_labels, n_labels) is symmetric and positive semidefinite; it may be singular. R_lk > 0 pulls the
scores of labels l and k together, R_lk < 0 apart. Estimated priors have a unit diagonal, so that C keeps its
meaning; a common factor of R is a factor of C.
"""

import numbers

import numpy as np

from tagrank.arrays import row_blocks, rows_within
from tagrank.estimators.targets import encode_targets

LARGEST_ENTRY = 1e6  # of a prior: far larger ones overflow, and a common factor belongs into C
ROUNDING = 1e-8  # of the largest entry: what symmetry and definiteness may miss


def correlation_prior(Y, *, shrinkage="auto"):
    """Correlation of labels, shrunk towards the identity.

    An unknown label counts as its label's mean. So the answer is positive semidefinite whatever is unknown,
    and pairs that are rarely known together are taken for less correlated. A label that never varies is
    uncorrelated with the others.

    Parameters
    ----------
    Y : matrix of 1, 0 and nan, shape (n_samples, n_labels), or a list of tag sets
    shrinkage : float in [0, 1] or "auto"
        The weight of the identity. "auto" weighs the sampling error of the correlations against their size
        (Schaefer, Strimmer 2005): about 0 for many samples, 1 if nothing but noise is seen.

    Returns
    -------
    R : array, shape (n_labels, n_labels), unit diagonal

    Examples
    --------
    >>> correlation_prior([[1, 1], [0, 0], [1, 1], [0, 1]], shrinkage=0).round(2).tolist()
    [[1.0, 0.58], [0.58, 1.0]]
    """
    return correlation_of_states(encode_targets(Y).states, shrinkage=shrinkage)


def correlation_of_states(states, *, shrinkage="auto"):
    """`correlation_prior` of int8 states: +1 present, -1 absent, 0 unknown."""
    n_known = np.count_nonzero(states, axis=0)
    means = states.sum(axis=0, dtype=np.int64) / np.maximum(n_known, 1)
    products, n_both = np.zeros((2, states.shape[1], states.shape[1]))
    for block in row_blocks(len(states), rows_within(states.shape[1])):
        known = states[block] != 0
        centred = np.where(known, states[block] - means, 0)
        products += centred.T @ centred
        n_both += _count_pairs(known)
    deviations = np.sqrt(np.diagonal(products))
    scale = np.divide(1, deviations, where=deviations > 0, out=np.zeros(len(deviations)))
    R = products * np.outer(scale, scale)
    np.fill_diagonal(R, 1)
    return shrink(R, _noise_share(R, n_both, deviations > 0) if shrinkage == "auto" else shrinkage)


def _count_pairs(known):
    """How many rows know both labels, for each pair."""
    if known.all():
        return len(known)
    known = known.astype(np.float32)  # counts of a block are exact
    return known.T @ known


def signature_prior(signatures, *, probabilities=None, shrinkage=0.0):
    """Prior from classes whose labels are known beforehand: sum_c p(c) y_c y_c' with y_c in {-1, +1}.

    Labels that the expected classes have in common, or lack in common, are pulled together.

    Parameters
    ----------
    signatures : matrix of 1, 0 and nan, shape (n_classes, n_labels); nan: not known, or not always the same
    probabilities : array, shape (n_classes,), how often each class is expected; default: equally often
    shrinkage : float in [0, 1], the weight of the identity; the prior of few classes is singular without

    Returns
    -------
    R : array, shape (n_labels, n_labels), unit diagonal

    Examples
    --------
    >>> signature_prior([[1, 0, 1], [0, 1, 1]]).tolist()
    [[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    states = encode_targets(signatures).states.astype(np.float64)
    weights = _check_probabilities(probabilities, len(states))
    R = (states * weights[:, None]).T @ states
    sizes = np.sqrt(np.diagonal(R))
    if not np.all(sizes > 0):
        unknown = np.flatnonzero(sizes == 0).tolist()
        raise ValueError(f"no class of positive probability says whether it has label {unknown[0]}")
    R /= np.outer(sizes, sizes)
    return shrink(R, shrinkage)


def shrink(R, shrinkage):
    """(1 - shrinkage) R + shrinkage I."""
    if not isinstance(shrinkage, numbers.Real) or not 0 <= shrinkage <= 1:
        raise ValueError(f"shrinkage must lie between 0 and 1, got {shrinkage!r}")
    return (1 - shrinkage) * R + shrinkage * np.eye(len(R))


def check_prior(R, n_labels):
    """`R` as a float64 array if it can be the prior of `n_labels` labels, or an error that says why not."""
    R = np.asarray(R, dtype=np.float64)
    if R.shape != (n_labels, n_labels):
        raise ValueError(
            f"prior must have one row and one column for each of the {n_labels} labels, got shape {R.shape}"
        )
    if not np.all(np.isfinite(R)):
        raise ValueError("prior must be finite, got nan or infinity")
    size = np.abs(R).max()
    if size > LARGEST_ENTRY:
        raise ValueError(
            f"prior must have entries of at most {LARGEST_ENTRY:g}, got {size:g}; divide it by its largest "
            "entry: a common factor of the prior is a factor of C"
        )
    if np.abs(R - R.T).max() > ROUNDING * size:
        i, j = np.unravel_index(np.argmax(np.abs(R - R.T)), R.shape)
        raise ValueError(
            f"prior must be symmetric, but prior[{i}, {j}] = {R[i, j]:g} and prior[{j}, {i}] = {R[j, i]:g}; "
            "use (R + R.T) / 2 if both were meant to be the same"
        )
    diagonal = np.diagonal(R)
    if diagonal.min() <= 0:
        label = int(np.argmin(diagonal))
        raise ValueError(
            f"prior must have a positive diagonal, but prior[{label}, {label}] = {diagonal[label]:g}; put 1 "
            "there for a label of which nothing is known"
        )
    smallest = np.linalg.eigvalsh((R + R.T) / 2)[0]
    if smallest < -ROUNDING * size * n_labels:
        raise ValueError(
            f"prior must be positive semidefinite, but its smallest eigenvalue is {smallest:.3g}; shrink it "
            f"towards the identity, here by at least {-smallest / (1 - smallest):.2g}"
        )
    return (R + R.T) / 2


def _noise_share(R, n_both, varies):
    """Sampling variance of the correlations over their squares, at most 1.

    Labels that never vary have no correlations. The variance for labels known n_l and n_k times, and n_lk
    times together, is about n_lk / (n_l n_k): 1 / n where all is known.
    """
    pairs = np.outer(varies, varies) & ~np.eye(len(R), dtype=bool)
    squares = R[pairs] ** 2
    if not squares.any():
        return 1.0
    n_known = n_both.diagonal()
    per_sample = n_both[pairs] / (np.outer(n_known, n_known) - n_both)[pairs]
    return float(min(1, np.sum((1 - squares) ** 2 * per_sample) / squares.sum()))


def _check_probabilities(probabilities, n_classes):
    if probabilities is None:
        return np.full(n_classes, 1 / n_classes)
    weights = np.asarray(probabilities, dtype=np.float64)
    if weights.shape != (n_classes,):
        raise ValueError(f"probabilities must have shape ({n_classes},), got {weights.shape}")
    if not np.all(np.isfinite(weights)) or weights.min() < 0 or weights.sum() <= 0:
        raise ValueError("probabilities must be finite, not negative, and not all zero")
    return weights / weights.sum()
