"""JSVM-Per as published, primal (figure 1) and dual (figure 2), equals plain loops over the samples."""

import numpy as np
import pytest

from tagrank.estimators import OnlineJointSVM
from tagrank.estimators.compared_rows import ComparedRows
from tagrank.kernels import Gaussian

PUBLISHED = {"center": False, "average": False, "shuffle": False}
PASSES = 4


@pytest.fixture(scope="module")
def samples():
    """60 samples, 4 labels, some unknown, one sample without any, one row of zeros."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    Y = (X @ rng.normal(size=(5, 4)) > 0.5).astype(float)
    Y[rng.random(Y.shape) < 0.1] = np.nan
    Y[7], X[9] = np.nan, 0
    return X, Y


def unit_vectors(Y):
    V = np.nan_to_num(np.where(Y > 0, 1.0, -1.0) * np.where(np.isnan(Y), 0, 1))
    lengths = np.linalg.norm(V, axis=1, keepdims=True)
    return V / np.where(lengths > 0, lengths, 1)


def unit_gram(K):
    lengths = np.sqrt(np.diagonal(K))
    return K / np.where(lengths > 0, lengths, 1)[:, None] / np.where(lengths > 0, lengths, 1)


def primal_by_figure(X, V, margin, step):
    """Figure 1, with the length of W in its recursion; rows of unit length."""
    W, norm, n_updates = np.zeros((V.shape[1], X.shape[1])), 0.0, 0
    for _ in range(PASSES):
        for x, v in zip(X, V, strict=True):
            beta = v @ W @ x / norm if norm > 0 else 0.0
            if beta < margin and x.any() and v.any():
                norm = np.sqrt(norm**2 + step**2 * (v @ v) * (x @ x) + 2 * step * norm * beta)
                W = W + step * np.outer(v, x)
                n_updates += 1
    return W, n_updates


def dual_by_figure(K, V, margin, step):
    """Figure 2, with the projection that its problem asks for."""
    kappa, alpha, total, n_updates = K * (V @ V.T), np.zeros(len(K)), np.zeros(len(K)), 0
    n_seen = 0
    for _ in range(PASSES):
        before = n_updates
        for i in range(len(K)):
            if kappa[i, i] > 0 and sum(alpha[j] * kappa[i, j] for j in range(len(K))) < margin:
                n_updates += 1
                for j in range(len(K)):
                    alpha[j] = max(0.0, alpha[j] + step * kappa[i, j])
            total += alpha
            n_seen += 1
        if n_updates == before:
            break
    return alpha, total / n_seen, n_updates


@pytest.mark.parametrize("step", [1.0, 0.3])
@pytest.mark.parametrize("margin", [0.05, 0.4])
def test_primal_perceptron(samples, margin, step):
    X, Y = samples
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    unit = X / np.where(lengths > 0, lengths, 1)
    W, n_updates = primal_by_figure(unit, unit_vectors(Y), margin, step)
    model = OnlineJointSVM(margin, max_iter=PASSES, **PUBLISHED).fit(X, Y)
    assert model.n_updates_ == n_updates
    np.testing.assert_allclose(step * model.coef_, W, atol=1e-9)  # a step only scales W
    K = unit @ unit.T
    other = OnlineJointSVM(margin, max_iter=PASSES, kernel="precomputed", **PUBLISHED).fit(K, Y)
    np.testing.assert_allclose(step * other.decision_function(K), unit @ W.T, atol=1e-8)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("step", [1.0, 0.01])
@pytest.mark.parametrize("margin", [0.05, 0.6])
def test_dual_perceptron(samples, margin, step, average):
    X, Y = samples
    V, kernel = unit_vectors(Y), Gaussian().fit(X)
    options = {"margin": margin, "form": "dual", "step": step, "max_iter": PASSES}
    options |= PUBLISHED | {"average": average}
    for form, K in (("linear", X @ X.T), ("rbf", kernel(X))):
        alpha, mean, n_updates = dual_by_figure(unit_gram(K), V, margin, step)
        weights = (mean if average else alpha) / np.where(np.diagonal(K) > 0, np.sqrt(np.diagonal(K)), 1)
        expected = K @ (weights[:, None] * V)
        model = OnlineJointSVM(kernel=form, **options).fit(X, Y)
        assert model.n_updates_ == n_updates
        np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-6)
        given = OnlineJointSVM(kernel="precomputed", **options).fit(K, Y)
        np.testing.assert_allclose(given.decision_function(K), expected, atol=1e-6)


def test_the_dual_form_needs_all_samples(samples):
    X, Y = samples
    model = OnlineJointSVM(form="dual", kernel="rbf")
    with pytest.raises(ValueError, match="form='dual' needs all samples at once: use fit"):
        model.partial_fit(X, Y)
    model.fit(X, Y)
    with pytest.raises(ValueError, match="form='dual' needs all samples at once"):
        model.partial_fit(X, Y)
    compared = OnlineJointSVM(form="dual", kernel="rbf", random_state=0).compare(X)
    assert isinstance(compared, ComparedRows)
    shared = OnlineJointSVM(form="dual", kernel="rbf", random_state=0).fit(compared, Y)
    alone = OnlineJointSVM(form="dual", kernel="rbf", random_state=0).fit(X, Y)
    np.testing.assert_allclose(shared.decision_function(X), alone.decision_function(X), atol=1e-6)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"form": "both"}, "form must be one of 'primal', 'dual'"),
        ({"step": 0}, "step must be"),
        ({"shuffle": "yes"}, "shuffle must be"),
        ({"form": "dual", "margin": 0}, "margin must be above 0 with form='dual'"),
    ],
)
def test_what_is_refused(samples, wrong, words):
    with pytest.raises(ValueError, match=words):
        OnlineJointSVM(**wrong).fit(*samples)
