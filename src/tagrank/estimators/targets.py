"""What a user hands over as Y, what is answered, and what each label of each sample costs when violated.

Y may be a three-state matrix (dense, sparse, DataFrame), a list of tag sets, or one-dimensional classes,
which are one-hot encoded and answered in one dimension.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets, unique_labels

from tagrank.errors import warn
from tagrank.labels import duplicates, encode_tag_sets, is_tag_sets, label_states, unmasked_labels
from tagrank.validation import check_even_rows, check_positive


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
    return Targets(label_states(Y), np.asarray(Y.columns), False)


def _from_classes(y):
    is_missing = y.dtype.kind == "O" and any(isinstance(entry, float) and entry != entry for entry in y)
    if is_missing or (y.dtype.kind == "f" and not np.all(np.isfinite(y))):
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
    elif hasattr(Y, "columns") and list(classes) != list(range(len(classes))):
        missing = [name for name in classes if name not in Y.columns]
        if missing:
            shown = ", ".join(map(repr, missing[:5])) + (", ..." if len(missing) > 5 else "")
            raise ValueError(f"Y has no columns for {len(missing)} of {len(classes)} labels: {shown}")
        Y = Y[list(classes)]
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
            "no sample has both a present and an absent label, so there is nothing to rank and all scores "
            "are zero; use OneVsAllSVM (method one-vs-all), which learns each label by itself"
        )


def warn_labels_never_differ(vectors, states):
    """Say if label vectors (n_samples, n_labels) are zero throughout though labels are present."""
    if not vectors.any() and np.any(states > 0):
        warn(
            "no label is present in some samples and absent in others, so there is nothing to learn and all "
            "scores are zero; center=False also learns labels that all samples share"
        )


def make_bounds(targets, *, class_weight=None, sample_weight=None):
    """Signed bounds (n_samples, n_labels) for C = 1: positive if present, negative if absent, 0 if unknown.

    Parameters
    ----------
    targets : Targets
    class_weight : None, "balanced", {1: present, 0: absent}, or {label name: weight}
        "balanced" gives the present and the absent entries of each label the same total weight. For
        one-dimensional y the keys are class names, and the samples of a class get its weight.
    sample_weight : None, or array of shape (n_samples,) or (n_samples, n_labels), not negative
    """
    if targets.one_dimensional and isinstance(class_weight, Mapping):
        bounds = (
            targets.states
            * _weights_by_name(targets, class_weight)[np.argmax(targets.states, axis=1)][:, None]
        )
    elif class_weight is None:
        bounds = targets.states  # of millions of samples, an eighth of what floats take
    else:
        present, absent = _class_weights(targets, class_weight)
        bounds = np.where(targets.states > 0, present, np.where(targets.states < 0, -absent, 0.0))
    if sample_weight is not None:
        bounds = bounds * _check_sample_weight(sample_weight, bounds.shape, targets.one_dimensional)
    return bounds


def check_class_weight(class_weight):
    """Raise unless it is None, "balanced" or a mapping to weights that are not negative."""
    if isinstance(class_weight, Mapping):
        _check_weights(class_weight)
    elif class_weight is not None and (not isinstance(class_weight, str) or class_weight != "balanced"):
        raise ValueError(f"class_weight must be None, 'balanced' or a dict, got {class_weight!r}")


def _class_weights(targets, class_weight):
    """Weights (n_labels,) of present and of absent entries."""
    n_labels = len(targets.classes)
    if isinstance(class_weight, Mapping):
        if set(class_weight) <= {0, 1}:
            weights = _check_weights(class_weight)
            return np.full(n_labels, weights.get(1, 1.0)), np.full(n_labels, weights.get(0, 1.0))
        both = _weights_by_name(targets, class_weight)
        return both, both
    check_class_weight(class_weight)
    n_present, n_absent = (targets.states > 0).sum(axis=0), (targets.states < 0).sum(axis=0)
    half = (n_present + n_absent) / 2
    return half / np.maximum(n_present, 1), half / np.maximum(n_absent, 1)


def _weights_by_name(targets, class_weight):
    """Weight of each label, 1 unless `class_weight` names it."""
    weights, names = _check_weights(class_weight), targets.classes.tolist()
    unknown_names = [key for key in weights if key not in set(names)]
    if unknown_names:
        raise ValueError(f"class_weight names labels that are not in Y: {unknown_names}")
    return np.array([weights.get(name, 1.0) for name in names])


def _check_weights(class_weight):
    return {
        key: check_positive(f"class_weight[{key!r}]", weight, allow_zero=True)
        for key, weight in class_weight.items()
    }


def _check_sample_weight(sample_weight, shape, one_dimensional):
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(shape[0], float(weights))
    accepted = [shape[:1]] if one_dimensional else [shape[:1], shape]
    if weights.shape not in accepted:
        raise ValueError(
            f"sample_weight must have shape {' or '.join(map(str, accepted))}, got {weights.shape}"
        )
    if not np.all(np.isfinite(weights)) or weights.min(initial=0) < 0:
        raise ValueError("sample_weight must be finite and not negative")
    if not weights.any():
        raise ValueError("sample_weight is zero for every sample: nothing is left to learn from")
    return weights if weights.ndim == 2 else weights[:, None]
