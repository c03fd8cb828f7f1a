"""One support vector machine for all labels together.

The problem of one SVM for all labels, as the engine reads it.

Its Gram matrix is that of the inputs times that of the outputs, entry by entry. Where both are inner products
of rows nothing so large is needed: the model is a matrix of features by labels.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import safe_sparse_dot

from tagrank.arrays import row_blocks
from tagrank.estimators.base import FLAG, Numbers, Value, stores
from tagrank.estimators.joint.label_vectors import (
    LabelVectors,
    TransferDecoding,
    choose_labels,
    make_label_vectors,
)
from tagrank.estimators.joint.output_kernels import inverse_roots, make_output_kernel
from tagrank.estimators.max_margin import MarginProblem, MaxMarginEstimator
from tagrank.estimators.targets import warn_labels_never_differ
from tagrank.kernels import Linear, Precomputed, make_kernel
from tagrank.kernels.gram import diagonal_of, n_rows
from tagrank.resources import limited_threads
from tagrank.validation import check_choice, check_count, check_flag

MOST_BYTES = 2 * 2**30  # from here on memory decides, and no longer time
VISITS = 50  # of a sample: its scores under the model take as long as so many rows of a Gram matrix
OWN_COST = 40  # of the path by rows, in the same unit


@dataclass
class JointProblem(MarginProblem):
    """The joint problem for C = 1: `bounds` are costs (n_samples, 1)."""

    scale: np.ndarray
    by_rows: bool
    vectors: LabelVectors
    output: Any

    @property
    def size(self):
        """By rows it is what the visit of a sample reads: only large ones are worth a thread."""
        return _n_values(self.X) * self.vectors.rows.shape[1] if self.by_rows else self.bounds.size


def hold_jointly(X, kernel, vectors, output, *, fit_gram, dtype, n_jobs):
    """Of a JointProblem: fitted kernel, data, kind, scale and by_rows.

    X : checked rows; vectors : LabelVectors; output : fitted OutputKernel; fit_gram : a function of X, the
    fitted kernel and the Gram matrix; dtype : of the problem
    """
    dtype = np.dtype(dtype)
    by_rows = prefers_rows(X, kernel, output, vectors.rows.shape[1], dtype)
    if by_rows:
        scale = inverse_roots(diagonal_of(kernel, X, dtype=np.float64))
        U = output.prepare(vectors.rows.astype(dtype, copy=False))
        U *= scale[:, None].astype(U.dtype)
        return kernel, (X, U), "joint rows", scale, by_rows
    from tagrank.kernels.gram import multiply_gram

    kernel, K = fit_gram(X)
    scale = inverse_roots(K.diagonal().astype(np.float64))
    K = multiply_gram(K, output.tiles(vectors, dtype), scale.astype(dtype), n_jobs=n_jobs)
    return kernel, K, "joint gram", scale, by_rows


def prefers_rows(X, kernel, output, n_labels, dtype):
    """Whether to train on rows instead of on the Gram matrix of the joint problem.

    It takes a linear kernel of the inputs and one of the outputs. With n samples of z values and m labels, to
    make the Gram matrix costs n^2 (z + m) / 2 products, to train on rows about 25 n z m. If the matrices of
    similarities or the model and its certificate are large, the smaller memory decides.
    """
    if not (isinstance(kernel, Linear) and output.has_features):
        return False
    n_samples, n_features = X.shape
    n_values = _n_values(X)
    gram_bytes = 2 * n_samples**2 * dtype.itemsize
    model_bytes = n_features * n_labels * (dtype.itemsize + 8)
    if max(gram_bytes, model_bytes) > MOST_BYTES:
        return model_bytes < gram_bytes
    return n_samples > VISITS * (OWN_COST + n_values * n_labels / (n_values + n_labels))


def _n_values(X):
    """Stored values of a row, on average and at least one."""
    return max(1.0, X.nnz / X.shape[0]) if sparse.issparse(X) else X.shape[1]


ROWS_AT_ONCE = 256  # of samples to predict by transfer: their neighbours' labels are gathered in memory


@dataclass(kw_only=True, eq=False, repr=False)
class JointSVM(MaxMarginEstimator):
    """One support vector machine that learns all labels at once (JSVM, maximum margin regression).

    The labels of a sample are one vector v of unit length, and the model W is asked to point at it: it
    minimises ``1/2 |W|^2 + sum_i C_i max(0, 1 - <v_i, W phi(x_i)>)``. The dual has a single number for each
    sample, and the matrix of its quadratic form is that of the inputs times that of the outputs, entry by
    entry; so training costs as much as one binary SVM, however many labels there are.

    Training samples have unit length in the space of the kernel: k(x, z) is divided by
    sqrt(k(x, x) k(z, z)). Samples to predict are not scaled, which changes neither order nor sign of scores.

    Parameters
    ----------
    C : float, default 1.0
        Penalty for a sample whose labels are not met.
    output_kernel : {"linear", "odds-ratio", "poly2", "poly3"}, matrix, function or OutputKernel
        How alike two samples are judged by their labels. A matrix (n_labels, n_labels) holds similarities of
        labels, v' S z; one that is not positive semidefinite is clipped, with a warning. A function takes two
        sets of label vectors, (n, n_labels) and (m, n_labels), and answers their similarities (n, m).
    center : bool, default True
        Take the mean of each label off its +-1 entries before they are scaled to unit length. Without it (the
        published form) rare labels make all label vectors nearly the same, and every sample gets the same
        labels.
    decoding : {"direct", "transfer"}, default "direct"
        "direct": each label has a score, see `dual_coef_`. "transfer": the score is the share that the label
        has in the labels of the `n_neighbors` training samples that agree best with W phi(x).
    n_neighbors : int, default 10
        Number of training samples that labels are taken from with decoding="transfer".
    kernel : {"rbf", "linear", "poly", "chi2", "intersection", "hellinger", "precomputed"} or Kernel, default
        "rbf"
        Similarity of two samples. "linear" with linear outputs ("linear", "odds-ratio" or a matrix) needs no
        Gram matrix, and trains without one if that is cheaper. With "precomputed", X is the Gram matrix.
    gamma : float, optional
        1 / width of "rbf" and "chi2", and the factor of "poly". The larger gamma, the fewer samples count as
        similar. By default the width is the mean distance of training pairs; if the ranking is poor, try half
        and twice that, together with other values of C.
    class_weight : None, "balanced", {1: present, 0: absent} or {label: weight}, default None
        Multiplies the entries of label vectors before they are scaled to unit length.
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
    alpha_ : array, shape (n_samples,)
        The solution of the dual, between 0 and C.
    label_values_ : array, shape (2, n_labels)
        Entries of absent and of present labels in a label vector.
    label_similarity_ : array, shape (n_labels, n_labels), or None
        The matrix S of linear outputs, positive semidefinite.
    always_predicts_ : bool
        Whether at least one label is always predicted, as every training sample has one.
    transfer_ : TransferDecoding or None
        What decoding="transfer" learned.
    dual_coef_ : array, shape (n_samples, n_labels)
        With direct decoding ``decision_function(X)`` is ``K(X, X_train) @ dual_coef_``. Row i is alpha_i /
        sqrt(k(x_i, x_i)) times v_i for linear outputs, S v_i for a matrix S of label similarities; for
        polynomials v_i again, times a constant; for a function, how much more similar v_i is to the vector of
        each label alone than to the vector of no label.
    coef_ : array, shape (n_labels, n_features)
        Weights of the columns; only for kernel="linear" where scores are read from them.
    intercept_ : array, shape (n_labels,)
        Zero: append a constant column to X for a bias.
    dual_solution_ : array, shape (n_samples, 1)
        `alpha_`; pass this to `fit` as `start` to continue training.
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
    kernel_ : Kernel
        The kernel, with its width fixed by the training samples.
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

    Examples
    --------
    >>> import numpy as np
    >>> from tagrank.estimators import JointSVM
    >>> X = np.array([[0.0, 1.0], [0.1, 0.9], [1.0, 0.0], [0.9, 0.2]])
    >>> tags = [{"sea", "boat"}, {"sea"}, {"street"}, {"street", "car"}]
    >>> model = JointSVM(kernel="linear").fit(X, tags)
    >>> model.classes_[np.argsort(-model.decision_function([[0.0, 0.8]]))[0]].tolist()
    ['sea', 'boat', 'car', 'street']
    """

    output_kernel: Any = "linear"
    center: bool = True
    decoding: str = "direct"
    n_neighbors: int = 10
    # a constant feature would change the length of samples; append one to X for a bias
    fit_intercept: bool = field(default=False, init=False)

    stored = stores(
        label_values_=Numbers("f", (2, "n_labels")),
        label_similarity_=Numbers("f", ("n_labels", "n_labels"), optional=True),
        always_predicts_=FLAG,
        present=Numbers("f", ("n_candidates", "n_labels"), optional=True),
        agreement=Numbers("f", (None, "n_candidates"), optional=True),
        reads_scores=Value(bool, optional=True),
    )

    def _loss(self):
        """The dual is that of one binary SVM whose labels are all positive."""
        return "hinge"

    @property
    def dual_solution_(self):
        return self.alpha_[:, None]

    def _check_parameters(self):
        super()._check_parameters()
        check_choice("decoding", self.decoding, ("direct", "transfer"))
        check_flag("center", self.center)
        check_count("n_neighbors", self.n_neighbors)
        make_output_kernel(self.output_kernel)

    def _pose(self, X, y, sample_weight):
        X, targets = self._take(X, y)
        self._look_at_labels(targets)
        with limited_threads(1):  # matrices of the size of the labels are too small to share
            vectors = make_label_vectors(
                targets, center=self.center, class_weight=self.class_weight, sample_weight=sample_weight
            )
            output = make_output_kernel(self.output_kernel).fit(targets.states)
        warn_labels_never_differ(vectors.rows, targets.states)
        kernel, dtype = make_kernel(self.kernel, gamma=self.gamma), self.gram_dtype or np.float64
        held = hold_jointly(
            X, kernel, vectors, output, fit_gram=self._fit_gram, dtype=dtype, n_jobs=self.n_jobs
        )
        return JointProblem(targets, vectors.costs[:, None], X, *held, vectors=vectors, output=output)

    def _fit_gram(self, X):
        """Whether similarities computed in advance are finite is seen when they are multiplied."""
        is_given = isinstance(make_kernel(self.kernel, gamma=self.gamma), Precomputed)
        return super()._fit_gram(X, **({"check_finite": False} if is_given else {}))

    def _store(self, problem, solution):
        self.alpha_ = solution.coefficients[:, 0]
        vectors, states = problem.vectors, problem.targets.states
        weights = self.alpha_ * problem.scale
        with limited_threads(1):
            coefficients = weights[:, None] * problem.output.say(vectors.rows, vectors.values)
        super()._store(replace(problem, bounds=states), replace(solution, coefficients=coefficients))
        self.label_values_ = vectors.values
        self.label_similarity_ = getattr(problem.output, "similarity", None)
        self.always_predicts_ = not np.any(np.all(states <= 0, axis=1) & np.any(states < 0, axis=1))
        self.transfer_ = None
        if self.decoding == "transfer":
            self.support_ = np.flatnonzero(weights)
            self.transfer_ = TransferDecoding.learn(
                problem.output, vectors.rows, states, weights, n_neighbors=self.n_neighbors
            )
        if isinstance(self.kernel_, Linear) and (self.transfer_ is None or self.transfer_.reads_scores):
            self.coef_ = safe_sparse_dot(problem.X.T, coefficients, dense_output=True).T

    def _scores(self, X):
        if self.transfer_ is None:
            return super()._scores(X)
        scores = np.empty((n_rows(X), len(self.classes_)))
        direct = super()._scores(X) if self.transfer_.reads_scores else None
        for block in row_blocks(len(scores), ROWS_AT_ONCE):
            read = self._similarities(X, block) if direct is None else direct[block]
            scores[block] = self.transfer_(read)
        return scores

    def stored_state(self):
        transfer = {} if self.transfer_ is None else vars(self.transfer_)
        names = ("present", "agreement", "reads_scores")
        return super().stored_state() | {name: transfer.get(name) for name in names}

    def restore(self, state):
        own = {name: state.pop(name) for name in ("present", "agreement", "reads_scores")}
        super().restore(state)
        self.label_similarity_ = state["label_similarity_"]
        self.transfer_ = None
        if self.decoding == "transfer":
            n_read = len(self.classes_) if own["reads_scores"] else len(self.support_)
            if own["agreement"] is None or own["present"] is None or len(own["agreement"]) != n_read:
                raise ValueError(f"label transfer needs the agreement of {n_read} numbers with its samples")
            self.transfer_ = TransferDecoding(**own, n_neighbors=self.n_neighbors)

    def choose(self, scores) -> np.ndarray:
        """Labels present: of all label vectors, scaled to unit length, the one that agrees best."""
        values, similarity = self.label_values_, self.label_similarity_
        if self.transfer_ is not None:
            scores, similarity = values[0] + scores * (values[1] - values[0]), None
        at_least = int(self.always_predicts_ and not self.never_positive_.all())
        chosen = choose_labels(scores, values, at_least=at_least, similarity=similarity)
        return chosen * ~self.never_positive_
