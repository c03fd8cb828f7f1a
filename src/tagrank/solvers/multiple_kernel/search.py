"""The search for the weights of kernels: a method proposes weights, the problem is evaluated there.

A method is a generator: it yields weights and is sent the evaluation at them, round after round. It has no
stopping rule of its own: the search ends once the relative gap between the best bounds is small.
"""

from tagrank.solvers.ending import is_interrupt
from tagrank.solvers.solution import KernelPoint, KernelSolution

MOST_UNFINISHED = 5  # trainings in a row that came to no end: kernels too large for C, say


def search(problem, proposals, callback):
    """Round after round until the gap is small, or the end is asked for."""
    trace, stopped_by, weights = [], None, next(proposals)
    try:
        while stopped_by is None:
            evaluation = problem.evaluate(weights)
            trace.append(_measure(problem, evaluation.weights))
            if callback is not None:
                callback(trace[-1])
            stopped_by = _reason_to_end(problem)
            if stopped_by is None:
                weights = proposals.send(evaluation)
    except (KeyboardInterrupt, SystemError) as error:
        if not is_interrupt(error):
            raise
        stopped_by = "interrupt"
        if problem.best is None:
            problem.evaluate(weights, max_iter=0)
        if not trace or (trace[-1].primal, trace[-1].dual) != (problem.upper, problem.dual):
            trace.append(_measure(problem, problem.best.weights))
    best = vars(problem.best.solution) | {
        "dual": problem.dual, "n_iter": trace[-1].n_iter, "stopped_by": stopped_by, "trace": trace,
    }  # fmt: skip
    return KernelSolution(**best, kernel_weights=problem.best.weights)


def _measure(problem, weights):
    seconds = problem.ending.seconds
    return KernelPoint(problem.n_iter, seconds, problem.upper, problem.dual, problem.gap, weights)


def _reason_to_end(problem):
    if problem.gap <= problem.tol:
        return "tol"
    if problem.was_interrupted:
        return "interrupt"
    if problem.n_iter >= problem.max_iter or problem.n_unfinished >= MOST_UNFINISHED:
        return "max_iter"
    return problem.ending.reason()
