"""What a loss must have: the contract between the losses and the engine (`tagrank.solvers.dual_ascent`).

With bounds B (+C for a present label, -C for an absent one, 0 unknown) and scores F = K A of the samples, a
loss says which coefficients A are feasible, takes exact steps of some of them, and measures the terms of

    primal   1/2 <A, F> + sum of losses        dual   sum |A| - 1/2 <A, F>

(half of |A|, or the entropy of A, where the loss says so). Every sample's part of the gap, loss - |A| + A F,
is never negative.
"""

from abc import ABC, abstractmethod


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
    """

    has_independent_labels = False
    stays_feasible = False

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
