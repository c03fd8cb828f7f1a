"""Where the weights of several kernels come from: learned, given, or found on samples that are held out."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from tagrank.estimators.max_margin import warn_unless_converged
from tagrank.estimators.multiple_kernel.held_out_weights import find_best_kernel, find_weights
from tagrank.estimators.multiple_kernel.many_kernels import (
    ManyKernels,
    check_groups,
    check_numbers,
    column_weights,
    group_numbers,
    scales_of,
)
from tagrank.kernels import Precomputed
from tagrank.kernels.stack import Stack
from tagrank.metrics import image_auc
from tagrank.resources import Ending, limited_threads
from tagrank.validation import check_choice, check_count, check_positive

WEIGHTS = ("learned", "held-out", "uniform", "best")
FOLD_TOL = 2e-2  # duality gap of models that only tell how good weights are
NORMALIZATIONS = ("none", "trace", "variance", "spherical")
SOLVERS = ("auto", "silp", "simple", "gradient", "mirror", "level", "group-lasso", "smo")


@dataclass(kw_only=True, eq=False, repr=False)
class KernelWeighing(ManyKernels):
    """Max-margin estimator on K(beta) = sum_j beta_j K_j, whose weights beta >= 0 are learned too.

    Minimises the objective of its loss over the scores *and* over all weights with ``|beta|_p <= 1``. A
    subclass names its loss; `MultipleKernelRanker` documents the parameters.
    """

    norm: float = 1.0
    solver: str = "auto"
    weights: Any = "learned"
    power: int = 1
    normalization: str = "none"
    kernel_costs: Any = None
    cost_strength: float = 1.0
    groups: Any = None
    group_norm: float = 2.0

    solvers = SOLVERS
    weight_choices = WEIGHTS

    def cost_path(self, X, y, strengths, sample_weight=None, *, stop=None) -> Any:
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
            start = model.dual_solution_
        return models

    @property
    def dual_solution_(self):
        return self.dual_coef_, self.kernel_weights_

    def left_open(self):
        # learned weights are part of the solution, and are learned in every training
        is_chosen = isinstance(self.weights, str) and self.weights in ("held-out", "best")
        return {"weights": "kernel_weights_"} if is_chosen else {}

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
                f"power={self.power} needs weights='held-out', 'uniform', 'best' or given ones; for "
                "weights='learned' raise each kernel, kernel ** 2"
            )
        check_positive("cost_strength", self.cost_strength, allow_zero=True)
        if isinstance(self.weights, str):
            check_choice("weights", self.weights, self.weight_choices)
        else:
            check_numbers("weights", self.weights)
        check_groups(self)
        if self.kernel_costs is not None:
            costs = self.kernel_costs
            check_numbers("kernel_costs", list(costs.values()) if isinstance(costs, Mapping) else costs)

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
            start_weights = getattr(problem.kernel, "weights", None) if weights is None else weights
            given, path = self._given_weights(stack, problem.targets.states, settings, start_weights)
            if given is None:
                start_weights = None if weights is None else weights * prices
                settings |= self._grouping(problem.data.names)
                solution = _priced(self._weigh(stack.scaled(1 / prices), settings, start_weights), prices)
            else:
                solution = self._train_with(given, stack, settings)
        if path is None:
            path = solution.path
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

    def _grouping(self, names):
        """What solvers are told of groups of kernels."""
        if self.groups is None:
            return {}
        return {"groups": group_numbers(self.groups, names), "group_norm": float(self.group_norm)}

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
            ending = Ending(None if self.max_seconds is None else self.max_seconds / 2)
            train = partial(self._train_fold, settings, ending)
            weights_and_path = find_weights(stack, train, states, start=start, rng=settings["random_state"])
            settings["max_seconds"] = _left(self.max_seconds, ending)
            return weights_and_path
        alone = clone(self).set_params(kernel=Precomputed(trusted=True), gamma=None, weights="uniform")
        return np.eye(n_kernels)[find_best_kernel(alone, stack, states, self._measure_kernel)], None

    def _train_fold(self, settings, ending, stack, rows, weights, start):
        """Coefficients of some samples, for weights that are given; None where the training had to end."""
        settings = settings | {
            "bounds": settings["bounds"][rows],
            "tol": max(self.tol, FOLD_TOL),
            "start": start,
            "callback": None,
            "max_seconds": _left(ending.max_seconds, ending),
        }
        solution = self._train_with(weights, stack, settings)
        return solution.coefficients if solution.stopped_by in ("tol", "max_iter") else None

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


def _left(max_seconds, ending):
    """Of some seconds those that are left."""
    return None if max_seconds is None else max(max_seconds - ending.seconds, 1e-9)


def _priced(solution, prices):
    """A solution whose weights count as they do on kernels that were not divided by their prices."""
    trace = [point._replace(weights=point.weights / prices) for point in solution.trace]
    path = None if solution.path is None else solution.path / prices
    return replace(solution, kernel_weights=solution.kernel_weights / prices, trace=trace, path=path)
