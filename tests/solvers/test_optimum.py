"""Every loss on every way to hold the data reaches the optimum, and proves it."""

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from tagrank.losses.hinge import Hinge
from tagrank.losses.ranking import Ranking


@pytest.mark.parametrize("C", [0.1, 1, 10])
@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
def test_optimum_is_that_of_a_convex_solver(Loss, hold, kernel, C, make_problem, find_optimum, certificate):
    X, bounds = make_problem(kernel)
    held = hold(X)
    solution = held.solve(Loss, C * bounds, tol=1e-6)
    value = find_optimum(Loss.__name__, kernel, C)
    assert solution.converged
    assert solution.gap <= 1e-6
    assert solution.primal == pytest.approx(value, rel=1e-5)
    assert solution.dual == pytest.approx(value, rel=1e-5)
    certificate(Loss, held.K, C * bounds, solution)


def test_weights_are_those_of_the_coefficients(Loss, hold, make_problem):
    X, bounds = make_problem()
    held = hold(X)
    solution = held.solve(Loss, bounds, tol=1e-6)
    if held.kind == "gram":
        assert solution.weights is None
    else:
        np.testing.assert_allclose(solution.weights, X.T @ solution.coefficients, atol=1e-12)


def test_hinge_is_one_support_vector_machine_a_label(hold_in_short, make_problem):
    X, bounds = make_problem()
    solution = hold_in_short(X).solve(Hinge, bounds, tol=1e-8, max_iter=100_000)
    value, weights = 0, np.empty((X.shape[1], bounds.shape[1]))
    for label, bound in enumerate(bounds.T):
        known = bound != 0
        machine = LinearSVC(loss="hinge", fit_intercept=False, tol=1e-8, max_iter=10**6, random_state=0)
        machine.fit(X[known], bound[known] > 0, sample_weight=np.abs(bound[known]))
        weights[:, label] = machine.coef_[0]
        slack = np.maximum(1 - np.sign(bound) * (X @ weights[:, label]), 0)
        value += weights[:, label] @ weights[:, label] / 2 + np.abs(bound) @ slack
    assert solution.primal == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(X.T @ solution.coefficients, weights, atol=1e-3)


@pytest.mark.parametrize("C", [0.1, 1, 10])
def test_ranking_one_present_label_is_crammer_and_singer(hold_in_short, C):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 4))
    classes = np.argmax(X + rng.normal(size=X.shape), axis=1)
    bounds = C * np.where(classes[:, None] == np.arange(4), 1.0, -1.0)
    solution = hold_in_short(X).solve(Ranking, bounds, tol=1e-8, max_iter=100_000)

    machine = LinearSVC(
        multi_class="crammer_singer", fit_intercept=False, C=C / 2, tol=1e-9, max_iter=10**6, random_state=0
    ).fit(X, classes)
    scores = machine.decision_function(X)
    own = scores[np.arange(40), classes]
    scores_and_margin = scores + 1.0 * (classes[:, None] != np.arange(4))
    value = (machine.coef_**2).sum() / 2 + C / 2 * (scores_and_margin.max(axis=1) - own).sum()
    assert solution.primal == pytest.approx(4 * value, rel=1e-6)
    ours = X @ X.T @ solution.coefficients
    np.testing.assert_allclose(
        ours - ours.mean(axis=1, keepdims=True),
        2 * (scores - scores.mean(axis=1, keepdims=True)),
        atol=2e-3,
    )


def test_each_pass_raises_the_dual_and_leaves_a_gap_that_is_not_negative(Loss, hold_in_short, make_problem):
    X, bounds = make_problem()
    held = hold_in_short(X)
    duals = [held.solve(Loss, 10 * bounds, tol=1e-9, max_iter=k).dual for k in range(12)]
    assert np.all(np.diff(duals) >= -1e-12 * duals[-1])
    assert duals[-1] > duals[1] > duals[0]


def test_orders_of_samples_and_of_labels_do_not_matter(Loss, hold_in_short, make_problem):
    X, bounds = make_problem()
    rng = np.random.default_rng(5)
    samples, labels = rng.permutation(len(X)), rng.permutation(bounds.shape[1])
    one = hold_in_short(X).solve(Loss, bounds, tol=1e-6)
    other = hold_in_short(X[samples]).solve(Loss, bounds[samples][:, labels], tol=1e-6)
    assert other.primal == pytest.approx(one.primal, rel=2e-6)
    assert other.dual == pytest.approx(one.dual, rel=2e-6)


def test_seeds(Loss, hold_in_short, make_problem):
    X, bounds = make_problem()
    held = hold_in_short(X)
    first, again, other = (held.solve(Loss, bounds, tol=1e-6, random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.coefficients, again.coefficients)
    assert not np.array_equal(first.coefficients, other.coefficients)
    assert first.primal == pytest.approx(other.primal, rel=2e-6)
    generator = held.solve(Loss, bounds, tol=1e-6, random_state=np.random.default_rng(1))
    np.testing.assert_array_equal(first.coefficients, generator.coefficients)


@pytest.mark.usefixtures("precision")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_intercept_is_a_constant_added_to_the_kernel(Loss, dtype, tol, make_problem, held, certificate):
    X, bounds = make_problem()
    K = (X @ X.T).astype(dtype)
    solution = held(K, "gram").solve(Loss, bounds, tol=tol, intercept=0.5)
    shifted = K.astype(np.float64) + 0.5
    whole = held(shifted, "gram").solve(Loss, bounds, tol=1e-6)
    assert solution.converged
    assert solution.primal == pytest.approx(whole.primal, rel=tol + 1e-6)
    certificate(Loss, shifted, bounds, solution, rtol=1e-9 if tol < 1e-5 else 1e-7)


@pytest.mark.parametrize("shape", [(1, 5), (40, 1), (1, 1), (2, 2)])
def test_least_shapes(Loss, hold_in_short, shape, make_problem, certificate):
    X, bounds = (array[-shape[0] :] for array in make_problem())
    bounds = bounds[:, : shape[1]].copy()
    held = hold_in_short(X)
    solution = held.solve(Loss, bounds, tol=1e-6)
    assert solution.converged
    assert solution.coefficients.shape == shape
    certificate(Loss, held.K, bounds, solution)


def test_zero_kernel(Loss, hold, make_problem, certificate):
    X, bounds = make_problem()
    solution = hold(0 * X).solve(Loss, bounds, tol=1e-6)
    assert solution.n_iter == 0
    certificate(Loss, np.zeros((len(X), len(X))), bounds, solution)
    assert solution.gap == pytest.approx(0, abs=1e-12)


@pytest.mark.usefixtures("precision")
def test_kernel_diagonal_that_float32_rounds_to_zero(Loss, hold_in_short, make_problem, certificate):
    X, bounds = (array.copy() for array in make_problem())
    X[10] *= 1e-26
    held = hold_in_short(X)
    solution = held.solve(Loss, bounds, tol=1e-3)
    assert solution.converged
    certificate(Loss, held.K, bounds, solution, rtol=1e-6)


@pytest.mark.usefixtures("precision")
def test_nothing_known(Loss, hold_in_short, make_problem):
    X, bounds = make_problem()
    solution = hold_in_short(X).solve(Loss, 0 * bounds)
    assert (solution.primal, solution.dual, solution.gap) == (0, 0, 0)
    assert solution.converged
    assert not solution.coefficients.any()
