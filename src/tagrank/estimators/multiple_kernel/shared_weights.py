"""Estimators with several kernels whose weights all labels share: a ranker, and support vector machines."""

from dataclasses import dataclass, field

from tagrank.estimators.max_margin import MaxMarginEstimator
from tagrank.estimators.multiple_kernel.kernel_weighing import KernelWeighing
from tagrank.estimators.ranking import LabelRanker
from tagrank.validation import check_choice, check_positive


@dataclass(kw_only=True, eq=False, repr=False)
class MultipleKernelRanker(KernelWeighing, LabelRanker):
    """Ranks labels with a weighted sum of kernels; the weights are learned with the ranker (MK-MLR).

    Minimises ``1/2 sum_j sum_l |f_jl|^2 / beta_j`` plus the loss of `LabelRanker` over all functions f_jl and
    all weights ``beta >= 0`` with ``|beta|_p <= 1``; all labels share the weights. With p = 1 many of them
    become zero: what these kernels read need not be computed for new samples.

    Once fitted it is a ranker like any other, with the kernel ``sum_j beta_j K_j``.

    Parameters
    ----------
    C : float, default 1.0
        Penalty for violated labels. Larger values fit the training labels more closely, smaller ones give
        smoother scores; try powers of ten from 0.01 to 100.
    loss : {"ranking", "group"}, default "ranking"
        The loss of `LabelRanker`, or that of `IncompleteLabelRanker` for samples that lack true labels.
    landmarks : int, optional
        Number of training rows, chosen so that they stand for all: rows are compared with these only
        (Nyström), which takes n x landmarks instead of n x n numbers, and only these are stored. 1,000 are
        enough for most collections. By default all rows are compared with each other.
    device : str, optional
        Device of torch for dense rows, such as "cuda": similarities are computed and kept there. Arrays of
        torch or CuPy are worked on where they are. By default the CPU.
    kernel : list of Kernel, or a sum of them, or the name of one, default "rbf"
        The kernels to weigh. The weights of a sum are the start of the search for "held-out" weights, and are
        not used otherwise. A name stands for one kernel on each view, if X is a mapping of views. With
        "precomputed", X is a list of Gram matrices, an (n_kernels, n, n) array, a `KernelStack`, or for many
        samples a `LowRankStack`.
    gamma : float, optional
        1 / width of kernels given by name, and the factor of "poly". By default the width is the mean
        distance of training pairs.
    class_weight : None, "balanced", {1: present, 0: absent} or {label: weight}, default None
        Factors of C. "balanced" gives the present and the absent samples of each label the same total weight,
        which helps if rare labels must be predicted. For one-dimensional y, the keys are class names.
    fit_intercept : bool, default False
        Add a constant feature; its weight is regularized like the others. Worth trying if `predict` matters
        more than the ranking.
    tol : float, default 0.001
        Relative duality gap, over scores and weights together, at which training stops.
    max_iter : int, default 1000
        Maximum number of updates of the weights. A warning says if `tol` was not reached.
    max_seconds : float, optional
        Stop training after this many seconds and keep the result with its certificate. Ctrl-C does the same.
    random_state : int, RandomState or None, default None
        Seed of the order in which samples are visited. Pass an int for repeatable results.
    n_jobs : int, optional
        Number of threads; all cores by default.
    verbose : int, default 0
        1 prints the duality gap after every pass.
    norm : float, default 1.0
        p of the p-norm that bounds the weights: 1 selects kernels, 2 and more spread the weights. Raise it if
        you know that all kernels matter.
    solver : {"auto", "silp", "simple", "gradient", "mirror", "level", "group-lasso"}, default "auto"
        Solver for the weights; all of them solve the same problem. With a norm above 1: "silp" or
        "group-lasso".
    weights : {"learned", "held-out", "uniform", "best"} or array, shape (n_kernels,), default "learned"
        "learned" minimizes the objective. "held-out" searches for the weights that sum to 1 and rank held-out
        samples best: usually the better choice for photographs, at the cost of a few trainings; it ignores
        `norm`, `solver` and `kernel_costs`. "uniform" is the mean kernel, "best" the single kernel that ranks
        best in cross-validation.
    power : int, default 1
        Power of the weighted sum, for all `weights` except "learned". Higher powers make the kernel narrower.
    normalization : {"none", "trace", "variance", "spherical"}, default "none"
        What is scaled to 1 in each kernel first: nothing, the mean of its diagonal, the variance of the
        samples in its feature space, or each entry of its diagonal. Kernels of different scale need one of
        the last three.
    kernel_costs : array, shape (n_kernels,), or mapping of kernel to cost, optional
        Cost of computing each kernel for a new sample, such as seconds. The weight of kernel j then counts
        ``1 + cost_strength * cost_j / mean cost`` in the norm, so cheap kernels are preferred.
    cost_strength : float, default 1.0
        How strongly `kernel_costs` count; 0 ignores them.
    groups : array, shape (n_kernels,), or mapping of kernel to group, optional
        The group of each kernel, by name or number (VSKL): few kernels of each group get a weight, but every
        group counts. Needs norm=1 and learned weights; the sizes of the parts of a group are added, and the
        groups have the norm `group_norm`. By default all kernels are one group.
    group_norm : float, at least 2, default 2.0
        Norm across `groups`: at 2 each group counts as much as it helps, at higher values they count more
        alike.

    Attributes
    ----------
    kernel_weights_ : array, shape (n_kernels,)
        The weights of the kernels.
    kernel_scales_ : array, shape (n_kernels,)
        Factor of each kernel before it is weighed, see `normalization`.
    kernel_names_ : list of str
        Names of the kernels: those of their views, if these differ.
    weight_path_ : array, shape (n_rounds, n_kernels)
        The weights that were tried, in this order.
    active_kernels_ : int array
        Indices of the kernels that have a weight.
    kernel_ : Kernel
        The weighted sum of the kernels that have a weight, with their widths fixed.
    primal_objective_ : float
        The value of the objective that is minimized, over scores and weights together.
    dual_objective_ : float
        A lower bound of that value.
    n_iter_ : int
        Number of updates of the weights.
    trace_ : list of (n_iter, seconds, primal, dual, gap, weights)
        History of the training, one point each time the gap was measured.
    dual_solution_ : pair of arrays
        Coefficients and weights; pass this to `fit` as `start` to continue training.
    threshold_rule_ : array (a, b)
        `predict` returns the labels whose score reaches ``a + b * highest score of x``.
    always_predicts_ : bool
        Whether the highest label is always predicted, because every training sample has a label.
    duality_gap_ : float
        (primal - dual) / primal: the objective is at most this share above the best possible one.
    converged_ : bool
        Whether `tol` was reached.
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
    never_positive_ : bool array, shape (n_labels,)
        Labels without a positive training sample. They are ranked last and never predicted.
    n_features_in_ : int
        Number of columns of X in `fit`; missing if X was a mapping of views.

    Examples
    --------
    >>> import numpy as np
    >>> from tagrank import Gaussian, MultipleKernelRanker
    >>> rng = np.random.default_rng(0)
    >>> place = rng.normal(size=(60, 2))
    >>> views = {"place": place, "noise": rng.normal(size=(60, 2))}
    >>> Y = np.column_stack([place[:, 0] > 0, place[:, 0] <= 0, place[:, 1] > 0]).astype(float)
    >>> model = MultipleKernelRanker(kernel="rbf").fit(views, Y)
    >>> model.kernel_names_, model.kernel_weights_.round(1).tolist()
    (['place', 'noise'], [1.0, 0.0])
    """

    loss: str = "ranking"

    solvers = tuple(name for name in KernelWeighing.solvers if name != "smo")

    landmarks: None = field(default=None, init=False)
    device: None = field(default=None, init=False)

    def _loss(self):
        if self.loss == "ranking":
            return super()._loss()
        return "group_ranking"

    def _check_parameters(self):
        super()._check_parameters()
        check_choice("loss", self.loss, ("ranking", "group"))


