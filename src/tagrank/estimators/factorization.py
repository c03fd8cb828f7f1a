"""Factorizations of features and labels: rows, epochs, streams, divergence, the threshold; and two kinds."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize as unit_rows
from sklearn.utils import check_random_state
from sklearn.utils.extmath import safe_sparse_dot

from tagrank.arrays import on_device, to_host
from tagrank.errors import warn
from tagrank.estimators.base import NUMBER, LabelEstimator, Numbers, stores
from tagrank.estimators.compared_rows import PlainRows, side_by_side
from tagrank.estimators.online.stream_estimator import LabelStream, StreamEstimator
from tagrank.resources import Ending, limited_threads
from tagrank.solvers.batch_descent import begin_descent, make_epochs
from tagrank.solvers.factorization_terms import Online, TwoWay
from tagrank.validation import (
    check_below_one,
    check_count,
    check_flag,
    check_magnitude,
    check_positive,
    check_rows,
)

# A column of ones would have the largest curvature of all, and shorten the steps of the others.
CONSTANT = 0.3


def prepare_rows(X, *, normalize, fit_intercept):
    """Rows, dense or csr, in float64, of unit length if `normalize`, and a constant if `fit_intercept`."""
    check_magnitude("X", X, np.float64)
    X = X.astype(np.float64)
    if normalize:
        X = unit_rows(X, copy=False)
    if not fit_intercept:
        return X
    constant = np.full((X.shape[0], 1), CONSTANT)
    return sparse.hstack([X, constant], format="csr") if sparse.issparse(X) else np.hstack([X, constant])


LARGEST_BETA = 1e30  # weights are float32
MEMORY = 2000  # samples that the threshold is taken from, at most


@dataclass(kw_only=True, eq=False, repr=False)
class Factorization(StreamEstimator):
    """Learns weights of features and labels by steps on batches of samples.

    A subclass writes ``_problem()``, what the solver minimizes. The scores of all labels are
    ``rows @ encoder_ @ decoder_.T`` for rows of unit length (`normalize`) and a constant (`fit_intercept`).
    """

    n_components: int = 100
    beta: float = 0.001
    step: float | None = None
    decay: float = 0.02
    momentum: float = 0.9
    batch_size: int = 256
    max_iter: int = 120
    validation_fraction: float = 0.0
    patience: int = 10
    normalize: bool = True
    fit_intercept: bool = True
    device: str | None = None
    random_state: Any = None

    stored = stores(
        n_updates_=None,
        step_=NUMBER,
        threshold_=NUMBER,
        _limit=NUMBER,
        _weights=Numbers("f", ("n_weights", "width")),
        _velocity=Numbers("f", ("n_weights", "width")),
    )
    column_scaling = "standard"
    unstored_parameters = (*LabelEstimator.unstored_parameters, "device")

    def fit(self, X, y, *, callback=None, stop=None) -> Self:
        """Learn anew, in at most `max_iter` passes over the samples in random order.

        Parameters
        ----------
        X : rows, dense or sparse; or a mapping of views to such, put side by side in the order of their names
        y : labels in any form that `OneVsAllSVM.fit` takes
        callback : function of a TracePoint, called after each pass; its `primal` is the mean loss
        stop : function without arguments, asked before each batch; when it returns True, training ends

        Returns
        -------
        self
        """
        self._check_parameters()
        stream = LabelStream.open(y)
        states, X = self._take_chunk(stream, X, y, reset=True)
        stream.count(states)
        stream.warn_never_positive()
        rng = check_random_state(self.random_state)
        order = rng.permutation(len(states))
        held_out, learned = np.split(order, [int(self.validation_fraction * len(states))])
        self._start(stream, X, at_once=True)
        with limited_threads(1):  # the products of a batch are too small to share
            descent, samples = self._descent(X[learned], states[learned])
            self.n_iter_, self.n_seen_ = make_epochs(
                descent,
                samples,
                (X[held_out], states[held_out]) if len(held_out) else None,
                rng=rng,
                ending=Ending(stop=stop),
                callback=callback,
                **{name: getattr(self, name) for name in ("max_iter", "decay", "batch_size", "patience")},
            )
        self._keep(descent)
        shown = (held_out if len(held_out) else learned)[:MEMORY]
        self._follow_threshold(X[shown], states[shown], 1.0)
        return self

    def _check_parameters(self):
        for name in ("n_components", "batch_size", "max_iter", "patience"):
            check_count(name, getattr(self, name))
        for name in ("beta", "decay"):
            check_positive(name, getattr(self, name), allow_zero=True)
        if self.beta > LARGEST_BETA:
            raise ValueError(f"beta must be at most {LARGEST_BETA:g}, got {self.beta!r}")
        for name in ("momentum", "validation_fraction"):
            check_below_one(name, getattr(self, name))
        if self.step is not None:
            check_positive("step", self.step)
        check_flag("normalize", self.normalize)
        check_flag("fit_intercept", self.fit_intercept)

    def _check_rows(self, X, *, reset):
        X = X.X if isinstance(X, PlainRows) else X
        check_rows("X", X)
        return super()._check_rows(side_by_side(X), reset=reset)

    def _take_chunk(self, stream, X, y, *, reset):
        states, X = super()._take_chunk(stream, X, y, reset=reset)
        return states, self._prepared(X).astype(np.float32)

    def _prepared(self, X):
        return prepare_rows(X, normalize=self.normalize, fit_intercept=self.fit_intercept)

    def _begin(self, stream, X, *, at_once):
        rng = check_random_state(self.random_state)
        self._weights = self._problem().start(X.shape[1], len(stream.classes), self.n_components, rng)
        self._velocity = np.zeros_like(self._weights)
        self.threshold_, self.step_, self._limit = 0.5, self.step, None

    def _descent(self, X, states):
        """The training as it stands, and its samples; the first ones tell the step, if none is set."""
        weights, velocity = (
            on_device(array.copy(), self.device) for array in (self._weights, self._velocity)
        )
        options = {"step": self.step_, "limit": self._limit, "momentum": self.momentum, "beta": self.beta}
        descent, samples = begin_descent(self._problem(), weights, velocity, X, states, **options)
        self.step_, self._limit = descent.step, descent.limit
        return descent, samples

    def _learn_next(self, X, states):
        descent, samples = self._descent(X, states)
        shrink = 1 / (1 + self.decay * self.n_iter_)
        descent.learn(samples, np.arange(len(states)), batch_size=self.batch_size, shrink=shrink)
        self.stream_.count(states)
        self.n_seen_ += len(states)
        self._keep(descent)
        last = slice(max(0, len(states) - MEMORY), None)
        self._follow_threshold(X[last], states[last], len(states[last]) / min(self.n_seen_, MEMORY))

    def _keep(self, descent):
        if descent.n_halvings:
            warn(
                f"training diverged with a step of {self.step_:.3g}, and went on from where it was sound "
                f"with {descent.step:.3g}; set step to this or less"
            )
        self._weights, self._velocity = to_host(descent.weights), to_host(descent.velocity)
        self.step_ = descent.step
        self._finish(None)

    def _finish(self, X):
        self._name_stream()
        coders = self._problem().coders(self._weights, len(self._weights) - len(self.stream_.classes))
        self.encoder_, self.decoder_ = (np.array(coder, dtype=np.float64) for coder in coders)
        self.decoder_[self.never_positive_] = 0

    def _scores(self, X):
        return self._answers(self._prepared(X))

    def _answers(self, rows):
        return safe_sparse_dot(rows, self.encoder_, dense_output=True) @ self.decoder_.T

    def _follow_threshold(self, rows, states, share):
        """Move the threshold by `share` to where as many labels are chosen as are present."""
        scores, n_present = self._answers(rows)[states != 0], int((states > 0).sum())
        if n_present:
            here = np.partition(scores, -n_present)[-n_present]
            self.threshold_ += share * float(here - self.threshold_)

    def choose(self, scores) -> np.ndarray:
        """Labels present, ints of the shape of `scores`: those that reach `threshold_`."""
        return ((scores >= self.threshold_) & ~self.never_positive_).astype(np.int64)

    def restore(self, state):
        super().restore(state)
        if self._weights.shape != self._velocity.shape:
            raise ValueError("weights and velocity must have the same shape")
        n_rows = self.n_features_in_ + self.fit_intercept + len(self.stream_.classes)
        if self._weights.shape != (n_rows, self._problem().n_blocks * self.n_components):
            raise ValueError(f"the weights must have {n_rows} rows, got shape {self._weights.shape}")
        self._finish(None)


@dataclass(kw_only=True, eq=False, repr=False)
class TwoWayFactorization(Factorization):
    """Scores labels in one space for features and labels (TWMMF, Vanegas et al.).

    Features and labels are each brought into the space and back, and labels are read from where the features
    lead; see `tagrank.solvers.factorization_terms`. Unknown labels are left out. Nothing but the weights is
    kept, so that streams of any length are learned (`partial_fit`).

    Parameters
    ----------
    alpha : float from 0 to below 1, default 0.1
        Weight of bringing features back; that of bringing labels back is ``1 - alpha``.
    delta : float, default 1.0
        Weight of reading labels from features, which is what predictions do.
    n_components : int, default 100
        Number of dimensions of the space. More dimensions than features or labels do no harm, but take time.
    beta : float, default 0.001
        Weight of the squared weights, relative to the mean of the other terms over the samples. Raise it if
        the model overfits.
    step : float, optional
        Size of the first steps; None uses the inverse of the largest curvature at the start. Reduce it if a
        warning says that training diverges.
    decay : float, default 0.02
        Steps of pass k, counted from zero, are divided by ``1 + decay * k``; in a stream they stay the same.
    momentum : float from 0 to below 1, default 0.9
        Share of a step that is added to the next one.
    batch_size : int, default 256
        Number of samples per step. Larger batches are faster, but learn less in a pass.
    max_iter : int, default 120
        Maximum number of passes of `fit` over the data. `partial_fit` makes one pass.
    validation_fraction : float from 0 to below 1, default 0.0
        Share of the samples that `fit` holds out: their labels decide which pass was best, and training stops
        after `patience` passes without progress. 0 holds none out.
    patience : int, default 10
        Stop training after this many passes without progress on the held-out samples.
    normalize : bool, default True
        Divide every row by its length. Turn this off if the length of rows carries information.
    fit_intercept : bool, default True
        Add a constant column.
    device : str, optional
        Device to compute on: None is numpy; "cpu", "cuda" and others need torch.
    random_state : int, RandomState or None, default None
        Seed of the first weights and of the order in which `fit` visits samples. Pass an int for repeatable
        results.

    Attributes
    ----------
    encoder_ : array, shape (n_features, n_components)
        Has one more row for the constant. `decision_function(X)` is ``rows @ encoder_ @ decoder_.T``.
    decoder_ : array, shape (n_labels, n_components)
        See `encoder_`.
    step_ : float
        The last step size: halved each time that training diverged.
    threshold_ : float
        Smallest score of a predicted label: with it, as many labels are predicted as are present.
    n_updates_ : int
        Always 0: steps are not counted.
    n_seen_ : int
        Number of samples seen; each pass of `fit` counts a sample again.
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
    >>> from tagrank import TwoWayFactorization
    >>> rows, tags = [[0.0, 1.0], [1.0, 0.0], [0.1, 0.9]], [{"sea"}, {"street"}, {"sea", "boat"}]
    >>> model = TwoWayFactorization(n_components=5, random_state=0).fit(rows, tags)
    >>> model.classes_[model.decision_function([[0.9, 0.0]]).argmax()]
    'street'
    """

    alpha: float = 0.1
    delta: float = 1.0

    def _check_parameters(self):
        super()._check_parameters()
        check_below_one("alpha", self.alpha)
        check_positive("delta", self.delta)

    def _problem(self):
        return TwoWay(self.alpha, self.delta)


@dataclass(kw_only=True, eq=False, repr=False)
class OnlineFactorization(Factorization):
    """Scores labels by codes that reconstruct features and labels (OMMF, Otálora-Montenegro et al.).

    The code of a training sample follows from its features and labels in closed form, and what makes them
    from codes is learned by steps on batches; see `tagrank.solvers.factorization_terms`. The code of a new
    sample follows from its features alone. Unknown labels are left out.

    Parameters
    ----------
    alpha : float above 0 and below 1, default 0.99
        Weight of making features, that of making labels is ``1 - alpha``. With a smaller one, codes follow
        labels more, which new samples have none of.
    n_components : int, default 40
        Length of a code. A code longer than the number of features overfits.
    beta : float above 0, default 0.01
        Weight of the squared code, and, relative to the mean of the other terms, of the squared weights.
    step : float, optional
        Size of the first steps; None uses the inverse of the largest curvature at the start. Reduce it if a
        warning says that training diverges.
    decay : float, default 0.02
        Steps of pass k, counted from zero, are divided by ``1 + decay * k``; in a stream they stay the same.
    momentum : float from 0 to below 1, default 0.9
        Share of a step that is added to the next one.
    batch_size : int, default 256
        Number of samples per step. Larger batches are faster, but learn less in a pass.
    max_iter : int, default 120
        Maximum number of passes of `fit` over the data. `partial_fit` makes one pass.
    validation_fraction : float from 0 to below 1, default 0.0
        Share of the samples that `fit` holds out: their labels decide which pass was best, and training stops
        after `patience` passes without progress. 0 holds none out.
    patience : int, default 10
        Stop training after this many passes without progress on the held-out samples.
    normalize : bool, default True
        Divide every row by its length. Turn this off if the length of rows carries information.
    fit_intercept : bool, default True
        Add a constant column.
    device : str, optional
        Device to compute on: None is numpy; "cpu", "cuda" and others need torch.
    random_state : int, RandomState or None, default None
        Seed of the first weights and of the order in which `fit` visits samples. Pass an int for repeatable
        results.

    Attributes
    ----------
    encoder_ : array, shape (n_features, n_components)
        Has one more row for the constant. `decision_function(X)` is ``rows @ encoder_ @ decoder_.T``.
    decoder_ : array, shape (n_labels, n_components)
        See `encoder_`.
    step_ : float
        The last step size: halved each time that training diverged.
    threshold_ : float
        Smallest score of a predicted label: with it, as many labels are predicted as are present.
    n_updates_ : int
        Always 0: steps are not counted.
    n_seen_ : int
        Number of samples seen; each pass of `fit` counts a sample again.
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
    >>> from tagrank import OnlineFactorization
    >>> rows, tags = [[0.0, 1.0], [1.0, 0.0], [0.1, 0.9]], [{"sea"}, {"street"}, {"sea", "boat"}]
    >>> model = OnlineFactorization(n_components=5, random_state=0).fit(rows, tags)
    >>> model.classes_[model.decision_function([[0.9, 0.0]]).argmax()]
    'street'
    """

    n_components: int = 40
    alpha: float = 0.99
    beta: float = 0.01

    def _check_parameters(self):
        super()._check_parameters()
        check_positive("beta", self.beta)
        check_positive("alpha", self.alpha)
        check_below_one("alpha", self.alpha)

    def _problem(self):
        return Online(self.alpha, self.beta)
