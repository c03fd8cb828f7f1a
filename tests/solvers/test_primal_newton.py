"""The primal engine against a general convex solver, and its parts against each other."""

import threading

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

from tagrank.losses import softened
from tagrank.losses.softened import HINGE, LOGISTIC
from tagrank.resources import count_threads, limited_threads
from tagrank.solvers import primal_newton, primal_rows
from tagrank.solvers.primal_newton import solve_rows
from tagrank.solvers.primal_rows import cut_rows
from tests.solvers.conftest import random_problem

OFFSETS = {"logistic": LOGISTIC, "hinge": HINGE}
FORMS = {"dense": np.ascontiguousarray, "single": np.float32, "sparse": sparse.csr_array}


@pytest.fixture(params=OFFSETS)
def offset(request):
    return OFFSETS[request.param]


def draw(n_samples=300, n_features=6, n_labels=7, seed=0):
    """Rows of very different columns, noisy labels of which some are unknown, costs of each entry."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features)) * 10.0 ** np.linspace(-1, 1, n_features)
    X[:, 1] += X[:, 0]
    labels = np.sign(X @ rng.normal(size=(n_features, n_labels)) + 3 * rng.normal(size=(n_samples, n_labels)))
    labels[rng.random(labels.shape) < 0.2] = 0
    return X, labels * rng.uniform(0.5, 2, labels.shape)


def objective(w, X, bounds, offset, cost):
    """Of one label, for w with the weight of the constant feature last."""
    misses = offset - np.sign(bounds) * (X @ w[:-1] + w[-1])
    loss = np.maximum(misses, 0) if offset == HINGE else np.logaddexp(0, misses)
    return w @ w / 2 + cost * np.abs(bounds) @ loss


def optimum(X, bounds, offset, cost):
    """The smallest objective of all labels together, by a general solver."""
    if offset == HINGE:
        cp = pytest.importorskip("cvxpy")
        W, ones = cp.Variable((X.shape[1] + 1, bounds.shape[1])), np.ones((len(X), 1))
        misses = 1 - cp.multiply(np.sign(bounds), np.hstack([X, ones]) @ W)
        problem = cp.sum_squares(W) / 2 + cost * cp.sum(cp.multiply(np.abs(bounds), cp.pos(misses)))
        return cp.Problem(cp.Minimize(problem)).solve(solver=cp.CLARABEL)
    starts = np.zeros(X.shape[1] + 1)
    options = {"maxiter": 10_000, "maxfun": 100_000, "ftol": 1e-14, "gtol": 1e-10}
    return sum(
        minimize(objective, starts, (X, column, offset, cost), "L-BFGS-B", options=options).fun
        for column in bounds.T
    )


def solve(X, bounds, offset, cost, **options):
    settings = {"has_constant": True, "tol": 1e-3} | options
    return solve_rows(X, bounds, offset=offset, cost=cost, **settings)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("cost", [0.01, 1.0, 30.0])
def test_the_objective_is_that_of_a_general_solver(offset, cost, form):
    X, bounds = draw()
    solution = solve(FORMS[form](X), bounds, offset, cost)
    best = optimum(X, bounds, offset, cost)
    assert solution.stopped_by == "tol"
    assert 0 <= solution.gap <= 1e-3
    assert solution.dual <= best * (1 + 1e-6)
    assert best * (1 - 1e-6) <= solution.primal <= best * (1 + 1.1e-3)
    at_weights = sum(
        objective(w, X, column, offset, cost) for w, column in zip(solution.weights.T, bounds.T, strict=True)
    )
    assert solution.primal == pytest.approx(at_weights, rel=1e-5)


def test_it_certifies_what_the_dual_engine_certifies(offset):
    problem = random_problem(n_samples=200)
    from tagrank.solvers.dual_ascent import solve_dual

    loss = "hinge" if offset == HINGE else "logistic"
    ones = np.hstack([problem.X, np.ones((len(problem.X), 1))])
    other = solve_dual(ones, loss, problem.bounds.copy(), kind="rows", tol=1e-4)
    solution = solve(problem.X, problem.bounds, offset, 1.0, tol=1e-4)
    assert solution.dual <= other.primal * (1 + 1e-9)
    assert other.dual <= solution.primal * (1 + 1e-9)


def test_coefficients_are_a_feasible_dual_point(offset):
    X, bounds = draw()
    solution = solve(X, bounds, offset, 2.0)
    A = solution.coefficients.astype(np.float64)
    shares = np.divide(A, 2 * bounds, out=np.zeros(A.shape), where=bounds != 0)
    assert np.all((shares >= 0) & (shares <= 1 + 1e-6))
    assert not A[bounds == 0].any()
    norm = np.sum((A.T @ X) ** 2) + np.sum(A.sum(axis=0) ** 2)
    u = np.clip(shares, 1e-300, 1 - 1e-16)
    gain = u if offset == HINGE else -u * np.log(u) - (1 - u) * np.log1p(-u)
    assert solution.dual == pytest.approx(2 * np.sum(np.abs(bounds) * gain) - norm / 2, rel=1e-4)


def test_parts_matrices_and_preconditioners_change_nothing(offset, monkeypatch):
    X, bounds = draw()
    whole = solve(X, bounds, offset, 10.0, tol=1e-5)
    for module, name, value in (
        (primal_rows, "rows_within", lambda *_, **__: 17),
        (primal_newton, "LONG", 1),
        (primal_newton, "MOST_COLUMNS", 2),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, value)
            other = solve(X, bounds, offset, 10.0, tol=1e-5)
        assert other.stopped_by == "tol"
        assert other.primal == pytest.approx(whole.primal, rel=2e-5)


def test_rows_of_a_file_are_read_where_they_are(offset, tmp_path):
    X, bounds = draw()
    np.save(tmp_path / "rows.npy", X.astype(np.float32))
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    solution = solve(mapped, bounds, offset, 1.0)
    assert solution.primal == pytest.approx(solve(np.float32(X), bounds, offset, 1.0).primal, rel=1e-6)


def test_a_start_saves_steps(offset):
    X, bounds = draw()
    cold = solve(X, bounds, offset, 1.0)
    warm = solve(X, bounds, offset, 1.0, start=cold.coefficients)
    assert warm.gap <= 1e-3
    assert warm.n_iter < cold.n_iter


def test_it_ends_when_asked_with_a_certificate(offset):
    X, bounds = draw()
    asked = []
    stopped = solve(X, bounds, offset, 1.0, tol=1e-9, stop=lambda: len(asked) > 2 or asked.append(1))
    assert stopped.stopped_by == "stop"
    assert stopped.dual <= optimum(X, bounds, offset, 1.0) <= stopped.primal * (1 + 1e-9)
    short = solve(X, bounds, offset, 1.0, tol=1e-9, max_iter=2)
    assert (short.stopped_by, short.n_iter) == ("max_iter", 2)


def test_labels_without_known_samples_stay_zero(offset):
    X, bounds = draw()
    bounds[:, 2] = 0
    solution = solve(X, bounds, offset, 1.0)
    assert not solution.weights[:, 2].any()
    assert solution.stopped_by == "tol"


def test_columns_of_a_million_and_a_millionth_stand_beside_each_other(offset):
    X, bounds = draw()
    X[:, 2], X[:, 3] = 1e6 * X[:, 2], 1e-6 * X[:, 3]
    solution = solve(X, bounds, offset, 1.0)
    assert solution.stopped_by == "tol"
    # what is so small cannot be used, and what is so large costs nothing to use
    best = optimum(np.delete(X, 3, axis=1) / [1, 1, 1e3, 1, 1], bounds, offset, 1.0)
    assert solution.primal == pytest.approx(best, rel=5e-3)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("temperature", [1.0, 0.1, 1e-3])
def test_slopes_and_curvatures_are_differences_of_the_loss(offset, kind, temperature):
    rng = np.random.default_rng(0)
    bounds = rng.choice([-2.0, 0.0, 1.0], (3, 50))
    scores = (offset + temperature * rng.normal(size=(3, 50)) * 2) * np.where(bounds < 0, -1, 1)
    step, of = 1e-4 * temperature, (bounds, 1.5)
    told = np.full(3, temperature, kind)

    def slope_at(scores):
        return softened.measure(*of, scores.astype(np.float64), offset, np.full(3, temperature))[0]

    slopes, curvatures, sums = softened.measure(*of, scores.astype(kind), offset, told)
    one = np.ones_like(scores)
    zeros = np.zeros(3)
    for label in range(3):
        for i in range(5):
            e = np.zeros_like(scores)
            e[label, i] = step
            above, below = (
                softened.losses(*of, scores + sign * e, one, zeros, offset, np.full(3, temperature))
                for sign in (1, -1)
            )
            assert -slopes[label, i] == pytest.approx((above - below)[label] / (2 * step), abs=2e-3)
            bend = (slope_at(scores + e) - slope_at(scores - e))[label, i] / (2 * step)
            assert curvatures[label, i] == pytest.approx(-bend, rel=2e-3, abs=1e-4 / temperature)
    direct = softened.losses(*of, scores.astype(kind), one.astype(kind), zeros.astype(kind), offset, told)
    assert sums[0] == pytest.approx(direct, rel=1e-5)
    assert sums[3] == pytest.approx(curvatures.sum(axis=1), rel=1e-5)


def test_formulas_for_other_arrays_are_those_of_numpy(offset):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    X, bounds = draw()
    here = solve(np.float32(X), bounds, offset, 1.0)
    there = solve(torch.asarray(np.float32(X)), bounds, offset, 1.0)
    assert there.primal == pytest.approx(here.primal, rel=1e-3)
    assert there.stopped_by == "tol"


def test_sums_of_parts_are_those_of_the_whole(offset):
    X, bounds = draw()
    parts = cut_rows(X, bounds, offset=offset, cost=1.0, has_constant=True)
    A = np.random.default_rng(1).normal(size=bounds.shape)
    ones = np.hstack([X, np.ones((len(X), 1))])
    np.testing.assert_allclose(parts.gather(A), A.T @ ones)


def test_threads_share_the_rows_and_change_nothing(offset, monkeypatch):
    monkeypatch.setattr(primal_rows, "FEWEST_ROWS", 64)
    X, bounds = draw(700, 9)
    answers, used = [], set()
    plain = primal_rows.RowPart.scores

    def scores(part, W):
        used.add(threading.current_thread())
        return plain(part, W)

    monkeypatch.setattr(primal_rows.RowPart, "scores", scores)
    for n_threads in (1, 2):
        used.clear()
        with limited_threads(n_threads):
            answers.append(solve(X, bounds, offset, 1.0, tol=1e-3))
        assert len(used) == min(n_threads, count_threads())
    np.testing.assert_array_equal(answers[0].weights, answers[1].weights)


def test_an_error_in_a_thread_ends_the_work():
    done = []

    def work(number):
        if number == 3:
            raise ValueError("three")
        done.append(number)
        return 2 * number

    with limited_threads(2):
        with pytest.raises(ValueError, match="three"):
            primal_rows.share_calls(work, range(10_000))
        assert len(done) < 10_000 or count_threads() == 1
        assert primal_rows.share_calls(lambda number: 2 * number, range(5)) == [0, 2, 4, 6, 8]
