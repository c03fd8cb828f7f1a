"""Labels that know each other: what is known of the other labels of a sample changes how probable one is.

By the sample alone, label l of sample i is true with log-odds eta_il, held out and calibrated; p_il is that
probability. What is known of another label k is evidence as far as the sample did not foretell it:

    e_ik = 1 - p_ik   known to be true: listed, or accepted
           -p_ik      known not to be true
           0          neither. Not listed says little: counting it found fewer of the missing labels

With it, with the share D of the samples of one label that also have another, and with the number N_il of
other labels known to be true, the log-odds of label l become

    a eta_il + b sum_k T_kl e_ik + v sum_(k known to be true) D_kl + g N_il + w,      T_ll = D_ll = 0

T_kl = T_lk ~ N(0, 1 / lambda) is about the logarithm of the odds ratio of k and l that samples leave
unexplained: a Markov network of pairs whose field is the model, fitted by its pseudo-likelihood (Besag,
*Statistical Analysis of Non-Lattice Data*, 1975). A label is listed with probability c_l sigma(log-odds), c_l
being its completeness. T is one step of Newton's method from b = v = 0, pair by pair,

    T = (G + G') / (H + H' + lambda),      G = E'R,   H = (E * E)'V

with R and V the first and second derivatives of the log-likelihood by the log-odds: rare pairs have little H,
and stay near 0. E has few entries, so this costs little. More steps were measured, and gained nothing. D is
what samples have together whether they foretold it or not, less what chance would give:

    D_kl = (n_kl - n_k n_l / n) / (n_k + m)

Either alone foretells less than both. a, b, v, g and w belong to all labels. They are learned from samples
that had no say in T and D: five parts, each by those of the other four. Where the likelihood of these gains
too little, labels do not know each other.

Only labels beside which another is known to be true are learned from. Samples without any label are often not
there: given that no other label is listed, that one is would be no news, and labels would seem to avoid each
other.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.special import expit

N_PARTS = 5
SHRINKAGE = 2.0  # lambda; b makes up for other values
FEW = 3.0  # m: samples of a label that are as good as none
LEAST_GAIN = 6.0  # in the log-likelihood of all samples, below which labels do not know each other
MOST_LABELS = 4000  # T has the square of it
MOST_PAIRS = 150_000  # of sample and label that a, b, v, g and w are learned from
STEPS = 30
TINY = 1e-12


@dataclass(frozen=True)
class Companions:
    """What labels that are known of a sample say about its others.

    Attributes
    ----------
    ties : array, shape (n_labels, n_labels), b T: symmetric, zero on the diagonal
    votes : array, shape (n_labels, n_labels), v D: of the label of a row for that of a column
    scale, count_weight, offset : a, g and w
    """

    ties: np.ndarray
    votes: np.ndarray
    scale: float
    count_weight: float
    offset: float

    @property
    def numbers(self):
        """a, g and w."""
        return self.scale, self.count_weight, self.offset

    def log_odds(self, log_odds, known):
        """Log-odds given what is known of the other labels, shape (n_samples, n_labels).

        Parameters
        ----------
        log_odds : by the sample alone, shape (n_samples, n_labels)
        known : int8 array of that shape: +1 true, -1 not true, 0 not known. Where no other label is known to
            be true, a and w do not apply
        """
        n_others = _count_others(known)
        changed = np.where(n_others > 0, self.scale * log_odds + self.offset, log_odds)
        changed += self.count_weight * n_others
        return changed + _evidence(log_odds, known) @ self.ties + _present(known) @ self.votes

    def voices(self, log_odds, known):
        """What each label k adds to the log-odds of each label l of one sample, shape (n_labels, n_labels).

        Both arguments have the shape (n_labels,).
        """
        evidence = _evidence(log_odds[None], known[None]).toarray()[0]
        return evidence[:, None] * self.ties + (known > 0)[:, None] * self.votes


def known_of(states, decided=None):
    """What is surely known of labels in int8 states (n_samples, n_labels): absent ones only if `decided`."""
    return np.where((states > 0) | (False if decided is None else decided), states, 0).astype(np.int8)


def fit_companions(states, log_odds, completeness=1.0, decided=None):
    """Companions, or None where labels do not know each other.

    Parameters
    ----------
    states : int8 array (n_samples, n_labels), +1 listed or found, -1 not listed or not true, 0 unknown
    log_odds : held out, finite, same shape: that labels are true by the sample alone
    completeness : the share of the true labels that are listed, one number or one a label
    decided : mask of that shape, where the truth is known, whatever was listed
    """
    n_samples, n_labels = states.shape
    known = known_of(states, decided)
    if not 2 <= n_labels <= MOST_LABELS or n_samples < 2 * N_PARTS or np.all(_count_others(known) == 0):
        return None
    fitting = _Companionship(states, log_odds, known, completeness, decided)
    pairs = _SharedWeights(fitting)
    _, without = pairs.fit([log_odds])
    (scale, count_weight, offset), _ = pairs.fit([log_odds, fitting.n_others])
    fitting.derive(scale * log_odds + count_weight * fitting.n_others + offset)
    part = np.random.default_rng(0).permutation(n_samples) % N_PARTS
    sums = [fitting.sums(part == number) for number in range(N_PARTS)]
    whole = [np.sum(matrices, axis=0) for matrices in zip(*sums, strict=True)]
    tied, voted = np.empty(states.shape), np.empty(states.shape)
    for number, own in enumerate(sums):
        here, rest = part == number, [both - one for both, one in zip(whole, own, strict=True)]
        tied[here], voted[here] = fitting.evidence[here] @ _ties(rest), fitting.present[here] @ _votes(rest)
    terms = {"ties": tied, "votes": voted}
    while terms:
        (scale, count_weight, *strengths, offset), value = pairs.fit(
            [log_odds, fitting.n_others, *terms.values()]
        )
        if min(strengths) > 0:
            break
        # a term that would count against what it says is chance
        del terms[list(terms)[int(np.argmin(strengths))]]
    if not terms or value - without < LEAST_GAIN or not scale > 0:
        return None
    strength = dict(zip(terms, strengths, strict=True))
    ties, votes = strength.get("ties", 0.0) * _ties(whole), strength.get("votes", 0.0) * _votes(whole)
    return Companions(ties, votes, float(scale), float(count_weight), float(offset))


def cross_fitted(states, log_odds, parts, completeness=1.0, decided=None):
    """Log-odds given the other labels of each sample, by Companions of samples in other parts.

    None where those outside of any part do not let labels know each other: else the probabilities of one part
    would mean something else than those of another.

    Parameters
    ----------
    parts : the number of the part of each sample, shape (n_samples,); samples below 0 teach nothing, and keep
        their log-odds
    states, log_odds, completeness, decided : as in `fit_companions`
    """
    known, changed = known_of(states, decided), np.array(log_odds, dtype=np.float64)
    for number in np.unique(parts[parts >= 0]):
        here, others = parts == number, (parts != number) & (parts >= 0)
        mask = None if decided is None else decided[others]
        found = fit_companions(states[others], log_odds[others], completeness, mask)
        if found is None:
            return None
        changed[here] = found.log_odds(log_odds[here], known[here])
    return changed


def _evidence(log_odds, known):
    """E as a sparse matrix (n_samples, n_labels)."""
    rows, labels = np.nonzero(known)
    values = (known[rows, labels] > 0) - expit(log_odds[rows, labels])
    return sparse.csr_array((values, (rows, labels)), shape=known.shape)


def _present(known):
    """1 where a label is known to be true, as a sparse matrix (n_samples, n_labels)."""
    return sparse.csr_array((known > 0).astype(np.float64))


def _count_others(known):
    """How many other labels of each sample are known to be true, shape (n_samples, n_labels)."""
    is_true = known > 0
    return np.count_nonzero(is_true, axis=1)[:, None] - is_true.astype(np.int64)


class _Companionship:
    """The evidence, what it is to foretell, and the derivatives of the likelihood by the log-odds."""

    def __init__(self, states, log_odds, known, completeness, decided):
        self.log_odds, self.n_others = log_odds, _count_others(known)
        self.listed = np.broadcast_to(np.asarray(completeness, dtype=np.float64), states.shape[1])
        self.decided = decided
        self.targets = np.where(self.n_others > 0, states, 0)
        self.evidence, self.present = _evidence(log_odds, known), _present(known)

    def completeness(self, rows, labels):
        """The probability that a true label of these pairs is listed."""
        listed = self.listed[labels]
        return listed if self.decided is None else np.where(self.decided[rows, labels], 1.0, listed)

    def derive(self, log_odds):
        """Take the derivatives at these log-odds."""
        listed = self.listed if self.decided is None else np.where(self.decided, 1.0, self.listed)
        residual, curvature = _slopes(expit(log_odds), listed, self.targets > 0)
        is_known = self.targets != 0
        self._residual, self._curvature = np.where(is_known, residual, 0), np.where(is_known, curvature, 0)

    def sums(self, rows):
        """Of some samples: G + G', H + H', n_kl, n_k and n."""
        E, present = self.evidence[rows], self.present[rows]
        gradient, curvature = E.T @ self._residual[rows], E.multiply(E).T @ self._curvature[rows]
        together = (present.T @ present).toarray()
        return gradient + gradient.T, curvature + curvature.T, together, present.sum(axis=0), np.sum(rows)


def _ties(sums):
    """T."""
    gradient, curvature, *_ = sums
    ties = gradient / (np.maximum(curvature, 0) + SHRINKAGE)
    np.fill_diagonal(ties, 0)
    return ties


def _votes(sums):
    """D."""
    *_, together, counts, n_samples = sums
    votes = (together - np.outer(counts, counts) / n_samples) / (counts[:, None] + FEW)
    np.fill_diagonal(votes, 0)
    return votes


def _slopes(truth, listed, present):
    """First derivatives by the log-odds, and the expected second ones with changed sign."""
    share = np.minimum(listed * truth, 1 - TINY)
    slack = (1 - truth) / (1 - share)
    return np.where(present, 1 - truth, -share * slack), share * (1 - truth) * slack


class _SharedWeights:
    """Pairs of sample and label from which the numbers are learned that all labels share."""

    def __init__(self, fitting):
        rows, labels = np.nonzero(fitting.targets)
        present = fitting.targets[rows, labels] > 0
        weights = np.ones(len(rows))
        if len(rows) > MOST_PAIRS:
            # nearly all pairs are surely absent: all others, and some of these for all of them
            values = np.where(present, np.inf, fitting.log_odds[rows, labels])
            order = np.argpartition(-values, MOST_PAIRS // 2)
            rest = order[MOST_PAIRS // 2 :]
            drawn = np.random.default_rng(0).choice(rest, MOST_PAIRS // 2, replace=False)
            weights[drawn] = len(rest) / len(drawn)
            kept = np.concatenate([order[: MOST_PAIRS // 2], drawn])
            rows, labels, present, weights = rows[kept], labels[kept], present[kept], weights[kept]
        self.rows, self.labels, self.present, self.weights = rows, labels, present, weights
        self.listed = fitting.completeness(rows, labels)

    def fit(self, terms):
        """Weights of the terms, each (n_samples, n_labels), and of 1; and the log-likelihood, by Newton.

        The first term begins with weight 1, the others with 0.
        """
        inputs = np.array([*(term[self.rows, self.labels] for term in terms), np.ones(len(self.rows))])
        point = np.zeros(len(inputs))
        point[0] = 1.0
        value, truth = self._likelihood(point @ inputs)
        for _ in range(STEPS):
            residual, curvature = _slopes(truth, self.listed, self.present)
            matrix = (inputs * (self.weights * curvature)) @ inputs.T + 1e-6 * np.eye(len(inputs))
            step, gain, length = np.linalg.solve(matrix, inputs @ (self.weights * residual)), -1.0, 1.0
            while gain < 0 and length > 1e-4:
                trial = point + length * step
                trial_value, trial_truth = self._likelihood(trial @ inputs)
                gain, length = trial_value - value, length / 2
            if gain > 0:
                point, value, truth = trial, trial_value, trial_truth
            if gain < 1e-3:
                break
        return point, value

    def _likelihood(self, log_odds):
        truth = expit(log_odds)
        absent = np.log1p(-np.minimum(self.listed * truth, 1 - TINY))
        return self.weights @ np.where(self.present, -np.logaddexp(0, -log_odds), absent), truth
