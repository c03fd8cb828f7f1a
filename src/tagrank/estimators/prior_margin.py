"""Support vector machines whose labels are tied together by a prior.

How labels go together, as a matrix: priors for `PriorMarginClassifier`.

A prior R (n_labels, n_labels) is symmetric and positive semidefinite; it may be singular. R_lk > 0 pulls the
scores of labels l and k together, R_lk < 0 apart. Estimated priors have a unit diagonal, so that C keeps its
meaning; a common factor of R is a factor of C.
"""

import numbers
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from tagrank.arrays import row_blocks, rows_within
from tagrank.estimators.base import Numbers, stores
from tagrank.estimators.max_margin import MaxMarginEstimator
from tagrank.estimators.targets import encode_targets, warn_never_positive
from tagrank.solvers.solution import SINGLE_PRECISION_TOL
from tagrank.validation import check_choice

NAMED_PRIORS = ("correlation", "identity")


@dataclass(kw_only=True, eq=False, repr=False)
class PriorMarginClassifier(MaxMarginEstimator):
    """One support vector machine per label, linked by prior knowledge of the labels (M3L).

    Minimises ``1/2 sum_lk (R^-1)_lk <f_l, f_k> + sum_il 2 C_il max(0, 1 - y_il f_l(x_i))`` over the labels
    that are known; y is +1 for a present and -1 for an absent label. The prior R says which labels go
    together where the model will be used, which may differ from how they go together in the training samples.
    With the identity the labels are independent: the model is that of `OneVsAllSVM` with the cost 2 C.

    A label that is never present in training, or is unknown for all samples, is scored through the
    labels that the prior ties it to (R_lk not 0); weak ties give scores near zero, neither present nor
    absent. It is ranked last only if none of these labels is ever present.

    Parameters
    ----------
    C : float, default 1.0
        Half the penalty for a violated label: a wrong label counts 2 in the loss of the paper.
    prior : {"correlation", "identity"}, array or DataFrame of shape (n_labels, n_labels)
        A positive semidefinite matrix with a positive diagonal; it may be singular. A DataFrame is put into
        the order of the labels by its names. "correlation" (the default) estimates it from the training
        labels; `correlation_prior` and `signature_prior` estimate it from other labels, or from classes whose
        labels are known. A common factor of the prior is a factor of C.
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
    class_weight : None, "balanced", {1: present, 0: absent} or {label: weight}, default None
        Factors of C. "balanced" gives the present and the absent samples of each label the same total weight,
        which helps if rare labels must be predicted. For one-dimensional y, the keys are class names.
    fit_intercept : bool, default False
        Add a constant feature; its weight is regularized like the others. Worth trying if `predict` matters
        more than the ranking.
    tol : float, default 0.001
        Relative duality gap at which training stops. Lower it to compare objectives; rankings hardly change
        below the default.
    max_iter : int, default 1000
        Maximum number of passes over the data. A warning says if `tol` was not reached.
    max_seconds : float, optional
        Stop training after this many seconds and keep the result with its certificate. Ctrl-C does the same.
    random_state : int, RandomState or None, default None
        Seed of the order in which samples are visited. Pass an int for repeatable results.
    n_jobs : int, optional
        Number of threads; all cores by default.
    verbose : int, default 0
        1 prints the duality gap after every pass.

    Attributes
    ----------
    prior_ : array, shape (n_labels, n_labels), in the order of `classes_`
    dual_variables_ : array, shape (n_samples, n_labels)
        Between 0 and 2 y_il C_il; ``dual_coef_`` is ``dual_variables_ @ prior_``.
    never_positive_ : bool array, shape (n_labels,)
        Labels that are never present in training and not linked to a label that is. They are ranked last and
        never predicted.
    primal_objective_ : float
        The value of the objective that is minimized, summed over labels.
    dual_objective_ : float
        A lower bound of that value, from the dual problem.
    duality_gap_ : float
        (primal - dual) / primal: the objective is at most this share above the best possible one.
    n_iter_ : int
        Number of passes over the data.
    converged_ : bool
        Whether `tol` was reached.
    trace_ : list of (n_iter, seconds, primal, dual, gap)
        History of the training, one point each time the gap was measured.
    dual_solution_ : array, shape (n_samples, n_labels)
        Pass this to `fit` as `start` to continue training.
    kernel_ : Kernel
        The kernel, with its width fixed by the training samples.
    dual_coef_ : array, shape (n_samples, n_labels)
        ``decision_function(X)`` is ``K(X, X_train) @ dual_coef_ + intercept_``.
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
    n_features_in_ : int
        Number of columns of X in `fit`; missing if X was a mapping of views.

    Examples
    --------
    Nobody says whether the last samples show a boat, but boats are found at sea:

    >>> import numpy as np
    >>> from tagrank.estimators import PriorMarginClassifier
    >>> X = np.array([[0.0, 1.0], [0.1, 0.9], [1.0, 0.0], [0.9, 0.2]])
    >>> Y = np.array([[1, 1], [1, np.nan], [0, np.nan], [0, np.nan]])
    >>> prior = np.array([[1.0, 0.8], [0.8, 1.0]])
    >>> model = PriorMarginClassifier(10, kernel="linear", prior=prior).fit(X, Y)
    >>> model.predict(X).tolist()
    [[1, 1], [1, 1], [0, 0], [0, 0]]
    """

    prior: Any = "correlation"

    stored = stores(prior_=Numbers("f", ("n_labels", "n_labels")))
    _known_before_training = (*MaxMarginEstimator._known_before_training, "prior_")

    @property
    def dual_solution_(self):
        return self.dual_variables_

    def _check_parameters(self):
        super()._check_parameters()
        if isinstance(self.prior, str):
            check_choice("prior", self.prior, NAMED_PRIORS)

    def _loss(self):
        from tagrank.solvers.dual_ascent import load_loss

        return partial(load_loss("prior"), R=self.prior_)

    def _look_at_labels(self, targets):
        self.prior_ = make_prior(self.prior, targets)
        warn_never_positive(targets, self._ranked_last(~targets.never_positive))

    def _ranked_last(self, is_present):
        """Labels that the prior ties to no label that is ever present; each is tied to itself."""
        sizes = np.abs(self.prior_)
        return ~np.any(sizes[is_present] > ROUNDING * sizes.max(), axis=0)

    def _pose(self, X, y, sample_weight):
        problem = super()._pose(X, y, sample_weight)
        # the engine rounds them too, and large label matrices are what fills the memory
        dtype = np.float32 if self.tol >= SINGLE_PRECISION_TOL else np.float64
        return replace(problem, bounds=np.multiply(problem.bounds, 2, dtype=dtype, casting="same_kind"))

    def _store(self, problem, solution):
        self.dual_variables_ = solution.coefficients
        weights = None if solution.weights is None else solution.weights @ self.prior_
        coefficients = solution.coefficients @ self.prior_
        super()._store(problem, replace(solution, coefficients=coefficients, weights=weights))
        self.never_positive_ = self._ranked_last(~self.never_positive_)


