"""Small problems of several kernels: a plain stack, and the optimum by a general convex solver."""

from functools import cache
from typing import NamedTuple

import cvxpy as cp
import numpy as np
import pytest

from tagrank.losses.group_ranking import GroupRanking
from tagrank.losses.hinge import Hinge
from tagrank.losses.ranking import Ranking

LOSSES = {"hinge": Hinge, "ranking": Ranking, "group": GroupRanking}


class PlainStack:
    """What solvers ask of a stack of kernels, as plainly as can be: the reference."""

    kind = "gram"

    def __init__(self, matrices):
        self.matrices = np.asarray(matrices)
        self.n_kernels, self.n_samples = self.matrices.shape[:2]
        self.shape = self.matrices.shape[1:]
        self.names = [f"kernel {j}" for j in range(self.n_kernels)]
        self.dtype = self.matrices.dtype

    def combined(self, weights):
        return np.tensordot(weights.astype(self.dtype), self.matrices, 1)

    def quadratics(self, T):
        return self.quadratics_by_label(T).sum(axis=0)

    def quadratics_by_label(self, T):
        return np.stack([(T * (K.astype(np.float64) @ T)).sum(axis=0) for K in self.matrices], axis=1)

    def kernel(self, j):
        return self.matrices[j]

    def diagonals(self):
        return np.stack([np.diagonal(K) for K in self.matrices])

    def __getitem__(self, index):
        return type(self)(self.matrices[:, *index])


class PlainRows(PlainStack):
    """The same from rows: one block of columns for each kernel."""

    kind = "rows"

    def __init__(self, blocks):
        super().__init__([rows @ rows.T for rows in blocks])
        self.blocks = blocks

    def combined(self, weights):
        return np.hstack([np.sqrt(weights[j]) * self.blocks[j] for j in np.flatnonzero(weights)])


class KernelCase(NamedTuple):
    """Blocks of columns, one for each kernel, and signed bounds; read-only."""

    blocks: tuple
    bounds: np.ndarray

    @property
    def stack(self):
        return PlainStack([rows @ rows.T for rows in self.blocks])


@cache
def random_case(n_samples=24, n_labels=3, n_kernels=5, seed=0, equal_costs=False):
    """Kernels that know something and kernels of noise; noisy labels, unknown ones, a cost for each."""
    rng = np.random.default_rng(seed)
    blocks = [rng.normal(size=(n_samples, rng.integers(3, 6))) for _ in range(n_kernels)]
    blocks = [rows * rng.uniform(0.7, 1.3) / np.sqrt((rows**2).sum(axis=1).mean()) for rows in blocks]
    signal = sum(rows @ rng.normal(size=(rows.shape[1], n_labels)) for rows in blocks[: n_kernels // 2 + 1])
    labels = np.sign(signal + 0.5 * rng.normal(size=signal.shape))
    if equal_costs:
        bounds = labels
    else:
        labels[rng.random(labels.shape) < 0.1] = 0
        bounds = labels * rng.uniform(0.5, 2, size=labels.shape)
    bounds.flags.writeable = False
    return KernelCase(tuple(blocks), bounds)


def group_loss(bounds, scores):
    """The loss of MLR-GL: one norm for each sample and absent label."""
    terms = [0.0]
    for i, row in enumerate(bounds):
        present = np.flatnonzero(row > 0)
        for label in np.flatnonzero(row < 0) if len(present) else []:
            costs = np.sqrt(row[present] * -row[label])
            terms.append(cp.norm(cp.multiply(costs, cp.pos(1 - scores[i, present] + scores[i, label]))))
    return sum(terms)


def loss_of(name, bounds, scores):
    if name == "group":
        return group_loss(bounds, scores)
    if name == "ranking":
        scores = scores - cp.Variable((len(bounds), 1)) @ np.ones((1, bounds.shape[1]))
        is_mixed = (bounds > 0).any(axis=1) & (bounds < 0).any(axis=1)
        bounds = np.where(is_mixed[:, None], bounds, 0)
    return cp.sum(cp.multiply(np.abs(bounds), cp.pos(1 - cp.multiply(np.sign(bounds), scores))))


class Optimum(NamedTuple):
    value: float
    weights: np.ndarray


def solve_convex(case, loss, norm, C=1.0, intercept=0.0):
    """1/2 (sum_j |f_j|^r)^(2/r) + losses, r = 2p/(p+1), and the weights that follow from the lengths."""
    parts = [cp.Variable((rows.shape[1], case.bounds.shape[1])) for rows in case.blocks]
    lengths = cp.hstack([cp.norm(part, "fro") for part in parts])
    scores = sum(rows @ part for rows, part in zip(case.blocks, parts, strict=True))
    value = cp.square(cp.norm(lengths, 2 * norm / (norm + 1))) / 2
    if intercept:
        offset = cp.Variable((1, case.bounds.shape[1]))
        scores = scores + np.ones((len(case.bounds), 1)) @ offset
        value += cp.sum_squares(offset) / (2 * intercept)
    problem = cp.Problem(cp.Minimize(value + loss_of(loss, C * case.bounds, scores)))
    problem.solve(solver="CLARABEL", tol_gap_rel=1e-8, tol_gap_abs=1e-8, tol_feas=1e-8)
    weights = np.array([np.linalg.norm(part.value) for part in parts]) ** (2 / (norm + 1))
    return Optimum(problem.value, weights / np.sum(weights**norm) ** (1 / norm))


@cache
def convex_optimum(loss="hinge", norm=1.0, C=1.0, intercept=0.0, **options):
    return solve_convex(random_case(**options), loss, norm, C, intercept)


@pytest.fixture(scope="session")
def make_case():
    return random_case


@pytest.fixture(scope="session")
def find_optimum():
    return convex_optimum


@pytest.fixture(scope="session")
def losses():
    return LOSSES


@pytest.fixture(scope="session")
def plain_stack():
    return PlainStack


@pytest.fixture(scope="session")
def plain_rows():
    return PlainRows


@cache
def worst_optimum(norm=1.0, **options):
    """The weights that are best for the worst label, each with functions of its own."""
    case = random_case(**options)
    weights, worst = cp.Variable(len(case.blocks), nonneg=True), cp.Variable()
    constraints = [cp.norm(weights, norm) <= 1]
    for bounds in case.bounds.T:
        parts = [cp.Variable(rows.shape[1]) for rows in case.blocks]
        scores = sum(rows @ part for rows, part in zip(case.blocks, parts, strict=True))
        value = sum(cp.quad_over_lin(part, weight) for part, weight in zip(parts, weights, strict=True)) / 2
        constraints.append(value + loss_of("hinge", bounds, scores) <= worst)
    problem = cp.Problem(cp.Minimize(worst), constraints)
    problem.solve(solver="CLARABEL", tol_gap_rel=1e-8, tol_gap_abs=1e-8, tol_feas=1e-8)
    return Optimum(problem.value, weights.value)


@pytest.fixture(scope="session")
def find_worst_optimum():
    return worst_optimum
