"""How a solver ends: limits, interruption, warm starts; each end has an honest certificate."""

import numpy as np
import pytest

from tagrank.solvers.group_steps import solve_paper
from tagrank.solvers.perceptrons import learn_in_passes


def test_pass_limit(Loss, hold, make_problem, certificate):
    X, bounds = make_problem()
    held = hold(X)
    for max_iter in (0, 1, 3):
        solution = held.solve(Loss, 10 * bounds, tol=1e-9, max_iter=max_iter)
        assert (solution.stopped_by, solution.n_iter) == ("max_iter", max_iter)
        assert not solution.converged
        certificate(Loss, held.K, 10 * bounds, solution)


@pytest.mark.parametrize("seconds", [0, 1e-3])
def test_time_limit(Loss, hold_in_short, seconds, make_problem, certificate):
    X, bounds = make_problem()
    held = hold_in_short(X)
    solution = held.solve(Loss, 1e4 * bounds, tol=0, max_iter=10**9, max_seconds=seconds)
    assert solution.stopped_by == "max_seconds"
    certificate(Loss, held.K, 1e4 * bounds, solution)


def test_time_may_end_within_a_pass(Loss, hold_in_short, make_problem, certificate, monkeypatch):
    X, bounds = make_problem()
    held = hold_in_short(X)
    now = iter(range(10**6))
    monkeypatch.setattr("tagrank.resources.time.perf_counter", lambda: float(next(now)))
    for max_seconds in range(3, 12):
        solution = held.solve(Loss, 10 * bounds, tol=1e-9, max_seconds=max_seconds)
        assert solution.stopped_by == "max_seconds"
        certificate(Loss, held.K, 10 * bounds, solution)


def asked_after(n_questions):
    """A function that answers False so often, then once True: one yes is enough."""
    answers = iter([False] * n_questions + [True])
    return lambda: next(answers)


@pytest.mark.parametrize("n_questions", [0, 1, 2, 5])
def test_a_training_is_asked_to_stop(Loss, hold_in_short, n_questions, make_problem, certificate):
    X, bounds = make_problem()
    held = hold_in_short(X)
    stop = asked_after(n_questions)
    solution = held.solve(Loss, 1e4 * bounds, tol=0, max_iter=10**9, stop=stop)
    assert solution.stopped_by == "stop"
    assert not solution.converged
    assert solution.n_iter <= n_questions
    certificate(Loss, held.K, 1e4 * bounds, solution)
    with pytest.raises(StopIteration):
        stop()


def test_a_training_stops_within_a_pass(Loss, held, make_problem, certificate):
    """Between blocks: of a thousand samples only some are visited."""
    X, bounds = make_problem(n_samples=1000)
    gram = held(X @ X.T, "gram")
    visited = []

    class Watched(Loss):
        def sweep_block(self, rows, *arguments):
            visited.append(len(rows))
            return super().sweep_block(rows, *arguments)

    solution = gram.solve(Watched, bounds, tol=1e-9, stop=lambda: len(visited) == 2)
    assert (solution.stopped_by, solution.n_iter) == ("stop", 1)
    assert len(visited) == 2
    certificate(Loss, gram.K, bounds, solution)


@pytest.mark.parametrize("n_questions", [0, 1, 4])
def test_the_steps_of_the_paper_are_asked_to_stop(hold_in_short, n_questions, make_problem):
    X, bounds = make_problem()
    held = hold_in_short(X)
    solution = solve_paper(
        held.data, bounds, kind=held.kind, eta=2.5, tol=0, max_iter=10**9, stop=asked_after(n_questions)
    )
    assert solution.stopped_by == "stop"
    assert 0 <= solution.gap <= 1


def test_passes_over_single_samples():
    """Until one changes nothing, or max_iter, or stop; every sample once in each pass."""
    rng, seen = np.random.default_rng(0), []

    def learn(rows, n_updates=1):
        seen.append(rows)
        return n_updates

    assert learn_in_passes(learn, 300, max_iter=2, rng=rng) == (2, "max_iter")
    passes = np.concatenate(seen).reshape(2, 300)
    assert np.all(np.sort(passes, axis=1) == np.arange(300))
    assert not np.array_equal(*passes)
    assert learn_in_passes(lambda rows: 0, 300, max_iter=9, rng=rng) == (1, "no updates")
    seen.clear()
    assert learn_in_passes(learn, 300, max_iter=9, rng=rng, stop=asked_after(4)) == (1, "stop")
    assert len(seen) == 4