def make_prior(prior, targets):
    """The matrix that the parameter `prior` stands for, in the order of the labels of `targets`."""
    if isinstance(prior, str):
        is_identity = prior == "identity"
        return np.eye(len(targets.classes)) if is_identity else correlation_of_states(targets.states)
    if np.ndim(prior) != 2:
        names = " or ".join(map(repr, NAMED_PRIORS))
        raise ValueError(
            f"prior must be {names}, or a matrix (array or DataFrame) with a row and a column for each of "
            f"the {len(targets.classes)} labels, got {prior!r}"
        )
    if hasattr(prior, "columns"):
        prior = _in_order(prior, targets.classes.tolist())
    return check_prior(prior, len(targets.classes))


def _in_order(frame, names):
    """The entries of a DataFrame with the labels `names` as rows and columns."""
    for axis in (frame.index, frame.columns):
        missing = [str(name) for name in names if name not in axis]
        if missing:
            raise ValueError(f"prior says nothing about the labels {', '.join(missing[:5])}")
    return frame.loc[names, names].to_numpy()


LARGEST_ENTRY = 1e6  # of a prior: far larger ones overflow, and a common factor belongs into C
ROUNDING = 1e-8  # of the largest entry: what symmetry and definiteness may miss


def correlation_prior(Y, *, shrinkage="auto") -> np.ndarray:
    """Correlation of labels, shrunk towards the identity.

    An unknown label counts as its label's mean. So the result is always positive semidefinite,
    and pairs that are rarely known together count as less correlated. A label that never varies is
    uncorrelated with the others.

    Parameters
    ----------
    Y : matrix of 1, 0 and nan, shape (n_samples, n_labels), or a list of tag sets
    shrinkage : float in [0, 1] or "auto"
        The weight of the identity. "auto" weighs the sampling error of the correlations against their size
        (Schaefer, Strimmer 2005): about 0 for many samples, 1 if nothing but noise is seen.

    Returns
    -------
    R : array, shape (n_labels, n_labels), unit diagonal

    Examples
    --------
    >>> correlation_prior([[1, 1], [0, 0], [1, 1], [0, 1]], shrinkage=0).round(2).tolist()
    [[1.0, 0.58], [0.58, 1.0]]
    """
    return correlation_of_states(encode_targets(Y).states, shrinkage=shrinkage)


def correlation_of_states(states, *, shrinkage="auto"):
    """`correlation_prior` of int8 states: +1 present, -1 absent, 0 unknown."""
    n_known = np.count_nonzero(states, axis=0)
    means = states.sum(axis=0, dtype=np.int64) / np.maximum(n_known, 1)
    products, n_both = np.zeros((2, states.shape[1], states.shape[1]))
    for block in row_blocks(len(states), rows_within(states.shape[1])):
        known = states[block] != 0
        centred = np.where(known, states[block] - means, 0)
        products += centred.T @ centred
        n_both += _count_pairs(known)
    deviations = np.sqrt(np.diagonal(products))
    scale = np.divide(1, deviations, where=deviations > 0, out=np.zeros(len(deviations)))
    R = products * np.outer(scale, scale)
    np.fill_diagonal(R, 1)
    return shrink(R, _noise_share(R, n_both, deviations > 0) if shrinkage == "auto" else shrinkage)


