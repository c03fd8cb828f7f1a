"""Samples that are alike but have different labels: the longest part of the way, and a block of their own."""

import numpy as np
import pytest

from tagrank.solvers.dual_ascent import solve_dual
from tagrank.solvers.gram_scores import GramScores


@pytest.fixture(scope="module")
def conflict():
    """A Gram matrix in which twenty samples occur twice, the second time with the opposite labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 10))
    scores = X @ rng.normal(size=(10, 6))
    labels = np.where(scores > np.quantile(scores, 0.7), 1.0, -1.0)
    X[300:320], labels[300:320] = X[:20], -labels[:20]
    distances = ((X[:, None] - X) ** 2).sum(axis=2)
    return np.exp(-distances / distances.mean()), labels


def test_conflicts_end_in_fewer_passes_and_at_the_same_place(conflict, AnyLoss, monkeypatch):
    K, labels = conflict
    settled = solve_dual(K, AnyLoss, 100 * labels, kind="gram")
    monkeypatch.setattr("tagrank.solvers.dual_ascent.PASSES_BEFORE_CONFLICTS", np.inf)
    plain = solve_dual(K, AnyLoss, 100 * labels, kind="gram")
    assert settled.converged
    assert plain.converged
    assert settled.n_iter < 0.85 * plain.n_iter
    assert settled.dual == pytest.approx(plain.dual, rel=1e-3)


@pytest.mark.parametrize("intercept", [0.0, 3.0])
def test_nearest_is_the_smallest_angle(intercept):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3)) * rng.uniform(0.1, 10, size=(50, 1))
    X[7] = 0
    K = (X @ X.T).astype(np.float32)
    rows = np.array([3, 7, 20])
    found = GramScores(K, 2, np.dtype(np.float32), intercept).nearest(rows)
    lengths = np.sqrt(K.diagonal() + intercept, dtype=np.float64)
    for row, other in zip(rows, found, strict=True):
        assert other != row
        if lengths[row] > 0:
            others = np.flatnonzero((np.arange(50) != row) & (lengths > 0))
            cosines = (K[row, others] + intercept) / (lengths[row] * lengths[others])
            assert (K[row, other] + intercept) / (lengths[row] * lengths[other]) == pytest.approx(
                cosines.max()
            )
