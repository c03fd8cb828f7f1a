"""The labels of a sample as one vector, and back, by choosing or by taking over those of training samples."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from tagrank.estimators.targets import make_bounds

MOST = 64  # labels predicted under a similarity of labels: lengths cost the square of it
MOST_STORED = 0.2  # of all entries: with more of them a dense product takes less time
MOST_CANCELLED = 100  # c and d_i may have so many times the square of the length of their sum v_i
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
    entries = make_bounds(targets, class_weight=class_weight, sample_weight=by_entry).astype(np.float64)
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

    Of each sample the highest labels are present, as many as make <v, scores> / |v| largest, `at_least` so
    many. For +-1 vectors, which all have one length, these are the labels with a positive score. `values` (2,
    n_labels) are the entries of absent and present labels. With a `similarity` S of labels |v|^2 = v' S v,
    and at most `MOST` labels are present.
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


@dataclass
class TransferDecoding:
    """The training samples whose labels may be handed on, `n_neighbors` of them at most.

    Attributes
    ----------
    present : array, shape (n_candidates, n_labels), 1 where the label is present
    agreement : array, shape (n_columns, n_candidates); what is known of a sample times it are the weights
    reads_scores : whether a sample comes as its direct scores, or as similarities with the support vectors
    """

    present: np.ndarray
    agreement: np.ndarray
    n_neighbors: int
    reads_scores: bool

    @classmethod
    def learn(cls, output, vectors, states, weights, *, n_neighbors):
        """From label vectors and states (n_samples, n_labels) and the samples' weights in the model."""
        tells = np.any(states != 0, axis=1)
        tells |= not tells.any()  # nothing to hand on, but somebody must
        present, candidates = (states[tells] > 0).astype(np.float64), vectors[tells]
        if output.has_features:
            return cls(present, output.scaled(candidates).T, n_neighbors, True)
        support = np.flatnonzero(weights)
        agreement = weights[support, None] * output(vectors[support], candidates)
        return cls(present, agreement.astype(np.float32), n_neighbors, False)

    def __call__(self, columns):
        """Weighted means of the labels of the best candidates, (n_samples, n_labels), between 0 and 1.

        Only candidates of positive weight count; if there is none, the best one does.
        """
        weights = columns @ self.agreement
        n_kept = min(self.n_neighbors, weights.shape[1])
        best = np.argpartition(-weights, n_kept - 1, axis=1)[:, :n_kept]
        kept = np.maximum(np.take_along_axis(weights, best, axis=1), 0)
        none = ~np.any(kept > 0, axis=1)
        best[none, 0], kept[none, 0] = np.argmax(weights[none], axis=1), 1.0
        kept /= kept.sum(axis=1, keepdims=True)
        return np.einsum("ik,ikl->il", kept, self.present[best])


def label_products(V, common, similarity, dtype):
    """Products of label vectors scaled to unit length, as a function of two slices (rows, columns).

    Most samples have few of the labels, and so their vectors are v_i = c + d_i with the vector c of a sample
    that has none, and a sparse d_i. With a matrix S of label similarities

        v_i' S v_j = d_i' S d_j + s_i + s_j,        s_i = c' S d_i + c' S c / 2,

    which is one product of sparse rows (d_i, s_i, 1) with dense columns (S d_j, 1, s_j).

    Parameters
    ----------
    V : array, shape (n_samples, n_labels); a row of zeros has products of zero
    common : array, shape (n_labels,), what most entries of V are
    similarity : array S, shape (n_labels, n_labels), or None for the identity
    dtype : float32 or float64, of the products

    Returns
    -------
    products : function, or None if dense products take less time or keep more digits
    """
    from tagrank.kernels.gram import multiply_tile

    tells = V.any(axis=1)
    differs = (common != V) & tells[:, None]
    if np.count_nonzero(differs) > MOST_STORED * V.size:
        return None
    D = _differences(V, common, differs)
    own = common if similarity is None else similarity @ common
    pulled = D.toarray() if similarity is None else D @ similarity
    shares = D @ own + common @ own / 2
    sizes = np.asarray(D.multiply(pulled).sum(axis=1)).ravel()
    squares = sizes + 2 * shares
    if np.any(tells & (sizes + common @ own >= MOST_CANCELLED * squares)):
        return None
    scale = tells / np.sqrt(np.where(tells, squares, 1.0))
    ends = np.stack([shares, np.ones(len(V))], axis=1)
    left = (sparse.diags_array(scale) @ sparse.hstack([D, ends], format="csr")).astype(dtype)
    right = np.empty((len(common) + 2, len(V)), dtype)
    np.multiply(pulled.T, scale, out=right[:-2], casting="same_kind")
    np.multiply(ends[:, ::-1].T, scale, out=right[-2:], casting="same_kind")
    return lambda rows, columns: multiply_tile(left, right, rows, columns)


def _differences(V, common, differs):
    """V - common where `differs`, in CSR format."""
    where = np.flatnonzero(differs)
    columns = (where % V.shape[1]).astype(np.int32)
    indptr = np.append(0, np.cumsum(np.count_nonzero(differs, axis=1)))
    return sparse.csr_array((V.ravel()[where] - common[columns], columns, indptr), shape=V.shape)
