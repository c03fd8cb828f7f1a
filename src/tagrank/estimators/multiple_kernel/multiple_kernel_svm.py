"""Support vector machines with several kernels, whose weights each label has for itself."""

from dataclasses import replace

import numpy as np

from tagrank.arrays import row_blocks, rows_within
from tagrank.estimators.base import Numbers, stores
from tagrank.estimators.compared_rows import Similarities
from tagrank.estimators.max_margin import MaxMarginEstimator
from tagrank.estimators.multiple_kernel.kernel_weighing import KernelWeighing
from tagrank.kernels import KernelStack
from tagrank.kernels.gram import gram, n_rows, take_rows
from tagrank.metrics import category_auc
from tagrank.resources import Ending
from tagrank.solvers.solution import join_solutions, sum_of_solutions


class MultipleKernelSVM(KernelWeighing, MaxMarginEstimator):
    """One support vector machine per label, each with its own kernel weights (MKL).

    Minimises for every label ``1/2 sum_j |f_j|^2 / beta_j + sum_i C_i max(0, 1 - y_i sum_j f_j(x_i))`` over
    all functions f_j and all weights ``beta >= 0`` with ``|beta|_p <= 1``.

    Parameters
    ----------
    C : float, default 1.0
        Penalty for violated labels. Larger values fit the training labels more closely, smaller ones give
        smoother scores; try powers of ten from 0.01 to 100.
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
    solver : {"auto", "silp", "simple", "gradient", "mirror", "level", "group-lasso", "smo"}, default "auto"
        Solver for the weights; all of them solve the same problem. For norm = 1: all except "smo"; for a norm
        above 1: "silp", "group-lasso" and "smo".
    weights : {"learned", "uniform", "best"} or array, shape (n_kernels,), default "learned"
        "learned" minimizes the objective of each label. "uniform" is the mean kernel, "best" the single
        kernel that ranks the samples of a label best in cross-validation.
    power : int, default 1
        Must be 1, because each label has its own weights. Raise the kernels themselves, ``kernel ** 2``, or
        use a `SharedKernelSVM`.
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
    kernel_weights_ : array, shape (n_labels, n_kernels)
        ``decision_function(X)[:, l]`` is ``sum_j kernel_weights_[l, j] K_j(X, X_train) @ dual_coef_[:, l]``,
        K_j being normalised.
    trace_ : list of (n_iter, seconds, primal, dual, gap, weights)
        History of the training: each round for one label; for several labels, the sums over the finished ones
        and the mean of their weights.
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
    >>> from tagrank import MultipleKernelSVM
    >>> rng = np.random.default_rng(0)
    >>> views = {"left": rng.normal(size=(80, 1)), "right": rng.normal(size=(80, 1))}
    >>> Y = np.column_stack([views["left"] > 0, views["right"] > 0]).astype(float)
    >>> model = MultipleKernelSVM(kernel="rbf", C=10).fit(views, Y)
    >>> [model.kernel_names_[j] for j in model.kernel_weights_.argmax(axis=1)]
    ['left', 'right']
    """

    stored = stores(kernel_weights_=Numbers("f", ("n_labels", "n_kernels")))
    weight_choices = tuple(name for name in KernelWeighing.weight_choices if name != "held-out")

    def _loss(self):
        return "hinge"

    def _check_parameters(self):
        super()._check_parameters()
        if self.power > 1:
            raise ValueError(
                f"power must be 1 where each label has weights of its own, got {self.power}; raise each "
                "kernel, kernel ** 2, or take a SharedKernelSVM"
            )

    def left_open(self):
        # the best kernel of each label is as many choices as there are labels, and no parameter can hold them
        return {}

    def _one_weight(self, problem):
        return np.ones((problem.bounds.shape[1], 1))

    def _weigh(self, stack, settings, start_weights):
        bounds, start, callback = (settings.pop(name) for name in ("bounds", "start", "callback"))
        ending, solutions = Ending(settings["max_seconds"]), []
        for label in range(bounds.shape[1]):
            left = None if ending.max_seconds is None else max(ending.max_seconds - ending.seconds, 1e-9)
            one = {
                "bounds": bounds[:, [label]],
                "start": None if start is None else start[:, [label]],
                "callback": callback if bounds.shape[1] == 1 else None,
                "max_seconds": left,
            }
            weights = None if start_weights is None else start_weights[label]
            solutions.append(super()._weigh(stack, settings | one, weights))
            if callback is not None and bounds.shape[1] > 1:
                callback(sum_of_solutions(solutions, ending.seconds))
        return join_solutions(solutions, ending.seconds)

    def _train_with(self, weights, stack, settings):
        """Labels with the same weights are trained together."""
        bounds = settings["bounds"]
        weights = np.broadcast_to(weights, (bounds.shape[1], stack.n_kernels))
        kinds, kind_of = np.unique(weights, axis=0, return_inverse=True)
        ending, parts, order = Ending(), [], []
        for kind, shared in enumerate(kinds):
            labels = np.flatnonzero(kind_of.ravel() == kind)
            order.append(labels)
            mine = settings | {"bounds": bounds[:, labels], "start": None}
            parts.append(super()._train_with(shared, stack, mine))
        whole = join_solutions(parts, ending.seconds)
        back = np.argsort(np.concatenate(order))
        return replace(
            whole, coefficients=whole.coefficients[:, back], kernel_weights=whole.kernel_weights[back]
        )

    def _measure_kernel(self, labels, scores):
        return [category_auc(labels[:, [k]], scores[:, [k]]) for k in range(labels.shape[1])]

    def _weights_in_kernel(self):
        return self.kernel_scales_

    def _scores(self, X):
        is_single = len(self.kernel_names_) == 1 and not isinstance(getattr(X, "K", None), KernelStack)
        if is_single or hasattr(self, "coef_"):
            return super()._scores(X)
        scores = np.zeros((n_rows(X), len(self.classes_)))
        for place, j in enumerate(self.active_kernels_):
            coefficients = self.dual_coef_[self.support_] * (
                self.kernel_weights_[:, j] * self.kernel_scales_[j]
            )
            for block in row_blocks(len(scores), rows_within(len(self.support_))):
                scores[block] += self._similarities_by(place, j, X, block) @ coefficients
        return scores + self.intercept_

    def _similarities_by(self, place, j, X, block):
        """Of the samples in `block` with the support vectors by one kernel, without weight or scale."""
        if isinstance(X, Similarities):
            return X.K[np.ix_(np.arange(len(X))[block], self.support_)].kernel(j)
        rows = take_rows(self.X_fit_, self.support_)
        return gram(self.kernel_.kernels[place], take_rows(X, block), rows, n_jobs=self.n_jobs)
