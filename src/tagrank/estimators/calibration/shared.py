"""One curve from scores to probabilities that all labels share, each with a slope and an offset drawn to it.

The log-odds that label l of sample i is true are

    eta_il = (a + a_l) s_il + g r_i + b + b_l,      a_l ~ N(0, A^2),  b_l ~ N(0, B^2)

s_il is the held-out score and r_i the level of the sample: the mean of three of its scores from the rank on
at which its labels usually end, because the scores of a ranker have no zero. a, g and b belong to all labels.
How far a label may depart from them, A and B, is learned from all labels together (empirical Bayes, by
Laplace's approximation), so that a label with three positives keeps close to the others and one with a
thousand has its own curve.

A true label was given with probability c_l, its completeness, so that it is listed with probability
c_l / (1 + exp(-eta_il)); that is what is fitted. Unknown entries are left out. Of entries that somebody
decided, whatever was listed before, the truth itself is known: c_l is 1 there. That they were chosen for
their scores does no harm, because it is the truth at a given score that is learned. Newton's method: the
second derivatives have the shape of an arrow, two numbers a label and three in common.

Nearly all pairs are surely absent, and the slope is theirs. A last step bends the curve of all labels so that
it also fits the pairs at the top ("beta calibration": Kull, Silva Filho, Flach, AISTATS 2017):

    log-odds = u log sigma(eta) - v log(1 - sigma(eta)) + w,      u, v > 0

which leaves the order as it is.

What labels have of their own can spoil the order of the labels of a sample. So it may be cut: with a freedom
of f the spreads are f A and f B, and at 0 all labels have the same curve, which keeps the order of the
scores. How much freedom does no harm is seen in held-out rankings (`keep_order`).
"""

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import expit

from tagrank.labels import labels_from_states
from tagrank.metrics import image_auc, image_average_precision

LEVEL_WIDTH = 3  # scores of which the level of a sample is the mean
MOST_PAIRS = 300_000  # of sample and label that are looked at; more change little
ROUNDS, STEPS = 12, 25
TINY = 1e-12
# freedom of slopes and of offsets, most first: the first that does no harm is taken; the last never does
FREEDOMS = ((1.0, 1.0), (1.0, 0.25), (0.25, 0.25), (0.0, 0.25), (0.0, 0.0))
MOST_LOST = 1e-3  # of image AUC and of average precision, below which a freedom does no harm


@dataclass(frozen=True)
class SharedCalibration:
    """Log-odds from scores: ``slope * score + level_weight * level + offset``, bent.

    Attributes
    ----------
    slope, offset : arrays, shape (n_labels,); no slope is so small that log-odds fall when a score rises
    level_weight : float, of the level of the sample
    level_rank : int, the first of the ranks, from 1 on, whose mean score is the level
    bend : array, (u, v, w) of the last step
    """

    slope: np.ndarray
    offset: np.ndarray
    level_weight: float
    level_rank: int
    bend: np.ndarray = field(default_factory=lambda: np.array([1.0, 1.0, 0.0]))

    def log_odds(self, scores):
        """Of all labels to be true, same shape as `scores` (n_samples, n_labels)."""
        return _bent(self.straight(scores), self.bend)

    def straight(self, scores):
        """The log-odds before they are bent."""
        shift = self.level_weight * levels(scores, self.level_rank)
        return scores * self.slope + self.offset + shift[:, None]


def levels(scores, rank):
    """The mean of the `LEVEL_WIDTH` scores of each sample from `rank` (1 is the best) on."""
    n_labels = scores.shape[1]
    first = min(rank, n_labels) - 1
    last = min(first + LEVEL_WIDTH, n_labels)
    return -np.partition(-scores, np.arange(first, last), axis=1)[:, first:last].mean(axis=1)


