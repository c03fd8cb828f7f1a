"""The structural SVM by cutting planes reaches the optimum of M3L, and of a convex solver on its own form."""

import itertools

import cvxpy as cp
import numpy as np
import pytest

from tagrank.estimators import PriorMarginClassifier
from tagrank_papers.protocols.structured_svm import train_structured


@pytest.fixture(scope="module")
def problem():
    """30 rows of 4 features, 3 labels, and a prior."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    Y = (X @ rng.normal(size=(4, 3)) + 0.5 * rng.normal(size=(30, 3)) > 0.3).astype(float)
    A = rng.normal(size=(3, 3))
    return X, Y, A @ A.T + 0.5 * np.eye(3)


def all_constraints(X, Y, C, R):
    """The optimum with a constraint for each sample and each of the 8 label vectors."""
    signs, Z, slack = 2 * Y - 1, cp.Variable((X.shape[1], 3)), cp.Variable(len(X), nonneg=True)
    root = np.linalg.cholesky(np.linalg.inv(R))
    constraints = []
    for y in itertools.product([-1.0, 1.0], repeat=3):
        y = np.array(y)
        loss = (1 - signs * y).sum(axis=1)
        constraints.append(cp.sum(cp.multiply(signs - y, X @ Z), axis=1) >= loss - slack)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(Z @ root) / 2 + C * cp.sum(slack)), constraints)
    return problem.solve(solver="CLARABEL")


@pytest.mark.parametrize("C", [0.01, 0.1, 1.0])
def test_optimum_is_that_of_all_constraints(problem, C):
    X, Y, R = problem
    found = train_structured(lambda B: X @ (X.T @ B), Y, C, prior=R, tol=1e-4)
    value = all_constraints(X, Y, C, R)
    assert found.gap <= 1e-4
    assert found.dual <= value * (1 + 1e-6)
    assert value <= found.primal * (1 + 1e-6)
    assert found.primal == pytest.approx(value, rel=1e-4)
    scores = X @ (X.T @ found.coefficients) @ R
    reg = np.vdot(found.coefficients, scores) / 2
    loss = 2 * C * np.maximum(0, 1 - (2 * Y - 1) * scores).sum()
    assert reg + loss == pytest.approx(found.primal, rel=1e-6)


def test_same_problem_as_ours(problem):
    X, Y, R = problem
    K = X @ X.T
    ours = PriorMarginClassifier(0.3, prior=R, kernel="precomputed", tol=1e-5, random_state=0).fit(K, Y)
    found = train_structured(lambda B: K @ B, Y, 0.3, prior=R, tol=1e-4)
    assert found.primal == pytest.approx(ours.primal_objective_, rel=2e-4)
    np.testing.assert_allclose(K @ found.coefficients @ R, ours.decision_function(K), atol=0.1)


def test_it_ends_when_it_is_told_to(problem):
    X, Y, _ = problem
    few = train_structured(lambda B: X @ (X.T @ B), Y, 1.0, tol=1e-9, max_planes=3)
    assert few.n_planes == 3
    assert few.gap > 1e-9
    none = train_structured(lambda B: X @ (X.T @ B), Y, 1.0, tol=1e-9, stop=lambda: True)
    assert (none.n_planes, none.dual) == (0, 0.0)
