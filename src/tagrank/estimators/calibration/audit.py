"""What an audit tells: samples that were drawn at random, of which all labels were looked at.

How complete labels are cannot be told from listed labels alone, see `completeness`: whoever lists frequent
labels less often, or stops after two, leaves the same traces as somebody with complete lists. So it is asked.
Of n samples i let t_i be the number of true labels and h_i that of the true ones that are listed. Then

    completeness = sum h_i / sum t_i

whatever the rule by which labels are missing. Labels of a sample stand and fall together, so the variance is
that of the residuals h_i - c t_i of whole samples, over (sum t_i)^2. Said as an effective number of labels,
it makes Wilson's interval, with the quantile of Student's t for n - 1. Where hardly any label is missing the
residuals tell nothing about their own spread: then the usual one is supposed (`USUAL_TOGETHER`).

Labels may differ. Their completeness follows a logistic curve over the logarithm of their frequency, if
chance does not explain it, and single labels depart from that curve as far as chance does not explain it.

Audited samples know the truth at every score. So the curve from scores to probabilities is bent once more, by
three numbers, so that what it claims of them is what was right; the fewer they are, and the fewer labels are
missing, the closer it stays to what it was.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import expit, stdtrit

from tagrank.estimators.calibration.completeness import FEWEST, Completeness, listed_states

FEWEST_AUDITED = 10  # samples, below which an audit tells too little to be used
CERTAINTY = 0.975  # of each end of an interval
USUAL_TOGETHER = 0.2  # correlation of the labels of a sample that is supposed
SUPPOSED_MISSES = 10.0  # labels that the supposed correlation counts as
MEANS_SOMETHING = 2.0  # standard errors from which on a slope is not chance
BEND_SPREAD = np.array(
    [0.3, 0.3, 1.0]
)  # by which (log u, log v, w) of a bend may change, before truth is seen
SLOPE_SPREAD = 1.0  # of a slope, before anything is seen, in units of a standard deviation


class MeasuredShare(NamedTuple):
    """A share of labels, and where it lies with 95 % certainty; the share is nan where there is none."""

    share: float
    low: float
    high: float


@dataclass(frozen=True)
class Audit:
    """What audited samples tell.

    Attributes
    ----------
    n_samples : how many samples were looked at
    n_true : how many labels are true in them
    n_missing : how many of these are not listed
    n_wrong : how many labels are listed and not true
    completeness : the share of the true labels that are listed
    by_label : the same of each label, shape (n_labels,), drawn towards what all labels show
    by_frequency : slope of the log-odds to be listed over the logarithm of a label's frequency; 0 where
        chance explains it
    by_count : the same over the logarithm of the number of true labels of the sample
    """

    n_samples: int
    n_true: int
    n_missing: int
    n_wrong: int
    completeness: Completeness
    by_label: np.ndarray
    by_frequency: float
    by_count: float

    @property
    def half_width(self):
        """Half of the interval of the completeness."""
        return (self.completeness.high - self.completeness.low) / 2

    def samples_for(self, half_width):
        """How many more samples make the interval of the completeness about so narrow."""
        return samples_for(self.completeness, self.n_samples, half_width)


def samples_for(share, n_samples, half_width):
    """How many more samples make an interval about so narrow; intervals shrink with the square root.

    `share` has ``low`` and ``high`` and was measured on `n_samples`.
    """
    now = (share.high - share.low) / 2
    return max(0, int(np.ceil(round(n_samples * ((now / half_width) ** 2 - 1), 6))))


def audit_labels(listed, true, *, known=None, frequencies=None):
    """The Audit of samples whose true labels are known.

    Parameters
    ----------
    listed, true : bool arrays, shape (n_samples, n_labels): what was listed before, and what is true
    known : bool array of that shape, False where nobody can tell; default: everything is known
    frequencies : array, shape (n_labels,), how often each label is listed anywhere; default: in these samples
    """
    known = np.ones(listed.shape, dtype=bool) if known is None else known
    is_true = true & known
    is_hit = is_true & listed
    whole = ratio(is_hit.sum(axis=1), is_true.sum(axis=1))
    share = 1.0 if np.isnan(whole.share) else whole.share
    frequencies = listed.sum(axis=0) if frequencies is None else frequencies
    by_label, by_frequency, by_count = _compare_labels(is_true, is_hit, np.asarray(frequencies), share)
    return Audit(
        len(listed),
        int(is_true.sum()),
        int(is_true.sum() - is_hit.sum()),
        int(np.count_nonzero(listed & ~true & known)),
        Completeness(share, whole.low, whole.high, len(listed)),
        by_label,
        by_frequency,
        by_count,
    )


def check_audited(audited, states):
    """The mask of audited samples, those with a known label; None where there are none."""
    if audited is None:
        return None
    audited = np.asarray(audited)
    if audited.dtype != bool or audited.shape != (len(states),):
        raise ValueError(
            f"audited must be a bool for each of the {len(states)} samples, got an array of "
            f"{audited.dtype} with shape {audited.shape}"
        )
    audited = audited & np.any(states != 0, axis=1)
    return audited if audited.any() else None


def surely_known(decided, audited, n_labels):
    """Where the truth itself is known, bool (n_samples, n_labels): single labels, and audited samples."""
    if audited is None:
        return decided
    whole = np.broadcast_to(audited[:, None], (len(audited), n_labels))
    return whole if decided is None else whole | decided


def audit_listed(states, decided, audited):
    """The Audit of some samples among all; None where they are too few to tell anything.

    Parameters
    ----------
    states : int8 array, shape (n_samples, n_labels): what is known by now
    decided : bool array of that shape, or None; labels that are present there were not listed
    audited : bool array, shape (n_samples,), or None
    """
    if audited is None or np.count_nonzero(audited) < FEWEST_AUDITED:
        return None
    listed = listed_states(states, decided) > 0
    chosen = states[audited]
    return audit_labels(
        listed[audited], chosen > 0, known=chosen != 0, frequencies=np.count_nonzero(listed, axis=0)
    )


def ratio(n_hits, n_of):
    """The MeasuredShare sum(n_hits) / sum(n_of) of counts of samples, drawn at random, shape (n_samples,)."""
    n_hits, n_of = np.asarray(n_hits, dtype=np.float64), np.asarray(n_of, dtype=np.float64)
    total = n_of.sum()
    if total <= 0:
        return MeasuredShare(float("nan"), 0.0, 1.0)
    share = n_hits.sum() / total
    n_effective = total / _together(n_hits, n_of, share)
    # residuals have as many degrees of freedom as samples with something to count, less one
    quantile = stdtrit(max(1, np.count_nonzero(n_of) - 1), CERTAINTY)
    return MeasuredShare(float(share), *wilson(share, n_effective, quantile))


def wilson(share, n, quantile):
    """Wilson's interval of a share of n trials."""
    middle = share + quantile**2 / (2 * n)
    width = quantile * np.sqrt(share * (1 - share) / n + (quantile / (2 * n)) ** 2)
    scale = 1 + quantile**2 / n
    # at the ends exactly: sums of floats are not
    low = 0.0 if share == 0 else max(0.0, float((middle - width) / scale))
    return low, 1.0 if share == 1 else min(1.0, float((middle + width) / scale))


