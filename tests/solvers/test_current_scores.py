"""What holds the data keeps its scores current, and leaves the data alone."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from tagrank.losses.hinge import Hinge
from tagrank.losses.ranking import Ranking
from tagrank.resources import limited_threads
from tagrank.solvers.gram_scores import GramScores
from tagrank.solvers.linear_rows import DenseRows, SparseRows

both_precisions = pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8))
    X[rng.random(X.shape) < 0.5] = 0
    X.flags.writeable = False
    return X


SAMPLES = {
    "gram64": lambda X, n_labels, dtype: GramScores(X @ X.T, n_labels, dtype),
    "gram32": lambda X, n_labels, dtype: GramScores((X @ X.T).astype(np.float32), n_labels, dtype),
    "dense rows": DenseRows,
}


@both_precisions
@pytest.mark.parametrize("way", sorted(SAMPLES))
@pytest.mark.parametrize("share", [0.02, 0.2, 1])
@pytest.mark.parametrize("rounded", [False, True], ids=["as they are", "rounded"])
def test_scores_follow_the_coefficients(X, way, share, rounded, dtype):
    rng = np.random.default_rng(1)
    samples = SAMPLES[way](X, 4, np.dtype(dtype))
    if rounded:
        samples.round_scores()
    A = np.zeros((300, 4))
    tolerance = 2e-4 if dtype == np.float32 or way == "gram32" else 1e-10
    for _ in range(5):
        rows = rng.permutation(300)[:70]
        corner, scores = samples.read(rows)
        np.testing.assert_allclose(corner, X[rows] @ X[rows].T, rtol=0, atol=tolerance)
        np.testing.assert_allclose(scores, (X[rows] @ X.T @ A).T, rtol=0, atol=tolerance)
        changes = (rng.normal(size=(4, 70)) * (rng.random((4, 70)) < share)).astype(dtype)
        A[rows] += changes.T
        samples.add(rows, changes)
    assert samples.is_exact == (samples.scores().dtype == np.float64 and way != "dense rows")
    if samples.is_exact:
        np.testing.assert_allclose(samples.scores(), (samples.K @ A).T, rtol=0, atol=1e-12)
    else:
        assert samples.scores().dtype == dtype
        np.testing.assert_allclose(samples.scores(), (X @ X.T @ A).T, rtol=0, atol=tolerance)


@both_precisions
@pytest.mark.parametrize("way", sorted(SAMPLES))
def test_recomputed_scores_are_exact_whatever_was_held(X, way, dtype):
    A = np.random.default_rng(2).normal(size=(300, 4)) * (np.arange(300) % 3 == 0)[:, None]
    samples = SAMPLES[way](X, 4, np.dtype(dtype))
    K = samples.K.astype(np.float64) if way.startswith("gram") else X @ X.T
    scores = samples.recompute(A)
    assert scores.dtype == np.float64
    np.testing.assert_allclose(scores, (K @ A).T, atol=1e-11)
    np.testing.assert_allclose(samples.scores(), (K @ A).T, atol=1e-3 if dtype == np.float32 else 1e-11)


@both_precisions
@pytest.mark.parametrize(("n_labels", "n_groups"), [(5, 1), (40, 2)])
def test_sparse_rows_hold_weights(X, n_labels, n_groups, dtype):
    A = np.random.default_rng(3).normal(size=(300, n_labels))
    samples = SparseRows(sparse.csr_array(X), n_labels, np.dtype(dtype), n_groups)
    assert len(samples.W) == n_groups
    samples.recompute(A)
    np.testing.assert_allclose(samples.weights, X.T @ A, atol=1e-11)
    np.testing.assert_allclose(
        samples.scores_of(slice(100, 140)),
        (X[100:140] @ X.T @ A).T,
        atol=1e-3 if dtype == np.float32 else 1e-10,
    )


@pytest.mark.parametrize("Loss", [Hinge, Ranking])
@pytest.mark.parametrize("tol", [1e-2, 2e-5])
@pytest.mark.parametrize("few", [0, 300, 301], ids=["any rounded", "many, rounded", "few, exact"])
def test_float32_scores_give_a_float64_certificate(Loss, tol, few, X, held, certificate, monkeypatch):
    """The scores that the passes keep are rounded where there are many; the certificate must not be."""
    monkeypatch.setattr("tagrank.solvers.dual_ascent.FEW_SAMPLES", few)
    rounded = []
    round_scores = GramScores.round_scores
    monkeypatch.setattr(GramScores, "round_scores", lambda self: rounded.append(round_scores(self)))
    bounds = np.where(X[:, :5] > 0.3, 1.0, -1.0)
    gram = held(X @ X.T, "gram")
    solution = gram.solve(Loss, bounds, tol=tol)
    assert solution.converged
    assert bool(rounded) == (few <= 300)
    certificate(Loss, gram.K, bounds, solution, rtol=1e-12)


@pytest.mark.parametrize("tol", [1e-2, 1e-6], ids=["float32 scores", "float64 scores"])
def test_gram_matrix_is_neither_written_nor_copied(tol, held):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(1500, 20))
    K = X @ X.T
    K.flags.writeable = False
    bounds = np.where(rng.random((1500, 10)) < 0.2, 1.0, -1.0)
    gram = held(K, "gram")
    gram.solve(Hinge, bounds, tol=tol, max_iter=2)  # compiles, which takes memory of its own
    tracemalloc.start()
    try:
        gram.solve(Hinge, bounds, tol=tol, max_iter=2)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 0.5 * K.nbytes


def test_threads_do_not_change_the_answer(X, held):
    bounds = np.where(X[:, :5] > 0.3, 1.0, -1.0)
    answers = []
    for n_threads in (1, 2):
        with limited_threads(n_threads):
            answers.append(held(X @ X.T, "gram").solve(Hinge, bounds, tol=1e-6).coefficients)
    np.testing.assert_allclose(*answers, atol=1e-9)
