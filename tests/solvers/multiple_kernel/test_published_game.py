"""ML-MKL-SA as published equals plain loops, and its certificate is that of the optimum."""

import numpy as np
import pytest

from tagrank.solvers.multiple_kernel import solve_worst

STEPS = 40


def plain_svm(K, bounds):
    """Signed coefficients of an SVM without bias: one coordinate after the other until nothing moves."""
    signs, a = np.sign(bounds), np.zeros(len(bounds))
    for _ in range(5000):
        largest = 0.0
        for i in range(len(a)):
            new = np.clip(a[i] + (1 - signs[i] * (K[i] @ (signs * a))) / K[i, i], 0, abs(bounds[i]))
            largest, a[i] = max(largest, abs(new - a[i])), new
        if largest < 1e-11:
            break
    return signs * a


def plain_game(matrices, bounds, draws, eta, eta_labels, delta):
    """The weights before each step, and the mean of the shares of labels: as printed, with its errata."""
    n_kernels, n_labels = len(matrices), bounds.shape[1]
    beta, gamma, path, shares = np.ones(n_kernels) / n_kernels, np.ones(n_labels) / n_labels, [], []
    for _ in range(STEPS):
        path.append(beta)
        shares.append(gamma)
        smoothed = (1 - delta) * gamma + delta / n_labels
        k = draws.choice(n_labels, p=smoothed)
        t = plain_svm(sum(b * K for b, K in zip(beta, matrices, strict=True)), bounds[:, k])
        v = np.array([t @ K @ t for K in matrices])
        slope_of_beta = -gamma[k] / smoothed[k] * v / 2
        slope_of_gamma = np.zeros(n_labels)
        slope_of_gamma[k] = (np.abs(t).sum() - beta @ v / 2) / smoothed[k]
        beta, gamma = beta * np.exp(-eta * slope_of_beta), gamma * np.exp(eta_labels * slope_of_gamma)
        beta, gamma = beta / beta.sum(), gamma / gamma.sum()
    return np.array(path), np.mean(shares, axis=0)


@pytest.mark.parametrize(
    ("eta", "eta_labels", "delta"), [(0.1, 0.02, 0.2), (0.02, None, 1.0), (0.3, 0.1, 0.5)]
)
def test_equals_plain_loops(eta, eta_labels, delta, make_case, find_worst_optimum):
    case = make_case(n_labels=4, seed=1)
    solution = solve_worst(
        case.stack, case.bounds.copy(), solver="paper", eta=eta, eta_labels=eta_labels, delta=delta,
        tol=1e-12, max_iter=STEPS, random_state=7,
    )  # fmt: skip
    draws = np.random.default_rng(7).spawn(1)[0]
    path, shares = plain_game(case.stack.matrices, case.bounds, draws, eta, eta_labels or eta, delta)
    np.testing.assert_allclose(solution.path[:-1], path, atol=2e-5)
    np.testing.assert_allclose(solution.path[-1], path.mean(axis=0), atol=2e-5)
    np.testing.assert_allclose(solution.kernel_weights, solution.path[-1])
    assert (solution.n_iter, len(solution.trace), solution.stopped_by) == (STEPS, 1, "max_iter")

    optimum = find_worst_optimum(n_labels=4, seed=1).value
    assert solution.dual <= optimum * (1 + 1e-7)
    assert optimum <= solution.primal * (1 + 1e-7)
    K = case.stack.combined(path.mean(axis=0))
    alone = [plain_svm(K, case.bounds[:, k]) for k in range(4)]
    values = [np.abs(t).sum() - t @ K @ t / 2 for t in alone]
    assert solution.primal == pytest.approx(max(values), rel=1e-4)
    quadratics = np.array([[t @ one @ t for one in case.stack.matrices] for t in alone])
    bound = shares @ np.abs(alone).sum(axis=1) - (shares @ quadratics).max() / 2
    assert solution.dual >= bound - 1e-3 * abs(bound)


def test_more_steps_come_nearer(make_case):
    case = make_case(n_labels=4, seed=1)
    few, many = (
        solve_worst(case.stack, case.bounds.copy(), solver="paper", eta=0.05, tol=1e-9, max_iter=steps)
        for steps in (5, 500)
    )
    assert many.gap < 0.7 * few.gap


def test_endings(make_case):
    case = make_case(n_labels=4, seed=1)
    over = solve_worst(case.stack, case.bounds.copy(), solver="paper", tol=0.0, max_seconds=0.0)
    assert (over.stopped_by, over.n_iter) == ("max_seconds", 0)
    calls = []

    def interrupt(point):
        calls.append(point)
        if len(calls) == 3:
            raise KeyboardInterrupt

    solution = solve_worst(case.stack, case.bounds.copy(), solver="paper", tol=1e-9, callback=interrupt)
    assert (solution.stopped_by, solution.n_iter) == ("interrupt", 3)
    assert all(np.isinf(point.gap) for point in calls)
    assert np.isfinite([solution.primal, solution.dual]).all()
    assert solve_worst(case.stack, 0 * case.bounds, solver="paper", max_iter=3).stopped_by == "tol"
