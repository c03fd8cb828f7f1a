"""Samples and labels in one space, trained with a margin."""

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from tagrank.estimators.base import COUNT, NUMBER, Numbers, stores
from tagrank.estimators.compared_rows import ComparedRows
from tagrank.estimators.kernel_estimator import KNOWN_OF_ROWS, KernelEstimator
from tagrank.estimators.prior_margin import PriorMarginClassifier
from tagrank.estimators.shared_spaces.regressions_onto_codes import check_components, count_components
from tagrank.estimators.targets import warn_never_positive
from tagrank.labels import labels_from_states
from tagrank.validation import check_count, check_positive

GAP = 1e-2  # of the problem within a round
ENOUGH = 1e-2  # relative decrease of the objective below which rounds end
OWN_SHARE = 1e-6  # of every label beside what it shares: a prior has a positive diagonal
OF_MODEL = ("kernel_", "intercept_", "coef_", "dual_coef_", "support_", "X_fit_", *KNOWN_OF_ROWS)


@dataclass(kw_only=True, eq=False, repr=False)
class MarginEmbedding(KernelEstimator):
    """Embeds samples and labels in one space, where inner products meet a margin (MME).

    Scores are ``f_l(x) = <u(x), v_l>`` with r dimensions. Minimises over the map u of the samples and the
    places V of the labels ``1/2 |u|^2 + 1/2 |V|^2 + 2 cost sum_il max(0, 1 - y_il f_l(x_i))`` over the labels
    that are known, y is +1 for present and -1 for absent. First with as many dimensions as labels, a convex
    problem, in rounds: for given V the best u is that of `PriorMarginClassifier` with the prior ``V V'``; for
    given functions f with inner products G the best prior is the root of G. Then the r leading directions of
    G are kept, and u is learned once more. A constant is added to the kernel. There is no certificate: the
    whole problem is not convex.

    Parameters
    ----------
    n_components : int or float, default 0.5
        r, or its share of the labels; cut to the number of labels.
    cost : float, default 1.0
        Half the cost of a violated label, as C of `PriorMarginClassifier`.
    max_rounds : int, default 5
        Rounds end earlier if one lowers the objective by less than a hundredth.
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
    random_state : int, RandomState or None, default None
        Seed of the order in which samples are visited. Pass an int for repeatable results.
    n_jobs : int, optional
        Number of threads; all cores by default.

    Attributes
    ----------
    label_places_ : array, shape (n_labels, n_components), V
    objective_ : float, the value of the problem at the end
    n_rounds_ : int, how many rounds were made
    dual_coef_ : array, shape (n_samples, n_labels)
        ``decision_function(X)`` is ``K(X, X_train) @ dual_coef_ + intercept_``; missing for kernel="linear".
    kernel_ : Kernel
        The kernel, with its width fixed by the training samples.
    coef_ : array, shape (n_labels, n_features)
        Weights of the columns; only for kernel="linear".
    intercept_ : array, shape (n_labels,)
        Constants that are added to the scores of each label.
    support_ : int array, shape (n_support,)
        Indices of the training samples with a nonzero coefficient.
    X_fit_ : array, sparse matrix or mapping of views
        The training samples that predictions are computed from; missing for kernel="precomputed".
    classes_ : array, shape (n_labels,)
        The names of the labels, in the order of the columns of all scores and predictions.
    never_positive_ : bool array, shape (n_labels,)
        Labels without a positive training sample. They are ranked last and never predicted.
    n_features_in_ : int
        Number of columns of X in `fit`; missing if X was a mapping of views.
    """

    n_components: Any = 0.5
    cost: float = 1.0
    max_rounds: int = 5
    kernel: Any = "rbf"
    gamma: float | None = None
    random_state: Any = None
    n_jobs: int | None = None

    stored = stores(
        label_places_=Numbers("f", ("n_labels", "n_components")), objective_=NUMBER, n_rounds_=COUNT
    )

    gram_dtype = np.float32

    def fit(self, X, y, *, stop=None) -> Self:
        """Learn from rows and three-state labels.

        Parameters
        ----------
        X, y, stop : as in `OneVsAllSVM.fit`

        Returns
        -------
        self
        """
        X, targets = self._take(X, y)
        rows = self.compare(X)
        warn_never_positive(targets)
        labels = labels_from_states(targets.states)
        prior = np.eye(len(targets.classes))
        self.objective_, self.n_rounds_, is_done = np.inf, 0, False
        while not is_done:
            model, products, objective = self._round(rows, labels, prior, stop)
            self.n_rounds_ += 1
            is_done = (
                not products.any()
                or objective > (1 - ENOUGH) * self.objective_
                or self.n_rounds_ == self.max_rounds
                or (stop is not None and stop())
            )
            self.objective_ = objective
            prior = prior if is_done else root(products)
        n_components = count_components(self.n_components, len(prior))
        if n_components < len(prior) and products.any():
            prior = root(products, n_components)
            model, _, self.objective_ = self._round(rows, labels, prior, stop)
        self._take_over(model, targets, prior, n_components)
        return self

    def _check_parameters(self):
        super()._check_parameters()
        check_components(self.n_components)
        check_positive("cost", self.cost)
        check_count("max_rounds", self.max_rounds)

    def _round(self, rows, labels, prior, stop):
        """The model for a prior, inner products (n_labels, n_labels) of its functions, and the objective."""
        own = OWN_SHARE * (np.trace(prior) / len(prior) or 1.0) * np.eye(len(prior))
        model = PriorMarginClassifier(
            self.cost,
            prior=prior + own,
            kernel=self.kernel,
            gamma=self.gamma,
            fit_intercept=True,
            tol=GAP,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*never positive")
            model.fit(rows, labels, stop=stop)
        return model, inner_products(model, rows), model.primal_objective_ + np.trace(prior) / 2

    def _take_over(self, model, targets, prior, n_components):
        """Become what the last round learned."""
        for name in OF_MODEL:
            vars(self).pop(name, None)
            if name in vars(model):
                setattr(self, name, vars(model)[name])
        if hasattr(self, "coef_"):
            vars(self).pop("dual_coef_")
        values, vectors = np.linalg.eigh(prior)
        self.label_places_ = (vectors * np.sqrt(np.maximum(values, 0)))[:, ::-1][:, :n_components].copy()
        self._name_labels(targets)


def inner_products(model, rows):
    """Of the functions of a fitted model with an intercept, (n_labels, n_labels)."""
    constants = np.outer(model.intercept_, model.intercept_)
    if hasattr(model, "coef_"):
        return model.coef_ @ model.coef_.T + constants
    K = rows.K if isinstance(rows, ComparedRows) else rows.X
    return model.dual_coef_.T @ (K @ model.dual_coef_) + constants


def root(products, n_components=None):
    """The root of a semidefinite matrix, along as many of its leading eigenvectors as asked for."""
    values, vectors = np.linalg.eigh((products + products.T) / 2)
    kept = slice(-(n_components or len(values)), None)
    return vectors[:, kept] * np.sqrt(np.maximum(values[kept], 0)) @ vectors[:, kept].T
