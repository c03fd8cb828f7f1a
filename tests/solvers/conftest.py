"""Every loss, every way to hold the data, small hard problems; oracles share no code with the engine."""

import importlib
import inspect
import pkgutil
from functools import cache
from typing import NamedTuple

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from scipy.special import entr

import tagrank.losses
from tagrank.losses.loss import Loss
from tagrank.resources import limited_threads
from tagrank.solvers.dual_ascent import solve_dual

ALL_LOSSES = {
    thing.__name__: thing
    for module in pkgutil.iter_modules(tagrank.losses.__path__, "tagrank.losses.")
    for thing in vars(importlib.import_module(module.name)).values()
    if inspect.isclass(thing) and issubclass(thing, Loss) and not inspect.isabstract(thing)
}
PAIRED = {name: ALL_LOSSES[name] for name in ("GroupRanking", "Pairwise")}  # checked by test_pair_losses.py
LOSSES = {name: loss for name, loss in ALL_LOSSES.items() if name not in PAIRED}


def _csr(X, index_type):
    X = sparse.csr_array(X)
    X.indices, X.indptr = X.indices.astype(index_type), X.indptr.astype(index_type)
    return X


WAYS = {
    "gram64": lambda X: (X @ X.T, "gram"),
    "gram32": lambda X: ((X @ X.T).astype(np.float32), "gram"),
    "dense rows": lambda X: (X, "rows"),
    "sparse rows, int32": lambda X: (_csr(X, np.int32), "rows"),
    "sparse rows, int64": lambda X: (_csr(X, np.int64), "rows"),
}


class Problem(NamedTuple):
    """Rows X whose linear kernel is the Gram matrix, and the bounds of a cost of 1; read-only."""

    X: np.ndarray
    bounds: np.ndarray

    @property
    def K(self):
        return self.X @ self.X.T


class Held(NamedTuple):
    """A problem's data, held in one way."""

    data: object
    kind: str

    def solve(self, Loss, bounds, **options):
        """Bounds are copied because code would be compiled once more for a read-only array."""
        if sparse.issparse(self.data):  # one step a visit needs more passes than many sweeps over a block
            options.setdefault("max_iter", 5000)
        return solve_dual(self.data, Loss, bounds.copy(), kind=self.kind, **options)

    @property
    def K(self):
        """The Gram matrix that this way of holding stands for, in float64."""
        if self.kind == "gram":
            return self.data.astype(np.float64)
        rows = self.data.toarray() if sparse.issparse(self.data) else self.data
        return rows @ rows.T


@pytest.fixture(params=["as users get it", "rounded scores"])
def precision(request, monkeypatch):
    """Of tolerances that float32 can reach: small problems keep exact scores, large ones round theirs."""
    if request.param == "rounded scores":
        monkeypatch.setattr("tagrank.solvers.dual_ascent.FEW_SAMPLES", 0)


