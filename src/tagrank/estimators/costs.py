"""What each label of each sample costs when it is violated: its sample weight times its class weight."""

from collections.abc import Mapping

import numpy as np

from tagrank.validation import check_positive


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
        bounds = targets.states.astype(np.float64)
    else:
        present, absent = _class_weights(targets, class_weight)
        bounds = np.where(targets.states > 0, present, np.where(targets.states < 0, -absent, 0.0))
    if sample_weight is not None:
        bounds *= _check_sample_weight(sample_weight, bounds.shape, targets.one_dimensional)
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
    strangers = [key for key in weights if key not in set(names)]
    if strangers:
        raise ValueError(f"class_weight names labels that are not in Y: {strangers}")
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
