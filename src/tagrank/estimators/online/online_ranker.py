"""Online category ranking: a perceptron over pairs of labels, for streams."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import safe_sparse_dot

from tagrank.estimators.base import Numbers, stores
from tagrank.estimators.calibration.decisions import predict_top
from tagrank.estimators.online.stream_estimator import StreamEstimator
from tagrank.estimators.targets import warn_nothing_to_rank
from tagrank.validation import check_choice


@dataclass(kw_only=True, eq=False, repr=False)
class OnlineRanker(StreamEstimator):
    """Ranks labels with a perceptron that learns from one sample at a time (MMP, Crammer and Singer).

    Where a present label is not above an absent one, their weights move towards and away from the sample; see
    `tagrank.solvers.perceptrons`. The model is linear, and its memory does not grow with the stream.
    There is nothing to converge to and no certificate; `LabelRanker` is the better choice for what fits into
    memory. `predict` gives each sample its highest labels, as many as samples had so far in the mean.

    Parameters
    ----------
    pairs : {"uniform", "worst"}, default "uniform"
        Who shares an update: all pairs in wrong order alike, or the lowest present and highest absent label.
    step : {"loss", "constant"}, default "loss"
        Size of an update: the share of pairs in wrong order, or one.
    average : bool, default True
        Predict with the mean of the weights over all samples seen, which depends less on the last samples.
    max_iter : int, default 5
        Maximum number of passes of `fit` over the data; `fit` stops after a pass without an update.
        `partial_fit` makes one pass.
    random_state : int, RandomState or None, default None
        Seed of the order in which `fit` visits samples. `partial_fit` keeps the order of the stream.

    Attributes
    ----------
    coef_ : array, shape (n_labels, n_features); `decision_function(X)` is ``X @ coef_.T``
    n_seen_ : int
        Number of samples seen; each pass of `fit` counts a sample again.
    n_updates_ : int
        Number of updates of the weights.
    n_iter_ : int
        Number of passes of `fit`.
    never_positive_ : bool array, shape (n_labels,)
        Labels without a positive sample so far. They are ranked last and never predicted.
    stream_ : LabelStream
        State of the labels so far: their names, and how often each was present and known.
    classes_ : array, shape (n_labels,)
        The names of the labels, in the order of the columns of all scores and predictions.
    n_features_in_ : int
        Number of columns of X in `fit`; missing if X was a mapping of views.

    Examples
    --------
    >>> from tagrank import OnlineRanker
    >>> tags = ["boat", "sea", "street"]
    >>> ranker = OnlineRanker().partial_fit([[0.0, 1.0], [1.0, 0.0]], [{"sea"}, {"street"}], classes=tags)
    >>> ranker = ranker.partial_fit([[0.1, 0.9]], [{"sea", "boat"}])
    >>> ranker.classes_[ranker.decision_function([[0.0, 0.8]]).argmax()].item()
    'sea'
    """

    pairs: str = "uniform"
    step: str = "loss"
    average: bool = True
    max_iter: int = 5
    random_state: Any = None

    # columns from 0 to 1 share a sign, which stands for the constant that the weights lack
    column_scaling = "minmax"
    stored = stores(
        _weights=Numbers("f", ("n_labels", "n_features")), _total=Numbers("f", ("n_labels", "n_features"))
    )

    def _check_parameters(self):
        super()._check_parameters()
        check_choice("pairs", self.pairs, ("uniform", "worst"))
        check_choice("step", self.step, ("loss", "constant"))

    def _take_chunk(self, stream, X, y, *, reset):
        states, X = super()._take_chunk(stream, X, y, reset=reset)
        return states, sparse.csr_array(X, dtype=np.float64)

    def _begin(self, stream, X, *, at_once):
        self._weights, self._total = np.zeros((2, len(stream.classes), X.shape[1]))

    def _learn_all(self, X, states):
        warn_nothing_to_rank(states)
        return lambda rows: self._learn(X[rows], states[rows])

    def _learn_next(self, X, states):
        self.stream_.count(states)
        self._learn(X, states)

    def _learn(self, X, states):
        from tagrank.solvers.perceptrons import learn_samples

        worst, scaled = self.pairs == "worst", self.step == "loss"
        n_updates = learn_samples(
            self._weights, self._total, self.n_seen_, X, states, worst=worst, scaled=scaled
        )
        self.n_updates_ += n_updates
        self.n_seen_ += len(states)
        return n_updates

    def _finish(self, X):
        from tagrank.solvers.perceptrons import averaged

        self._name_stream()
        average = averaged(self._weights, self._total, self.n_seen_)
        self.coef_ = average if self.average else self._weights.copy()

    def _scores(self, X):
        return safe_sparse_dot(X, self.coef_.T, dense_output=True)

    def choose(self, scores) -> np.ndarray:
        """The highest labels, as many as samples had in the mean, at least one; shape of `scores`."""
        known = np.maximum(self.stream_.n_known, 1)
        n_labels = max(1, round(float((self.stream_.n_present / known).sum())))
        return predict_top(scores, n_labels) * ~self.never_positive_

    def restore(self, state):
        super().restore(state)
        self._finish(None)
