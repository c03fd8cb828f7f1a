"""The labels of a sample as one vector, and back: what joint methods learn to point at."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tagrank.estimators.costs import make_bounds

MOST = 64  # labels predicted under a similarity of labels: lengths cost the square of it
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
    costs = np.ones(len(entries))
    if by_sample is not None:
        costs = np.abs(make_bounds(targets, sample_weight=by_sample)).max(axis=1)
    if targets.one_dimensional and isinstance(class_weight, Mapping):
        costs, entries = costs * np.abs(entries[:, 0]), np.sign(entries)
    known = entries != 0
    values = np.stack([entries.min(axis=0, initial=0), entries.max(axis=0, initial=0)])
    values = np.where(values == 0, [[-1.0], [1.0]], values)
    if center:
        # a product with the booleans themselves would not go to BLAS
        means = costs @ entries / np.maximum(costs @ known.astype(np.float64), np.finfo(float).tiny)
        entries -= means
        entries *= known
        values -= means
    tells = np.einsum("ij,ij->i", entries, entries) > NEGLIGIBLE**2
    entries *= tells[:, None]
    return LabelVectors(entries, values, costs * tells)


def choose_labels(scores, values, *, at_least, similarity=None):
    """The label vectors, scaled to unit length, that agree best with the scores: 1 present, 0 absent.

    Of each sample the highest labels are present, as many as make <v, scores> / |v| largest. For +-1 vectors,
    which all have one length, these are the labels with a positive score.

    Parameters
    ----------
    scores : array, shape (n_samples, n_labels)
    values : array, shape (2, n_labels), entries of absent and present labels
    at_least : int, labels that every sample has
    similarity : array S, shape (n_labels, n_labels), or None
        With it |v|^2 = v' S v, and at most `MOST` labels are present.
    """
    absent, present = values
    n_most = scores.shape[1] if similarity is None else min(MOST, scores.shape[1])
    order = np.argsort(-scores, axis=1, kind="stable")[:, :n_most]
    gains = np.take_along_axis(scores * (present - absent), order, axis=1)
    inner = np.cumsum(np.hstack([(scores @ absent)[:, None], gains]), axis=1)
    squares = _squared_lengths(order, values, similarity)
    agreement = inner / np.sqrt(np.maximum(squares, NEGLIGIBLE))
    n_present = at_least + np.argmax(agreement[:, at_least:], axis=1)
    labels = np.zeros(scores.shape, np.int64)
    np.put_along_axis(labels, order, (np.arange(n_most) < n_present[:, None]).astype(np.int64), axis=1)
    return labels


def _squared_lengths(order, values, similarity):
    """Of the vectors with none, the first, the first two ... labels of each row of `order` present."""
    absent, present = values
    if similarity is None:
        growth = (present**2 - absent**2)[order]
        return np.cumsum(np.hstack([np.full((len(order), 1), absent @ absent), growth]), axis=1)
    squares = np.empty((len(order), order.shape[1] + 1))
    steps, pull = present - absent, similarity @ absent
    for i, labels in enumerate(order):
        corner = similarity[np.ix_(labels, labels)] * np.outer(steps[labels], steps[labels])
        own = corner.cumsum(axis=0).cumsum(axis=1).diagonal()
        squares[i] = absent @ pull + np.append(0.0, own + 2 * np.cumsum(steps[labels] * pull[labels]))
    return squares
