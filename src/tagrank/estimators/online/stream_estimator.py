"""Estimators that learn from a stream, each sample when it comes."""

import numpy as np
from sklearn.utils import check_random_state

from tagrank.estimators.base import LabelEstimator
from tagrank.estimators.compared_rows import PlainRows
from tagrank.estimators.online.label_stream import LabelStream
from tagrank.estimators.stored import COUNT, Numbers, stores
from tagrank.kernels.gram import n_rows
from tagrank.parallel import limited_threads
from tagrank.solvers.online_passes import learn_in_passes
from tagrank.validation import check_count, check_even_rows, check_flag, check_same_length

COUNTS = ("n_seen_", "n_updates_", "n_iter_")


class StreamEstimator(LabelEstimator):
    """Learns in passes over what fits into memory (`fit`), or from one chunk after another (`partial_fit`).

    A subclass writes ``_begin(stream, X, at_once)``, an empty model for such rows; ``_learn_all(X, states)``,
    a function that learns from the samples of some indices and returns the number of updates;
    ``_learn_next(X, states)``, for a chunk; and ``_finish(X)``, which makes of all that what predictions
    need; X is None after loading. They count `n_updates_` and `n_seen_`.

    Attributes
    ----------
    stream_ : LabelStream, what is known of the labels so far
    n_seen_, n_updates_ : int, samples met and updates made, a sample in each pass of `fit` anew
    n_iter_ : int, passes of `fit`
    """

    stored = stores(
        never_positive_=None,
        n_present=Numbers("i", ("n_labels",)),
        n_known=Numbers("i", ("n_labels",)),
        **dict.fromkeys(COUNTS, COUNT),
    )

    def fit(self, X, y, *, stop=None):
        """Learn anew, in at most `max_iter` passes over the samples in random order.

        Parameters
        ----------
        X, y : as in `OneVsAllSVM.fit`
        stop : function without arguments; once it answers true, training ends

        Returns
        -------
        self
        """
        self._check_parameters()
        stream = LabelStream.open(y)
        states, X = self._take_chunk(stream, X, y, reset=True)
        stream.count(states)
        stream.warn_never_positive()
        self._start(stream, X, at_once=True)
        learn, rng = self._learn_all(X, states), check_random_state(self.random_state)
        with limited_threads(1):  # the products of a block are too small to share
            self.n_iter_, _ = learn_in_passes(learn, len(states), max_iter=self.max_iter, rng=rng, stop=stop)
        self._finish(X)
        return self

    def partial_fit(self, X, y, classes=None):
        """Learn from the next samples of a stream, in their order.

        A chunk that is refused (other lengths, other labels, nan in X) changes nothing.

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
        states, X = self._take_chunk(stream, X, y, reset=is_first)
        if is_first:
            self._start(stream, X, at_once=False)
        with limited_threads(1):
            self._learn_next(X, states)
        self._finish(X)
        return self

    def _check_parameters(self):
        check_count("max_iter", self.max_iter)
        check_flag("average", self.average)

    def _take_chunk(self, stream, X, y, *, reset):
        states = stream.encode(y)
        if not isinstance(X, PlainRows):
            check_even_rows("X", X)
        X = self._check_rows(X, reset=reset)
        check_same_length(X=range(n_rows(X)), y=states)
        return states, X

    def _start(self, stream, X, *, at_once):
        self._begin(stream, X, at_once=at_once)
        self.stream_ = stream
        self.n_seen_, self.n_updates_, self.n_iter_ = 0, 0, 0

    def _name_stream(self):
        self.classes_, self._one_dimensional = self.stream_.classes, self.stream_.one_dimensional
        self.never_positive_ = self.stream_.never_positive

    def stored_state(self):
        # what a kernel model stores is made by `_finish`
        state = LabelEstimator.stored_state(self)
        return state | {"n_present": self.stream_.n_present, "n_known": self.stream_.n_known}

    def restore(self, state):
        self.stream_ = LabelStream(np.arange(len(state["n_known"])), one_dimensional=False)
        self.stream_.n_present, self.stream_.n_known = state.pop("n_present"), state.pop("n_known")
        LabelEstimator.restore(self, state)
        if self.n_seen_ < 0:
            raise ValueError(f"n_seen_ must not be negative, got {self.n_seen_}")
