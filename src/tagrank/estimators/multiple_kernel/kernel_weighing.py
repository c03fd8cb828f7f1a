"""What all estimators share that learn how to weigh several kernels."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np
from sklearn.base import clone

from tagrank.estimators.base import Numbers, Texts, stores, with_parameters
from tagrank.estimators.compared_rows import ComparedRows, GramRows, PlainRows, Similarities
from tagrank.estimators.max_margin import MaxMarginEstimator, warn_unless_converged
from tagrank.estimators.multiple_kernel.best_kernel import find_best_kernel
from tagrank.estimators.multiple_kernel.given_kernels import (
    as_similarities,
    as_stack,
    check_numbers,
    column_weights,
    is_matrix,
    names_of,
    only_views,
    scales_of,
)
from tagrank.estimators.multiple_kernel.held_out_weights import find_weights
from tagrank.kernels import (
    KernelStack,
    LowRankStack,
    Power,
    Precomputed,
    Sum,
    make_kernel,
    reads_views,
    stack_of_kernels,
)
from tagrank.kernels.composition import views_of
from tagrank.kernels.stack import Stack
from tagrank.metrics import image_auc
from tagrank.parallel import limited_threads
from tagrank.solvers.solution import KernelPoint, TracePoint
from tagrank.validation import check_choice, check_count, check_positive

WEIGHTS = ("learned", "held-out", "uniform", "best")
FOLD_TOL = 2e-2  # duality gap of models that only tell how good weights are
NORMALIZATIONS = ("none", "trace", "variance")
SOLVERS = ("auto", "silp", "simple", "gradient", "mirror", "level", "group-lasso", "smo")


@with_parameters(
    norm=1.0,
    solver="auto",
    weights="learned",
    power=1,
    normalization="none",
    kernel_costs=None,
    cost_strength=1.0,
)
class KernelWeighing(MaxMarginEstimator):
    """Max-margin estimator on K(beta) = sum_j beta_j K_j, whose weights beta >= 0 are learned too.

    Minimises the objective of its loss over the scores *and* over all weights with ``|beta|_p <= 1``. A
    subclass names its loss; `MultipleKernelRanker` documents the parameters.
    """

    stored = stores(
        kernel_names_=Texts("n_kernels"),
        kernel_weights_=Numbers("f", ("n_kernels",)),
        kernel_scales_=Numbers("f", ("n_kernels",)),
        weight_path_=Numbers("f", (None, "n_kernels")),
        trace_=Numbers("f", (None, None)),
    )
    solvers = SOLVERS
    weight_choices = WEIGHTS

    def cost_path(self, X, y, strengths, sample_weight=None, *, stop=None):
        """Fitted copies of this estimator for several `cost_strength`: the stronger, the cheaper to ask.

        Parameters
        ----------
        X, y, sample_weight, stop : as in `fit`
        strengths : sequence of float

        Returns
        -------
        list of estimators, in the order of `strengths`
        """
        rows, models, start = self.compare(X), [], None
        for strength in strengths:
            model = clone(self).set_params(cost_strength=strength)
            models.append(model._solve(model._pose(rows, y, sample_weight), start=start, stop=stop))
            start = model._dual_solution
        return models

    @property
    def active_kernels_(self):
        """Indices of the kernels that have a weight."""
        return np.flatnonzero(np.atleast_2d(self.kernel_weights_).any(axis=0))

    @property
    def _dual_solution(self):
        return self.dual_coef_, self.kernel_weights_

    def compare(self, X):
        if isinstance(X, PlainRows) or not isinstance(self._kernel_for(X), Precomputed):
            return super().compare(X)
        return GramRows(as_stack(X))

    def _check_parameters(self):
        super()._check_parameters()
        check_positive("norm", self.norm)
        if self.norm < 1:
            raise ValueError(f"norm must be at least 1, got {self.norm!r}")
        check_choice("solver", self.solver, self.solvers)
        check_choice("normalization", self.normalization, NORMALIZATIONS)
        check_count("power", self.power)
        if self.power > 1 and isinstance(self.weights, str) and self.weights == "learned":
            raise ValueError(
                f"power={self.power} goes with weights='held-out', 'uniform', 'best' or given ones; for "
                "weights='learned' raise each kernel, kernel ** 2"
            )
        check_positive("cost_strength", self.cost_strength, allow_zero=True)
        if isinstance(self.weights, str):
            check_choice("weights", self.weights, self.weight_choices)
        else:
            check_numbers("weights", self.weights)
        if self.kernel_costs is not None:
            given = self.kernel_costs
            check_numbers("kernel_costs", list(given.values()) if isinstance(given, Mapping) else given)

    def _kernel_for(self, X):
        """The kernels to weigh, as one sum; a kernel by name is one kernel on each view of a mapping."""
        kernel = make_kernel(self.kernel, gamma=self.gamma)
        is_plain = not isinstance(kernel, Sum) and kernel.combines and not reads_views(kernel)
        if is_plain and isinstance(X, Mapping) and not hasattr(X, "format"):
            return Sum(tuple(kernel.on(view) for view in X), (1.0,) * len(X))
        return kernel

    def raised_kernel(self, power):
        """Its kernels, each to a power, not fitted."""
        kernel = make_kernel(self.kernel, gamma=self.gamma)
        parts = tuple(Power(term, power) for _, term in kernel.terms)
        return Sum(parts, (1.0,) * len(parts))

    def _check_rows(self, X, *, reset):
        inside = X.X if type(X) in (PlainRows, GramRows) else X
        kernel = self._kernel_for(inside) if reset else self.kernel_
        if isinstance(kernel, Precomputed) and not isinstance(X, ComparedRows | Similarities):
            if reset and not is_matrix(inside):
                stack = as_stack(inside)
                self.n_features_in_ = sum(stack.widths) if stack.kind == "rows" else stack.shape[1]
                return stack
            if isinstance(inside, LowRankStack):
                return super()._check_rows(inside.combined(np.ones(inside.n_kernels)), reset=reset)
            if not reset and len(self.kernel_names_) > 1 and not hasattr(self, "coef_"):
                return Similarities(as_similarities(inside, len(self.kernel_names_), self.n_features_in_))
        if not reset and isinstance(inside, Mapping) and not hasattr(inside, "format"):
            X = {view: rows for view, rows in inside.items() if view in views_of(kernel)}
        return super()._check_rows(X, reset=reset)

    def _fit_gram(self, X, **more):
        if isinstance(X, ComparedRows):
            return X.kernel, X.K
        if isinstance(X, Stack):
            return Precomputed(), X
        kernel = self._kernel_for(X)
        if len(kernel.terms) == 1:
            fitted, K = super()._fit_gram(X, **more)
            return (fitted, K) if self.power == 1 else (Power(fitted, self.power), K**self.power)
        kernels = [term for _, term in kernel.terms]
        fitted, stack = stack_of_kernels(
            kernels, X, names=names_of(kernels), dtype=self.gram_dtype, n_jobs=self.n_jobs
        )
        return Sum(tuple(fitted), (1.0,) * len(fitted)), stack

    def _solve(self, problem, *, start=None, callback=None, stop=None):
        coefficients, weights = start or (None, None)
        if not isinstance(problem.data, Stack):
            self._keep_weights(["kernel"], self._one_weight(problem), np.ones(1), np.ones((1, 1)))
            return super()._solve(problem, start=coefficients, callback=callback, stop=stop)
        with limited_threads(self.n_jobs):
            scales, prices = scales_of(problem.data, self.normalization), self._prices(problem.data.names)
            stack, settings = problem.data.scaled(scales), self._settings(problem, callback, stop)
            self._check_stack(stack)
            stack = stack if self.power == 1 else stack.with_raised_sum(self.power)
            settings |= {"start": coefficients}
            del settings["kind"]  # the stack knows it
            given, path = self._given_weights(stack, problem.targets.states, settings, weights)
            if given is None:
                start_weights = None if weights is None else weights * prices
                solution = _priced(self._weigh(stack.scaled(1 / prices), settings, start_weights), prices)
            else:
                solution = self._train_with(given, stack, settings)
        if path is None:
            path = np.array([point.weights for point in solution.trace])
        self._keep_weights(stack.names, solution.kernel_weights, scales, path)
        self._store(self._with_active_kernels(problem), solution)
        if stack.kind == "rows":
            self.coef_ = column_weights(stack, self.dual_coef_, self.kernel_weights_)
        warn_unless_converged(solution, self.tol)
        return self

    def _check_stack(self, stack):
        is_held_out = isinstance(self.weights, str) and self.weights == "held-out"
        if stack.kind == "rows" and (is_held_out or self.power > 1):
            raise ValueError(
                f"{'weights=held-out' if is_held_out else f'power={self.power}'} needs Gram matrices, got "
                f"columns of {stack.n_samples} samples; choose weights='learned' and power=1, or give kernels"
            )

    def _one_weight(self, problem):
        """Of a single kernel."""
        return np.ones(1)

    def _weigh(self, stack, settings, start_weights):
        """The solution with the best weights."""
        from tagrank.solvers.multiple_kernel import solve_kernels

        return solve_kernels(
            stack,
            self._loss(),
            **settings,
            solver=self.solver,
            norm=float(self.norm),
            start_weights=start_weights,
        )

    def _train_with(self, weights, stack, settings):
        """The solution for weights that are given."""
        from tagrank.solvers.multiple_kernel import solve_weighted

        return solve_weighted(stack, self._loss(), weights, **settings)

    def _given_weights(self, stack, states, settings, start):
        """Weights (n_kernels,), and those that were tried on the way; None unless they are found before."""
        n_kernels = stack.n_kernels
        if not isinstance(self.weights, str):
            return check_numbers("weights", self.weights, n_kernels), None
        if self.weights == "learned":
            return None, None
        if self.weights == "uniform":
            return np.full(n_kernels, n_kernels ** (-1 / self.norm)), None
        if self.weights == "held-out":
            train = partial(self._train_fold, settings)
            return find_weights(stack, train, states, start=start, rng=settings["random_state"])
        alone = clone(self).set_params(kernel=Precomputed(trusted=True), gamma=None, weights="uniform")
        return np.eye(n_kernels)[find_best_kernel(alone, stack, states, self._measure_kernel)], None

    def _train_fold(self, settings, stack, rows, weights, start):
        """Coefficients of some samples, for weights that are given."""
        settings = settings | {
            "bounds": settings["bounds"][rows],
            "tol": max(self.tol, FOLD_TOL),
            "start": start,
            "callback": None,
        }
        return self._train_with(weights, stack, settings).coefficients

    def _measure_kernel(self, labels, scores):
        """How well a single kernel does on samples that were held out."""
        return image_auc(labels, scores)

    def _prices(self, names):
        """What a weight of each kernel counts in the norm: 1 + cost_strength * cost / mean cost."""
        if self.kernel_costs is None or self.cost_strength == 0:
            return np.ones(len(names))
        costs = self.kernel_costs
        if isinstance(costs, Mapping):
            if missing := [name for name in names if name not in costs]:
                raise ValueError(
                    f"kernel_costs must name every kernel, but {missing[0]!r} is missing; it has "
                    f"{', '.join(map(str, costs))}"
                )
            costs = [costs[name] for name in names]
        costs = check_numbers("kernel_costs", costs, len(names))
        return 1 + self.cost_strength * costs / max(costs.mean(), np.finfo(float).tiny)

    def _keep_weights(self, names, weights, scales, path):
        self.kernel_names_ = list(names)
        self.kernel_weights_ = weights
        self.kernel_scales_ = scales
        self.weight_path_ = path

    def _with_active_kernels(self, problem):
        """The problem with the kernels and the views that the fitted model reads."""
        if isinstance(problem.kernel, Precomputed):
            return problem
        active = self.active_kernels_ if len(self.active_kernels_) else [0]
        weights = self._weights_in_kernel()
        kernel = Sum(
            tuple(problem.kernel.kernels[j] for j in active), tuple(float(weights[j]) for j in active)
        )
        views = views_of(kernel)
        kernel = kernel if self.power == 1 else Power(kernel, self.power)
        return replace(problem, kernel=kernel, X=only_views(problem.X, views))

    def _weights_in_kernel(self):
        """Of each kernel in `kernel_`."""
        return self.kernel_weights_ * self.kernel_scales_

    def _similarities(self, X, block=slice(None)):
        if not (isinstance(X, Similarities) and isinstance(X.K, KernelStack)):
            return super()._similarities(X, block)
        rows = np.arange(len(X))[block]
        part = X.K[np.ix_(rows, self.support_)].with_raised_sum(self.power)
        return part.combined(self.kernel_weights_ * self.kernel_scales_)

    @staticmethod
    def _trace_row(point):
        return [*point[: len(TracePoint._fields)], *getattr(point, "weights", ())]

    @staticmethod
    def _trace_point(row):
        n_known = len(TracePoint._fields)
        return KernelPoint(int(row[0]), *map(float, row[1:n_known]), row[n_known:])


def _priced(solution, prices):
    """A solution whose weights count as they do on kernels that were not divided by their prices."""
    trace = [point._replace(weights=point.weights / prices) for point in solution.trace]
    return replace(solution, kernel_weights=solution.kernel_weights / prices, trace=trace)
