"""What a user hands over as Y, and what is answered.

Y may be a three-state matrix (dense, sparse, DataFrame), a list of tag sets, or one-dimensional classes,
which are one-hot encoded and answered in one dimension.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets, unique_labels

from tagrank.callers import warn
from tagrank.labels import duplicates, encode_tag_sets, is_tag_sets, label_states, unmasked_labels
from tagrank.validation import check_even_rows


@dataclass
class Targets:
    """States (n_samples, n_labels) in int8, the names of the labels, and whether y had one dimension."""

    states: np.ndarray
    classes: np.ndarray
    one_dimensional: bool

    @property
    def never_positive(self):
        """Which labels are never known to be present."""
        return ~np.any(self.states > 0, axis=0)


def encode_targets(Y):
    """`Y` in any accepted form as Targets."""
    if Y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    targets = _encode(Y)
    if targets.states.shape[1] == 0:
        raise ValueError("y must have at least one label, got none")
    return targets


def _encode(Y):
    if hasattr(Y, "to_numpy") and not hasattr(Y, "columns"):
        Y = Y.to_numpy()
    if is_tag_sets(Y):
        matrix, tags = encode_tag_sets(Y)
        return Targets(label_states(matrix), np.asarray(tags, dtype=object), False)
    if sparse.issparse(Y):
        return Targets(label_states(Y), np.arange(Y.shape[1]), False)
    if hasattr(Y, "columns"):
        return _from_frame(Y)
    check_even_rows("y", Y)
    Y = unmasked_labels(Y)
    if Y.ndim != 1:
        return Targets(label_states(Y), np.arange(Y.shape[1] if Y.ndim == 2 else 0), False)
    return _from_classes(Y)


def _from_frame(Y):
    names = [str(name) for name in Y.columns]
    if duplicates(names):
        raise ValueError(f"duplicate tag names: {', '.join(duplicates(names))}")
    return Targets(label_states(Y.to_numpy()), np.asarray(Y.columns), False)


def _from_classes(y):
    if y.dtype.kind == "f" and not np.all(np.isfinite(y)):
        raise ValueError(
            "y contains NaN or infinity; unknown labels need a two-dimensional Y with nan where unknown"
        )
    check_classification_targets(y)
    classes = unique_labels(y)
    return Targets(np.where(y[:, None] == classes, 1, -1).astype(np.int8), classes, True)


def encode_like(Y, classes, one_dimensional):
    """`Y` of a test set as states with the columns of training."""
    if one_dimensional:
        return np.where(np.asarray(Y)[:, None] == classes, 1, -1).astype(np.int8)
    if is_tag_sets(Y):
        Y, _ = encode_tag_sets(Y, tags=list(classes))
    elif hasattr(Y, "columns"):
        Y = Y[list(classes)].to_numpy()
    return label_states(Y)


def warn_never_positive(targets, ranked_last=None):
    """Say which labels are ranked last: those never positive, or what `ranked_last` (n_labels,) tells."""
    missing = targets.classes[targets.never_positive if ranked_last is None else ranked_last]
    if len(missing):
        shown = ", ".join(map(str, missing[:5])) + (", ..." if len(missing) > 5 else "")
        warn(
            f"{len(missing)} of {len(targets.classes)} labels are never positive in training and are ranked "
            f"last: {shown}"
        )


def warn_nothing_to_rank(states):
    """Say if no sample (n_samples, n_labels; +, - and 0) has a label that must stand above another.

    That no label is ever present is for `warn_never_positive` to say.
    """
    has_present = np.any(states > 0, axis=1)
    if has_present.any() and not np.any(has_present & np.any(states < 0, axis=1)):
        warn(
            "no sample has both a present and an absent label, so that there is nothing to rank and all "
            "scores are zero; OneVsAllSVM (method one-vs-all) learns from single labels"
        )


def warn_labels_never_differ(vectors, states):
    """Say if label vectors (n_samples, n_labels) are zero throughout though labels are present."""
    if not vectors.any() and np.any(states > 0):
        warn(
            "no label is present in some samples and absent in others, so that there is nothing to learn and "
            "all scores are zero; with center=False labels that all samples share are learned too"
        )
