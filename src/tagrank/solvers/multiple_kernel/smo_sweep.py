"""The compiled part of `smo.py`: exact steps of single coefficients inside a block of samples."""

import numpy as np
from numba import njit

NEWTON_STEPS = 50
PRECISION = 1e-12  # of a derivative whose parts are of size one


@njit(cache=True)
def sweep(bounds, coefficients, corners, scores, quadratics, sums, intercept, q, n_sweeps):
    """Exact steps on all coefficients of a block, several times; everything but the corners is kept current.

    bounds, coefficients : (n_rows, n_labels); corners : (n_rows, n_rows, n_kernels)
    scores : (n_labels, n_rows, n_kernels), f_j; quadratics : (n_kernels,); sums : (n_labels,) of coefficients
    """
    slopes = np.empty(quadratics.shape[0])
    for _ in range(n_sweeps):
        n_changed = 0
        for label in range(bounds.shape[1]):
            for b in range(bounds.shape[0]):
                bound, old = bounds[b, label], coefficients[b, label]
                if bound == 0:
                    continue
                sign = 1.0 if bound > 0 else -1.0
                slopes[:] = sign * scores[label, b]
                fixed = sign * intercept * sums[label]
                t = best_change(
                    slopes, corners[b, b], quadratics, fixed, intercept, -abs(old), abs(bound) - abs(old), q
                )
                if t == 0:
                    continue
                n_changed += 1
                for j in range(quadratics.shape[0]):
                    quadratics[j] = max(quadratics[j] + t * (2 * slopes[j] + t * corners[b, b, j]), 0.0)
                coefficients[b, label] = min(max(old + sign * t, min(bound, 0.0)), max(bound, 0.0))
                sums[label] += sign * t
                scores[label] += (sign * t) * corners[b]
        if n_changed == 0:
            break


@njit(cache=True)
def best_change(u, k, v, fixed, intercept, low, high, q):
    """The t between `low` <= 0 and `high` >= 0 where the derivative of the dual along t is zero."""
    slope, curvature = derivatives(0.0, u, k, v, fixed, intercept, q)
    if abs(slope) <= PRECISION:
        return 0.0
    low, high = (0.0, high) if slope > 0 else (low, 0.0)
    end = high if slope > 0 else low
    if low == high or derivatives(end, u, k, v, fixed, intercept, q)[0] * slope >= 0:
        return end
    t = 0.0
    for _ in range(NEWTON_STEPS):
        new = t + slope / curvature if curvature > 0 else end
        t = new if low < new < high else (low + high) / 2
        slope, curvature = derivatives(t, u, k, v, fixed, intercept, q)
        if abs(slope) <= PRECISION:
            break
        if slope > 0:
            low = t
        else:
            high = t
    return t


@njit(cache=True)
def derivatives(t, u, k, v, fixed, intercept, q):
    """First derivative along t of sum a - 1/2 |v(t)|_q - 1/2 intercept * sum^2, and minus the second."""
    slope, curvature = 1 - fixed - t * intercept, intercept
    largest = 0.0
    for j in range(v.shape[0]):
        largest = max(largest, v[j] + t * (2 * u[j] + t * k[j]))
    if largest <= 0:
        return slope, curvature
    total = 0.0
    for j in range(v.shape[0]):
        total += max((v[j] + t * (2 * u[j] + t * k[j])) / largest, 0.0) ** q
    norm = total ** (1 / q)
    spread = along = 0.0
    for j in range(v.shape[0]):
        share = max((v[j] + t * (2 * u[j] + t * k[j])) / (largest * norm), 0.0)
        if share > 0:
            beta, turn = share ** (q - 1), u[j] + t * k[j]
            slope -= beta * turn
            curvature += beta * k[j]
            spread += beta / share * turn * turn
            along += beta * turn
    return slope, curvature + 2 * (q - 1) / (largest * norm) * max(spread - along * along, 0.0)