def _together(n_hits, n_of, share):
    """How many times larger the variance is than of labels that stand and fall alone; at least 1.

    What residuals show counts as much as there are labels on the rarer side; with few, what is usual counts.
    """
    total, n_samples = n_of.sum(), max(2, np.count_nonzero(n_of))
    usual = 1 + USUAL_TOGETHER * max(0.0, (n_of @ n_of) / total - 1)
    n_telling = total * min(share, 1 - share)
    if n_telling <= 0:
        return usual
    residuals = n_hits - share * n_of
    seen = (residuals @ residuals) / (share * (1 - share) * total) * n_samples / (n_samples - 1)
    return max(1.0, float((n_telling * seen + SUPPOSED_MISSES * usual) / (n_telling + SUPPOSED_MISSES)))


def _compare_labels(is_true, is_hit, frequencies, share):
    """Completeness of each label, and the slopes over frequency and over the number of labels."""
    rows, labels = np.nonzero(is_true)
    if len(rows) == 0 or share in (0.0, 1.0):
        return np.full(is_true.shape[1], np.clip(share, FEWEST, 1.0)), 0.0, 0.0
    listed = is_hit[rows, labels].astype(np.float64)
    frequency, count = np.log1p(frequencies), np.log(is_true.sum(axis=1).clip(1))
    inputs = np.column_stack([frequency[labels], count[rows]])
    by_frequency, by_count = _slopes_beyond_chance(inputs, listed, rows)
    expected = np.full(is_true.shape[1], share)
    if by_frequency:
        slope, offset = _logistic(frequency[labels][:, None], listed)[0]
        expected = expit(offset + slope * frequency)
    return _drawn_to(expected, is_hit.sum(axis=0), is_true.sum(axis=0)), by_frequency, by_count


