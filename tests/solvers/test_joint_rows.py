"""Joint rows keep their scores current, without the Gram matrix that they stand for."""

import numpy as np
import pytest
from scipy import sparse

from tagrank.losses.hinge import Hinge
from tagrank.resources import limited_threads
from tagrank.solvers.dual_ascent import solve_dual
from tagrank.solvers.linear_rows import JointRows

both_precisions = pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
both_formats = pytest.mark.parametrize("form", [np.array, sparse.csr_array], ids=["dense", "sparse"])


@pytest.fixture(scope="module")
def rows():
    """Rows and label vectors, some of either without length."""
    rng = np.random.default_rng(0)
    X, U = rng.normal(size=(300, 8)), rng.normal(size=(300, 21)) / 5
    X[rng.random(X.shape) < 0.5] = 0
    X[3], U[5] = 0, 0
    X.flags.writeable = U.flags.writeable = False
    return X, U


@both_precisions
@both_formats
@pytest.mark.parametrize("n_threads", [1, 2])
def test_scores_follow_the_coefficients(rows, form, dtype, n_threads):
    X, U = rows
    Q = (X @ X.T) * (U @ U.T)
    rng = np.random.default_rng(1)
    a = np.zeros((300, 1))
    tolerance = 2e-4 if dtype == np.float32 else 1e-11
    with limited_threads(n_threads):
        samples = JointRows(form(X), U, np.dtype(dtype))
        np.testing.assert_allclose(samples.diagonal, np.diag(Q), atol=1e-12)
        for _ in range(4):
            block = rng.permutation(300)[:70]
            corner, scores = samples.read(block)
            assert corner.dtype == scores.dtype == dtype
            np.testing.assert_allclose(corner, Q[np.ix_(block, block)], rtol=0, atol=tolerance)
            np.testing.assert_allclose(scores, (Q[block] @ a).T, rtol=0, atol=tolerance)
            changes = rng.normal(size=(1, 70)) * (rng.random((1, 70)) < 0.5)
            a[block] += changes.T
            samples.add(block, changes)
        np.testing.assert_allclose(samples.scores(), (Q @ a).T, rtol=0, atol=tolerance)
        exact = samples.recompute(a)
        np.testing.assert_allclose(exact, (Q @ a).T, rtol=0, atol=1e-11)
        np.testing.assert_allclose(samples.scores(), exact, rtol=0, atol=tolerance)


@both_formats
@pytest.mark.parametrize("tol", [1e-2, 1e-6], ids=["float32", "float64"])
def test_same_optimum_as_the_gram_matrix(rows, form, tol, certificate):
    X, U = rows
    Q = (X @ X.T) * (U @ U.T)
    costs = np.random.default_rng(2).integers(0, 8, size=(300, 1)) / 4  # the same in both precisions
    by_gram = solve_dual(Q, Hinge, costs, kind="gram", tol=1e-8)
    by_rows = solve_dual(
        (form(X), U),
        Hinge,
        costs,
        kind="joint rows",
        tol=tol,
        start=np.ones((300, 1)),
    )
    assert by_rows.converged
    certificate(Hinge, Q, costs, by_rows)
    assert by_rows.dual <= by_gram.primal
    assert by_rows.primal == pytest.approx(by_gram.primal, rel=2 * tol)


def test_indices_are_checked(rows):
    X, U = rows
    wrong = sparse.csr_array(X)
    wrong.indices[0] = 8
    with pytest.raises(ValueError, match="must lie within its 300 rows and 8 columns"):
        JointRows(wrong, U, np.dtype(np.float64))
