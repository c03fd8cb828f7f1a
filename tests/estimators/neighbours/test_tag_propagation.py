"""The likelihood of TagPropagation: gradient, ascent, curves, several views."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from tagrank.estimators import TagPropagation
from tagrank.estimators.neighbours.tag_propagation import Propagation, _targets
from tagrank.kernels import Gaussian


@pytest.fixture(scope="module")
def problem():
    """50 samples, 4 labels, a tenth unknown; the second view is noise."""
    rng = np.random.default_rng(0)
    X = {"good": rng.normal(size=(50, 4)), "noise": rng.normal(size=(50, 4))}
    Y = (X["good"] + 0.3 * rng.normal(size=(50, 4)) > 0.3).astype(float)
    Y[rng.random(Y.shape) < 0.1] = np.nan
    Y.flags.writeable = False
    return X, Y


@pytest.fixture(scope="module")
def model(problem):
    kernel = Gaussian().on("good") + Gaussian().on("noise")
    return TagPropagation(kernel=kernel, n_neighbors=15).fit(*problem)


def posed(model, X):
    indices, distances = model._nearest(model._check_rows(X, reset=False), leave_one_out=True)
    return Propagation(indices, distances, *model._values(), *_targets(model.states_))


def test_gradient(problem, model):
    posed_problem = posed(model, problem[0])
    rng = np.random.default_rng(1)
    for _ in range(3):
        w, a, b = rng.uniform(0, 5, 2), rng.uniform(0, 5, 4), rng.normal(size=4)
        _, gradient = posed_problem.loss_and_gradient(w, a, b)
        for t in range(2):
            step = 1e-6 * np.eye(2)[t]
            ahead, behind = (posed_problem.loss_and_gradient(w + s, a, b)[0] for s in (step, -step))
            assert gradient[t] == pytest.approx((ahead - behind) / 2e-6, rel=1e-5)


def test_loss_is_that_of_the_definition(problem, model):
    p = posed(model, problem[0])
    w, a, b = np.array([2.0, 1.0]), np.array([1.0, 2, 3, 4]), np.array([-1.0, 0, 1, 0])
    total, V = 0.0, p.values.toarray() + p.base
    for i in range(50):
        pi = np.exp(-p.distances[i] @ w)
        x = pi @ V[p.indices[i]] / pi.sum()
        chance = 1 / (1 + np.exp(-(a * x + b)))
        total -= p.costs[i] @ (p.targets[i] * np.log(chance) + (1 - p.targets[i]) * np.log(1 - chance))
    assert p.loss_and_gradient(w, a, b)[0] == pytest.approx(total)


def test_the_likelihood_rises_to_what_a_general_solver_finds(problem, model):
    p = posed(model, problem[0])
    assert np.all(np.diff(model.log_likelihoods_) >= 0)

    def loss(parameters):
        return p.loss_and_gradient(parameters[:2], parameters[2:6], parameters[6:])[0]

    bounds = [(0, None)] * 6 + [(None, None)] * 4
    starts = [np.concatenate([w, np.ones(4), np.zeros(4)]) for w in ([1.0, 1], [10, 0])]
    best = min(minimize(loss, start, bounds=bounds, method="L-BFGS-B").fun for start in starts)
    assert -model.log_likelihoods_[-1] <= best + 1e-4
    assert model.weights_[0] > 3 * model.weights_[1]


def test_curves_are_logistic_regressions(problem, model):
    p = posed(model, problem[0])
    x = p.propagate(np.array([5.0, 0.0]))[1]
    slopes, intercepts = p.fit_curves(x, np.ones(4), np.zeros(4))
    for label in range(4):
        twice, c, t = np.tile(x[:, [label]], (2, 1)), p.costs[:, label], p.targets[:, label]
        peer = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(
            twice, np.repeat([1, 0], 50), sample_weight=np.concatenate([c * t, c * (1 - t)]) * 1e3
        )
        assert slopes[label] == pytest.approx(peer.coef_[0, 0], rel=1e-3)
        assert intercepts[label] == pytest.approx(peer.intercept_[0], rel=1e-3, abs=1e-3)


def test_curves_that_would_fall_are_flat(problem, model):
    p = posed(model, problem[0])
    slopes, _ = p.fit_curves(-p.propagate(np.array([5.0, 0.0]))[1], np.ones(4), np.zeros(4))
    assert not slopes.any()


def test_all_other_samples_as_neighbours_leak_nothing(problem):
    X, Y = problem
    model = TagPropagation().fit(X["good"], Y)
    assert model.weights_[0] > 0.1
    assert np.all(model.slopes_ >= 0)


def test_it_ends_when_told(problem):
    model = TagPropagation().fit(problem[0]["good"], problem[1], stop=lambda: True)
    assert len(model.log_likelihoods_) == 1
    assert np.isfinite(model.decision_function(problem[0]["good"])).all()


def test_probabilities_are_those_of_the_labels_not_of_their_costs():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 2))
    Y = (rng.random((300, 3)) < 0.1).astype(float)
    shares = TagPropagation(n_neighbors=50).fit(X, Y).predict_proba(rng.normal(size=(100, 2))).mean(axis=0)
    np.testing.assert_allclose(shares, Y.mean(axis=0), atol=0.05)
