"""Sizes around the edges of blocks and of vectors; shrinking; threads."""

from itertools import pairwise

import numpy as np
import pytest

from tagrank.resources import limited_threads


def noisy_problem(n_samples, n_labels, n_features=12, *, present=0.3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    X[rng.random(X.shape) < 0.4] = 0
    scores = X @ rng.normal(size=(n_features, n_labels)) + rng.normal(size=(n_samples, n_labels))
    return X, np.where(scores > np.quantile(scores, 1 - present), 1.0, -1.0)


@pytest.mark.usefixtures("precision")
@pytest.mark.parametrize("n_samples", [191, 192, 193, 385])
@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_sizes_around_the_block(Loss, n_samples, tol, held, certificate):
    X, bounds = noisy_problem(n_samples, 3)
    gram = held(X @ X.T, "gram")
    solution = gram.solve(Loss, 0.1 * bounds, tol=tol)
    assert solution.converged
    certificate(Loss, gram.K, 0.1 * bounds, solution, rtol=1e-9 if tol < 1e-5 else 1e-7)


def test_samples_without_a_gap_are_not_visited(Loss, held, certificate, monkeypatch):
    monkeypatch.setattr("tagrank.solvers.dual_ascent.PASSES_BEFORE_CONFLICTS", np.inf)  # visited twice
    visits = []

    class Spy(Loss):
        def sweep_block(self, rows, *arguments):
            visits.append(rows)
            return super().sweep_block(rows, *arguments)

    X, bounds = noisy_problem(700, 3)
    gram = held(X @ X.T, "gram")
    starts = [0]
    solution = gram.solve(Spy, bounds, tol=1e-6, callback=lambda point: starts.append(len(visits)))
    passes = [np.concatenate(visits[first:stop]) for first, stop in pairwise(starts)]
    assert all(len(set(rows)) == len(rows) for rows in passes)
    n_visited = [len(rows) for rows in passes]
    assert n_visited[0] == 700
    part = 0.6 if Loss.__name__ == "Logistic" else 0.5  # without zeros among its coefficients
    assert min(n_visited) < part * n_visited[0]
    assert solution.converged
    certificate(Loss, gram.K, bounds, solution)


@pytest.mark.parametrize("tol", [1e-3, 1e-6])
@pytest.mark.parametrize("n_labels", [1, 15, 16, 17, 63, 64, 65, 103, 130])
def test_sparse_rows_in_vectors_and_threads(Loss, n_labels, tol, hold_sparse, certificate):
    X, bounds = noisy_problem(60, n_labels)
    bounds *= 0.1
    held = hold_sparse(X)
    solutions = []
    for n_threads in (1, 2):
        with limited_threads(n_threads):
            solutions.append(held.solve(Loss, bounds, tol=tol))
        assert solutions[-1].converged
        certificate(Loss, held.K, bounds, solutions[-1], rtol=1e-9 if tol < 1e-5 else 1e-6)
    one, two = solutions
    assert one.primal == pytest.approx(two.primal, rel=tol)
    np.testing.assert_allclose(one.weights, X.T @ one.coefficients, atol=1e-6)


@pytest.mark.parametrize("n_samples", [999, 1000, 1001, 2500])
def test_sparse_rows_beyond_one_part_of_a_pass(Loss, n_samples, hold_sparse, certificate):
    X, bounds = noisy_problem(n_samples, 3)
    held = hold_sparse(X)
    solution = held.solve(Loss, 0.01 * bounds, tol=1e-6)
    assert solution.converged
    certificate(Loss, held.K, 0.01 * bounds, solution)


def test_sparse_rows_need_not_be_canonical(Loss, hold_sparse, held, certificate):
    """Unsorted indices, an entry in two parts, a stored zero, an empty row."""
    X, bounds = noisy_problem(30, 4)
    X[5] = 0
    rows = hold_sparse(X).data
    doubled = rows.copy()
    order = np.concatenate(
        [np.repeat(np.arange(rows.indptr[i], rows.indptr[i + 1])[::-1], 2) for i in range(30)]
    )
    doubled.indices, doubled.data = rows.indices[order], rows.data[order] / 2
    doubled.indptr = 2 * rows.indptr
    doubled.data[:2] = [0, 2 * doubled.data[0]]
    solution = held(doubled, "rows").solve(Loss, bounds, tol=1e-6)
    assert solution.converged
    certificate(Loss, X @ X.T, bounds, solution)


def test_column_indices_outside_are_refused(Loss, hold_sparse, held):
    X, bounds = noisy_problem(30, 4)
    rows = hold_sparse(X).data.copy()
    rows.indices[3] = 12
    with pytest.raises(ValueError, match="its 30 rows and 12 columns"):
        held(rows, "rows").solve(Loss, bounds)


def test_rows_other_than_csr_and_other_than_floats_are_refused(Loss, hold_sparse, held):
    X, bounds = noisy_problem(30, 4)
    rows = hold_sparse(X).data
    for wrong, told in ((rows.tocsc(), "float64 in CSC"), (rows.astype(np.int64), "int64 in CSR")):
        with pytest.raises(ValueError, match=f"floats in CSR format, got {told} format"):
            held(wrong, "rows").solve(Loss, bounds)
