"""Probabilities from scores, label by label: Platt's sigmoid and isotonic steps, kept as plain arrays.

Platt     p(s) = 1 / (1 + exp(-(slope s + offset))), by maximum likelihood with the targets
          (n+ + 1) / (n+ + 2) for present and 1 / (n- + 2) for absent samples, not 1 and 0: few samples prove
          nothing
isotonic  the nondecreasing function nearest to the same targets, a chain of knots; for few samples it would
          follow the noise, so that labels with less than 20 positives or negatives take Platt's sigmoid

Unknown entries are left out. Probabilities never fall when scores rise: a label without a held-out positive,
or whose held-out scores mislead, has the same probability everywhere, (n+ + 1) / (n + 2).
"""

from dataclasses import asdict, dataclass, fields, replace

import numpy as np
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression

MIN_FOR_ISOTONIC = 20
MAX_STEPS = 200


@dataclass(frozen=True)
class Calibration:
    """Monotone functions from scores to probabilities, one for each label.

    Attributes
    ----------
    slope, offset : arrays, shape (n_labels,), of Platt's sigmoid
    knot_starts : int array, shape (n_labels + 1,)
        Label l has the knots from knot_starts[l] up to knot_starts[l + 1]; without any, its sigmoid holds.
    knot_scores, knot_probabilities : arrays, shape (n_knots,), joined by straight lines, flat outside
    """

    slope: np.ndarray
    offset: np.ndarray
    knot_starts: np.ndarray
    knot_scores: np.ndarray
    knot_probabilities: np.ndarray

    def probabilities(self, scores):
        """Probabilities of all labels, same shape as `scores` (n_samples, n_labels)."""
        answer = expit(scores * self.slope + self.offset)
        for label in np.flatnonzero(np.diff(self.knot_starts)):
            knots = slice(self.knot_starts[label], self.knot_starts[label + 1])
            answer[:, label] = np.interp(
                scores[:, label], self.knot_scores[knots], self.knot_probabilities[knots]
            )
        return answer

    def to_arrays(self):
        """All there is to know as a dict of plain arrays; `calibration_from_arrays` reads it back."""
        return asdict(self)


def calibration_from_arrays(arrays):
    """The Calibration that `Calibration.to_arrays` wrote; a ValueError says what does not fit together."""
    names = [field.name for field in fields(Calibration)]
    if sorted(arrays) != sorted(names):
        raise ValueError(f"calibration arrays must be {', '.join(names)}, got {', '.join(sorted(arrays))}")
    found = {name: np.asarray(arrays[name]) for name in names}
    for name, array in found.items():
        kinds = "iu" if name == "knot_starts" else "fiu"
        if array.ndim != 1 or array.dtype.kind not in kinds or not np.all(np.isfinite(array)):
            raise ValueError(
                f"calibration array {name} must have one dimension and hold finite numbers, "
                f"got shape {array.shape} and dtype {array.dtype}"
            )
    if found["offset"].shape != found["slope"].shape:
        raise ValueError(
            f"{len(found['slope'])} slopes but {len(found['offset'])} offsets in the calibration"
        )
    if np.any(found["slope"] < 0):
        raise ValueError("slope must not be negative: probabilities rise with scores")
    calibration = Calibration(**found)
    _check_knots(calibration)
    return calibration


def _check_knots(calibration):
    starts, scores, probabilities = (
        calibration.knot_starts,
        calibration.knot_scores,
        calibration.knot_probabilities,
    )
    n_labels, n_knots = len(calibration.slope), len(scores)
    if len(probabilities) != n_knots:
        raise ValueError(f"{n_knots} knots but {len(probabilities)} probabilities in the calibration")
    if len(starts) != n_labels + 1 or starts[0] != 0 or starts[-1] != n_knots or np.any(np.diff(starts) < 0):
        raise ValueError(
            f"knot_starts must rise from 0 to {n_knots} in {n_labels + 1} numbers, got {len(starts)}"
        )
    same_label = np.diff(np.repeat(np.arange(n_labels), np.diff(starts))) == 0
    if np.any(np.diff(scores)[same_label] <= 0):
        raise ValueError("knot_scores must rise within each label")
    if np.any(np.diff(probabilities)[same_label] < 0) or np.any((probabilities < 0) | (probabilities > 1)):
        raise ValueError("knot_probabilities must not fall within a label, nor leave 0 to 1")


def fit_calibration(states, scores, *, method, prior):
    """A Calibration of held-out scores, finite (n_samples, n_labels), under int8 states of the same shape.

    `prior` (n_labels,) holds probabilities for labels of whose scores nothing can be learned.
    """
    return {"platt": fit_platt, "isotonic": fit_isotonic}[method](states, scores, prior)


