"""How complete labels are: the share of the true ones that were given.

A true label is supposed to have been given with probability c, whatever the sample looks like. Some samples
surely have a label; among the pairs with the highest held-out scores, the share of labels that were given
then levels off at c, and not at 1. The curve c / (1 + exp(-(slope x + offset))) is fitted to the most
probable pairs, x being their straight log-odds as learned with c = 1, and the c with the highest likelihood
is answered; but no less than the share of those listed among the most probable samples of any one label.

Pairs that somebody decided tell more: one that was not listed and is true speaks for 1 - c, one that is not
true only for the curve. They were chosen for their scores, and at a given score they are as good as others.

Nothing here can tell forgotten labels from those that are given by mistake: where few seem to be missing,
none are said to be. Where scores are too poor to be sure of any pair, or samples too few to tell c from 1,
nothing can be told, and labels count as complete: what is claimed is then too low rather than too high.

That every label is listed alike is a guess, too. People list rare labels rather than frequent ones, stop
after two, and give each sample at least one; then the most probable pairs of some labels show nothing of
what others lack. So the interval is wide. At its lower end no label is more complete than its own most
probable samples show, as if the models were right about all of them; at its upper end up to a third of the
complete labels look missing, because they were given at whim. An audit tells more, see `audit`.

How many true tags are still missing: neither listed nor decided.

Of a tag that is true with probability p, and was listed with probability c if it is, it is known that it was
not listed: it is true with probability q = p (1 - c) / (1 - c p). The number of missing tags is the sum of q.
It is unsure for three reasons: chance, sum of q (1 - q); completeness, which is only known to lie between two
values; and the probabilities themselves, which may be too high or too low together. How probable it is that a
tag is listed, c p, is seen in the labels: were c smaller, p would be larger by as much.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

TIMES_PRESENT = 3  # pairs looked at, in numbers of present labels
GRID = np.linspace(0.1, 1, 46)
LIKELIHOOD_DROP = 2.0  # where an interval of about 95 % ends
AT_LEAST_UNSURE = 0.05
SURE = 0.8
NEARLY_ALL = 0.9  # lower end of an interval, from which on "nearly all" are said to be there
WIDE = 0.2  # width of an interval from which on it is worth an audit
COMPLETE = 0.78  # from here on labels count as complete
FEWEST = 0.05
FEWEST_FOUND = 30  # labels found by decisions, from which on c is told by them
FEWEST_SURE = 0.01  # pairs that are surely true, in numbers of present labels, below which nothing is told
AT_WHIM = 1 / 3  # of complete labels, those that may look missing
MOST_PROBABLE = 1 / 3  # in numbers of its listed samples, the samples by which a label is least complete
FEWEST_PROBABLE = 3  # such samples of a label
SHARED_SAMPLES = 10.0  # that what all labels show counts as, beside those of one label
GROUPS = np.array([10, 15, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1280])
Z = 2.5  # standard errors


class Completeness(NamedTuple):
    """The share of the true labels that were given: the likeliest, and an interval of about 95 %.

    `n_audited` samples told it; 0 where it was given or estimated.
    """

    share: float
    low: float
    high: float
    n_audited: int = 0

    @property
    def words(self):
        """For people: "about 45 to 60 %", "between about 45 % and all", "nearly all"."""
        if self.low == self.high:
            return f"{self.share:.0%}"
        if self.low >= NEARLY_ALL:
            return "nearly all"
        if self.high > 0.995:
            return f"between about {100 * self.low:.0f} % and all"
        return f"about {100 * self.low:.0f} to {100 * self.high:.0f} %"

    @property
    def told(self):
        """The words, and by how many samples, or that somebody should look."""
        if self.n_audited:
            return f"{self.words}, from {self.n_audited:,} audited"
        if self.high - self.low <= WIDE:
            return self.words
        return f"unknown ({self.words}); audit 30 to find out (tagrank audit)"


def listed_states(states, decided):
    """The states as they were listed: labels that were found by decisions were not."""
    return states if decided is None else np.where(decided & (states > 0), np.int8(-1), states)


def estimate_completeness(states, log_odds, decided=None):
    """Completeness of labels, int8 states (n, m), whose held-out `log_odds` to be listed have that shape.

    `decided` is a mask of that shape, for labels that were not listed and are known now, and for those that
    were listed and are not true. The answer is about what was listed without them.
    """
    n_present = np.count_nonzero(states > 0)
    known = np.flatnonzero(states.ravel() != 0)
    if not n_present or n_present == len(known):
        return Completeness(1.0, 0.0, 1.0)
    values, present = log_odds.ravel()[known], states.ravel()[known] > 0
    is_decided = np.zeros(len(known), dtype=bool) if decided is None else decided.ravel()[known]
    if TIMES_PRESENT * n_present < len(values):
        best = np.argpartition(-values, TIMES_PRESENT * n_present)[: TIMES_PRESENT * n_present]
        values, present, is_decided = values[best], present[best], is_decided[best]
    n_found = np.count_nonzero(is_decided & present)
    values = (values - values.mean()) / (values.std() + 1e-12)
    fits, points, start = np.empty(len(GRID)), np.empty((len(GRID), 2)), np.zeros(2)
    for place in reversed(range(len(GRID))):
        listed = np.where(is_decided, 1.0, GRID[place])
        fits[place], points[place] = _fit_curve(values, present, listed, start)
        start = points[place]
    fits += n_found * np.log(np.maximum(1 - GRID, 1e-9))
    likely, best = GRID[fits >= fits.max() - LIKELIHOOD_DROP], int(np.argmax(fits))
    truth = expit(np.exp(points[best, 0]) * values + points[best, 1])
    share = float(GRID[best])
    low, high = min(likely[0], share - AT_LEAST_UNSURE), max(likely[-1], share + AT_LEAST_UNSURE)
    if n_found < FEWEST_FOUND:
        listed = listed_states(states, decided)
        share, least = max(share, _surely_listed(listed, log_odds)), _least_listed(listed, log_odds)
        is_told = likely[-1] < 1 and np.count_nonzero(truth >= 0.9) >= FEWEST_SURE * n_present
        if share >= COMPLETE or not is_told:
            return Completeness(1.0, float(min(share, likely[0], least)), 1.0)
        low = min(likely[0], share - AT_LEAST_UNSURE, least)
        high = max(likely[-1], share + AT_LEAST_UNSURE, share / (1 - AT_WHIM))
    return Completeness(share, max(0.0, float(low)), min(1.0, float(high)))


def _surely_listed(states, log_odds):
    """The largest share, less what may be chance, of pairs listed among those most probable of a label.

    Completeness is no smaller, because not even of these more than all are true.
    """
    largest = 0.0
    for label in np.flatnonzero(np.count_nonzero(states > 0, axis=0) >= GROUPS[0]):
        known = np.flatnonzero(states[:, label] != 0)
        present = states[known[np.argsort(-log_odds[known, label])], label] > 0
        sizes = GROUPS[np.count_nonzero(present) >= GROUPS]
        shares = np.cumsum(present)[sizes - 1] / sizes
        # Wilson's lower bound
        middle, spread = shares + Z**2 / (2 * sizes), shares * (1 - shares) / sizes + (Z / (2 * sizes)) ** 2
        largest = max(largest, float(np.max((middle - Z * np.sqrt(spread)) / (1 + Z**2 / sizes))))
    return largest


def _least_listed(states, log_odds):
    """The completeness if no label is more complete than its most probable samples show.

    Each label stands for as many true ones as its share of listed ones among these lets expect.
    """
    n_listed = np.count_nonzero(states > 0, axis=0)
    labels = np.flatnonzero(n_listed)
    counts = np.zeros((len(labels), 2))
    for place, label in enumerate(labels):
        known = np.flatnonzero(states[:, label] != 0)
        n_best = min(len(known), max(FEWEST_PROBABLE, int(np.ceil(MOST_PROBABLE * n_listed[label]))))
        best = known[np.argpartition(-log_odds[known, label], n_best - 1)[:n_best]]
        counts[place] = np.count_nonzero(states[best, label] > 0), n_best
    usual = counts[:, 0].sum() / counts[:, 1].sum()
    shares = (counts[:, 0] + SHARED_SAMPLES * usual) / (counts[:, 1] + SHARED_SAMPLES)
    return float(n_listed.sum() / np.sum(n_listed[labels] / np.maximum(shares, FEWEST)))


def completeness_by_label(states, log_odds, share):
    """Completeness of each label, shape (n_labels,), drawn towards `share`, that of all labels.

    Of the pairs that are surely true, by `log_odds` to be true, so many as are listed. How far labels differ
    is learned from all of them: what chance alone would not explain.
    """
    truth = np.where(states != 0, expit(log_odds), 0.0)
    is_sure = truth >= SURE
    n_listed = np.count_nonzero(is_sure & (states > 0), axis=0)
    n_true = np.sum(truth * is_sure, axis=0)
    by_chance = share * (1 - share)
    beyond = np.sum((n_listed - share * n_true) ** 2) - by_chance * np.sum(n_true)
    variance = max(0.0, beyond / max(np.sum(n_true**2), 1.0))
    if variance == 0 or by_chance == 0:
        return np.full(len(n_true), share)
    weight = by_chance / variance
    return np.clip((n_listed + weight * share) / (n_true + weight), FEWEST, 1.0)


def most_listed(states, decided):
    """The largest completeness of each label, shape (n_labels,), that its decisions allow.

    Of labels that are known to be true, those found by decisions were not listed. A label that came up only
    then was never listed, and that it is not says little: no more than that it is as frequent as others are.
    """
    n_known = np.count_nonzero(states > 0, axis=0)
    n_listed = np.count_nonzero(listed_states(states, decided) > 0, axis=0)
    usual = np.mean(n_known[n_known > 0]) if n_known.any() else 1.0
    shares = np.divide(n_listed, n_known, out=np.ones(len(n_known)), where=n_known > 0)
    return np.where(n_known > 0, np.maximum(shares, n_known / (n_known + usual)), 1.0)


def _fit_curve(values, present, share, start, n_steps=30):
    """The highest log-likelihood of share / (1 + exp(-(exp(u) x + v))) and its (u, v), by Fisher scoring.

    `share` is one number for each of the `values` x.
    """

    def measure(point):
        truth = expit(np.exp(point[0]) * values + point[1])
        listed = np.clip(share * truth, 1e-12, 1 - 1e-12)
        return np.sum(np.log(np.where(present, listed, 1 - listed))), truth, listed

    point = np.asarray(start)
    fit, truth, listed = measure(point)
    for _ in range(n_steps):
        slope = np.exp(point[0]) * values
        pull = (1 - truth) * np.where(present, 1.0, -listed / (1 - listed))
        curvature = listed * (1 - truth) ** 2 / (1 - listed)
        gradient = np.array([np.sum(pull * slope), np.sum(pull)])
        mixed = np.sum(curvature * slope)
        matrix = np.array([[np.sum(curvature * slope**2), mixed], [mixed, np.sum(curvature)]])
        step = np.linalg.solve(matrix + 1e-6 * np.eye(2), gradient)
        step /= max(1.0, np.abs(step).max() / 2.0)
        gain, length = -1.0, 1.0
        while gain < 0 and length > 1e-3:
            trial = point + length * step
            trial_fit, trial_truth, trial_listed = measure(trial)
            gain, length = trial_fit - fit, length / 2
        if gain > 0:
            point, fit, truth, listed = trial, trial_fit, trial_truth, trial_listed
        if gain < 1e-3:
            break
    return fit, point


SPREAD = 1.96
UNSURE = 0.2  # share by which probabilities may be too high or too low together
UNSURE_SHARE = 0.12  # by which completeness may be wrong at least: tags differ in it, and so do pictures
SMALLEST_SHARE = 0.05  # of the true tags that are listed


@dataclass(frozen=True)
class Remaining:
    """The number of missing tags, and an interval of about 95 %."""

    estimate: float
    low: float
    high: float

    def to_dict(self) -> dict[str, Any]:
        """Whole numbers for JSON."""
        return {"estimate": round(self.estimate), "low": int(self.low), "high": int(np.ceil(self.high))}


def given_not_listed(probabilities: np.ndarray, completeness: Any) -> np.ndarray:
    """P(true | not listed) of P(true) (n, n_tags) and completeness, one number or one for each tag."""
    share = np.minimum(np.asarray(completeness, dtype=np.float32), np.float32(1))
    return probabilities * (1 - share) / np.maximum(1 - share * probabilities, np.float32(1e-7))


def estimate_remaining(
    probabilities: np.ndarray, is_open: np.ndarray, completeness: Completeness, by_tag: np.ndarray
) -> Remaining:
    """The number of true tags among those that are open.

    Parameters
    ----------
    probabilities : that a tag is true, (n, n_tags)
    is_open : those neither listed nor decided, bool (n, n_tags)
    completeness : how complete the listed ones are
    by_tag : the same of each tag
    """
    open_ = np.where(is_open, probabilities, 0)
    true = given_not_listed(open_, by_tag)
    estimate, variance = float(true.sum(dtype=np.float64)), float((true * (1 - true)).sum(dtype=np.float64))
    ends = []
    share = completeness.share
    for end in (max(completeness.high, share + UNSURE_SHARE), min(completeness.low, share - UNSURE_SHARE)):
        moved = np.clip(by_tag + end - share, SMALLEST_SHARE, 1.0)
        supposed = np.minimum(open_ * (by_tag / moved).astype(np.float32), 1)
        ends.append(float(given_not_listed(supposed, moved).sum(dtype=np.float64)))
    width = SPREAD**2 * variance + (UNSURE * estimate) ** 2
    low = estimate - np.sqrt((estimate - ends[0]) ** 2 + width)
    high = estimate + np.sqrt((ends[1] - estimate) ** 2 + width)
    return Remaining(estimate, max(0.0, float(low)), min(float(np.count_nonzero(is_open)), float(high)))
