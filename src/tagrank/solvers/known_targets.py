"""Ridge regression onto targets of which some are unknown: each is learned where it is known.

    min over f_l, b_l    sum over known i (y_il - f_l(x_i) - b_l)^2 + alpha |f_l|^2        for each target l

It is ridge regression onto all samples whose unknown targets are free, for the best values of these are what
is fitted to them. With fitted values H y, H of all samples, the values u of the unknown targets solve

    (I - H_uu) u = H_uk y_k

a system of its own for each target, with eigenvalues from 0 to 1. I - H makes residuals of targets: one
factorization serves all targets and all steps of conjugate gradients, and a step costs what one more
regression onto all targets costs. Steps start from the means. A target that few samples know is regressed on
these alone where that is less work, and so is one that takes too many steps.

Residuals r of all samples, made centred residuals a over the known ones, bound the optimum from below by
2 a'y - a'a - a'K a / alpha: the objective is at most G'K G / alpha above it, G = a - r.
"""

from typing import NamedTuple

import numpy as np

USUAL_STEPS = 10  # how many a target is expected to take
MAX_STEPS = 60
STEPS_TO_MEASURE = 3  # the gap takes as long as a step


class FilledTargets(NamedTuple):
    """Targets whose unknown values are those that ridge regression on the known ones fits.

    Attributes
    ----------
    values : array, shape (n_samples, n_targets)
    gap : float, the objective of each target is at most this share above the best possible one
    n_steps : int, of conjugate gradients
    """

    values: np.ndarray
    gap: float
    n_steps: int


def fill_unknown(ridge, Y, known, alpha, *, tol=1e-6):
    """Fill in what is unknown, so that regression onto the result is regression onto what is known.

    Parameters
    ----------
    ridge : the problem on all samples, see `tagrank.solvers.ridge`
    Y : array, shape (n_samples, n_targets), anything finite where it is unknown
    known : bool array of the same shape
    alpha : float, the penalty
    tol : float, relative gap at which a target is done

    Returns
    -------
    FilledTargets
    """
    values = np.where(known, Y, known_means(Y, known))
    ridge = ridge.on_fewest()
    open_targets = np.flatnonzero(~known.all(axis=0) & known.any(axis=0))
    directly = _cheaper_directly(ridge, known, open_targets)
    _regress_each(ridge, values, known, alpha, directly)
    left, gap, n_steps = _descend(ridge, values, known, alpha, np.setdiff1d(open_targets, directly), tol)
    _regress_each(ridge, values, known, alpha, left)
    return FilledTargets(values, gap, n_steps)


def known_means(Y, known):
    """The mean of each target where it is known, 0 where it never is."""
    return np.where(known, Y, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)


def _cheaper_directly(ridge, known, targets):
    """Those of the targets that are regressed on their own samples in less time than by steps."""
    groups = _by_samples(known, targets)
    steps_of_one = USUAL_STEPS * ridge.work_of_step()
    cheap = [group for rows, group in groups if ridge.work(len(rows)) < steps_of_one * len(group)]
    return np.concatenate([np.empty(0, np.intp), *cheap])


def _by_samples(known, targets):
    """The targets that are known of the same samples, and these samples."""
    masks, group_of = np.unique(known[:, targets], axis=1, return_inverse=True)
    return [
        (np.flatnonzero(masks[:, group]), targets[group_of.ravel() == group])
        for group in range(masks.shape[1])
    ]


def _regress_each(ridge, values, known, alpha, targets):
    """Fill in each target by a regression on the samples that know it."""
    if not len(targets):
        return
    for rows, group in _by_samples(known, targets):
        Y = values[np.ix_(rows, group)]
        coefficients = ridge.take(rows).solve(Y - Y.mean(axis=0), alpha)
        scores = ridge.scores_by_part(coefficients, rows)
        scores += (Y - scores[rows]).mean(axis=0)
        unknown = ~known[:, group[0]]
        values[np.ix_(unknown, group)] = scores[unknown]


def _descend(ridge, values, known, alpha, targets, tol):
    """Fill in the targets by conjugate gradients; those that are not done, the largest gap, and the steps."""
    largest, active, n_steps = 0.0, targets, 0
    if not len(active):
        return active, largest, n_steps
    Y, is_known = values[:, active], known[:, active]
    residuals = ridge.residuals(Y, alpha)
    tol = max(tol, 100 * np.finfo(residuals.dtype).eps)
    uphill = np.where(is_known, 0, residuals)
    direction, squares = -uphill, np.sum(uphill**2, axis=0)
    while len(active) and n_steps < MAX_STEPS:
        change = ridge.residuals(direction, alpha)
        curvature = np.sum(direction * change, axis=0)
        step = np.divide(squares, curvature, out=np.zeros_like(squares), where=curvature > 0)
        Y += step * direction
        residuals += step * change
        uphill = np.where(is_known, 0, residuals)
        before, squares = squares, np.sum(uphill**2, axis=0)
        ratio = np.divide(squares, before, out=np.zeros_like(squares), where=before > 0)
        direction = ratio * direction - uphill
        n_steps += 1
        if n_steps % STEPS_TO_MEASURE:
            continue
        gaps = relative_gaps(ridge, Y, is_known, residuals, alpha)
        done = gaps <= tol
        values[:, active[done]] = Y[:, done]
        largest = max(largest, gaps[done].max(initial=0))
        active, Y, is_known, residuals, direction, squares = (
            array[..., ~done] for array in (active, Y, is_known, residuals, direction, squares)
        )
    return active, float(largest), n_steps


def relative_gaps(ridge, Y, known, residuals, alpha):
    """How far the objective of each target is above a bound of the optimum, as a share of it."""
    own = np.where(known, residuals - known_means(residuals, known), 0)
    centred = Y - Y.mean(axis=0)
    # alpha |f|^2 is what the residuals make of the fitted values
    primal = np.sum(own**2, axis=0) + np.sum(residuals * (centred - residuals), axis=0)
    rounding = np.finfo(residuals.dtype).eps * np.sum(centred**2, axis=0) + np.finfo(float).tiny
    return ridge.squared_lengths(own - residuals) / alpha / np.maximum(primal, rounding)