@cache
def random_problem(kernel="linear", n_samples=40, n_labels=5, seed=0):
    """Noisy labels, unknown labels, a cost for each entry, and every degenerate row."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 4))
    labels = np.sign(X @ rng.normal(size=(4, n_labels)) + rng.normal(size=(n_samples, n_labels)))
    labels[rng.random(labels.shape) < 0.15] = 0
    bounds = labels * rng.uniform(0.5, 2, size=labels.shape)
    if kernel == "gaussian":
        distances = ((X[:, None] - X[None]) ** 2).sum(axis=2)
        X = np.linalg.cholesky(np.exp(-distances / distances.mean()) + 1e-9 * np.eye(n_samples))
    for row, degenerate in enumerate((abs(bounds[0]), -abs(bounds[1]), 0 * bounds[2])[: n_samples // 4]):
        bounds[row] = degenerate
    X[[3, 7][: n_samples // 8]] = 0
    X.flags.writeable = bounds.flags.writeable = False
    return Problem(X, bounds)


@cache
def optimum(loss, kernel, C):
    """The value of a random problem by a general convex solver."""
    X, bounds = random_problem(kernel)
    W = cp.Variable((X.shape[1], bounds.shape[1]))
    scores = X @ W
    if loss == "Ranking":
        scores = scores - cp.Variable((len(X), 1)) @ np.ones((1, bounds.shape[1]))
    margins = cp.multiply(np.sign(bounds), scores)
    losses = cp.logistic(-margins) if loss == "Logistic" else cp.pos(1 - margins)
    value = cp.sum_squares(W) / 2 + cp.sum(cp.multiply(C * np.abs(bounds), losses))
    problem = cp.Problem(cp.Minimize(value))
    tol = 1e-8 if loss == "Logistic" else 1e-10  # exponential cones take no more
    problem.solve(solver="CLARABEL", tol_gap_rel=tol, tol_gap_abs=tol, tol_feas=tol)
    return problem.value


def hinge_losses(bounds, scores):
    """The hinge loss of each sample."""
    return (np.abs(bounds) * np.maximum(1 - np.sign(bounds) * scores, 0)).sum(axis=1)


def ranking_losses(bounds, scores):
    """Smallest hinge loss of each sample over all thresholds: it is reached at a kink."""
    kinks = scores - np.sign(bounds)
    losses = [hinge_losses(bounds, scores - kinks[:, [k]]) for k in range(bounds.shape[1])]
    is_mixed = (bounds > 0).any(axis=1) & (bounds < 0).any(axis=1)
    return np.where(is_mixed, np.min(losses, axis=0), 0)


def logistic_losses(bounds, scores):
    """The logistic loss of each sample."""
    return (np.abs(bounds) * np.logaddexp(0, -np.sign(bounds) * scores)).sum(axis=1)


ORACLES = {
    "Hinge": hinge_losses,
    "Logistic": logistic_losses,
    "PriorHinge": hinge_losses,
    "Ranking": ranking_losses,
}


def linear_part(loss, bounds, A):
    """What the dual gains before the quadratic term is taken off."""
    if loss != "Logistic":
        return np.abs(A).sum()
    cost, size = np.abs(bounds), np.abs(A)
    return (entr(size) + entr(cost - size) - entr(cost)).sum()


def check_certificate(Loss, K, bounds, solution, rtol=1e-9):
    """Objectives recomputed from the coefficients alone; feasible; no gap on the trace is negative."""
    A = solution.coefficients
    F = K @ A
    inner = (A * F).sum() / 2
    primal = inner + ORACLES[Loss.__name__](bounds, F).sum()
    dual = linear_part(Loss.__name__, bounds, A) - inner
    scale = np.abs(bounds).sum()
    assert solution.primal == pytest.approx(primal, rel=rtol, abs=rtol * scale)
    assert solution.dual == pytest.approx(dual, rel=rtol, abs=rtol * scale)
    assert solution.gap == (solution.primal - solution.dual) / max(solution.primal, 1e-300)
    assert A.dtype == np.float64
    slack = rtol * np.abs(bounds).max(initial=0)
    inside = np.clip(A, np.minimum(bounds, 0), np.maximum(bounds, 0))
    np.testing.assert_allclose(A, inside, rtol=0, atol=slack)
    if Loss.__name__ == "Ranking":
        np.testing.assert_allclose(A.sum(axis=1), 0, atol=1e-12 * np.abs(bounds).max(initial=1))
        is_mixed = (bounds > 0).any(axis=1) & (bounds < 0).any(axis=1)
        assert not A[~is_mixed].any()
    assert all(point.gap >= 0 for point in solution.trace)
    assert solution.trace[-1].n_iter == solution.n_iter
    assert (solution.trace[-1].primal, solution.trace[-1].dual) == (solution.primal, solution.dual)


@pytest.fixture(autouse=True)
def one_thread():
    """Problems this small only wait for a second thread when other programs keep the cores busy."""
    with limited_threads(1):
        yield


@pytest.fixture(params=sorted(LOSSES))
def Loss(request):
    return LOSSES[request.param]


@pytest.fixture(params=sorted(PAIRED))
def PairLoss(request):
    return PAIRED[request.param]


@pytest.fixture(params=sorted(ALL_LOSSES))
def AnyLoss(request):
    return ALL_LOSSES[request.param]


@pytest.fixture(params=sorted(WAYS))
def hold(request):
    """A function of rows X: their linear kernel, held in one of the ways."""

    return lambda X: Held(*WAYS[request.param](X))


@pytest.fixture(params=["gram64", "dense rows", "sparse rows, int32"])
def hold_in_short(request):
    """The ways that differ in more than their types, for checks that need not try every type."""
    return lambda X: Held(*WAYS[request.param](X))


@pytest.fixture(scope="session")
def hold_sparse():
    return lambda X: Held(*WAYS["sparse rows, int32"](X))


@pytest.fixture(scope="session")
def held():
    return Held


@pytest.fixture(scope="session")
def make_problem():
    return random_problem


@pytest.fixture(scope="session")
def find_optimum():
    return optimum


@pytest.fixture(scope="session")
def certificate():
    return check_certificate
