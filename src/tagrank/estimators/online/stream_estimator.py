"""Estimators that learn from a stream, each sample when it comes."""

from collections.abc import Iterable
from numbers import Number
from typing import Self

import numpy as np
from sklearn.utils import check_random_state

from tagrank.estimators.base import COUNT, LabelEstimator, Numbers, stores
from tagrank.estimators.compared_rows import PlainRows
from tagrank.estimators.joint.output_kernels import unit_rows
from tagrank.estimators.targets import Targets, encode_targets, warn_never_positive
from tagrank.kernels.gram import n_rows
from tagrank.labels import encode_tag_sets, is_tag_sets, label_states
from tagrank.resources import limited_threads
from tagrank.solvers.perceptrons import learn_in_passes
from tagrank.validation import check_count, check_even_rows, check_flag, check_same_length

COUNTS = ("n_seen_", "n_updates_", "n_iter_")


class LabelStream:
    """What is known of the labels of a stream so far: names fixed by the first chunk, means as they come.

    Attributes
    ----------
    classes : array, the names of the labels
    one_dimensional : bool, whether y is one class for each sample
    n_present, n_known : int arrays, shape (n_labels,)
    """

    def __init__(self, classes, *, one_dimensional):
        self.classes = classes
        self.one_dimensional = one_dimensional
        self.n_present = np.zeros(len(classes), np.int64)
        self.n_known = np.zeros(len(classes), np.int64)

    @classmethod
    def open(cls, y, classes=None):
        """A stream whose first chunk is `y`; its labels are `classes`, or those that `y` has."""
        if classes is None:
            targets = encode_targets(y)
            return cls(targets.classes, one_dimensional=targets.one_dimensional)
        is_list = isinstance(classes, Iterable) and not isinstance(classes, memoryview)
        names = list(classes) if is_list and getattr(classes, "ndim", 1) == 1 else []
        are_names = all(isinstance(name, str | Number) for name in names)
        if not are_names or len(set(names)) != len(names) or not names:
            raise ValueError(f"classes must be at least one name, each once, got {classes!r}")
        is_flat = not is_tag_sets(y) and not hasattr(y, "columns") and np.ndim(y) == 1
        return cls(np.asarray(names), one_dimensional=is_flat)

    def encode(self, y):
        """States (n_samples, n_labels) of a chunk, or an error if it has labels that the stream has not."""
        if self.one_dimensional:
            y = np.asarray(y)
            self._refuse(set(y.ravel().tolist()) - set(self.classes.tolist()))
            return np.where(y.reshape(-1, 1) == self.classes, 1, -1).astype(np.int8)
        if is_tag_sets(y):
            self._refuse(
                {tag for entry in y if entry is not None for tag in entry} - set(self.classes.tolist())
            )
            return label_states(encode_tag_sets(y, tags=self.classes.tolist())[0])
        if hasattr(y, "columns"):
            self._refuse(set(y.columns) - set(self.classes.tolist()))
            return label_states(y.reindex(columns=list(self.classes)).to_numpy())
        check_even_rows("y", y)
        states = label_states(y)
        if states.shape[1] != len(self.classes):
            raise ValueError(
                f"y has {states.shape[1]} labels, but the stream began with {len(self.classes)}; "
                "name all labels with classes= in the first call, and pass a column for each"
            )
        return states

    def _refuse(self, unknown_names):
        if unknown_names:
            shown = ", ".join(repr(name) for name in sorted(unknown_names, key=str)[:5])
            raise ValueError(
                f"y has {len(unknown_names)} labels that the stream did not begin with: {shown}; "
                "name all labels with classes= in the first call of partial_fit, or fit again"
            )

    def count(self, states):
        """Take notice of states before any of them is learned from."""
        self.n_present += (states > 0).sum(axis=0)
        self.n_known += (states != 0).sum(axis=0)

    def means(self):
        """Means of the +-1 labels over the samples where they are known, 0 if there are none."""
        return (2 * self.n_present - self.n_known) / np.maximum(self.n_known, 1)

    def vectors(self, states, *, center):
        """Label vectors of unit length; with `center` the means of all that was counted are taken off."""
        if not center:
            return unit_rows(states.astype(np.float64))
        return unit_rows(np.where(states != 0, states - self.means(), 0.0))

    def next_vectors(self, states, *, center):
        """Label vectors of the next samples, which are counted one by one: no mean knows what comes after."""
        known = np.cumsum(states != 0, axis=0) + self.n_known
        sums = np.cumsum(states, axis=0, dtype=np.int64) + (2 * self.n_present - self.n_known)
        self.count(states)
        if not center:
            return unit_rows(states.astype(np.float64))
        return unit_rows((states - sums / np.maximum(known, 1)) * (states != 0))

    @property
    def never_positive(self):
        return self.n_present == 0

    def warn_never_positive(self):
        states = np.where(self.n_present > 0, 1, -1)[None]
        warn_never_positive(Targets(states, self.classes, self.one_dimensional))


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

    shuffle: bool = True

    stored = stores(
        never_positive_=None,
        n_present=Numbers("i", ("n_labels",)),
        n_known=Numbers("i", ("n_labels",)),
        **dict.fromkeys(COUNTS, COUNT),
    )

    def fit(self, X, y, *, stop=None) -> Self:
        """Learn anew, in at most `max_iter` passes over the samples in random order.

        Parameters
        ----------
        X, y : as in `OneVsAllSVM.fit`
        stop : function without arguments; when it returns True, training ends

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
        learn = self._learn_all(X, states)
        rng = check_random_state(self.random_state) if self.shuffle else None
        with limited_threads(1):  # the products of a block are too small to share
            self.n_iter_, _ = learn_in_passes(learn, len(states), max_iter=self.max_iter, rng=rng, stop=stop)
        self._finish(X)
        return self

    def partial_fit(self, X, y, classes=None) -> Self:
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
            raise ValueError("classes differ from those of the first call; leave them out, or fit again")
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
