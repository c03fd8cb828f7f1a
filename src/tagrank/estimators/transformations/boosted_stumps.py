"""Boosted stumps: a sum of rules that look at one column each."""

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from scipy import sparse

from tagrank.estimators.base import FLAG, LabelEstimator, Numbers, stores
from tagrank.estimators.max_margin import WORTH_THREADS
from tagrank.estimators.targets import make_bounds, warn_never_positive
from tagrank.resources import limited_threads
from tagrank.validation import check_count


@dataclass(kw_only=True, eq=False, repr=False)
class BoostedStumps(LabelEstimator):
    """Adds up rules on single columns, each with a vote for every label (BoosTexter, AdaBoost.MH).

    A rule asks whether a column lies above a threshold; of sparse rows, whether it is not zero. Round by
    round the rule is added that lowers ``sum_il exp(-y_il F_l(x_i))`` most, F the sum of votes, over the
    labels that are known; y is +1 for a present and -1 for an absent label. See `tagrank.solvers.stumps`.
    Columns may have any scale: only the order of their values counts.

    Parameters
    ----------
    n_rounds : int, default 200
        Rules at most; training ends before if no rule is better than chance.
    n_jobs : int, optional
        Number of threads; all cores by default.

    Attributes
    ----------
    columns_ : int array, shape (n_rounds,), the column of each rule
    thresholds_ : array, shape (n_rounds,)
    left_votes_, right_votes_ : arrays, shape (n_rounds, n_labels), up to the threshold and above
    normalizers_ : array, shape (n_rounds,); the share of wrong signs in training is at most their product
    by_presence_ : bool, whether rules ask if a column is not zero, instead of using thresholds
    classes_ : array, shape (n_labels,)
        The names of the labels, in the order of the columns of all scores and predictions.
    never_positive_ : bool array, shape (n_labels,)
        Labels without a positive training sample. They are ranked last and never predicted.
    n_features_in_ : int
        Number of columns of X in `fit`; missing if X was a mapping of views.

    Examples
    --------
    >>> import numpy as np
    >>> from tagrank import BoostedStumps
    >>> X = np.array([[0.0, 1.0], [0.1, 0.9], [1.0, 0.0], [0.9, 0.2]])
    >>> Y = np.array([[1, 0], [1, 0], [0, 1], [np.nan, 1]])
    >>> BoostedStumps(n_rounds=10).fit(X, Y).predict(X).tolist()
    [[1, 0], [1, 0], [0, 1], [0, 1]]
    """

    n_rounds: int = field(default=200, kw_only=False)
    n_jobs: int | None = None

    stored = stores(
        columns_=Numbers("i", ("n_rounds",)),
        thresholds_=Numbers("f", ("n_rounds",)),
        left_votes_=Numbers("f", ("n_rounds", "n_labels")),
        right_votes_=Numbers("f", ("n_rounds", "n_labels")),
        normalizers_=Numbers("f", ("n_rounds",)),
        by_presence_=FLAG,
    )

    def fit(self, X, y, sample_weight=None, *, stop=None) -> Self:
        """Learn from rows and three-state labels.

        Parameters
        ----------
        X : array or sparse matrix, shape (n_samples, n_features)
        y, sample_weight, stop : as in `OneVsAllSVM.fit`

        Returns
        -------
        self
        """
        from tagrank.solvers.stumps import boost_stumps

        X, targets = self._take(X, y)
        warn_never_positive(targets)
        bounds = make_bounds(targets, sample_weight=sample_weight).astype(np.float64)
        known = np.any(bounds != 0, axis=1)
        self.by_presence_ = bool(sparse.issparse(X))
        with limited_threads(self.n_jobs if bounds.size * X.shape[1] >= WORTH_THREADS else 1):
            stumps = boost_stumps(X[known], bounds[known], self.n_rounds, stop=stop)
        self.columns_, self.thresholds_ = stumps.columns, stumps.thresholds
        self.left_votes_, self.right_votes_ = stumps.votes[:, 0], stumps.votes[:, 1]
        self.normalizers_ = stumps.normalizers
        self._name_labels(targets, ~np.any(bounds > 0, axis=0))
        return self

    def restore(self, state):
        super().restore(state)
        if np.any((self.columns_ < 0) | (self.columns_ >= self.n_features_in_)):
            raise ValueError(f"columns_ must lie between 0 and {self.n_features_in_ - 1}")

    def _check_parameters(self):
        check_count("n_rounds", self.n_rounds)

    def _scores(self, X):
        values = X[:, self.columns_]
        values = values.toarray() if sparse.issparse(values) else values
        right = values != 0 if self.by_presence_ else values > self.thresholds_
        return right @ (self.right_votes_ - self.left_votes_) + self.left_votes_.sum(axis=0)
