"""What a loss must have: the contract between the losses and the engine (`tagrank.solvers.dual_ascent`).

With bounds B (+C for a present label, -C for an absent one, 0 unknown) and scores F = K A of the samples, a
loss says which coefficients A are feasible, takes exact steps of some of them, and measures the terms of

    primal   1/2 <A, F> + sum of losses        dual   sum |A| - 1/2 <A, F>

(half of |A|, or the entropy of A, where the loss says so). Every sample's part of the gap, loss - |A| + A F,
is never negative.

Losses of labels that stand alone (`BoxLoss`) keep each coefficient between zero and its bound; coefficients
of a ranking (`BalancedLoss`) sum up to zero in every sample.
"""

from abc import ABC, abstractmethod

import numpy as np

from tagrank.resources import compiled

FAST = {"contract", "nsz", "nnan", "arcp", "reassoc"}
ENOUGH_ENTRIES = 10_000  # of samples and labels, for a thread to be worth its start


class Loss(ABC):
    """State of a loss during training.

    The engine makes it with a function of bounds and coefficients: the class itself, or a
    `functools.partial` of one that has parameters of its own.

    Parameters
    ----------
    bounds : array, shape (n_samples, n_labels)
    coefficients : array of the same shape; made feasible here, changed in place by the sweeps

    Attributes
    ----------
    has_independent_labels : bool, whether `sweep_rows` takes the labels in several groups, one a thread
    stays_feasible : bool, whether `sweep_block` leaves float64 coefficients exactly feasible, and tells their
        exact changes; otherwise they are repaired before they are certified
    sweeps_on_device : bool, whether there are sweeps for the device of a Gram matrix
        (`tagrank.solvers.device.passes`)
    """

    has_independent_labels = False
    stays_feasible = False
    sweeps_on_device = False

    def __init__(self, bounds, coefficients):
        self.bounds = bounds
        self.coefficients = coefficients
        if coefficients.any():
            coefficients[:] = self.feasible(coefficients, bounds)

    @staticmethod
    @abstractmethod
    def without_kernel(bounds):
        """The best coefficients of samples with k(x, x) = 0, from their bounds (n_samples, n_labels)."""

    @staticmethod
    @abstractmethod
    def feasible(start, bounds):
        """Feasible coefficients near those of a start, shape (n_samples, n_labels)."""

    @staticmethod
    @abstractmethod
    def repair(coefficients):
        """Bring coefficients that were rounded back into the feasible set, in place."""

    @abstractmethod
    def sweep_block(self, rows, corner, scores, changes, least_gap, n_sweeps):
        """Exact steps on the samples `rows`; returns how many entries of `changes` are not zero.

        corner : K[rows][:, rows]; scores, changes : shape (n_labels, len(rows)), overwritten; the changes are
            exact if they, and the coefficients, are float64
        least_gap : a sample whose part of the duality gap is smaller may be left alone
        """

    @abstractmethod
    def sweep_rows(self, order, X, squared_norms, W, least_gap):
        """One exact step on each sample of `order`; returns the sums of gaps and primals met on the way.

        X : CSR rows; W : weights (n_groups, n_features, group width) by groups of labels, kept current
        """

    @abstractmethod
    def measure(self, bounds, coefficients, scores):
        """Sums over labels, for each sample, of loss, |coefficient| (or what stands in its place in the
        dual) and coefficient * score, (3, n_samples);
        and, (2, n_samples), each sample's best threshold between present and absent labels and its highest
        score, or None where a loss has no thresholds.

        scores : shape (n_labels, n_samples), unlike the other two
        """


class BoxLoss(Loss):
    """Every label on its own: its coefficient lies between zero and its bound."""

    has_independent_labels = True
    stays_feasible = True

    @staticmethod
    def feasible(start, bounds):
        return np.clip(start, np.minimum(bounds, 0), np.maximum(bounds, 0))

    @staticmethod
    def repair(coefficients):
        """Nothing to do: rounding does not leave the box."""


class BalancedLoss(Loss):
    """A ranking: the coefficients of every sample sum up to zero."""

    def __init__(self, bounds, coefficients):
        super().__init__(bounds, coefficients)
        self.guesses = np.zeros(len(bounds))
        # a sample without present or without absent labels has nothing to rank
        self.is_mixed = (bounds.min(axis=1) < 0) & (bounds.max(axis=1) > 0)

    @staticmethod
    def repair(coefficients):
        """Undo rounding: make every sample's coefficients sum to zero by shrinking the larger side."""
        coefficients[:] = balanced(coefficients)


def balanced(values):
    """`values` (n_samples, n_labels) with the larger of the two sides shrunk to the size of the other."""
    sides = [np.maximum(values, 0), np.minimum(values, 0)]
    sums = [np.abs(side).sum(axis=1, dtype=np.float64, keepdims=True) for side in sides]
    total = np.minimum(*sums)
    shares = [np.divide(total, s, out=np.zeros_like(s), where=s > 0) for s in sums]
    return sides[0] * shares[0] + sides[1] * shares[1]


def with_signs_of(bounds, values):
    """`values` without those on the wrong side of zero, or of unknown labels."""
    return np.where(values * bounds > 0, values, 0.0)


def shrunk_to_fit(bounds, coefficients, norm):
    """Balanced coefficients, shrunk until pairs of present and absent labels may share them in proportion.

    The pair of k and l has then the weight A_k |A_l| / (sum of all A_k), in units of sqrt(B_k |B_l|). It fits
    if in each column of pairs, all those of one absent label, the `norm` of the weights is one at most.
    """
    scaled = np.divide(coefficients, np.sqrt(np.abs(bounds)), out=np.zeros(bounds.shape), where=bounds != 0)
    total = np.maximum(coefficients, 0).sum(axis=1)
    fullest = np.linalg.norm(np.maximum(scaled, 0), norm, axis=1) * np.maximum(-scaled, 0).max(axis=1)
    return coefficients * np.divide(total, fullest, out=np.ones(len(total)), where=fullest > total)[:, None]


def as_double(scores):
    """Measured in float64 always, so that measuring is compiled once."""
    return scores.astype(np.float64, copy=False)


@compiled()
def take_changes(new, current, where, changed):
    """Which entries change and by how much, a short list; `current` becomes `new`. Returns their number."""
    n_changed = 0
    for label in range(new.shape[0]):
        change = new[label] - current[label]
        where[n_changed], changed[n_changed] = label, change
        n_changed += change != 0
        current[label] = new[label]
    return n_changed


@compiled(fastmath=FAST)
def sum_of_squares(changed, n_changed):
    total = changed.dtype.type(0)
    for k in range(n_changed):
        total += changed[k] * changed[k]
    return total
