"""The weights of kernels: the p-norm that bounds them, and cutting planes of a convex J(beta) over its ball.

    min theta    theta >= c_t - 1/2 beta'v_t for every t,    beta >= 0, |beta|_p <= 1

The least point of the maximum of all planes is found by HiGHS, hot-started. With p = 1 this is a linear
program. With p > 1 the ball stands behind tangent planes, and further ones are added where a solution leaves
it. The multipliers mu_t of the planes, made to sum to one, prove a lower bound of J whatever the tolerance of
the linear program, and however far the tangent planes are from the ball:

    sum_t mu_t c_t - 1/2 |sum_t mu_t v_t|_q
"""

import numpy as np

LEAST_SHARE = 1e-4  # of equal weights in a start for methods that cannot revive a weight of zero
NEGLIGIBLE = 0.05  # of tol: the sum of weights that are taken for zero
FEASIBILITY = 1e-9  # of the linear program, whose numbers are scaled to one
OUTSIDE = 1e-7  # a point so far outside the ball is not worth another tangent plane
TANGENTS = 20  # a round, at most


def check_norm(norm):
    if not (np.isfinite(norm) and norm >= 1):
        raise ValueError(f"norm must be a finite number of at least 1, got {norm!r}")
    return float(norm)


def uniform_weights(n_kernels, norm):
    """Equal weights with |beta|_p = 1."""
    return np.full(n_kernels, n_kernels ** (-1 / norm))


def normalized(weights, norm):
    """Weights of |beta|_p = 1 in the same proportions; those that are all zero become equal."""
    weights = np.maximum(weights, 0)
    largest = weights.max()
    if not largest > 0:
        return uniform_weights(len(weights), norm)
    weights = weights / largest  # powers of what is very small or large stay in range
    return weights / np.sum(weights**norm) ** (1 / norm)


def away_from_zero(weights, norm):
    """Weights near those given, none of them zero."""
    return normalized((1 - LEAST_SHARE) * weights + LEAST_SHARE * uniform_weights(len(weights), norm), norm)


def dual_norm(quadratics, norm):
    """The largest beta'v over beta >= 0, |beta|_p <= 1: |v|_q with 1/p + 1/q = 1."""
    return float(best_response(quadratics, norm) @ quadratics)


def best_response(quadratics, norm):
    """The beta >= 0, |beta|_p <= 1 with the largest beta'v: the gradient of |v|_q."""
    quadratics = np.maximum(quadratics, 0)
    if norm == 1:
        return np.eye(len(quadratics))[quadratics.argmax()]
    return normalized((quadratics / max(quadratics.max(), np.finfo(float).tiny)) ** (1 / (norm - 1)), norm)


def without_smallest(weights, norm, tol):
    """Weights, p = 1, whose smallest, of a sum below part of `tol`, are zero: their kernels are not read.

    A kernel that is missed for this has a large v_j, and does not stay among the smallest.
    """
    if norm > 1:
        return weights
    order = np.argsort(weights)
    kept = weights.copy()
    kept[order[np.cumsum(weights[order]) <= NEGLIGIBLE * tol]] = 0
    return normalized(kept, norm)


class CuttingPlanes:
    """Cutting planes of one problem; `scale` is the size of its objective."""

    def __init__(self, n_kernels, norm, scale):
        self.n_kernels = n_kernels
        self.norm = norm
        self.constants = []
        self.quadratics = []
        self.rows = []
        self.scale = scale or 1.0
        self.program = self._begin()

    def add(self, constant, quadratics):
        """One more: J(beta) >= constant - 1/2 beta'quadratics."""
        self.constants.append(constant)
        self.quadratics.append(quadratics)
        self.rows.append(self.program.getNumRow())
        self._add_row(constant / self.scale, np.inf, np.append(quadratics / (2 * self.scale), 1.0))

    def minimize(self):
        """The weights where the maximum of all planes is least, and a lower bound of J everywhere."""
        for _ in range(TANGENTS):
            self.program.run()
            solution = self.program.getSolution()
            weights = np.maximum(np.array(solution.col_value[:-1]), 0)
            if self.norm == 1 or np.sum(weights**self.norm) ** (1 / self.norm) <= 1 + OUTSIDE:
                break
            self._add_tangent(weights)
        return normalized(weights, self.norm), self._bound(np.array(solution.row_dual)[self.rows])

    def values(self):
        """(constants, quadratics) of all planes: arrays, shapes (n_planes,) and (n_planes, n_kernels)."""
        return np.array(self.constants), np.array(self.quadratics)

    def _bound(self, multipliers):
        multipliers = np.maximum(multipliers, 0)
        total = multipliers.sum()
        if not total > 0:
            return -np.inf
        constants, quadratics = self.values()
        shares = multipliers / total
        return shares @ constants - dual_norm(shares @ quadratics, self.norm) / 2

    def _begin(self):
        import highspy

        program = highspy.Highs()
        program.setOptionValue("output_flag", False)
        program.setOptionValue("presolve", "off")  # which would lose the last basis
        program.setOptionValue("threads", 1)
        for tolerance in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
            program.setOptionValue(tolerance, FEASIBILITY)
        for _ in range(self.n_kernels):
            program.addVar(0.0, 1.0)
        program.addVar(-np.inf, np.inf)
        program.changeColCost(self.n_kernels, 1.0)
        index = np.arange(self.n_kernels, dtype=np.int32)
        largest_sum = self.n_kernels ** (1 - 1 / self.norm)
        program.addRow(-np.inf, largest_sum, len(index), index, np.ones(len(index)))
        return program

    def _add_tangent(self, weights):
        normal = normalized(weights, self.norm) ** (self.norm - 1)
        self._add_row(-np.inf, 1.0, np.append(normal, 0.0))

    def _add_row(self, low, high, values):
        index = np.flatnonzero(values).astype(np.int32)
        self.program.addRow(low, high, len(index), index, values[index])
