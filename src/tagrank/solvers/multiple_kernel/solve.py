"""Weights of kernels and coefficients together: which methods there are, and how a search is begun."""

from functools import partial

import numpy as np

from tagrank.resources import Ending
from tagrank.solvers.dual_ascent import load_loss, solve_dual
from tagrank.solvers.multiple_kernel import kernel_groups, proposals, smo, worst_label
from tagrank.solvers.multiple_kernel.cutting_planes import check_norm, normalized, uniform_weights
from tagrank.solvers.multiple_kernel.kernel_problem import KernelProblem, kernel_data, search
from tagrank.solvers.multiple_kernel.published_game import solve_published_game
from tagrank.solvers.solution import KernelPoint, KernelSolution
from tagrank.validation import check_choice

METHODS = {  # the problem that each evaluates, and what proposes weights for it
    "silp": (KernelProblem, proposals.lowest_of_planes),
    "simple": (KernelProblem, proposals.reduced_gradient),
    "gradient": (KernelProblem, proposals.projected_gradient),
    "mirror": (KernelProblem, proposals.mirror),
    "level": (KernelProblem, proposals.level),
    "group-lasso": (KernelProblem, proposals.group_lasso),
    "smo": (smo.CoordinateProblem, smo.propose_own_weights),
}
WORST_METHODS = {
    "cutting-plane": (worst_label.WorstProblem, worst_label.propose_below_level),
    "stochastic": (worst_label.GameProblem, worst_label.propose_means),
}
PAPER = "paper"  # the published game, which has options of its own
ON_SIMPLEX = ("simple", "gradient", "mirror", "level")  # p = 1 only
GROUPING = "mirror"  # the one that knows groups of kernels
ON_BALL = ("smo",)  # p > 1 only


def solve_kernels(
    stack,
    make_loss,
    bounds,
    *,
    solver="auto",
    norm=1.0,
    groups=None,
    group_norm=2.0,
    callback=None,
    **options,
):
    """Train coefficients T (n_samples, n_labels) and weights beta >= 0, |beta|_p <= 1, of kernels.

    Parameters
    ----------
    stack : KernelStack, or what has its methods
    make_loss, bounds : as in `solvers.dual_ascent.solve_dual`
    solver : "auto" or one of METHODS
    norm : float, p >= 1
    groups : int array, shape (n_kernels,), or None: the group of each kernel, 0 for the first; p = 1 only
    group_norm : float, s >= 2, see `kernel_groups.py`
    callback : function of a KernelPoint, called after each round
    options : those of `_search`

    Returns
    -------
    KernelSolution: the weights and coefficients with the smallest primal, and the largest lower bound;
    after `stop`, Ctrl-C, `max_seconds` or `max_iter` those reached so far
    """
    norm = check_norm(norm)
    check_method(solver, norm)
    kind, propose = METHODS[_fastest(norm) if solver == "auto" else solver]
    if groups is not None:
        check_grouped(solver, norm, group_norm)
        kind = partial(kernel_groups.GroupedProblem, groups=np.asarray(groups), group_norm=float(group_norm))
    return _search(partial(kind, stack, load_loss(make_loss), bounds), propose, norm, callback, **options)


def solve_worst(stack, bounds, *, solver="cutting-plane", norm=1.0, callback=None, **options):
    """The weights that are best for the worst label, hinge loss; otherwise as `solve_kernels`.

    The objectives of the solution are those of the worst label. The options of solver="paper" are those of
    `published_game.solve_published_game`.
    """
    norm = check_norm(norm)
    check_choice("solver", solver, (*WORST_METHODS, PAPER))
    if solver in ("stochastic", PAPER) and norm != 1:
        raise ValueError(f"solver={solver!r} does not support norm={norm:g}; choose cutting-plane, or norm=1")
    if solver == PAPER:
        return solve_published_game(stack, bounds, callback=callback, **options)
    kind, propose = WORST_METHODS[solver]
    return _search(partial(kind, stack, bounds), propose, norm, callback, **options)


def _search(
    make_problem,
    propose,
    norm,
    callback,
    *,
    tol=1e-3,
    max_iter=1000,
    max_seconds=None,
    random_state=0,
    start=None,
    start_weights=None,
    intercept=0.0,
    stop=None,
):
    """Pose a problem, and search its best weights among those that the method proposes.

    Parameters
    ----------
    tol : float, relative duality gap to reach
    max_iter : int, rounds at most: one training of the coefficients each
    max_seconds : float or None
    random_state : int or numpy Generator
    start : array, shape (n_samples, n_labels), or None: coefficients to start from
    start_weights : array, shape (n_kernels,), or None for equal ones
    intercept : float, added to every similarity
    stop : function without arguments, asked between blocks of samples; True ends the search
    """
    problem = make_problem(
        norm=norm,
        tol=tol,
        max_iter=max_iter,
        rng=np.random.default_rng(random_state),
        start=start,
        intercept=intercept,
        ending=Ending(max_seconds, stop),
    )
    weights = uniform_weights(problem.n_kernels, norm)
    if start_weights is not None:
        weights = normalized(np.asarray(start_weights, np.float64), norm)
    return search(problem, propose(problem, weights), callback)


def _fastest(norm):
    """What `benchmarks/speed/multiple_kernels.py` found."""
    return "mirror" if norm == 1 else "group-lasso"


def methods_for(norm):
    """The names of the methods that can be used with a norm."""
    return [name for name in METHODS if name not in (ON_BALL if norm == 1 else ON_SIMPLEX)]


def check_method(solver, norm):
    check_choice("solver", solver, ("auto", *METHODS))
    fitting = ["auto", *methods_for(norm)]
    if solver not in fitting:
        raise ValueError(f"solver={solver!r} does not do norm={norm:g}; choose one of {', '.join(fitting)}")


def check_grouped(solver, norm, group_norm):
    """Raise unless groups of kernels go with the other options."""
    if solver not in ("auto", GROUPING) or norm != 1:
        raise ValueError(
            f"groups of kernels need solver={GROUPING!r} and norm=1, got solver={solver!r} and norm={norm:g}"
        )
    if not (np.isfinite(group_norm) and group_norm >= 2):
        raise ValueError(f"group_norm must be a finite number of at least 2, got {group_norm!r}")


def solve_weighted(stack, make_loss, weights, *, bounds, intercept=0.0, callback=None, **options):
    """The same for weights that are given: `solve_dual` on their kernel, with its options."""
    weights = np.asarray(weights, np.float64)
    solution = solve_dual(
        kernel_data(stack, weights, intercept),
        make_loss,
        bounds,
        kind=stack.kind,
        intercept=intercept,
        callback=None if callback is None else lambda point: callback(KernelPoint(*point, weights)),
        **options,
    )
    solution.trace = [KernelPoint(*point, weights) for point in solution.trace]
    return KernelSolution(**vars(solution), kernel_weights=weights)