WORST = ("auto", "cutting-plane", "stochastic", "paper")


@dataclass(kw_only=True, eq=False, repr=False)
class SharedKernelSVM(KernelWeighing, MaxMarginEstimator):
    """One support vector machine per label on one weighted sum of kernels for all (ML-MKL).

    Minimises over weights ``beta >= 0`` with ``|beta|_p <= 1`` the sum over labels of the objectives of
    `OneVsAllSVM` on the kernel ``sum_j beta_j K_j``, or the largest of them.

    Parameters
    ----------
    C : float, default 1.0
        Penalty for violated labels. Larger values fit the training labels more closely, smaller ones give
        smoother scores; try powers of ten from 0.01 to 100.
    objective : {"sum", "worst"}, default "sum"
        What is minimised over labels: the sum (ML-MKL-Sum), or the label with the highest objective
        (minimax), so that no label is given up for the others.
    kernel : list of Kernel, or a sum of them, or the name of one, default "rbf"
        The kernels to weigh. The weights of a sum are the start of the search for "held-out" weights, and are
        not used otherwise. A name stands for one kernel on each view, if X is a mapping of views. With
        "precomputed", X is a list of Gram matrices, an (n_kernels, n, n) array, a `KernelStack`, or for many
        samples a `LowRankStack`.
    gamma : float, optional
        1 / width of kernels given by name, and the factor of "poly". By default the width is the mean
        distance of training pairs.
    class_weight : None, "balanced", {1: present, 0: absent} or {label: weight}, default None
        Factors of C. "balanced" gives the present and the absent samples of each label the same total weight,
        which helps if rare labels must be predicted. For one-dimensional y, the keys are class names.
    fit_intercept : bool, default False
        Add a constant feature; its weight is regularized like the others. Worth trying if `predict` matters
        more than the ranking.
    tol : float, default 0.001
        Relative duality gap, over scores and weights together, at which training stops.
    max_iter : int, default 1000
        Maximum number of updates of the weights. A warning says if `tol` was not reached.
    max_seconds : float, optional
        Stop training after this many seconds and keep the result with its certificate. Ctrl-C does the same.
    random_state : int, RandomState or None, default None
        Seed of the order in which samples are visited. Pass an int for repeatable results.
    n_jobs : int, optional
        Number of threads; all cores by default.
    verbose : int, default 0
        1 prints the duality gap after every pass.
    norm : float, default 1.0
        p of the p-norm that bounds the weights: 1 selects kernels, 2 and more spread the weights. Raise it if
        you know that all kernels matter.
    solver : {"auto", "silp", "simple", "gradient", "mirror", "level", "group-lasso"}, for objective="worst"
        {"auto", "cutting-plane", "stochastic", "paper"}, default "auto"
        Solver for the weights; all solvers of an objective solve the same problem. With a norm above 1:
        "silp" or "group-lasso", or "cutting-plane". "paper" is ML-MKL-SA: `max_iter` steps that train one
        label each, after which all labels are trained on the mean of the weights and the gap tells how far it
        came. "stochastic" is the same game with less noise in its steps, played until `tol` is reached.
    weights : {"learned", "held-out", "uniform", "best"} or array, shape (n_kernels,), default "learned"
        "learned" minimizes the objective. "held-out" searches for the weights that sum to 1 and rank held-out
        samples best: usually the better choice for photographs, at the cost of a few trainings; it ignores
        `norm`, `solver` and `kernel_costs`. "uniform" is the mean kernel, "best" the single kernel that ranks
        best in cross-validation.
    power : int, default 1
        Power of the weighted sum, for all `weights` except "learned". Higher powers make the kernel narrower.
    normalization : {"none", "trace", "variance", "spherical"}, default "none"
        What is scaled to 1 in each kernel first: nothing, the mean of its diagonal, the variance of the
        samples in its feature space, or each entry of its diagonal. Kernels of different scale need one of
        the last three.
    kernel_costs : array, shape (n_kernels,), or mapping of kernel to cost, optional
        Cost of computing each kernel for a new sample, such as seconds. The weight of kernel j then counts
        ``1 + cost_strength * cost_j / mean cost`` in the norm, so cheap kernels are preferred.
    cost_strength : float, default 1.0
        How strongly `kernel_costs` count; 0 ignores them.
    groups : array, shape (n_kernels,), or mapping of kernel to group, optional
        The group of each kernel, by name or number (VSKL): few kernels of each group get a weight, but every
        group counts. Needs norm=1 and learned weights; the sizes of the parts of a group are added, and the
        groups have the norm `group_norm`. By default all kernels are one group.
    group_norm : float, at least 2, default 2.0
        Norm across `groups`: at 2 each group counts as much as it helps, at higher values they count more
        alike.
    eta : float, for solver="paper", default 0.01
        Step size of the weights of kernels. The steps grow with the number of samples and with C; the
        dissertation takes 0.01 and 0.001.
    eta_labels : float, for solver="paper", optional
        Step size of the shares of labels; by default `eta`.
    delta : float, from 0 to 1, for solver="paper", default 0.2
        Part of the draws that is even over labels; the rest follows their shares, which grow for labels with
        high objectives.

    Attributes
    ----------
    primal_objective_ : float
        The value of the objective that is minimized: the sum over labels, or for objective="worst" the
        largest.
    kernel_weights_ : array, shape (n_kernels,)
        The weights of the kernels.
    kernel_scales_ : array, shape (n_kernels,)
        Factor of each kernel before it is weighed, see `normalization`.
    kernel_names_ : list of str
        Names of the kernels: those of their views, if these differ.
    weight_path_ : array, shape (n_rounds, n_kernels)
        The weights that were tried, in this order.
    active_kernels_ : int array
        Indices of the kernels that have a weight.
    kernel_ : Kernel
        The weighted sum of the kernels that have a weight, with their widths fixed.
    dual_objective_ : float
        A lower bound of that value.
    n_iter_ : int
        Number of updates of the weights.
    trace_ : list of (n_iter, seconds, primal, dual, gap, weights)
        History of the training, one point each time the gap was measured.
    dual_solution_ : pair of arrays
        Coefficients and weights; pass this to `fit` as `start` to continue training.
    duality_gap_ : float
        (primal - dual) / primal: the objective is at most this share above the best possible one.
    converged_ : bool
        Whether `tol` was reached.
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
    never_positive_ : bool array, shape (n_labels,)
        Labels without a positive training sample. They are ranked last and never predicted.
    n_features_in_ : int
        Number of columns of X in `fit`; missing if X was a mapping of views.

    Examples
    --------
    >>> import numpy as np
    >>> from tagrank import SharedKernelSVM
    >>> rng = np.random.default_rng(0)
    >>> place = rng.normal(size=(60, 2))
    >>> views = {"place": place, "noise": rng.normal(size=(60, 2))}
    >>> Y = np.column_stack([place[:, 0] > 0, place[:, 1] > 0]).astype(float)
    >>> model = SharedKernelSVM(kernel="rbf", objective="worst").fit(views, Y)
    >>> model.kernel_weights_.round(1).tolist()
    [1.0, 0.0]
    """

    objective: str = "sum"
    eta: float = 0.01
    eta_labels: float | None = None
    delta: float = 0.2

    solvers = tuple(dict.fromkeys((*(name for name in KernelWeighing.solvers if name != "smo"), *WORST)))

    def _loss(self):
        return "hinge"

    def _check_parameters(self):
        super()._check_parameters()
        check_choice("objective", self.objective, ("sum", "worst"))
        if self.objective == "worst":
            if self.groups is not None:
                raise ValueError("groups of kernels need objective='sum', got objective='worst'")
            check_choice("solver, with objective='worst',", self.solver, WORST)
            if self.norm != 1 and self.solver in WORST[2:]:
                raise ValueError(f"norm must be 1 with solver={self.solver!r}, got {self.norm!r}")
        elif self.solver in WORST[1:]:
            raise ValueError(f"solver={self.solver!r} needs objective='worst', got objective='sum'")
        check_positive("eta", self.eta)
        if self.eta_labels is not None:
            check_positive("eta_labels", self.eta_labels)
        check_positive("delta", self.delta, allow_zero=True)
        if self.delta > 1:
            raise ValueError(f"delta must be a number from 0 to 1, got {self.delta!r}")

    def _weigh(self, stack, settings, start_weights):
        if self.objective == "sum":
            return super()._weigh(stack, settings, start_weights)
        from tagrank.solvers.multiple_kernel import solve_worst

        solver = "cutting-plane" if self.solver == "auto" else self.solver
        if solver == "paper":
            eta_labels = None if self.eta_labels is None else float(self.eta_labels)
            settings |= {"eta": float(self.eta), "eta_labels": eta_labels, "delta": float(self.delta)}
        return solve_worst(
            stack, **settings, solver=solver, norm=float(self.norm), start_weights=start_weights
        )
