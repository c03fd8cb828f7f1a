"""MarginEmbedding: rounds that never raise the objective, and what they mean."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from tagrank.estimators import MarginEmbedding
from tagrank.estimators.shared_spaces import margin_embedding


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5))
    Y = (X @ rng.normal(size=(5, 2)) @ rng.normal(size=(2, 4)) > 0.3).astype(float)
    X.flags.writeable = Y.flags.writeable = False
    return X, Y


@pytest.fixture
def exact(monkeypatch):
    monkeypatch.setattr(margin_embedding, "GAP", 1e-6)
    monkeypatch.setattr(margin_embedding, "ENOUGH", 1e-9)


def objective(model, X, Y, cost):
    """With the root of the inner products of the functions in the place of both norms."""
    W = np.column_stack([model.coef_, model.intercept_])
    signs = 2 * Y - 1
    losses = np.maximum(0, 1 - signs * model.decision_function(X))
    return np.linalg.svd(W, compute_uv=False).sum() + 2 * cost * losses.sum()


def test_no_round_raises_the_objective(problem, exact):
    found = [
        MarginEmbedding(n_components=4, max_rounds=rounds, kernel="linear", random_state=0)
        .fit(*problem)
        .objective_
        for rounds in range(1, 6)
    ]
    assert np.all(np.diff(found) < 1e-6 * found[0])
    assert found[-1] < found[0]


def test_many_rounds_reach_the_optimum_of_the_convex_problem(problem, exact):
    cvxpy = pytest.importorskip("cvxpy")
    X, Y = problem
    signs = 2 * Y - 1
    W = cvxpy.Variable((6, 4))
    rows = np.column_stack([X, np.ones(len(X))])
    losses = cvxpy.sum(cvxpy.pos(1 - cvxpy.multiply(signs, rows @ W)))
    optimum = cvxpy.Problem(cvxpy.Minimize(cvxpy.normNuc(W) + 2 * 0.5 * losses)).solve()
    model = MarginEmbedding(n_components=4, cost=0.5, max_rounds=60, kernel="linear", random_state=0).fit(
        X, Y
    )
    assert objective(model, X, Y, 0.5) == pytest.approx(optimum, rel=2e-3)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_few_components_hold_the_functions(problem, kernel):
    X, Y = problem
    model = MarginEmbedding(n_components=2, kernel=kernel, random_state=0).fit(X, Y)
    assert model.label_places_.shape == (4, 2)
    scores = model.decision_function(X)
    assert np.linalg.svd(scores, compute_uv=False)[2] < 1e-3 * np.linalg.norm(scores)
    assert model.score(X, Y) > 0.9


def test_similarities_and_rows_give_one_model(problem):
    X, Y = problem
    by_rows = MarginEmbedding(n_components=2, kernel="linear", random_state=0).fit(X, Y)
    by_gram = MarginEmbedding(n_components=2, kernel="precomputed", random_state=0).fit(X @ X.T, Y)
    assert by_gram.objective_ == pytest.approx(by_rows.objective_, rel=0.03)


def test_rounds_end_when_asked(problem):
    with pytest.warns(ConvergenceWarning, match="asked to stop"):
        model = MarginEmbedding(random_state=0).fit(*problem, stop=lambda: True)
    assert model.n_rounds_ == 1


@pytest.mark.parametrize("parameters", [{"cost": 0}, {"n_components": 0}, {"max_rounds": 0}])
def test_wrong_parameters_are_named(problem, parameters):
    with pytest.raises(ValueError, match=f"{next(iter(parameters))} must be"):
        MarginEmbedding(**parameters).fit(*problem)
