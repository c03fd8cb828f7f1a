"""Ridge regressions onto codes of the labels, in a space of fewer dimensions, and back."""

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from tagrank.arrays import row_blocks
from tagrank.estimators.base import COUNT, Numbers, Value, stores
from tagrank.estimators.ridge_regression import RidgeRegression
from tagrank.solvers.sparse_decoding import compressive_pursuit, matching_pursuit
from tagrank.validation import check_choice, check_count, check_share


def check_components(value):
    """Raise unless `value` is a positive whole number or a share below one."""
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral):
        if not 0 < value < 1:
            raise ValueError(
                f"n_components must be a whole number, or a share between 0 and 1, got {value!r}"
            )
        return
    check_count("n_components", value)


def count_components(value, most):
    """`value` of `most` dimensions if it is a share, else `value` cut to `most`; at least one."""
    wanted = value if isinstance(value, numbers.Integral) else round(value * most)
    return max(1, min(int(wanted), most))


def leading_directions(matrix, n_components):
    """Eigenvectors (n, n_components) of the largest eigenvalues of a symmetric matrix."""
    return np.linalg.eigh((matrix + matrix.T) / 2)[1][:, ::-1][:, :n_components]


@dataclass(kw_only=True, eq=False, repr=False)
class LabelSpaceTransform(RidgeRegression):
    """Ridge regression onto the principal components of the labels, and back (PLST).

    With the singular vectors V of the centred labels, labels are encoded as ``V'(y - mean)``, regressed on
    the samples, and decoded as ``V z + mean``. Regression is linear in its targets: this is `RidgeRegression`
    with its scores projected onto the span of V.

    Unknown labels are filled in first by what `RidgeRegression` on the known ones fits there.

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
    n_components : int or float, default 0.5
        Number of dimensions of the space, or their share of the labels; at most the number of labels. Fewer
        dimensions link the labels more closely.

    Attributes
    ----------
    components_ : array, shape (n_components, n_labels), V'
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
    >>> from tagrank.estimators import LabelSpaceTransform
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [{"sea"}, {"sea"}, {"street"}, {"street"}]
    >>> model = LabelSpaceTransform(n_components=1, kernel="linear").fit(X, Y)
    >>> model.predict([[0.5], [2.5]]).tolist()
    [[1, 0], [0, 1]]
    """

    n_components: Any = 0.5

    stored = stores(components_=Numbers("f", ("n_components", "n_labels")))

    def _check_parameters(self):
        super()._check_parameters()
        check_components(self.n_components)

    def _learn(self, ridge, Y, means):
        n_components = count_components(self.n_components, Y.shape[1])
        V = leading_directions(Y.T @ Y, n_components)
        self.components_ = V.T.copy()
        return ridge.solve(Y @ V, self.alpha_) @ V.T


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

    Unknown labels are filled in first by what `RidgeRegression` on the known ones fits there.

    Parameters
    ----------
    decoding : {"omp", "cosamp"}, default "omp"
        How answers become labels: orthogonal matching pursuit, or compressive sampling matching pursuit.
    random_state : int, RandomState or None, default None
        Seeds the projections. An int makes results repeatable.
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
    n_components : int or float, default 0.5
        Number of dimensions of the space, or their share of the labels; at most the number of labels. Fewer
        dimensions link the labels more closely.

    Attributes
    ----------
    projections_ : array, shape (n_components, n_labels), A
    n_present_ : int, how many labels are decoded
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


@dataclass(kw_only=True, eq=False, repr=False)
class SharedSubspace(RidgeRegression):
    """Least squares with a small penalty in a subspace that all labels share (MLLS).

    Minimises ``|Y - X U|^2 + alpha |U - P U|^2 + within alpha |P U|^2`` over the weights U and the projection
    P onto a subspace of `n_components` dimensions. The optimum needs two ridge regressions only: with the
    weights U_1 for the penalty alpha and U_0 for within alpha, and V the leading eigenvectors of U_1'U_0, the
    subspace is that of U_0 V, and ``U = U_1 + (U_0 - U_1) V V'``. So it takes any kernel.

    Unknown labels are filled in first by what `RidgeRegression` on the known ones fits there.

    Parameters
    ----------
    within : float, default 0.1
        The penalty of weights in the subspace, as a share of `alpha`; 1 is `RidgeRegression`.
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
    n_components : int or float, default 0.5
        Number of dimensions of the subspace, or their share of the labels; at most the number of labels.

    Attributes
    ----------
    n_components_ : int, the dimensions that were taken
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
    """

    n_components: Any = 0.5
    within: float = 0.1

    stored = stores(n_components_=COUNT)

    def _check_parameters(self):
        super()._check_parameters()
        check_components(self.n_components)
        check_share("within", self.within)

    def _learn(self, ridge, Y, means):
        strong, weak = (ridge.solve(Y, share * self.alpha_) for share in (1, self.within))
        self.n_components_ = count_components(self.n_components, Y.shape[1])
        V = leading_directions(ridge.inner(strong, weak), self.n_components_)
        return strong + (weak - strong) @ V @ V.T