def _count_pairs(known):
    """How many rows know both labels, for each pair."""
    if known.all():
        return len(known)
    known = known.astype(np.float32)  # counts of a block are exact
    return known.T @ known


def signature_prior(signatures, *, probabilities=None, shrinkage=0.0) -> np.ndarray:
    """Prior from classes whose labels are known beforehand: sum_c p(c) y_c y_c' with y_c in {-1, +1}.

    Labels that the expected classes have in common, or lack in common, are pulled together.

    Parameters
    ----------
    signatures : matrix of 1, 0 and nan, shape (n_classes, n_labels); nan: not known, or not always the same
    probabilities : array, shape (n_classes,), how often each class is expected; default: equally often
    shrinkage : float in [0, 1], the weight of the identity; the prior of few classes is singular without

    Returns
    -------
    R : array, shape (n_labels, n_labels), unit diagonal

    Examples
    --------
    >>> signature_prior([[1, 0, 1], [0, 1, 1]]).tolist()
    [[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    states = encode_targets(signatures).states.astype(np.float64)
    weights = _check_probabilities(probabilities, len(states))
    R = (states * weights[:, None]).T @ states
    sizes = np.sqrt(np.diagonal(R))
    if not np.all(sizes > 0):
        unknown = np.flatnonzero(sizes == 0).tolist()
        raise ValueError(f"no class of positive probability says whether it has label {unknown[0]}")
    R /= np.outer(sizes, sizes)
    return shrink(R, shrinkage)


def shrink(R, shrinkage):
    """(1 - shrinkage) R + shrinkage I."""
    if not isinstance(shrinkage, numbers.Real) or not 0 <= shrinkage <= 1:
        raise ValueError(f"shrinkage must lie between 0 and 1, got {shrinkage!r}")
    return (1 - shrinkage) * R + shrinkage * np.eye(len(R))


def check_prior(R, n_labels):
    """`R` as a float64 array if it can be the prior of `n_labels` labels, or an error that says why not."""
    R = np.asarray(R, dtype=np.float64)
    if R.shape != (n_labels, n_labels):
        raise ValueError(
            f"prior must have one row and one column for each of the {n_labels} labels, got shape {R.shape}"
        )
    if not np.all(np.isfinite(R)):
        raise ValueError("prior must be finite, got nan or infinity")
    size = np.abs(R).max()
    if size > LARGEST_ENTRY:
        raise ValueError(
            f"prior must have entries of at most {LARGEST_ENTRY:g}, got {size:g}; divide it by its largest "
            "entry: a common factor of the prior is a factor of C"
        )
    if np.abs(R - R.T).max() > ROUNDING * size:
        i, j = np.unravel_index(np.argmax(np.abs(R - R.T)), R.shape)
        raise ValueError(
            f"prior must be symmetric, but prior[{i}, {j}] = {R[i, j]:g} and prior[{j}, {i}] = {R[j, i]:g}; "
            "use (R + R.T) / 2 if both were meant to be the same"
        )
    diagonal = np.diagonal(R)
    if diagonal.min() <= 0:
        label = int(np.argmin(diagonal))
        raise ValueError(
            f"prior must have a positive diagonal, but prior[{label}, {label}] = {diagonal[label]:g}; put 1 "
            "there for a label of which nothing is known"
        )
    smallest = np.linalg.eigvalsh((R + R.T) / 2)[0]
    if smallest < -ROUNDING * size * n_labels:
        raise ValueError(
            f"prior must be positive semidefinite, but its smallest eigenvalue is {smallest:.3g}; shrink it "
            f"towards the identity, here by at least {-smallest / (1 - smallest):.2g}"
        )
    return (R + R.T) / 2


def _noise_share(R, n_both, varies):
    """Sampling variance of the correlations over their squares, at most 1.

    Labels that never vary have no correlations. The variance for labels known n_l and n_k times, and n_lk
    times together, is about n_lk / (n_l n_k): 1 / n where all is known.
    """
    pairs = np.outer(varies, varies) & ~np.eye(len(R), dtype=bool)
    squares = R[pairs] ** 2
    if not squares.any():
        return 1.0
    n_known = n_both.diagonal()
    per_sample = n_both[pairs] / (np.outer(n_known, n_known) - n_both)[pairs]
    return float(min(1, np.sum((1 - squares) ** 2 * per_sample) / squares.sum()))


def _check_probabilities(probabilities, n_classes):
    if probabilities is None:
        return np.full(n_classes, 1 / n_classes)
    weights = np.asarray(probabilities, dtype=np.float64)
    if weights.shape != (n_classes,):
        raise ValueError(f"probabilities must have shape ({n_classes},), got {weights.shape}")
    if not np.all(np.isfinite(weights)) or weights.min() < 0 or weights.sum() <= 0:
        raise ValueError("probabilities must be finite, not negative, and not all zero")
    return weights / weights.sum()