def fit_platt(states, scores, prior):
    """Sigmoids; parameters as in `fit_calibration`, but states may be weights with a sign."""
    known = np.abs(states).T.astype(np.float64)
    n_known = known.sum(axis=1)
    n_known[n_known == 0] = 1
    centre = (known * scores.T).sum(axis=1) / n_known
    standard = (known > 0) * (scores.T - centre[:, None])
    scale = np.sqrt((known * standard**2).sum(axis=1) / n_known)
    scale[scale <= 1e-12 * np.abs(centre)] = np.inf
    standard /= scale[:, None]
    slope, offset = _fit_logistic(standard, _smoothed_targets(states).T, known)
    learned = (slope > 0) & np.isfinite(scale) & np.any(states > 0, axis=0)
    slope = np.where(learned, slope / scale, 0.0)
    offset = np.where(learned, offset - slope * centre, np.log(prior / (1 - prior)))
    return Calibration(slope, offset, np.zeros(len(slope) + 1, np.int64), np.empty(0), np.empty(0))


def fit_isotonic(states, scores, prior):
    """Knots for labels with samples enough, sigmoids for the others; parameters as in `fit_calibration`."""
    targets = _smoothed_targets(states)
    n_rarer = np.minimum((states > 0).sum(axis=0), (states < 0).sum(axis=0))
    starts, knot_scores, knot_probabilities = [0], [np.empty(0)], [np.empty(0)]
    for label in range(states.shape[1]):
        if n_rarer[label] >= MIN_FOR_ISOTONIC:
            known = states[:, label] != 0
            steps = IsotonicRegression().fit(scores[known, label], targets[known, label])
            knot_scores.append(steps.X_thresholds_)
            knot_probabilities.append(steps.y_thresholds_)
        starts.append(sum(map(len, knot_scores)))
    return replace(
        fit_platt(states, scores, prior),
        knot_starts=np.array(starts),
        knot_scores=np.concatenate(knot_scores),
        knot_probabilities=np.concatenate(knot_probabilities),
    )


def prior_probabilities(states):
    """(n+ + 1) / (n + 2) of each label, shape (n_labels,): its share, never 0 or 1; states or weights."""
    return (np.maximum(states, 0).sum(axis=0) + 1) / (np.abs(states).sum(axis=0) + 2)


def _smoothed_targets(states):
    """What Platt puts in the place of 1 and 0, shape (n_samples, n_labels)."""
    n_present, n_absent = np.maximum(states, 0).sum(axis=0), np.maximum(-states, 0).sum(axis=0)
    return np.where(states > 0, (n_present + 1) / (n_present + 2), 1 / (n_absent + 2))


def _fit_logistic(inputs, targets, weights):
    """Slopes and offsets of weighted logistic regressions, one a row of (n_labels, n_samples).

    Newton's method with step halving, all labels at once; those that are done drop out.
    """
    solution = np.zeros((2, len(inputs)))
    solution[1] = _log_odds((weights * targets).sum(axis=1), weights.sum(axis=1))
    active = np.arange(len(inputs))
    loss, step = _newton_step(solution, inputs, targets, weights)
    length = np.ones(len(inputs))
    for _ in range(MAX_STEPS):
        trial = solution[:, active] + length[active] * step[:, active]
        new_loss, new_step = _newton_step(trial, inputs[active], targets[active], weights[active])
        better = new_loss <= loss[active]
        accepted = active[better]
        moved = np.abs(trial - solution[:, active]).max(axis=0, initial=0)
        solution[:, accepted], loss[accepted] = trial[:, better], new_loss[better]
        step[:, accepted], length[accepted] = new_step[:, better], 1
        length[active[~better]] /= 2
        active = active[moved > 1e-8]
        if not len(active):
            break
    return solution


def _newton_step(solution, inputs, targets, weights):
    """The losses (n_labels,) at (slope, offset), and Newton's steps (2, n_labels) from there."""
    raised = solution[0][:, None] * inputs + solution[1][:, None]
    shrunk = np.exp(-np.abs(raised))
    loss = (weights * (np.maximum(raised, 0) + np.log1p(shrunk) - targets * raised)).sum(axis=1)
    probability = np.where(raised >= 0, 1, shrunk) / (1 + shrunk)
    residual = weights * (targets - probability)
    curvature = weights * probability * (1 - probability)
    by_offset, gradient = residual.sum(axis=1), (residual * inputs).sum(axis=1)
    # the small ridge keeps constant inputs solvable
    h_bb = curvature.sum(axis=1) + 1e-10
    h_ab = (curvature * inputs).sum(axis=1)
    h_aa = (curvature * inputs**2).sum(axis=1) + 1e-10
    determinant = h_aa * h_bb - h_ab**2
    return loss, np.array(
        [h_bb * gradient - h_ab * by_offset, h_aa * by_offset - h_ab * gradient]
    ) / determinant


def _log_odds(total, size):
    share = (total + 1e-6) / (size + 2e-6)
    return np.log(share / (1 - share))
