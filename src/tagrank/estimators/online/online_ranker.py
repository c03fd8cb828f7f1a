"""Online category ranking: a perceptron over pairs of labels, for streams."""

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted, validate_data

from tagrank.estimators.answers import AnswersMixin
from tagrank.estimators.online.label_stream import LabelStream
from tagrank.estimators.targets import warn_nothing_to_rank
from tagrank.solvers.online_passes import learn_in_passes
from tagrank.validation import (
    check_choice,
    check_count,
    check_even_rows,
    check_flag,
    check_rows,
    check_same_length,
)


class OnlineRanker(AnswersMixin, BaseEstimator):
    """Ranks labels by a perceptron that learns from one sample at a time (MMP, Crammer and Singer).

    Where a present label is not above an absent one, their weights move towards and away from the sample; see
    `tagrank.solvers.category_perceptron`. The model is linear, and its memory does not grow with the stream.
    There is nothing to converge to and no certificate; `LabelRanker` is the better choice for what fits into
    memory. `predict` gives each sample its highest labels, as many as samples had so far in the mean.

    Parameters
    ----------
    pairs : {"uniform", "worst"}
        Who shares an update: all pairs in wrong order alike, or the lowest present and highest absent label.
    step : {"loss", "constant"}
        Size of an update: the share of pairs in wrong order, or one.
    average : bool, default True
        Predict with the mean of the weights over all samples seen.
    max_iter : int, default 5
        Passes of `fit` over the data at most; it ends after a pass without an update.
    random_state : int, RandomState or None
        Seeds the order in which `fit` visits samples. `partial_fit` keeps the order of the stream.

    Attributes
    ----------
    coef_ : array, shape (n_labels, n_features); `decision_function(X)` is ``X @ coef_.T``
    classes_ : array, the names of the labels
    n_seen_, n_updates_ : int, samples met and updates made, a sample in each pass of `fit` anew
    n_iter_ : int, passes of `fit`
    never_positive_ : bool array, labels without a positive sample so far; they are ranked last

    Examples
    --------
    >>> from tagrank import OnlineRanker
    >>> tags = ["boat", "sea", "street"]
    >>> ranker = OnlineRanker().partial_fit([[0.0, 1.0], [1.0, 0.0]], [{"sea"}, {"street"}], classes=tags)
    >>> ranker = ranker.partial_fit([[0.1, 0.9]], [{"sea", "boat"}])
    >>> ranker.classes_[ranker.decision_function([[0.0, 0.8]]).argmax()].item()
    'sea'
    """

    def __init__(self, *, pairs="uniform", step="loss", average=True, max_iter=5, random_state=None):
        self.pairs = pairs
        self.step = step
        self.average = average
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X, y, *, stop=None):
        """Learn anew, in at most `max_iter` passes over the samples in random order.

        Parameters
        ----------
        X : array or sparse matrix, shape (n_samples, n_features)
        y, stop : as in `OneVsAllSVM.fit`

        Returns
        -------
        self
        """
        self._check_parameters()
        stream = LabelStream.open(y)
        states, X = self._check_chunk(stream, X, y, reset=True)
        self._begin(stream, X.shape[1])
        stream.count(states)
        stream.warn_never_positive()
        warn_nothing_to_rank(states, stacklevel=3)
        rng = check_random_state(self.random_state)

        def learn(rows):
            return self._learn(X[rows], states[rows])

        self.n_iter_, _ = learn_in_passes(learn, len(states), max_iter=self.max_iter, rng=rng, stop=stop)
        return self._finish()

    def partial_fit(self, X, y, classes=None):
        """Learn from the next samples of a stream, in their order; a chunk that is refused changes nothing.

        Parameters
        ----------
        X, y : as in `fit`
        classes : the names of all labels, in the first call; by default those of the first chunk

        Returns
        -------
        self
        """
        self._check_parameters()
        is_first = not hasattr(self, "stream_")
        stream = LabelStream.open(y, classes) if is_first else self.stream_
        if not is_first and classes is not None and list(classes) != list(stream.classes):
            raise ValueError("classes differ from those of the first call; leave them out, or fit anew")
        states, X = self._check_chunk(stream, X, y, reset=is_first)
        if is_first:
            self._begin(stream, X.shape[1])
        stream.count(states)
        self._learn(X, states)
        return self._finish()

    def _check_parameters(self):
        check_choice("pairs", self.pairs, ("uniform", "worst"))
        check_choice("step", self.step, ("loss", "constant"))
        check_count("max_iter", self.max_iter)
        check_flag("average", self.average)

    def _check_chunk(self, stream, X, y, *, reset):
        states = stream.encode(y)
        check_even_rows("X", X)
        check_rows("X", X)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=reset)
        check_same_length(X=X, y=states)
        return states, sparse.csr_array(X)

    def _begin(self, stream, n_features):
        self.stream_ = stream
        self._weights, self._total = np.zeros((2, len(stream.classes), n_features))
        self.n_seen_, self.n_updates_, self.n_iter_ = 0, 0, 0

    def _learn(self, X, states):
        from tagrank.solvers.category_perceptron import learn_samples

        worst, scaled = self.pairs == "worst", self.step == "loss"
        n_updates = learn_samples(
            self._weights, self._total, self.n_seen_, X, states, worst=worst, scaled=scaled
        )
        self.n_seen_ += len(states)
        self.n_updates_ += n_updates
        return n_updates

    def _finish(self):
        from tagrank.solvers.category_perceptron import averaged

        self.classes_, self._one_dimensional = self.stream_.classes, self.stream_.one_dimensional
        self.never_positive_ = self.stream_.never_positive
        average = averaged(self._weights, self._total, self.n_seen_)
        self.coef_ = average if self.average else self._weights.copy()
        return self

    def _scores_of_all(self, X):
        check_is_fitted(self)
        check_rows("X", X)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        scores = safe_sparse_dot(X, self.coef_.T, dense_output=True)
        if self.never_positive_.any() and not self.never_positive_.all():
            known = scores[:, ~self.never_positive_]
            scores[:, self.never_positive_] = known.min(axis=1, keepdims=True) - 1
        return scores

    def choose(self, scores):
        """The highest labels, as many as samples had in the mean, at least one; shape of `scores`."""
        known = np.maximum(self.stream_.n_known, 1)
        n_labels = max(1, round(float((self.stream_.n_present / known).sum())))
        order = np.argsort(-scores, axis=1, kind="stable")[:, :n_labels]
        chosen = np.zeros(scores.shape, np.int64)
        np.put_along_axis(chosen, order, 1, axis=1)
        return chosen * ~self.never_positive_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags
