"""JointSVM: its optimum, its outputs, its decoding, its bad input."""

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from tagrank.estimators import JointSVM
from tagrank.estimators.joint import joint_svm
from tagrank.estimators.joint.label_vectors import choose_labels
from tagrank.estimators.joint.output_kernels import LinearOutputs, OddsRatioOutputs

EXACT = {"tol": 1e-7, "max_iter": 20_000, "random_state": 0}
SIMILARITY = np.array([[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 1, -0.5], [0, 0, -0.5, 1.0]])


def cosine_cubed(V, Z):
    return ((V @ Z.T) / 3) ** 3 + V @ Z.T


OUTPUTS = {
    "linear": "linear",
    "odds-ratio": "odds-ratio",
    "poly2": "poly2",
    "poly3": "poly3",
    "matrix": SIMILARITY,
    "function": cosine_cubed,
}
every_output = pytest.mark.parametrize("output", OUTPUTS)


@pytest.fixture(scope="module")
def problem():
    """50 samples, 4 noisy labels, some unknown; a row of each degenerate kind."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4))
    Y = (X @ rng.normal(size=(4, 4)) + 0.5 * rng.normal(size=(50, 4)) > 0.4).astype(float)
    Y[rng.random(Y.shape) < 0.1] = np.nan
    Y[0], Y[1], Y[2] = 1, 0, np.nan
    X[[3, 7]] = 0
    X.flags.writeable = Y.flags.writeable = False
    return X, Y


def similarities(name, V, Y):
    """The output kernel of each name, from its definition."""
    norms = np.linalg.norm(V, axis=1)
    U = np.divide(V, norms[:, None], out=np.zeros_like(V), where=norms[:, None] > 0)
    inner = U @ U.T
    if name in ("poly2", "poly3"):
        return ((inner + 1) / 2) ** int(name[-1])
    if name == "linear":
        return inner
    L = cosine_cubed(V, V) if name == "function" else V @ label_similarity(name, Y) @ V.T
    roots = np.sqrt(np.diag(L))
    scale = np.divide(1, roots, out=np.zeros_like(roots), where=roots > 0)
    return L * np.outer(scale, scale)


def label_similarity(name, Y):
    if name == "matrix":
        return SIMILARITY
    S = np.zeros((4, 4))
    for r in range(4):
        for s in range(4):
            n11, n10, n01, n00 = (
                0.5 + np.sum((Y[:, r] == a) & (Y[:, s] == b)) for a, b in ((1, 1), (1, 0), (0, 1), (0, 0))
            )
            S[r, s] = np.log(n11 * n00 / (n10 * n01))
    values, vectors = np.linalg.eigh(S)
    return vectors @ np.diag(np.maximum(values, 1e-6 * values.max())) @ vectors.T


@pytest.mark.parametrize(
    ("output", "way"),
    [(output, "gram") for output in OUTPUTS]
    + [(output, way) for output in ("linear", "odds-ratio", "matrix") for way in ("rows", "sparse rows")],
)
@pytest.mark.parametrize("center", [True, False])
def test_objective_equals_a_general_solver(problem, output, way, center, monkeypatch):
    monkeypatch.setattr(joint_svm, "VISITS", np.inf if way == "gram" else 0)
    X, Y = problem
    C = 2.0
    V = np.where(np.isnan(Y), 0, 2 * Y - 1 - (np.nanmean(2 * Y - 1, axis=0) if center else 0))
    norms = np.linalg.norm(X, axis=1)
    rows = np.divide(X, norms[:, None], out=np.zeros_like(X), where=norms[:, None] > 0)
    Q = (rows @ rows.T) * similarities(output, V, Y)
    values, vectors = np.linalg.eigh((Q + Q.T) / 2)
    root = vectors * np.sqrt(np.maximum(values, 0))
    told = ~np.all(np.isnan(Y), axis=1)
    alpha = cp.Variable(50)
    dual = cp.sum(alpha) - cp.sum_squares(root.T @ alpha) / 2
    oracle = cp.Problem(cp.Maximize(dual), [alpha >= 0, alpha <= C * told])
    oracle.solve(solver="CLARABEL", tol_gap_rel=1e-10, tol_gap_abs=1e-10)
    model = JointSVM(C, kernel="linear", output_kernel=OUTPUTS[output], center=center, **EXACT)
    model.fit(sparse.csr_array(X) if way == "sparse rows" else X, Y)
    assert model.converged_
    assert model.dual_objective_ == pytest.approx(oracle.value, rel=1e-5)
    assert model.primal_objective_ == pytest.approx(oracle.value, rel=1e-5)
    assert all(point.gap >= 0 for point in model.trace_)
    assert model.alpha_[2] == 0, "nothing is known about this sample"


@every_output
@pytest.mark.parametrize("decoding", ["direct", "transfer"])
def test_learns_and_answers(problem, output, decoding):
    X, Y = problem
    model = JointSVM(output_kernel=OUTPUTS[output], decoding=decoding, random_state=0).fit(X, Y)
    assert model.score(X, Y) > 0.8
    predicted = model.predict(X)
    known = ~np.isnan(Y)
    assert np.mean(predicted[known] == Y[known]) > 0.75
    if decoding == "direct":
        K = model.kernel_(X, X)
        np.testing.assert_allclose(model.decision_function(X), K @ model.dual_coef_, atol=1e-4)
    else:
        scores = model.decision_function(X)
        assert scores.min() >= 0
        assert scores.max() <= 1 + 1e-9


@pytest.mark.parametrize("output", ["linear", "matrix", "odds-ratio"])
def test_coefficients_of_linear_outputs(problem, output):
    X, Y = problem
    model = JointSVM(kernel="linear", output_kernel=OUTPUTS[output], center=False, **EXACT).fit(X, Y)
    V = np.where(np.isnan(Y), 0, 2 * Y - 1)
    S = np.eye(4) if output == "linear" else label_similarity(output, Y)
    lengths = np.sqrt(np.einsum("il,lk,ik->i", V, S, V) * np.maximum((X**2).sum(axis=1), 1e-300))
    usable = (lengths > 0) & np.any(X, axis=1)
    expected = model.alpha_[usable, None] * (V @ S)[usable] / lengths[usable, None]
    np.testing.assert_allclose(model.dual_coef_[usable], expected, atol=1e-9)
    # samples without length cost C each, whatever the model
    assert (model.alpha_[[3, 7]] == model.C).all()
    assert not model.dual_coef_[[3, 7]].any()


@every_output
def test_transfer_by_hand(problem, output):
    X, Y = problem
    model = JointSVM(2.0, output_kernel=OUTPUTS[output], decoding="transfer", n_neighbors=3, **EXACT)
    model.fit(X[:40], Y[:40])
    told = ~np.all(np.isnan(Y[:40]), axis=1)
    V = np.where(np.isnan(Y[:40]), 0, 2 * Y[:40] - 1 - np.nanmean(2 * Y[:40] - 1, axis=0))
    L = similarities(output, V, Y[:40])
    weights = (model.kernel_(X[40:], X[:40]) * model.alpha_) @ L
    for row, scores in zip(weights, model.decision_function(X[40:]), strict=True):
        best = [j for j in np.argsort(-row) if told[j]][:3]
        kept = np.maximum(row[best], 0)
        kept = kept if kept.any() else np.array([1.0, 0, 0])
        np.testing.assert_allclose(scores, kept @ (Y[:40][best] == 1) / kept.sum(), atol=1e-4)


def test_prediction_agrees_best_of_all_label_vectors():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(30, 5))
    np.testing.assert_array_equal(
        choose_labels(scores, np.array([-np.ones(5), np.ones(5)]), at_least=0), scores > 0
    )
    values = np.array([np.full(5, -0.4), np.full(5, 1.6)])
    every = np.array([[(k >> l) & 1 for l in range(5)] for k in range(32)])
    vectors = np.where(every, values[1], values[0])
    agreement = scores @ (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).T
    for at_least, similarity in ((0, None), (1, None), (1, 3 * np.eye(5))):
        allowed = every.sum(axis=1) >= at_least
        best = every[allowed][np.argmax(agreement[:, allowed], axis=1)]
        np.testing.assert_array_equal(
            choose_labels(scores, values, at_least=at_least, similarity=similarity), best
        )


def test_prediction_measures_by_the_similarity_of_labels():
    rng = np.random.default_rng(2)
    root = rng.normal(size=(5, 5))
    S, values = root @ root.T, np.array([np.full(5, -0.4), np.full(5, 1.6)])
    scores = rng.normal(size=(30, 5))
    order = np.argsort(-scores, axis=1)
    for row, labels, found in zip(
        scores, order, choose_labels(scores, values, at_least=1, similarity=S), strict=True
    ):
        vectors = [np.where(np.isin(np.arange(5), labels[:k]), *values[::-1]) for k in range(1, 6)]
        agreement = [row @ v / np.sqrt(v @ S @ v) for v in vectors]
        np.testing.assert_array_equal(found, np.isin(np.arange(5), labels[: 1 + np.argmax(agreement)]))


def test_centred_labels_tell_rare_labels_apart():
    """The published form gives every sample nearly the same scores when labels are rare."""
    rng = np.random.default_rng(0)
    place = rng.integers(0, 30, 300)
    X = np.eye(30)[place] + 0.1 * rng.normal(size=(300, 30))
    Y = np.eye(30)[place]
    right = {
        center: np.mean(JointSVM(center=center).fit(X, Y).decision_function(X).argmax(axis=1) == place)
        for center in (True, False)
    }
    assert right[True] > 0.95
    assert right[True] > right[False]


def test_weights_count_as_repetitions(problem):
    X, Y = problem
    weights = np.arange(50) % 3
    model = JointSVM(gamma=0.2, **EXACT)
    weighted = clone(model).fit(X, Y, sample_weight=weights)
    repeated = clone(model).fit(np.repeat(X, weights, axis=0), np.repeat(Y, weights, axis=0))
    assert weighted.primal_objective_ == pytest.approx(repeated.primal_objective_, rel=1e-6)
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=5e-3)


def test_weights_of_labels_multiply_their_entries(problem):
    X, Y = problem
    by_name = JointSVM(class_weight={1: 1.0, 0: 1.0, 2: 5.0}, **EXACT).fit(X, Y)
    by_entry = JointSVM(**EXACT).fit(X, Y, sample_weight=np.tile([1.0, 1, 5, 1], (50, 1)))
    np.testing.assert_allclose(by_name.label_values_, by_entry.label_values_)
    np.testing.assert_allclose(by_name.decision_function(X), by_entry.decision_function(X), atol=1e-5)
    assert by_name.label_values_[1, 2] > 3 * by_name.label_values_[1, 1]


def test_path_equals_separate_training(problem):
    models = JointSVM(**EXACT).path(*problem, [0.1, 1.0, 10.0])
    for model in models:
        alone = JointSVM(model.C, **EXACT).fit(*problem)
        assert model.primal_objective_ == pytest.approx(alone.primal_objective_, rel=1e-6)
        np.testing.assert_allclose(
            model.decision_function(problem[0]), alone.decision_function(problem[0]), atol=5e-3
        )


def test_ends_early_with_a_certificate(problem):
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        model = JointSVM(C=100, tol=1e-9, max_iter=1, random_state=0).fit(*problem)
    Q_alpha_cost = model.C * np.count_nonzero(~np.all(np.isnan(problem[1]), axis=1))
    assert 0 < model.dual_objective_ <= model.primal_objective_ <= Q_alpha_cost

    def interrupt(point):
        raise KeyboardInterrupt

    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model = JointSVM(C=100, tol=1e-9, random_state=0).fit(*problem, callback=interrupt)
    assert model.duality_gap_ > 0


def test_indefinite_matrix_is_clipped_and_said(problem):
    X, Y = problem
    S = np.diag([4.0, 2.0, 1.0, -1.0])
    with pytest.warns(UserWarning, match=r"1 of its 4 eigenvalues.*down to -1.*largest is 4.*12 %"):
        model = JointSVM(output_kernel=S, **EXACT).fit(X, Y)
    clipped = JointSVM(output_kernel=np.maximum(S, 0), **EXACT).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(X), clipped.decision_function(X), atol=1e-6)
    with pytest.warns(UserWarning, match="output kernel of the training labels is not positive"):
        model = JointSVM(output_kernel=lambda V, Z: np.abs(V @ Z.T) - V @ Z.T * 0.9, **EXACT).fit(X, Y)
    assert model.duality_gap_ >= 0


def test_odds_ratios_are_clipped_without_a_word():
    states = np.where(np.random.default_rng(0).random((200, 12)) < 0.05, 1, -1)
    fitted = OddsRatioOutputs().fit(states)
    assert isinstance(fitted, LinearOutputs)
    assert np.linalg.eigvalsh(fitted.similarity)[0] > 0
    unsure = OddsRatioOutputs(min_expected=1.0).fit(states).similarity
    assert np.abs(unsure - np.diag(np.diag(unsure))).max() < np.abs(fitted.similarity).max() / 4


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"output_kernel": np.eye(3)}, r"must have shape \(4, 4\), got \(3, 3\)"),
        ({"output_kernel": np.triu(np.ones((4, 4)))}, "must be symmetric, but entries differ by 1"),
        ({"output_kernel": np.full((4, 4), np.nan)}, "must be finite"),
        ({"output_kernel": "cubic"}, "must be one of 'linear', 'odds-ratio'.*got 'cubic'"),
        ({"output_kernel": lambda V, Z: V}, r"finite array of shape .*got shape \(32, 4\)"),
        ({"decoding": "nearest"}, "decoding must be one of 'direct', 'transfer', got 'nearest'"),
        ({"n_neighbors": 0}, "n_neighbors must be a positive integer, got 0"),
        ({"C": 0}, "C must be a positive number"),
    ],
)
def test_bad_parameters(problem, parameters, message):
    with pytest.raises(ValueError, match=message):
        JointSVM(**parameters).fit(*problem)


def test_one_label_and_unknown_labels(problem):
    X, Y = problem
    unknown = Y.copy()
    unknown[:, 1] = np.nan
    with pytest.warns(UserWarning, match="never positive"):
        model = JointSVM(random_state=0).fit(X, unknown)
    assert (model.decision_function(X).argmin(axis=1) == 1).all()
    assert not model.predict(X)[:, 1].any()
    alone = JointSVM(random_state=0).fit(X, Y[:, [0]])
    known = ~np.isnan(Y[:, 0])
    assert np.mean(alone.predict(X)[known, 0] == Y[known, 0]) > 0.85
    for decoding in ("direct", "transfer"):
        with pytest.warns(UserWarning, match="never positive"):
            nothing = JointSVM(decoding=decoding).fit(X, np.full((50, 2), np.nan))
        assert not nothing.dual_coef_.any()
        assert not nothing.predict(X).any()
