"""Perceptrons, which learn from one sample after another; they ascend no dual, and certify nothing.

**The joint perceptron** visits samples whose labels are vectors, a block at a time, exactly. Samples x_i and
label vectors v_i have unit length. The model is W, and sample i asks that

    beta_i = <v_i, W x_i> / |W|  >=  margin           (beta = 0 while W = 0)

Where it does not hold, W += v_i x_i', and |W|^2 += 1 + 2 |W| beta_i; a step size would only scale W. The rule
looks at one sample after the other. Here a block of samples is read with one product, <v_i, W x_i> for all of
them, and the similarities inside the block, (x_i' x_j) (v_i' v_j), tell what each update means for those that
follow: the answer is that of one sample after the other, up to rounding, and nearly all work is in products.

**The dual perceptron** of the same paper (its figure 2) has one number alpha_j >= 0 for each sample. With
kappa_ij = (x_i' x_j) (v_i' v_j), sample i asks that sum_j alpha_j kappa_ij >= margin; where it does not hold,

    alpha_j = max(0, alpha_j + step * kappa_ij)        for every j

a subgradient step on the sum of hinge losses under alpha >= 0 (the figure leaves out the projection that its
problem asks for). This is another rule than the one above, which in its dual form adds 1 to alpha_i alone.

What holds W has `read(rows)`, the answers W x (n_rows, n_labels) and the products of rows with each other,
both for rows scaled to unit length, and `add(rows, changes, seen)` for rows whose changes (n_rows, n_labels)
are in W for `seen` samples each.

**Online category ranking** (MMP) is a perceptron over the pairs of labels in wrong order. A sample x with
scores f = W x is in order if every present label is above every absent one. Otherwise the pairs (k present,
l absent, f_k <= f_l) share an update of total weight tau:

    W_k += tau sum_l share_kl x        W_l -= tau sum_k share_kl x

"uniform" gives all wrong pairs the same share, "worst" all to the lowest present and the highest absent
label. tau is 1, or the share of pairs in wrong order.

Reference: Crammer, Singer: A Family of Additive Online Algorithms for Category Ranking, JMLR 3, 2003.
"""

import numpy as np
from scipy import sparse

from tagrank.arrays import row_blocks
from tagrank.resources import Ending, compiled
from tagrank.validation import check_magnitude, check_sparse

BLOCK = 128  # samples whose answers are computed at once


def learn_in_passes(learn, n_samples, *, max_iter, rng, stop=None):
    """Visit all samples in random order until a pass changes nothing, `max_iter` passes at most.

    Without `rng` they are visited in their order. `learn` learns from the samples of some indices and returns
    how many changed the model. Once `stop` answers true, the training ends after the block at hand. Returns
    whole passes and what ended them: "no updates", "max_iter" or "stop".
    """
    ending = Ending(stop=stop)
    for n_iter in range(max_iter):
        n_updates, order = 0, np.arange(n_samples) if rng is None else rng.permutation(n_samples)
        for block in row_blocks(n_samples, BLOCK):
            if ending.reason():
                return n_iter, "stop"
            n_updates += learn(order[block])
        if n_updates == 0:
            return n_iter + 1, "no updates"
    return max_iter, "max_iter"


def learn_block(weights, rows, V, squared_norm, margin):
    """Visit the samples of one block in their order; returns the number of updates, and |W|^2 after it.

    `rows` are what `weights` reads. V (n_rows, n_labels) are label vectors of unit length; of zeros nothing
    can be learned. `squared_norm` is |W|^2 before the block.
    """
    answers, products = weights.read(rows)
    scores = np.einsum("ij,ij->i", answers, V, dtype=np.float64)
    updated = np.zeros(len(V), np.bool_)
    squared_norm = _visit(scores, products * (V @ V.T), squared_norm, margin, updated)
    weights.add(rows, V * updated[:, None], np.arange(len(V), 0, -1))
    return int(updated.sum()), squared_norm


@compiled()
def _visit(scores, corner, squared_norm, margin, updated):
    for i in range(scores.shape[0]):
        if corner[i, i] > 0 and (squared_norm <= 0 or scores[i] < margin * np.sqrt(squared_norm)):
            updated[i] = True
            squared_norm = max(squared_norm + corner[i, i] + 2 * scores[i], 0.0)
            for j in range(i + 1, scores.shape[0]):
                scores[j] += corner[i, j]
    return squared_norm


class LinearWeights:
    """W itself, (n_features, n_labels): as much memory after a million samples as after one.

    `total` is the sum of W over all samples seen, None if no average is wanted.
    """

    def __init__(self, n_features, n_labels, dtype, *, averaged):
        self.W = np.zeros((n_features, n_labels), dtype)
        self.total = np.zeros((n_features, n_labels)) if averaged else None

    def read(self, rows):
        check_magnitude("X", rows, rows.dtype)
        products = rows @ rows.T
        products = products.toarray() if sparse.issparse(products) else products
        scale = _inverse_norms(rows).astype(self.W.dtype)
        return scale[:, None] * (rows @ self.W), scale[:, None] * products * scale

    def add(self, rows, changes, seen):
        changes = changes * _inverse_norms(rows)[:, None]
        if self.total is not None:
            self.total += len(seen) * self.W
            self.total += rows.T @ (changes * seen[:, None]).astype(self.W.dtype)
        self.W += rows.T @ changes.astype(self.W.dtype)

    def squared_norm(self):
        return float(np.einsum("ij,ij->", self.W, self.W, dtype=np.float64))