@pytest.mark.usefixtures("precision")
def test_interrupt_from_the_callback(Loss, hold_in_short, make_problem, certificate):
    def interrupt(point):
        raise KeyboardInterrupt

    X, bounds = make_problem()
    held = hold_in_short(X)
    solution = held.solve(Loss, 10 * bounds, tol=1e-3, callback=interrupt)
    assert solution.stopped_by == ("interrupt" if solution.gap > 1e-3 else "tol")
    certificate(Loss, held.K, 10 * bounds, solution, rtol=1e-6)


def interrupt_as_compiled_code_does():
    """Each compiled caller wraps the error of its callee."""
    try:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as cause:
            raise SystemError("returned a result with an exception set") from cause
    except SystemError as cause:
        raise SystemError("returned a result with an exception set") from cause


def interrupt_plainly():
    raise KeyboardInterrupt


@pytest.mark.parametrize("interrupt", [interrupt_plainly, interrupt_as_compiled_code_does])
def test_interrupt_inside_a_sweep(Loss, hold_in_short, interrupt, make_problem, certificate):
    class Interrupted(Loss):
        """Its third sweep changes coefficients, and the scores never hear of it."""

        n_calls = 0

        def sweep_block(self, *arguments):
            return self._then_interrupt(super().sweep_block, arguments)

        def sweep_rows(self, *arguments):
            return self._then_interrupt(super().sweep_rows, arguments)

        def _then_interrupt(self, sweep, arguments):
            answer = sweep(*arguments)
            self.n_calls += 1
            if self.n_calls == 3:
                self.coefficients *= 0.9
                interrupt()
            return answer

    X, bounds = make_problem()
    held = hold_in_short(X)
    solution = held.solve(Interrupted, 10 * bounds, tol=1e-9)
    assert (solution.stopped_by, solution.n_iter) == ("interrupt", 2)
    certificate(Loss, held.K, 10 * bounds, solution)


def test_other_errors_are_not_taken_for_an_interrupt(Loss, hold_in_short, make_problem):
    class Broken(Loss):
        def sweep_block(self, *arguments):
            raise SystemError("broken")

        sweep_rows = sweep_block

    X, bounds = make_problem()
    with pytest.raises(SystemError, match="broken"):
        hold_in_short(X).solve(Broken, bounds)


def test_callback_sees_the_trace(Loss, hold_in_short, make_problem):
    X, bounds = make_problem()
    seen = []
    solution = hold_in_short(X).solve(Loss, bounds, tol=1e-6, callback=seen.append)
    assert seen == solution.trace
    assert [point.n_iter for point in seen] == sorted({point.n_iter for point in seen})
    assert [point.seconds for point in seen] == sorted(point.seconds for point in seen)


def test_start_from_the_solution_is_over_at_once(Loss, hold, make_problem):
    X, bounds = make_problem()
    held = hold(X)
    cold = held.solve(Loss, bounds, tol=1e-6)
    warm = held.solve(Loss, bounds, tol=1e-6, start=cold.coefficients)
    assert cold.n_iter > 1
    assert warm.n_iter <= 1
    assert warm.dual >= cold.dual - 1e-9 * abs(cold.dual)


def test_infeasible_start_is_repaired(Loss, hold_in_short, make_problem, certificate):
    X, bounds = make_problem()
    held = hold_in_short(X)
    start = np.random.default_rng(4).normal(scale=10, size=bounds.shape)
    before = start.copy()
    for max_iter in (0, 5000):
        solution = held.solve(Loss, bounds, tol=1e-6, start=start, max_iter=max_iter)
        certificate(Loss, held.K, bounds, solution)
    assert solution.converged
    np.testing.assert_array_equal(start, before)
