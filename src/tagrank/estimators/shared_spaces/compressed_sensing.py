"""Regression onto random projections of the labels."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from tagrank.arrays import row_blocks
from tagrank.estimators.base import Numbers, Value, stores
from tagrank.estimators.regression.ridge_regression import RidgeRegression
from tagrank.estimators.shared_spaces.components import check_components, count_components
from tagrank.solvers.sparse_decoding import compressive_pursuit, matching_pursuit
from tagrank.validation import check_choice

DECODINGS = {"omp": matching_pursuit, "cosamp": compressive_pursuit}
SAMPLES_AT_A_TIME = 1000


@dataclass(kw_only=True, eq=False, repr=False)
class CompressedSensing(RidgeRegression):
    """Ridge regression onto random projections of the labels, and sparse decoding (CS).

    Labels y, 1 for present and 0 for absent, are encoded as ``A y``, A with entries +-1/sqrt(k) at random, k
    the number of components, and regressed on the samples. Answers are decoded into label vectors with few
    entries that are not zero, as many as a training sample has labels on average. The decoded values are the
    scores of these labels; the others are scored by what each alone would explain of the rest. A score of
    one half is the limit between present and absent, which `decision_function` moves to zero.

    Regression is linear in its targets, so that the regression onto A y is A times that onto y.

    Unknown labels count as in `RidgeRegression`.

    Parameters
    ----------
    decoding : {"omp", "cosamp"}, default "omp"
        How answers become labels: orthogonal matching pursuit, or compressive sampling matching pursuit.
    random_state : int, RandomState or None, default None
        Seeds the projections. An int makes results repeatable.
    alpha : float, optional
        The penalty on the size of the weights, as in scikit-learn's `Ridge` and `KernelRidge`. By default
        that of 15 values, over seven powers of ten, which ranks the labels best (image AUC) of samples that
        were left out one at a time; beyond 1,000 samples of 1,000 of them, drawn at random but always the
        same ones. Methods that project the labels choose it before the projection.
    kernel : {"rbf", "linear", "poly", "chi2", "intersection", "hellinger", "precomputed"} or Kernel, default
        "rbf"
        How alike two samples are. "rbf" suits most dense features, "chi2", "intersection" and "hellinger"
        suit histograms. "linear" trains on the rows themselves, dense or sparse, without a Gram matrix, and
        is the one for many rows or many columns. With "precomputed", X is the Gram matrix. Kernels can be
        added, multiplied and put on views: ``Gaussian().on("gist") + ChiSquared().on("sift")``.
    gamma : float, optional
        1 / width of "rbf" and "chi2", and the factor of "poly". The larger it is, the fewer samples count as
        alike. By default the width is the mean distance of training pairs; try half and twice that, together
        with other costs, where the ranking is poor.
    n_jobs : int, optional
        Number of threads; all cores by default.
    n_components : int or float, default 0.5
        Number of dimensions of the space, or their share of the labels; cut to the number of labels. Fewer
        dimensions tie the labels together more closely.

    Attributes
    ----------
    projections_ : array, shape (n_components, n_labels), A
    n_present_ : int, how many labels are decoded
    alpha_ : float
        The penalty that was taken.
    dual_coef_ : array, shape (n_samples, n_labels)
        ``decision_function(X)`` is ``K(X, X_train) @ dual_coef_ + intercept_``; missing for kernel="linear".
    support_ : int array, shape (n_support,)
        Indices of the training samples of which some label is known; missing for kernel="linear".
    X_fit_ : array, sparse matrix or mapping of views
        The training samples; missing for kernel="precomputed" and "linear".
    kernel_ : Kernel
        The kernel, with its width fixed by the training samples.
    coef_ : array, shape (n_labels, n_features)
        Weights of the columns; only for kernel="linear".
    intercept_ : array, shape (n_labels,)
        What is added to the scores of each label.
    classes_ : array, shape (n_labels,)
        The names of the labels, in the order of the columns of all scores and predictions.
    never_positive_ : bool array, shape (n_labels,)
        Labels without a positive training sample. They are ranked last and never predicted.
    n_features_in_ : int
        Number of columns of X in `fit`; missing where X was a mapping of views.
    """

    n_components: Any = 0.5
    decoding: str = "omp"
    random_state: Any = None

    stored = stores(projections_=Numbers("f", ("n_components", "n_labels")), n_present_=Value(int, least=1))

    def _check_parameters(self):
        super()._check_parameters()
        check_components(self.n_components)
        check_choice("decoding", self.decoding, DECODINGS)

    def restore(self, state):
        super().restore(state)
        lengths = np.linalg.norm(self.projections_, axis=0)
        if not np.allclose(lengths, 1):
            raise ValueError(
                f"columns of projections must have length 1, got {lengths.min():g} to {lengths.max():g}"
            )

    def _learn(self, ridge, Y, means):
        n_components = count_components(self.n_components, len(means))
        random = check_random_state(self.random_state)
        signs = 2 * random.randint(2, size=(n_components, len(means))) - 1
        self.projections_ = signs / np.sqrt(n_components)
        self.n_present_ = max(1, round(np.sum(means + 1) / 2))
        return super()._learn(ridge, Y, means)

    def _scores(self, X):
        encoded = (super()._scores(X) + 1) / 2 @ self.projections_.T
        decode = DECODINGS[self.decoding]
        parts = (encoded[block] for block in row_blocks(len(encoded), SAMPLES_AT_A_TIME))
        return np.vstack([2 * decode(self.projections_, part, self.n_present_) - 1 for part in parts])