def fit_shared(states, scores, completeness=1.0, decided=None, *, most_pairs=MOST_PAIRS):
    """A SharedCalibration of held-out scores, finite (n_samples, n_labels), under int8 states of that shape.

    `completeness` is the share of the true labels that are listed, one number or one a label. `decided` is a
    mask of the shape of `states`: there an absent label is surely not true. `most_pairs` of sample and label
    are looked at, about.
    """
    return SharedFitting(states, scores, decided, most_pairs=most_pairs).fit(completeness)


def keep_order(states, scores, folds, decided=None, *, most_pairs=MOST_PAIRS):
    """The most freedom of labels with which log-odds rank no worse than scores do, and such log-odds.

    Parameters
    ----------
    states, scores, decided : as in `fit_shared`
    folds : pairs (train, test) of row numbers. Log-odds of the rows of `test` come from the curve of `train`
    most_pairs : as in `fit_shared`. Curves of fewer pairs seem to do more harm than the last one does

    Returns
    -------
    freedom : one of `FREEDOMS`
    log_odds : array, shape (n_samples, n_labels)
    """
    fittings = [
        SharedFitting(
            states[train],
            scores[train],
            None if decided is None else decided[train],
            most_pairs=most_pairs,
        )
        for train, _ in folds
    ]
    labels, log_odds = labels_from_states(states), np.empty(scores.shape)
    least = _rankings(labels, scores) - MOST_LOST
    for freedom in FREEDOMS:
        for (_, test), fitting in zip(folds, fittings, strict=True):
            fitting.freedom = freedom
            log_odds[test] = fitting.fit().log_odds(scores[test])
        # nan, where nothing can be ranked, speaks for nothing
        if not np.any(_rankings(labels, log_odds) < least):
            break
    return freedom, log_odds


def _rankings(labels, scores):
    return np.array([image_auc(labels, scores), image_average_precision(labels, scores)])


def deal_rows(n_rows, n_folds=3):
    """Folds of rows: every third row is held out, from the first, the second and the third on."""
    place = np.arange(n_rows) % n_folds
    return [(np.flatnonzero(place != fold), np.flatnonzero(place == fold)) for fold in range(n_folds)]


class SharedFitting:
    """Fits curves to the same scores for several values of completeness, each from where the last ended.

    The parameters are those of `fit_shared`; `freedom` is that of the slopes and of the offsets of labels.
    """

    def __init__(self, states, scores, decided=None, *, most_pairs=MOST_PAIRS, freedom=FREEDOMS[0]):
        self.states, self.scores, self.rank = states, scores, usual_count(states)
        self.freedom = freedom
        has_both = np.any(states > 0) and np.any(states < 0)
        self.pairs = _Pairs(states, scores, self.rank, decided, most_pairs) if has_both else None

    def fit(self, completeness=1.0, *, bends=True):
        """The curve for the share of the true labels that are listed, one number or one a label."""
        if self.pairs is None:
            n_present, n_absent = np.sum(self.states > 0), np.sum(self.states < 0)
            offset = np.full(self.states.shape[1], np.log((n_present + 1) / (n_absent + 1)))
            return SharedCalibration(np.zeros(len(offset)), offset, 0.0, self.rank)
        pairs, scores, rank = self.pairs, self.scores, self.rank
        pairs.suppose(np.broadcast_to(completeness, self.states.shape[1]))
        common, own = pairs.fit(self.freedom)
        weight = common[1] / pairs.scale
        # a score may itself be one of those that make up the level
        slope = np.maximum((common[0] + own[0]) / pairs.scale, max(0.0, -weight) / _level_size(scores, rank))
        offset = common[2] + own[1] - (slope + weight) * pairs.centre
        straight = SharedCalibration(slope, offset, float(weight), rank)
        return replace(straight, bend=pairs.bend(pairs.of(straight.straight(scores)))) if bends else straight


def usual_count(states):
    """How many labels a sample has on average, rounded up; at least one."""
    n_known = np.count_nonzero(np.any(states != 0, axis=1))
    return max(1, int(np.ceil(np.count_nonzero(states > 0) / max(1, n_known))))


def _sides(log_odds):
    """log sigma(x) and -log(1 - sigma(x)): flat on one side, straight on the other."""
    bend = np.log1p(np.exp(-np.abs(log_odds)))
    return np.minimum(log_odds, 0) - bend, np.maximum(log_odds, 0) + bend


