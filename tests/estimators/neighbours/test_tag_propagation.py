"""The likelihood of TagPropagation: gradient, ascent, curves, several views."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logit
from sklearn.linear_model import LogisticRegression

from tagrank.estimators import TagPropagation
from tagrank.estimators.neighbours.propagation import Propagation
from tagrank.estimators.neighbours.tag_propagation import _targets
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
    return TagPropagation(kernel=kernel, n_neighbors=15, neighborhood="mean").fit(*problem)


def posed(model, X):
    indices, distances = model._nearest(model._check_rows(X, reset=False), leave_one_out=True)
    return Propagation(indices, distances, *model._values(), *_targets(model.states_))


def posed_as(model, X, **changes):
    return replace(posed(model, X), **changes)


@pytest.mark.parametrize("has_curves", [True, False])
@pytest.mark.parametrize("smoothed", [True, False])
def test_gradient(problem, model, has_curves, smoothed):
    targets, costs = _targets(model.states_, smoothed=smoothed)
    posed_problem = posed_as(model, problem[0], has_curves=has_curves, targets=targets, costs=costs)
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


def complete(Y):
    return np.where(np.isnan(Y), 0.0, Y)


class Published:
    """The likelihood of the paper, label by label, without matrices of neighbours: for complete labels."""

    def __init__(self, D, Y, neighbours):
        self.D, self.Y, self.neighbours = D, Y, neighbours
        self.costs = np.where(Y > 0, 1 / Y.sum(), 1 / (1 - Y).sum())

    def shares(self, w):
        pi = np.array([np.exp(-self.D[i, near] @ w) for i, near in enumerate(self.neighbours)])
        return pi / pi.sum(axis=1, keepdims=True)

    def votes(self, w):
        V = np.where(self.Y > 0, 1 - 1e-5, 1e-5)
        return np.array([pi @ V[near] for pi, near in zip(self.shares(w), self.neighbours, strict=True)])

    def likelihood(self, p):
        return np.sum(self.costs * np.log(np.where(self.Y > 0, p, 1 - p)))

    def gradient(self, w):
        """sum_i C_i sum_j (pi_ij - rho_ij) d_ij, rho_ij the posterior of neighbour j over the labels of i."""
        pi, V, total = self.shares(w), np.where(self.Y > 0, 1 - 1e-5, 1e-5), 0.0
        for i, near in enumerate(self.neighbours):
            given = np.where(self.Y[i] > 0, V[near], 1 - V[near])  # p(y_il | j)
            joint = pi[i][:, None] * given
            rho = joint / joint.sum(axis=0) @ self.costs[i]  # times C_i
            total = total + (self.costs[i].sum() * pi[i] - rho) @ self.D[i, near]
        return total

    def ascend(self, w, value, gradient, n_steps):
        """Projected gradient ascent; steps are halved until the likelihood rises, then grow again."""
        step, best = 10.0, value(w)
        for _ in range(n_steps):
            slope = gradient(w)
            while step > 1e-12:
                new = np.maximum(0, w + step * slope)
                if (rises := value(new)) >= best:
                    w, best, step = new, rises, 2 * step
                    break
                step /= 2
        return w, best


@pytest.fixture(scope="module")
def whole(problem):
    """The views with complete labels, and scaled distances between them."""
    X, Y = problem
    D = np.stack([np.sqrt(((A[:, None] - A[None]) ** 2).sum(axis=2)) for A in X.values()], axis=2)
    return X, complete(Y), D / (D.sum(axis=(0, 1)) / (50 * 49))


def by_mean(D, k):
    mean = D.mean(axis=2) + np.diag(np.full(len(D), np.inf))
    return np.argsort(mean, axis=1)[:, :k]


def by_turns(D, k):
    """The nearest by each distance in turn, until there are k."""
    found = []
    for i in range(len(D)):
        orders = [[j for j in np.argsort(D[i, :, t]) if j != i] for t in range(D.shape[2])]
        taken = dict.fromkeys(j for place in zip(*orders, strict=True) for j in place)
        found.append(list(taken)[:k])
    return np.array(found)


KERNEL = Gaussian().on("good") + Gaussian().on("noise")
NEIGHBOURHOODS = {"mean": by_mean, "turns": by_turns}


@pytest.mark.parametrize("neighborhood", NEIGHBOURHOODS)
def test_neighbours_of_training_samples_and_of_others(whole, neighborhood):
    X, Y, D = whole
    model = TagPropagation(kernel=KERNEL, n_neighbors=15, neighborhood=neighborhood).fit(X, Y)
    indices, distances = model._nearest(model._check_rows(X, reset=False), leave_one_out=True)
    expected = NEIGHBOURHOODS[neighborhood](D, 15)
    np.testing.assert_array_equal(np.sort(indices), np.sort(expected))
    np.testing.assert_allclose(distances, D[np.arange(50)[:, None], indices])
    # as a new sample, each is its own nearest neighbour by every distance
    others, _ = model._nearest(model._check_rows(X, reset=False))
    assert np.all(others[:, 0] == np.arange(50))
    assert all(len(set(row)) == 15 for row in others.tolist())


@pytest.mark.parametrize("neighborhood", NEIGHBOURHOODS)
@pytest.mark.parametrize("variant", ["ML", "SD"])
def test_shares_of_neighbours_reach_what_projected_gradients_of_the_paper_reach(whole, variant, neighborhood):
    X, Y, D = whole
    parts = {"kernel": KERNEL, "n_neighbors": 15, "neighborhood": neighborhood}
    model = TagPropagation(variant=variant, targets="labels", **parts).fit(X, Y)
    distances = D if variant == "ML" else D.mean(axis=2, keepdims=True)
    published = Published(distances, Y, NEIGHBOURHOODS[neighborhood](D, 15))
    start = np.full(2, 5.0) if variant == "ML" else np.full(1, 10.0)
    ahead, behind = (published.likelihood(published.votes(start + s)) for s in (1e-6, -1e-6))
    assert published.gradient(start).sum() == pytest.approx((ahead - behind) / 2e-6, rel=1e-4)
    w, best = published.ascend(
        start, lambda w: published.likelihood(published.votes(w)), published.gradient, 300
    )
    assert model.log_likelihoods_[-1] == pytest.approx(best, abs=1e-5)
    expected = w if variant == "ML" else np.full(2, w[0] / 2)
    np.testing.assert_allclose(model.weights_, expected, atol=0.05)
    # probabilities are the shares themselves
    x = model.predict_proba({name: rows + 1e-9 for name, rows in X.items()})
    assert np.all((x > 0) & (x < 1))
    np.testing.assert_allclose(model.decision_function(X), logit(model.predict_proba(X)), rtol=1e-6)
    assert model.slopes_ is None


@pytest.mark.parametrize("variant", ["sigma-ML", "sigma-SD"])
def test_curves_reach_what_turns_of_the_paper_reach(whole, variant):
    X, Y, D = whole
    model = TagPropagation(
        kernel=KERNEL, n_neighbors=15, variant=variant, targets="labels", neighborhood="mean"
    ).fit(X, Y)
    distances = D if variant == "sigma-ML" else D.mean(axis=2, keepdims=True)
    published = Published(distances, Y, by_mean(D, 15))
    w = np.full(2, 5.0) if variant == "sigma-ML" else np.full(1, 10.0)
    for _ in range(30):
        x = published.votes(w)
        curves = [
            LogisticRegression(C=np.inf, tol=1e-10, max_iter=5000).fit(
                x[:, [label]], Y[:, label], sample_weight=1e3 * published.costs[:, label]
            )
            for label in range(4)
        ]
        a, b = (
            np.array([getattr(curve, name).item() for curve in curves]) for name in ("coef_", "intercept_")
        )

        def value(w, a=a, b=b):
            return published.likelihood(1 / (1 + np.exp(-(a * published.votes(w) + b))))

        def slope(w, value=value):
            steps = 1e-6 * np.eye(len(w))
            return np.array([(value(w + s) - value(np.maximum(0, w - s))) / 2e-6 for s in steps])

        w, best = published.ascend(w, value, slope, 5)
    assert model.log_likelihoods_[-1] >= best - 1e-5
    assert model.log_likelihoods_[-1] == pytest.approx(best, abs=2e-3)
    if variant == "sigma-SD":
        assert model.weights_[0] == pytest.approx(model.weights_[1])


def test_refused_words(problem):
    for name in ("variant", "targets", "neighborhood"):
        with pytest.raises(ValueError, match=f"{name} must be one of"):
            TagPropagation(**{name: "other"}).fit(*problem)
