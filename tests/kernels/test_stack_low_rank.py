"""Blocks of columns in the place of Gram matrices: the same answers as from Z_j Z_j'."""

import pickle

import numpy as np
import pytest

from tagrank.kernels import Gaussian, KernelStack, Linear, LowRankStack
from tagrank.kernels.maps import approximate_stack
from tagrank.losses.hinge import Hinge
from tagrank.solvers.dual_ascent import solve_dual


def draw_blocks(n_samples, widths, dtype="float64", seed=0):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((n_samples, width)).astype(dtype) for width in widths]


def check_against_grams(stack, blocks, columns=None, rtol=1e-10):
    """`stack` does what the stack of Gram matrices does."""
    columns = blocks if columns is None else columns
    rng = np.random.default_rng(1)
    matrices = np.array([Z @ other.T for Z, other in zip(blocks, columns, strict=True)])
    scale = np.abs(matrices).max()
    weights = rng.random(len(blocks)) * (np.arange(len(blocks)) != 1)
    rows = stack.combined(weights)
    assert rows.flags.c_contiguous
    assert stack.shape == matrices[0].shape
    for j, K in enumerate(matrices):
        np.testing.assert_allclose(stack.kernel(j), K, rtol=rtol, atol=rtol * scale)
    if not stack.is_symmetric:
        return
    expected = np.tensordot(weights, matrices, 1)
    np.testing.assert_allclose(rows @ rows.T, expected, rtol=rtol, atol=rtol * scale * len(blocks))
    np.testing.assert_allclose(stack.diagonals(), [K.diagonal() for K in matrices], rtol=rtol)
    T = rng.standard_normal((len(stack), 3)) * (rng.random((len(stack), 1)) < 0.6)
    by_label = np.array([np.sum(T * (K @ T), axis=0) for K in matrices]).T
    np.testing.assert_allclose(stack.quadratics_by_label(T), by_label, rtol=10 * rtol, atol=rtol * scale)
    np.testing.assert_allclose(stack.quadratics(T), by_label.sum(axis=0), rtol=10 * rtol, atol=rtol * scale)


@pytest.mark.parametrize(("dtype", "rtol"), [("float32", 1e-5), ("float64", 1e-10)])
@pytest.mark.parametrize("widths", [(3,), (1, 4, 2), (6, 0, 5)])
def test_the_same_as_gram_matrices(widths, dtype, rtol):
    blocks = draw_blocks(50, widths, dtype)
    stack = LowRankStack(blocks)
    assert (stack.kind, stack.dtype, stack.widths) == ("rows", dtype, widths)
    check_against_grams(stack, blocks, rtol=rtol)
    factors = np.arange(1, len(widths) + 1.0)
    scaled = [Z * np.sqrt(factor).astype(dtype) for Z, factor in zip(blocks, factors, strict=True)]
    check_against_grams(stack.scaled(factors), scaled, rtol=rtol)


def test_many_rows_go_by_blocks(monkeypatch):
    monkeypatch.setattr("tagrank.kernels.stack.BLOCK_MEGABYTES", 1e-4)
    blocks = draw_blocks(90, (3, 2, 4))
    assert len(LowRankStack(blocks)._row_blocks()) > 10
    check_against_grams(LowRankStack(blocks), blocks)


def test_parts_of_parts():
    blocks = draw_blocks(30, (3, 2, 4))
    stack = LowRankStack(blocks)
    rows, mask = np.array([5, 3, 20, 11]), np.array([True, False, True, True])
    part = stack[np.ix_(rows, rows)]
    check_against_grams(part, [Z[rows] for Z in blocks])
    check_against_grams(part[np.ix_(mask, mask)], [Z[rows[mask]] for Z in blocks])
    check_against_grams(stack[mask.nonzero()[0]], [Z[[0, 2, 3]] for Z in blocks], blocks)
    check_against_grams(stack[np.ix_(rows, [1, 2])], [Z[rows] for Z in blocks], [Z[[1, 2]] for Z in blocks])
    np.testing.assert_array_equal(stack[2:9].combined([1, 1, 1]), stack.combined([1, 1, 1])[2:9])
    check_against_grams(pickle.loads(pickle.dumps(part)), [Z[rows] for Z in blocks])


def test_only_active_kernels_have_columns():
    stack = LowRankStack(draw_blocks(6, (3, 2, 4)))
    assert stack.combined([1, 0, 1]).shape == (6, 7)
    assert stack.combined([0, 1, 0]).shape == (6, 2)
    np.testing.assert_array_equal(stack.combined([0, 0, 0]), np.zeros((6, 1)))
    assert np.shares_memory(stack.combined([1, 0, 0]), stack.combined([0, 0, 1]))


def test_the_solver_finds_the_same_as_with_gram_matrices():
    blocks = draw_blocks(60, (4, 3, 5))
    Y = np.sign(np.column_stack([blocks[0][:, 0], blocks[1][:, 0] + blocks[2][:, 1]]))
    weights = [0.5, 0.3, 0.2]
    rows, grams = LowRankStack(blocks), KernelStack([Z @ Z.T for Z in blocks])
    found = [
        solve_dual(stack.combined(weights), Hinge, Y, kind=stack.kind, tol=1e-9) for stack in (rows, grams)
    ]
    assert found[0].primal == pytest.approx(found[1].primal, rel=1e-8)
    T = found[1].coefficients
    np.testing.assert_allclose(rows.quadratics(T), grams.quadratics(T), rtol=1e-10)
    np.testing.assert_allclose(rows.quadratics_by_label(T), grams.quadratics_by_label(T), rtol=1e-9)


def test_a_map_for_each_kernel():
    X = np.random.default_rng(0).standard_normal((80, 4))
    kernels = [Gaussian(), Linear().on(slice(0, 2))]
    maps, stack = approximate_stack(kernels, X, n_components=80, names=["a", "b"], random_state=0)
    assert stack.names == ("a", "b")
    for j, kernel in enumerate(kernels):
        np.testing.assert_allclose(stack.kernel(j), kernel(X), atol=1e-6)
    new = LowRankStack([each.transform(X[:5]) for each in maps])
    np.testing.assert_allclose(new.combined([1, 1]), stack.combined([1, 1])[:5], atol=1e-6)
    assert approximate_stack(kernels, X.astype(np.float32), n_components=10)[1].dtype == np.float32


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([], "blocks must hold at least one kernel"),
        ([np.ones((3, 2)), np.ones((4, 2))], r"kernel 0 has shape \(3, 2\) and kernel 1 has shape \(4, 2\)"),
        ([np.ones(3)], r"kernel 0 must have two dimensions, got shape \(3,\)"),
        ([np.ones((3, 2)), np.full((3, 1), np.nan)], "kernel 1 must be finite"),
    ],
)
def test_bad_blocks(blocks, message):
    with pytest.raises(ValueError, match=message):
        LowRankStack(blocks)


def test_negative_weights_have_no_rows():
    with pytest.raises(ValueError, match="weights must not be negative, got -1"):
        LowRankStack(draw_blocks(3, (1, 1))).combined([1, -1])
