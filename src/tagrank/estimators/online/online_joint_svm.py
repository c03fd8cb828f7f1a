"""A joint perceptron for streams."""

import numbers

import numpy as np
from sklearn.utils import check_random_state

from tagrank.arrays import row_blocks
from tagrank.estimators.base import MaxMarginEstimator
from tagrank.estimators.joint.label_vectors import choose_labels
from tagrank.estimators.online.kernel_rows import KernelRows
from tagrank.estimators.online.label_stream import LabelStream
from tagrank.estimators.targets import warn_labels_never_differ
from tagrank.kernels import Linear, Precomputed, make_kernel
from tagrank.kernels.gram import n_rows, take_rows
from tagrank.parallel import limited_threads
from tagrank.solvers.online_passes import BLOCK, learn_in_passes
from tagrank.validation import check_count, check_even_rows, check_flag, check_same_length


class OnlineJointSVM(MaxMarginEstimator):
    """Learns all labels at once from a stream, each sample seen once (JSVM-Per, a joint perceptron).

    As in `JointSVM` the labels of a sample are one vector v of unit length at which the model W is to point.
    A sample x whose ``<v, W phi(x)> / |W|`` is below `margin` is added: ``W += v phi(x)'``. There is nothing
    to converge to and no certificate; `JointSVM` is the better choice for what fits into memory.

    With kernel="linear" the memory is that of W, however long the stream. With another kernel the samples
    added are kept. The width of a kernel that takes it from data is that of the first chunk.

    Parameters
    ----------
    margin : float, default 0.1
        What ``<v, W phi(x)> / |W|`` must reach, from 0 to below 1. With one that is too large every sample is
        added.
    average : bool, default True
        Predict with the mean of W over all samples seen, which changes less with the last ones.
    kernel, gamma : as in `OneVsAllSVM`; default "linear"
    center : bool, default True
        Take the mean of each label off its +-1 entries; in a stream, the mean of what came so far.
    max_iter : int, default 5
        Passes of `fit` over the data at most; it ends after a pass without an update.
    random_state : int, RandomState or None
        Seeds the order in which `fit` visits samples. `partial_fit` keeps the order of the stream.
    n_jobs : int, optional
        Threads of predictions, and of the Gram matrix of `fit`.

    Attributes
    ----------
    coef_ : array, shape (n_labels, n_features), for kernel="linear"
    dual_coef_, X_fit_, support_ : for other kernels
        ``decision_function(X)`` is ``K(X, X_fit_) @ dual_coef_``.
    classes_ : array, the names of the labels
    n_seen_, n_updates_ : int, samples met and samples added, a sample in each pass of `fit` anew
    n_iter_ : int, passes of `fit`
    label_values_ : array, shape (2, n_labels), entries of absent and of present labels in a label vector
    never_positive_ : bool array, labels without a positive sample so far; they are ranked last

    Examples
    --------
    >>> from tagrank.estimators import OnlineJointSVM
    >>> model = OnlineJointSVM()
    >>> tags = ["boat", "sea", "street"]
    >>> model = model.partial_fit([[0.0, 1.0], [1.0, 0.0]], [{"sea", "boat"}, {"street"}], classes=tags)
    >>> model = model.partial_fit([[0.1, 0.9]], [{"sea"}])
    >>> model.classes_[model.decision_function([[0.0, 0.8]]).argmax()].item()
    'sea'
    """

    fit_intercept = False
    tol = 1e-3  # of what trains similarities in advance: single precision will do

    def __init__(
        self,
        margin=0.1,
        *,
        average=True,
        kernel="linear",
        gamma=None,
        center=True,
        max_iter=5,
        random_state=None,
        n_jobs=None,
    ):
        self.margin = margin
        self.average = average
        self.kernel = kernel
        self.gamma = gamma
        self.center = center
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y, *, stop=None):
        """Learn anew, in at most `max_iter` passes over the samples in random order.

        Parameters
        ----------
        X, y, stop : as in `OneVsAllSVM.fit`

        Returns
        -------
        self
        """
        self._check_parameters()
        stream = LabelStream.open(y)
        states = stream.encode(y)
        check_even_rows("X", X)
        X = self._check_rows(X, reset=True)
        check_same_length(X=range(n_rows(X)), y=states)
        stream.count(states)
        stream.warn_never_positive()
        V = stream.vectors(states, center=self.center)
        warn_labels_never_differ(V, states, stacklevel=3)
        self._begin(stream, X, at_once=True)
        rng = check_random_state(self.random_state)

        def learn(rows):
            return self._learn(rows if self._reads_indices else take_rows(X, rows), V[rows])

        with limited_threads(1):  # the products of a block are too small to share
            self.n_iter_, _ = learn_in_passes(learn, len(V), max_iter=self.max_iter, rng=rng, stop=stop)
            self._finish()
        if self._reads_indices:
            self._weights.K = None
            self.X_fit_ = X
        self.always_predicts_ = _always_some(states)
        return self

    def partial_fit(self, X, y, classes=None):
        """Learn from the next samples of a stream, in their order.

        A chunk that is refused (other lengths, other labels, nan in X) changes nothing.

        Parameters
        ----------
        X, y : as in `OneVsAllSVM.fit`
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
        states = stream.encode(y)
        check_even_rows("X", X)
        X = self._check_rows(X, reset=is_first)
        check_same_length(X=range(n_rows(X)), y=states)
        if is_first:
            self._begin(stream, X, at_once=False)
        self._weights = self.growing_weights()
        with limited_threads(1):  # the products of a block are too small to share
            for block in row_blocks(len(states), BLOCK):
                V = stream.next_vectors(states[block], center=self.center)
                self._learn(take_rows(X, block), V)
            self._finish()
        self.always_predicts_ = (is_first or self.always_predicts_) and _always_some(states)
        return self

    @property
    def path(self):
        raise AttributeError("OnlineJointSVM has no cost C, and so no path over it")

    def _check_parameters(self):
        if not isinstance(self.margin, numbers.Real) or not 0 <= self.margin < 1:
            raise ValueError(f"margin must be a number from 0 to below 1, got {self.margin!r}")
        check_count("max_iter", self.max_iter)
        check_flag("average", self.average)
        check_flag("center", self.center)

    @property
    def _reads_indices(self):
        from tagrank.solvers import joint_perceptron

        return isinstance(self._weights, joint_perceptron.GramCoefficients)

    def _begin(self, stream, X, *, at_once):
        from tagrank.solvers import joint_perceptron

        for stale in ("coef_", "X_fit_", "dual_coef_", "support_"):
            vars(self).pop(stale, None)
        kernel, n_labels = make_kernel(self.kernel, gamma=self.gamma), len(stream.classes)
        if isinstance(kernel, Linear):
            self._weights = joint_perceptron.LinearWeights(
                X.shape[1], n_labels, X.dtype, averaged=self.average
            )
        elif at_once:
            kernel, K = kernel.fit_gram(X, n_jobs=self.n_jobs)
            self._weights = joint_perceptron.GramCoefficients(K, n_labels, averaged=self.average)
        elif isinstance(kernel, Precomputed):
            raise ValueError("a stream needs rows and a kernel; similarities can only be learned with fit")
        else:
            kernel, none = kernel.fit(X), np.zeros((0, n_labels))
            self._weights = KernelRows(kernel, take_rows(X, slice(0)), none, none if self.average else None)
        self.kernel_, self.stream_ = kernel, stream
        self._squared_norm, self.n_seen_, self.n_updates_, self.n_iter_ = 0.0, 0, 0, 0

    def _learn(self, rows, V):
        from tagrank.solvers import joint_perceptron

        n_updates, self._squared_norm = joint_perceptron.learn_block(
            self._weights, rows, V, self._squared_norm, self.margin
        )
        self.n_seen_ += len(V)
        self.n_updates_ += n_updates
        return n_updates

    def growing_weights(self):
        """Weights to which the next samples of a stream can be added."""
        weights = self._weights
        if not self._reads_indices:
            return weights
        if isinstance(self.kernel_, Precomputed):
            raise ValueError("a stream needs rows and a kernel; similarities can only be learned with fit")
        kept = np.flatnonzero(np.any(weights.A != 0, axis=1))
        total = None if weights.total is None else weights.total[kept]
        return KernelRows(self.kernel_, take_rows(self.X_fit_, kept), weights.A[kept], total)

    def _finish(self):
        """Make of the weights what predictions need."""
        from tagrank.solvers import joint_perceptron

        weights, stream, n_seen = self._weights, self.stream_, max(self.n_seen_, 1)
        self.classes_, self._one_dimensional = stream.classes, stream.one_dimensional
        self.never_positive_ = stream.never_positive
        means = stream.means() if self.center else np.zeros(len(stream.classes))
        self.label_values_ = np.array([[-1.0], [1.0]]) - means
        self.intercept_ = np.zeros(len(self.classes_))
        if isinstance(weights, joint_perceptron.LinearWeights):
            self._squared_norm = weights.squared_norm()
            self.coef_ = np.array((weights.W if weights.total is None else weights.total / n_seen).T)
            return
        self.dual_coef_ = weights.A if weights.total is None else weights.total / n_seen
        self.support_ = np.flatnonzero(np.any(self.dual_coef_ != 0, axis=1))
        if isinstance(weights, KernelRows):
            self.X_fit_ = weights.X

    def choose(self, scores):
        """Labels present: of all label vectors, scaled to unit length, the one that agrees best."""
        at_least = int(self.always_predicts_ and not self.never_positive_.all())
        return choose_labels(scores, self.label_values_, at_least=at_least) * ~self.never_positive_


def _always_some(states):
    """Whether no sample is known to have no label."""
    return not np.any(np.all(states <= 0, axis=1) & np.any(states < 0, axis=1))