def _drawn_to(expected, n_listed, n_true):
    """Shares of labels that depart from what is expected as far as chance does not explain it."""
    by_chance = expected * (1 - expected)
    beyond = np.sum((n_listed - expected * n_true) ** 2) - np.sum(by_chance * n_true)
    # a label that is true once says nothing about how far labels differ
    variance = max(0.0, beyond / max(np.sum(n_true * (n_true - 1.0)), 1.0))
    weight = np.inf if variance == 0 else np.mean(by_chance) / variance
    pull = 1.0 / (1.0 + n_true / weight)
    own = np.divide(n_listed, n_true, out=expected.copy(), where=n_true > 0)
    return np.clip(pull * expected + (1 - pull) * own, FEWEST, 1.0)


def _slopes_beyond_chance(inputs, listed, rows):
    """The slope of each column, 0 where it is chance: the least sure one is dropped, then looked at again."""
    slopes, kept = np.zeros(inputs.shape[1]), [j for j in range(inputs.shape[1]) if np.ptp(inputs[:, j]) > 0]
    while kept:
        point, errors = _logistic(inputs[:, kept], listed, rows)
        sure = np.abs(point[:-1]) / errors[:-1]
        if np.min(sure) >= MEANS_SOMETHING:
            slopes[kept] = point[:-1]
            break
        kept.pop(int(np.argmin(sure)))
    return tuple(map(float, slopes))


def _logistic(inputs, listed, rows=None, n_steps=30):
    """Slopes, drawn to 0, and offset, (n_columns + 1,); and their standard errors, by whole samples."""
    centre, scale = inputs.mean(axis=0), inputs.std(axis=0)
    design = np.column_stack([(inputs - centre) / scale, np.ones(len(inputs))])
    penalty = np.diag(np.append(np.full(inputs.shape[1], SLOPE_SPREAD**-2), 1e-3))
    point = np.zeros(design.shape[1])
    for _ in range(n_steps):
        chance = expit(design @ point)
        matrix = (design.T * (chance * (1 - chance))) @ design + penalty
        step = np.linalg.solve(matrix, design.T @ (listed - chance) - penalty @ point)
        point = point + step / max(1.0, np.abs(step).max())
        if np.abs(step).max() < 1e-6:
            break
    pulls = design * (listed - expit(design @ point))[:, None]
    if rows is not None:
        pulls = np.array([np.bincount(rows, column) for column in pulls.T]).T
    inverse = np.linalg.inv(matrix)
    errors = np.sqrt(np.diag(inverse @ (pulls.T @ pulls) @ inverse))
    slopes = point[:-1] / scale
    return np.append(slopes, point[-1] - slopes @ centre), np.append(errors[:-1] / scale, errors[-1])


def bend_to_truth(calibration, states, scores, completeness, n_steps=50):
    """The `SharedCalibration` bent anew, so that its claims are what is true.

    The likeliest bend, if before anything is seen (log u, log v, w) have normal distributions around the bend
    that there is, with spreads `BEND_SPREAD` times -log(c): labels that are missing with probability 1 - c
    lower log-odds by about as much. Where labels are complete, all samples told the truth already.

    Parameters
    ----------
    calibration : learned from listed labels
    states, scores : of audited samples, shape (n_samples, n_labels); state 0 is left out
    completeness : of the labels from which it was learned; c is the lower end of its interval
    """
    is_known = states != 0
    present = states[is_known] > 0
    if not present.any() or present.all():
        return calibration
    log_odds = calibration.straight(scores)[is_known]
    sides = np.array([-np.logaddexp(0, -log_odds), np.logaddexp(0, log_odds), np.ones(len(log_odds))])
    start = np.append(np.log(calibration.bend[:2]), calibration.bend[2])
    precision = (BEND_SPREAD * max(-np.log(max(completeness.low, FEWEST)), FEWEST)) ** -2

    def measure(point):
        bent = np.append(np.exp(point[:2]), point[2]) @ sides
        fit = np.sum(np.where(present, -np.logaddexp(0, -bent), -np.logaddexp(0, bent)))
        return fit - 0.5 * precision @ (point - start) ** 2, expit(bent)

    point, (value, chance) = start, measure(start)
    for _ in range(n_steps):
        inputs = sides * np.append(np.exp(point[:2]), 1.0)[:, None]
        gradient = inputs @ (present - chance) - precision * (point - start)
        step = np.linalg.solve((inputs * (chance * (1 - chance))) @ inputs.T + np.diag(precision), gradient)
        gain, length = -1.0, min(1.0, 1 / (np.abs(step).max() + 1e-12))
        while gain < 0 and length > 1e-4:
            trial = point + length * step
            trial_value, trial_chance = measure(trial)
            gain, length = trial_value - value, length / 2
        if gain > 0:
            point, value, chance = trial, trial_value, trial_chance
        if gain < 1e-4:
            break
    return replace(calibration, bend=np.append(np.exp(point[:2]), point[2]))