def _bent(log_odds, bend):
    below, above = _sides(log_odds)
    return bend[0] * below + bend[1] * above + bend[2]


def _level_size(scores, rank):
    n_labels = scores.shape[1]
    first = min(rank, n_labels) - 1
    return min(LEVEL_WIDTH, n_labels - first)


class _Pairs:
    """Pairs of a sample and a label of which something is known, as flat arrays."""

    def __init__(self, states, scores, rank, decided, most_pairs=MOST_PAIRS):
        self.n_labels = states.shape[1]
        level = levels(scores, rank)
        self.row, self.label, self.weight = _choose(states, scores, level, most_pairs)
        scores, level = self.of(scores), level[self.row]
        self.centre = np.average(scores, weights=self.weight)
        self.scale = np.sqrt(np.average((scores - self.centre) ** 2, weights=self.weight)) + TINY
        self.score, self.level = (scores - self.centre) / self.scale, (level - self.centre) / self.scale
        self.present = self.of(states) > 0
        self.where_present = np.flatnonzero(self.present)
        self.decided = None if decided is None else self.of(decided)
        share = np.average(self.present, weights=self.weight)
        self.common = np.array([1.0, 0.0, np.log(share / (1 - share))])
        self.own, self.spread = np.zeros((2, self.n_labels)), np.array([0.3, 1.0])

    def suppose(self, completeness):
        """How complete each label is (n_labels,)."""
        self.listed = completeness[self.label]
        if self.decided is not None:
            self.listed = np.where(self.decided, 1.0, self.listed)

    def of(self, values):
        """Of an array (n_samples, n_labels) the entries of the pairs."""
        return values[self.row, self.label]

    def bend(self, log_odds):
        """(u, v, w) that fit best, by Newton's method on (log u, log v, w)."""
        bend = np.array([1.0, 1.0, 0.0])
        inputs = np.array([*_sides(log_odds), np.ones(len(log_odds))])
        value, truth = self._likelihood(_bent(log_odds, bend))
        for _ in range(STEPS):
            residual, curvature = self._derivatives(truth)
            scaled = inputs * np.append(bend[:2], 1.0)[:, None]
            step = np.linalg.solve((scaled * curvature) @ scaled.T + 1e-6 * np.eye(3), scaled @ residual)
            gain, length = -1.0, min(1.0, 1 / (np.abs(step).max() + TINY))
            while gain < 0 and length > 1e-4:
                trial = np.append(bend[:2] * np.exp(length * step[:2]), bend[2] + length * step[2])
                trial_value, trial_truth = self._likelihood(_bent(log_odds, trial))
                gain, length = trial_value - value, length / 2
            if gain > 0:
                bend, value, truth = trial, trial_value, trial_truth
            if gain < 1e-3:
                break
        return bend

    def fit(self, freedom):
        """What is common (a, g, b), and what each label has of its own (a_l, b_l), shape (2, n_labels)."""
        self._learn_spread()
        if min(freedom) == 1:
            return self.common, self.own
        cut = np.maximum(freedom, 1e-4)
        own = self.own * cut[:, None] ** 2
        return self._climb(self.common, own, cut * self.spread, STEPS)[:2]

    def _learn_spread(self):
        for turn in range(ROUNDS):
            n_steps = STEPS if turn == 0 else 3
            self.common, self.own, variance = self._climb(self.common, self.own, self.spread, n_steps)
            renewed = np.maximum(np.sqrt(np.mean(self.own**2 + variance, axis=1)), 1e-3)
            is_settled = np.all(np.abs(renewed - self.spread) < 0.02 * self.spread)
            self.spread = renewed
            if is_settled:
                break

    def _climb(self, common, own, spread, n_steps):
        """Newton steps with halving at fixed spreads; also the variances (2, n_labels) of `own`."""
        value, truth = self._value(common, own, spread)
        for _ in range(n_steps):
            step_common, step_own, variance = self._newton(truth, own, spread)
            length, gain = 1.0, -1.0
            while gain < 0 and length > 1e-4:
                trial = common + length * step_common, own + length * step_own
                trial_value, trial_truth = self._value(*trial, spread)
                gain, length = trial_value - value, length / 2
            if gain > 0:
                (common, own), value, truth = trial, trial_value, trial_truth
            if gain < 1e-3:
                break
        return common, own, variance

    def _value(self, common, own, spread):
        """The penalised log-likelihood, and the probabilities of the pairs to be true."""
        slope, offset = own[0][self.label] + common[0], own[1][self.label] + common[2]
        value, truth = self._likelihood(slope * self.score + common[1] * self.level + offset)
        return value - 0.5 * np.sum((own / spread[:, None]) ** 2), truth

    def _likelihood(self, log_odds):
        """The log-likelihood, up to a constant, and the probabilities of the pairs to be true."""
        truth = expit(log_odds)
        parts = np.log1p(-np.minimum(self.listed * truth, 1 - TINY))
        parts[self.where_present] = _sides(log_odds[self.where_present])[0]
        return self.weight @ parts, truth

    def _derivatives(self, truth):
        """First derivatives by the log-odds of the pairs, and the expected second ones with changed sign."""
        listed = np.minimum(self.listed * truth, 1 - TINY)
        slack = (1 - truth) / (1 - listed)
        residual = self.weight * np.where(self.present, 1 - truth, -listed * slack)
        return residual, self.weight * listed * (1 - truth) * slack + TINY

    def _newton(self, truth, own, spread):
        """The step by the expected second derivatives, labels eliminated first."""
        residual, curvature = self._derivatives(truth)
        inputs = (self.score, self.level, np.ones(1))
        weighted = [curvature * values for values in inputs]
        cross = np.array([[self._sum(one * other) for other in inputs] for one in (weighted[0], weighted[2])])
        corner = np.array([[np.sum(one * other) for other in inputs] for one in weighted])
        gradient = np.array([np.sum(residual * values) for values in inputs])
        own_gradient = np.array([self._sum(residual * self.score), self._sum(residual)])
        own_gradient -= own / spread[:, None] ** 2
        h_aa, h_ab, h_bb = cross[0, 0] + spread[0] ** -2, cross[0, 2], cross[1, 2] + spread[1] ** -2
        inverse = np.array([[h_bb, -h_ab], [-h_ab, h_aa]]) / (h_aa * h_bb - h_ab**2)
        moved = np.einsum("abl,bkl->akl", inverse, cross)
        alone = np.einsum("abl,bl->al", inverse, own_gradient)
        left = corner - np.einsum("akl,ajl->kj", cross, moved) + 1e-9 * np.eye(3)
        common = np.linalg.solve(left, gradient - np.einsum("akl,al->k", cross, alone))
        return common, alone - np.einsum("akl,k->al", moved, common), inverse[[0, 1], [0, 1]]

    def _sum(self, values):
        return np.bincount(self.label, values, self.n_labels)


def _choose(states, scores, level, most_pairs):
    """Rows, labels and weights of the pairs to look at: all present ones, and all absent ones if few.

    Of many absent ones those above the level of their sample are kept; the others are drawn, and stand for
    those left out.
    """
    rows, labels = np.nonzero(states)
    weights = np.ones(len(rows))
    if len(rows) <= most_pairs:
        return rows, labels, weights
    matters = (states[rows, labels] > 0) | (scores[rows, labels] >= level[rows])
    rest = np.flatnonzero(~matters)
    n_drawn = max(most_pairs - np.count_nonzero(matters), most_pairs // 4)
    if n_drawn >= len(rest):
        return rows, labels, weights
    drawn = np.random.default_rng(0).choice(rest, n_drawn, replace=False)
    weights[drawn] = len(rest) / n_drawn
    kept = np.sort(np.concatenate([np.flatnonzero(matters), drawn]))
    return rows[kept], labels[kept], weights[kept]