class GramCoefficients:
    """W as coefficients A (n_samples, n_labels) of samples whose Gram matrix K is at hand; rows are indices.

    `total` is the sum of A over all samples seen, None if no average is wanted.
    """

    def __init__(self, K, n_labels, *, averaged):
        self.K = K
        self.scale = _inverse_roots(K.diagonal().astype(np.float64))
        self.A = np.zeros((len(K), n_labels))
        self.total = np.zeros((len(K), n_labels)) if averaged else None

    def read(self, rows):
        K, scale = self.K[rows], self.scale[rows]
        return scale[:, None] * (K @ self.A), scale[:, None] * K[:, rows] * scale

    def add(self, rows, changes, seen):
        changes = changes * self.scale[rows, None]
        if self.total is not None:
            self.total += len(seen) * self.A
            self.total[rows] += changes * seen[:, None]
        self.A[rows] += changes


class DualCoefficients(GramCoefficients):
    """W as numbers alpha (n_samples,) of samples with label vectors V, learned by the dual perceptron."""

    def __init__(self, K, V, *, averaged):
        super().__init__(K, V.shape[1], averaged=False)
        self.V = V
        self.alpha = np.zeros(len(K))
        self.total_alpha = np.zeros(len(K)) if averaged else None

    def learn(self, rows, margin, step):
        """Visit the samples of some indices in their order; returns the number of updates."""
        products = self.scale[rows, None] * self.K[rows].astype(np.float64) * self.scale
        products *= self.V[rows] @ self.V.T
        total = np.zeros(len(self.alpha)) if self.total_alpha is None else self.total_alpha
        return _visit_dual(products, rows, self.alpha, total, margin, step)

    def finish(self):
        """Make of alpha the coefficients A, and their sum over all samples."""
        self.A = (self.alpha * self.scale)[:, None] * self.V
        if self.total_alpha is not None:
            self.total = (self.total_alpha * self.scale)[:, None] * self.V
        self.V = None


@compiled()
def _visit_dual(products, rows, alpha, total, margin, step):
    n_updates = 0
    for i in range(rows.shape[0]):
        if products[i, rows[i]] > 0 and np.sum(products[i] * alpha) < margin:
            n_updates += 1
            for j in range(alpha.shape[0]):
                alpha[j] = max(alpha[j] + step * products[i, j], 0.0)
        for j in range(alpha.shape[0]):
            total[j] += alpha[j]
    return n_updates


def _inverse_roots(squares):
    """1 / sqrt, and 0 for a sample without length."""
    return np.divide(1, np.sqrt(np.maximum(squares, 0)), out=np.zeros(len(squares)), where=squares > 0)


def _inverse_norms(rows):
    squares = rows.multiply(rows).sum(axis=1) if sparse.issparse(rows) else np.einsum("ij,ij->i", rows, rows)
    return _inverse_roots(np.asarray(squares, dtype=np.float64).ravel())


def learn_samples(W, total, seen, X, states, *, worst, scaled):
    """Visit samples, CSR rows X with int8 states, in their order, and return the number of updates.

    W (n_labels, n_features) is kept current, and `total`, the sum of seen_t * changes, see `averaged`; `seen`
    samples were visited before. `worst` and `scaled`: which pairs share an update, and whether tau is the
    share of wrong pairs.
    """
    check_sparse("X", X)
    check_magnitude("X", X, np.float64)
    return _learn(W, total, seen, X.indptr, X.indices, X.data.astype(np.float64), states, worst, scaled)


def averaged(W, total, seen):
    """The mean of W over all samples seen, each update counted from its sample on."""
    return W - total / max(seen, 1)


@compiled()
def _learn(W, total, seen, indptr, indices, data, states, worst, scaled):
    n_labels = states.shape[1]
    scores, shares = np.empty(n_labels), np.empty(n_labels)
    n_updates = 0
    for i in range(states.shape[0]):
        start, stop = indptr[i], indptr[i + 1]
        for label in range(n_labels):
            scores[label] = 0.0
            for p in range(start, stop):
                scores[label] += W[label, indices[p]] * data[p]
        tau = _share(scores, states[i], worst, scaled, shares)
        if tau == 0:
            continue
        n_updates += 1
        for label in range(n_labels):
            if shares[label] != 0:
                for p in range(start, stop):
                    change = tau * shares[label] * data[p]
                    W[label, indices[p]] += change
                    total[label, indices[p]] += (seen + i) * change
    return n_updates


@compiled()
def _share(scores, states, worst, scaled, shares):
    """How much of the update each label gets; returns tau, 0 if all pairs are in order."""
    shares[:] = 0
    n_wrong = n_pairs = 0
    lowest = highest = -1
    for k in range(scores.shape[0]):
        if states[k] > 0:
            lowest = k if lowest < 0 or scores[k] < scores[lowest] else lowest
            for label in range(scores.shape[0]):
                if states[label] < 0:
                    n_pairs += 1
                    if scores[k] <= scores[label]:
                        n_wrong += 1
                        shares[k] += 1
                        shares[label] -= 1
        elif states[k] < 0:
            highest = k if highest < 0 or scores[k] > scores[highest] else highest
    if n_wrong == 0:
        return 0.0
    if worst:
        shares[:] = 0
        shares[lowest], shares[highest] = 1, -1
    else:
        shares /= n_wrong
    return n_wrong / n_pairs if scaled else 1.0
