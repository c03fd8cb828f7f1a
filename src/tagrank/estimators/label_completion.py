"""Ridge regression onto labels that other labels complete, in one layer or several."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import solve

from tagrank.estimators.base import NUMBER, Numbers, stores
from tagrank.estimators.calibration.decisions import cardinality_threshold, predict_top
from tagrank.estimators.ridge_regression import MOST_LEFT_OUT, RidgeRegression, counted_rows
from tagrank.estimators.targets import encode_targets
from tagrank.solvers.ridge import leave_one_out
from tagrank.validation import check_between, check_count, check_positive

PREDICTED = 5  # labels of a left-out sample, by which recall is measured


@dataclass(kw_only=True, eq=False, repr=False)
class LabelCompletion(RidgeRegression):
    """Ridge regression onto labels that a second map completes (FastTag).

    Chen, Zheng and Weinberger 2013: B completes the labels y of a sample, 0 or 1, and W predicts what it
    makes of them from the features; B is held to the labels by asking that it restores them after each was
    dropped with probability p:

        min over B, W, b    sum_i |B y_i - W x_i - b|^2 + alpha |W|^2 + g sum_i E |y_i - B dropped(y_i)|^2

    The expectation has a closed form: with S = sum y y', E y dropped(y)' sums to P = (1 - p) S and
    E dropped(y) dropped(y)' to Q = (1 - p)^2 S + p (1 - p) diag(S). The paper solves for B and W by turns.
    Given B, W is ridge regression, linear in B; put in, it leaves B = g P (g Q + R)^-1, where R = Y'(Y - F)
    and F are the fitted values of ridge regression onto the labels themselves. So both are found at once, and
    scores are B times those of ridge regression.

    With ``n_layers`` of two or more, completed labels B y are completed again (bootstrapping): each layer
    takes the completed labels of the one before for the labels, so that labels that never occur together but
    with the same others are linked, too. With ``rare_recall`` only labels that are rarely found take a
    further layer: those whose recall among the five best labels of left-out samples is at most this. So the
    paper by what others report of it; its text we could not read.

    Any kernel takes the place of the paper's maps of histograms, and the intercept b is free. Unknown labels
    are filled in first by what `RidgeRegression` on the known ones fits there. `predict` answers scores above
    the threshold that gives training samples as many labels as they have.

    Parameters
    ----------
    dropout : float from 0 to below 1, default 0.5
        p. The more labels are thought to be missing, the higher.
    reconstruction : float, default 1.0
        g. The smaller, the more B gives up labels that the features do not tell.
    n_layers : int, default 1
        How many times labels are completed.
    rare_recall : float from 0 to 1, optional
        From the second layer on, only labels with at most this recall are completed again; all by default.
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
    completion_ : array, shape (n_labels, n_labels), B, the product of all layers
    threshold_ : float
    dual_coef_ : array, shape (n_samples, n_labels)
        ``decision_function(X)`` is ``K(X, X_train) @ dual_coef_ + intercept_``, labels completed; missing for
        kernel="linear".
    alpha_ : float
        The penalty that was used.
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
    >>> from tagrank.estimators import LabelCompletion
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> model = LabelCompletion(kernel="linear").fit(X, [{"sea", "sky"}, {"sea"}, {"street"}, {"street"}])
    >>> model.classes_[(-model.decision_function([[0.5]])[0]).argsort()].tolist()
    ['sea', 'sky', 'street']
    """

    dropout: float = 0.5
    reconstruction: float = 1.0
    n_layers: int = 1
    rare_recall: float | None = None

    stored = stores(completion_=Numbers("f", ("n_labels", "n_labels")), threshold_=NUMBER)

    def fit(self, X, y) -> Self:
        super().fit(X, y)
        states = encode_targets(y).states
        states = states[counted_rows(states)]
        Y, means, fitted, left_out = vars(self).pop("_fitted")
        # ridge regression has labels of -1 and 1
        labels, residuals = (Y + means + 1) / 2, (Y - fitted) / 2
        self.completion_ = self._next_layer(labels, residuals)
        for _ in range(self.n_layers - 1):
            completed = self.completion_.T
            further = self._next_layer(labels @ completed, residuals @ completed) @ self.completion_
            chosen = self._rarely_found(states, means, left_out)
            self.completion_ = np.where(chosen[:, None], further, self.completion_)
        self._complete_coefficients()
        scores = (fitted + means + 1) / 2 @ self.completion_.T
        self.threshold_ = cardinality_threshold(states, scores)
        return self

    def _check_parameters(self):
        super()._check_parameters()
        if not check_positive("dropout", self.dropout, allow_zero=True) < 1:
            raise ValueError(f"dropout must be a number from 0 to below 1, got {self.dropout!r}")
        check_positive("reconstruction", self.reconstruction)
        check_count("n_layers", self.n_layers)
        if self.rare_recall is not None:
            check_between("rare_recall", self.rare_recall, 0, 1)

    def _learn(self, ridge, Y, means):
        coefficients = super()._learn(ridge, Y, means)
        is_asked = self.n_layers > 1 and self.rare_recall is not None
        left_out = self._leave_out(ridge, Y) if is_asked else None
        self._fitted = Y, means, ridge.scores(coefficients), left_out
        return coefficients

    def _leave_out(self, ridge, Y):
        """Some samples, and what ridge regression on all others of them says of each, for centred labels."""
        rows = np.arange(ridge.n_samples)
        if ridge.n_samples > MOST_LEFT_OUT:
            rows = np.random.default_rng(0).choice(ridge.n_samples, MOST_LEFT_OUT, replace=False)
            ridge = ridge.take(rows)
        means = Y[rows].mean(axis=0)
        scores = next(leave_one_out(ridge.spectrum(), Y[rows] - means, [self.alpha_]))
        return rows, scores + means

    def _rarely_found(self, states, means, left_out):
        """Which labels (n_labels,) take the next layer."""
        if left_out is None:
            return np.ones(len(means), bool)
        rows, fitted = left_out
        scores = (fitted + means + 1) / 2 @ self.completion_.T
        present = states[rows] > 0
        found = np.sum(present & (predict_top(scores, PREDICTED) > 0), axis=0)
        return found <= self.rare_recall * present.sum(axis=0)

    def _next_layer(self, labels, residuals):
        """B of given labels, and of what ridge regression onto them leaves."""
        moments = corrupted_moments(labels, self.dropout)
        return complete(*moments, labels.T @ residuals, self.reconstruction)

    def _complete_coefficients(self):
        """B (f + 1) / 2 for the scores f of ridge regression."""
        half = self.completion_ / 2
        self.intercept_ = half @ (self.intercept_ + 1)
        if hasattr(self, "coef_"):
            self.coef_ = half @ self.coef_
        else:
            self.dual_coef_ = self.dual_coef_ @ half.T

    def choose(self, scores) -> np.ndarray:
        """Labels present: those that reach the threshold."""
        return ((scores >= self.threshold_) & ~self.never_positive_).astype(np.int64)


def corrupted_moments(Y, dropout):
    """Sums of E y dropped(y)' and E dropped(y) dropped(y)' over the rows of Y (n_samples, n_labels)."""
    S, kept = Y.T @ Y, 1 - dropout
    return kept * S, kept**2 * S + dropout * kept * np.diag(S.diagonal())


def complete(P, Q, R, reconstruction):
    """B = g P (g Q + R)^-1; labels that are never present stay so."""
    system = reconstruction * Q + (R + R.T) / 2
    empty = system.diagonal() <= np.finfo(float).eps * max(system.diagonal().max(), np.finfo(float).tiny)
    system[empty, empty] = 1
    # labels that always go together leave it singular but for rounding
    system.flat[:: len(system) + 1] *= 1 + 1e-9
    return solve(system, reconstruction * P, assume_a="pos").T
