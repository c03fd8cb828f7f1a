"""Ridge regression for all labels at once, and what its relatives share with it."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from tagrank.estimators.base import NUMBER, stores
from tagrank.estimators.compared_rows import LandmarkRows, PlainRows
from tagrank.estimators.kernel_estimator import KernelEstimator
from tagrank.estimators.targets import warn_never_positive
from tagrank.kernels import Linear
from tagrank.kernels.gram import n_rows
from tagrank.labels import labels_from_states
from tagrank.metrics import image_auc
from tagrank.resources import limited_threads
from tagrank.solvers.known_targets import fill_unknown
from tagrank.solvers.ridge import leave_one_out, ridge_on
from tagrank.validation import check_count, check_magnitude, check_positive

PENALTIES = np.logspace(-4, 3, 15)  # in units of the mean squared distance of a sample from the mean of all
MOST_LEFT_OUT = 1000  # a decomposition of so many samples takes less time than the fit of a few thousand


@dataclass(kw_only=True, eq=False, repr=False)
class RidgeRegression(KernelEstimator):
    """Least squares for all labels at once, with a penalty on the size of the weights.

    Minimises ``sum_il (y_il - f_l(x_i) - b_l)^2 + alpha sum_l |f_l|^2`` over the labels that are known; y is
    +1 for a present and -1 for an absent label, so that the sign of a score tells which is nearer. The
    intercept b is free.

    Labels that are all known are solved for in closed form. With unknown ones each label is learned from the
    samples where it is known, by conjugate gradients for all labels at once, until its objective is at most a
    millionth above the best possible one; see `tagrank.solvers.known_targets`. A sample without any known
    label does not count.

    Parameters
    ----------
    alpha : float, optional
        Penalty on the squared weights, as in scikit-learn's `Ridge` and `KernelRidge`. By default one of 15
        values, over seven powers of ten: the one that ranks the labels of left-out samples best (image AUC,
        leave-one-out). Beyond 1,000 samples, 1,000 of them are left out, drawn at random but always the same
        ones. For this choice, unknown labels count as the mean of the known ones, and alpha is multiplied by
        the share of known labels. Methods that project the labels choose alpha before the projection.
    kernel : {"rbf", "linear", "poly", "chi2", "intersection", "hellinger", "precomputed"} or Kernel, default
        "rbf"
        Similarity of two samples. "rbf" suits most dense features, "chi2", "intersection" and "hellinger"
        suit histograms. "linear" trains on the rows themselves, dense or sparse, without a Gram matrix;
        choose it for many rows or many columns. With "precomputed", X is the Gram matrix. Kernels can be
        added, multiplied and put on views: ``Gaussian().on("gist") + ChiSquared().on("sift")``.
    gamma : float, optional
        1 / width of "rbf" and "chi2", and the factor of "poly". The larger gamma, the fewer samples count as
        similar. By default the width is the mean distance of training pairs; if the ranking is poor, try half
        and twice that, together with other values of C.
    landmarks : int, optional
        Number of landmarks: rows are compared only with this many training rows, which are chosen to
        represent all of them (Nyström). This takes n x landmarks instead of n x n numbers, and only the
        landmarks are stored. 1,000 are enough for most collections. By default all rows are compared with
        each other.
    n_jobs : int, optional
        Number of threads; all cores by default.

    Attributes
    ----------
    alpha_ : float
        The penalty that was used.
    dual_coef_ : array, shape (n_samples, n_labels)
        ``decision_function(X)`` is ``K(X, X_train) @ dual_coef_ + intercept_``; missing for kernel="linear".
    support_ : int array, shape (n_support,)
        Indices of the training samples with a known label; missing for kernel="linear".
    X_fit_ : array, sparse matrix or mapping of views
        The training samples; missing for kernel="precomputed" and "linear".
    kernel_ : Kernel
        The kernel, with its width fixed by the training samples.
    coef_ : array, shape (n_labels, n_features)
        Weights of the columns; only for kernel="linear".
    intercept_ : array, shape (n_labels,)
        Constants that are added to the scores of each label.
    classes_ : array, shape (n_labels,)
        The names of the labels, in the order of the columns of all scores and predictions.
    never_positive_ : bool array, shape (n_labels,)
        Labels without a positive training sample. They are ranked last and never predicted.
    n_features_in_ : int
        Number of columns of X in `fit`; missing if X was a mapping of views.

    Examples
    --------
    >>> from tagrank.estimators import RidgeRegression
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [{"sea"}, {"sea"}, {"street"}, {"street"}]
    >>> model = RidgeRegression(kernel="linear").fit(X, Y)
    >>> model.predict([[0.5], [2.5]]).tolist()
    [[1, 0], [0, 1]]
    """

    alpha: float | None = None
    kernel: Any = "rbf"
    gamma: float | None = None
    landmarks: int | None = None
    n_jobs: int | None = None

    stored = stores(alpha_=NUMBER)
    suits_many_rows = True

    def fit(self, X, y) -> Self:
        """Learn from rows and three-state labels.

        Parameters
        ----------
        X, y : as in `OneVsAllSVM.fit`

        Returns
        -------
        self
        """
        if self.landmarks is not None:
            X = self.compare(X)
        X, targets = self._take(X, y)
        warn_never_positive(targets)
        counted = counted_rows(targets.states)
        Y, means = centred_labels(targets.states[counted])
        with limited_threads(self.n_jobs):
            self.kernel_, ridge = self._pose(X, counted)
            self.alpha_ = float(self.alpha or choose_alpha(ridge, targets.states[counted], Y, means))
            Y, means = completed_labels(ridge, targets.states[counted], Y, means, self.alpha_)
            coefficients = self._learn(ridge, Y, means).astype(np.float64, copy=False)
        self.intercept_ = means - ridge.offsets(coefficients)
        self._keep(X, counted, coefficients)
        self._name_labels(targets)
        return self

    def left_open(self):
        return {"alpha": "alpha_"} if self.alpha is None else {}

    def _check_parameters(self):
        super()._check_parameters()
        if self.alpha is not None:
            check_positive("alpha", self.alpha)
        if self.landmarks is not None:
            check_count("landmarks", self.landmarks)

    def _learn(self, ridge, Y, means):
        """The coefficients (n_coefficients, n_labels), given labels that were centred and their means."""
        return ridge.solve(Y, self.alpha_)

    def _pose(self, X, counted):
        """The fitted kernel, and the problem on the samples that count."""
        if isinstance(X, LandmarkRows):
            return X.kernel, ridge_on(X.Z[counted], "rows")
        kernel = self._kernel_for(X)
        if isinstance(kernel, Linear) and not isinstance(X, PlainRows):
            check_magnitude("X", X, np.float64)
            return kernel, ridge_on(X[counted], "rows")
        kernel, K = self._fit_gram(X)
        return kernel, ridge_on(K if len(counted) == len(K) else K[np.ix_(counted, counted)], "gram")

    def _keep(self, X, counted, coefficients):
        for name in ("coef_", "dual_coef_", "support_", "X_fit_"):
            vars(self).pop(name, None)
        if isinstance(self.kernel_, Linear) and not isinstance(X, PlainRows):
            self.coef_ = np.ascontiguousarray(coefficients.T)
            return
        if isinstance(X, LandmarkRows):
            self.dual_coef_, self.support_ = X.dual_coefficients(coefficients)
            self._keep_rows(X)
            return
        self.support_ = counted
        self.dual_coef_ = np.zeros((n_rows(X), coefficients.shape[1]))
        self.dual_coef_[counted] = coefficients
        self._keep_rows(X)


def counted_rows(states):
    """The samples of which something is known; all if nothing is known at all."""
    is_known = np.any(states != 0, axis=1)
    return np.flatnonzero(is_known | ~is_known.any())


def centred_labels(states):
    """Labels (n_samples, n_labels) less their means, and these; -1 is the mean where nothing is known."""
    n_known = np.count_nonzero(states, axis=0)
    means = np.where(n_known > 0, states.sum(axis=0) / np.maximum(n_known, 1), -1.0)
    return np.where(states != 0, states - means, 0.0), means


def completed_labels(ridge, states, Y, means, alpha):
    """Centred labels and their means; what is unknown is what ridge regression on known labels fits there."""
    known = states != 0
    if known.all():
        return Y, means
    Y = fill_unknown(ridge, Y, known, alpha).values
    added = Y.mean(axis=0)
    return Y - added, means + added


def choose_alpha(ridge, states, Y, means):
    """The penalty that ranks the labels of samples best which are left out; of several the most exact one.

    Where labels are unknown, no closed form leaves samples out for all labels at once. The penalty is then
    chosen with unknown labels at their means, and multiplied by the share p that is known: a regression onto
    means with the penalty alpha is nearly p times the one onto known labels with p alpha.
    """
    share_known = np.count_nonzero(states) / states.size or 1.0
    if ridge.n_samples > MOST_LEFT_OUT:
        rows = np.random.default_rng(0).choice(ridge.n_samples, MOST_LEFT_OUT, replace=False)
        ridge, states, Y = ridge.take(rows), states[rows], Y[rows]
    spectrum, labels = ridge.spectrum(), labels_from_states(states)
    targets = Y - Y.mean(axis=0)
    means = means + Y.mean(axis=0)

    size = spectrum[1].sum() / ridge.n_samples or 1.0
    # nan where no sample has a label that must stand above another
    qualities = [
        (np.nan_to_num(image_auc(labels, scores + means)), -np.sum((scores - targets) ** 2))
        for scores in leave_one_out(spectrum, targets, size * PENALTIES)
    ]
    return share_known * size * PENALTIES[qualities.index(max(qualities))]
