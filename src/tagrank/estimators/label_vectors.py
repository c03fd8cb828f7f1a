"""The labels of a sample as one vector, and back: what joint methods learn to point at."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tagrank.estimators.costs import make_bounds

NEGLIGIBLE = 1e-9  # length of a vector that is only the rounding of a mean


@dataclass
class LabelVectors:
    """Label vectors of the training samples.

    Attributes
    ----------
    rows : array, shape (n_samples, n_labels), 0 where unknown; zeros for a sample that tells nothing
    values : array, shape (2, n_labels), the entries of absent and of present labels
    costs : array, shape (n_samples,), for C = 1; 0 for a sample that tells nothing
    """

    rows: np.ndarray
    values: np.ndarray
    costs: np.ndarray


def make_label_vectors(targets, *, center, class_weight=None, sample_weight=None):
    """LabelVectors of Targets.

    Entries are +1 and -1 times the weights of their label; with `center` the mean over the samples where the
    label is known is taken off. A weight for each sample is its cost; a weight for each sample and label
    (n_samples, n_labels) multiplies the entry.
    """
    by_sample = by_entry = None
    if sample_weight is not None:
        sample_weight = np.asarray(sample_weight, dtype=np.float64)
        by_sample, by_entry = (sample_weight, None) if sample_weight.ndim < 2 else (None, sample_weight)
    entries = make_bounds(targets, class_weight=class_weight, sample_weight=by_entry)
    costs = np.abs(make_bounds(targets, sample_weight=by_sample)).max(axis=1)
    if targets.one_dimensional and isinstance(class_weight, Mapping):
        costs, entries = costs * np.abs(entries[:, 0]), np.sign(entries)
    known = entries != 0
    values = np.stack([entries.min(axis=0, initial=0), entries.max(axis=0, initial=0)])
    values = np.where(values == 0, [[-1.0], [1.0]], values)
    if center:
        means = costs @ entries / np.maximum(costs @ known, np.finfo(float).tiny)
        entries, values = np.where(known, entries - means, 0.0), values - means
    tells = np.linalg.norm(entries, axis=1) > NEGLIGIBLE
    return LabelVectors(entries * tells[:, None], values, costs * tells)


def choose_labels(scores, values, *, at_least):
    """The label vectors, scaled to unit length, that agree best with the scores: 1 present, 0 absent.

    Of each sample the highest labels are present, as many as make <v, scores> / |v| largest. For +-1 vectors,
    which all have one length, these are the labels with a positive score.

    Parameters
    ----------
    scores : array, shape (n_samples, n_labels)
    values : array, shape (2, n_labels), entries of absent and present labels
    at_least : int, labels that every sample has
    """
    absent, present = values
    order = np.argsort(-scores, axis=1, kind="stable")
    gains = np.take_along_axis(scores * (present - absent), order, axis=1)
    growth = (present**2 - absent**2)[order]
    start = (scores @ absent)[:, None], np.full((len(scores), 1), absent @ absent)
    inner, squares = (
        np.cumsum(np.hstack(parts), axis=1) for parts in zip(start, (gains, growth), strict=True)
    )
    n_present = at_least + np.argmax((inner / np.sqrt(np.maximum(squares, NEGLIGIBLE)))[:, at_least:], axis=1)
    chosen = np.arange(scores.shape[1]) < n_present[:, None]
    labels = np.zeros(scores.shape, np.int64)
    np.put_along_axis(labels, order, chosen.astype(np.int64), axis=1)
    return labels
