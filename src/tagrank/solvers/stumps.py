"""AdaBoost.MH with real-valued stumps (BoosTexter): a sum of one-column rules with a vote for every label.

    F(x) = sum_t votes_t[x is on the right side of split t]      every vote a row of n_labels numbers
    D_il = exp(-y_il F_l(x_i)), weighted, divided by its sum;    unknown labels (y = 0) weigh nothing

With P_jl and N_jl the weights D of the present and of the absent entries of label l on side j of a split, the
votes are 1/2 ln((P_jl + e) / (N_jl + e)), and of all splits of all columns the one is taken whose

    Z = 2 sum_jl sqrt(P_jl N_jl)

is least. The product of what D is divided by bounds the weighted share of entries with the wrong sign
(Schapire, Singer: BoosTexter, 2000; e = 1 / (n_samples n_labels) there, here 1 / the sum of all weights).

A round adds up the weights of all labels bin by bin, for every column: n_samples x n_columns x 2 n_labels
additions and n_bins x n_columns x 2 n_labels square roots; of sparse columns only what is not zero is added.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from tagrank.resources import compiled, share_out

N_BINS = 256  # codes are single bytes
NO_BETTER = 1e-9  # a split whose Z is nearer to 1 tells nothing
ROUNDING = 1e-13
SAME = 1e-10  # what is nearer is equal but for rounding: of several such splits the first is taken


@dataclass
class Stumps:
    """The rounds of a boosting.

    Attributes
    ----------
    columns : int array, shape (n_rounds,)
    thresholds : array, shape (n_rounds,); what lies above is on the right side
    votes : array, shape (n_rounds, 2, n_labels), of the left and of the right side
    normalizers : array, shape (n_rounds,): what the weights were divided by
    """

    columns: np.ndarray
    thresholds: np.ndarray
    votes: np.ndarray
    normalizers: np.ndarray


class BinnedColumns:
    """Dense columns, each cut into at most 256 bins of about the same size; few values have a bin each.

    Parameters
    ----------
    X : array, shape (n_samples, n_columns)
    """

    def __init__(self, X):
        self.largest = X.max(axis=0, initial=-np.inf)
        self.edges = [_bin_edges(column) for column in X.T]
        self.codes = np.empty(X.shape[::-1], np.uint8)
        for codes, edges, column in zip(self.codes, self.edges, X.T, strict=True):
            codes[:] = np.searchsorted(edges, column)
        self.n_bins = np.array([len(edges) + 1 for edges in self.edges])

    def best_split(self, mass):
        """(Z, column, last bin of the left side) for weights of present and of absent entries."""
        Z, last = np.empty(len(self.codes)), np.zeros(len(self.codes), np.int64)
        share_out(_best_bins, len(Z), self.codes, self.n_bins, mass, Z, last)
        column = _first_least(Z)
        return Z[column], column, int(last[column])

    def right_side(self, column, last):
        """Which samples are on the right side, bool (n_samples,)."""
        return self.codes[column] > last

    def threshold(self, column, last):
        """The value above which a sample is on the right side."""
        edges = self.edges[column]
        return edges[last] if last < len(edges) else self.largest[column]


class PresentColumns:
    """Sparse columns: what is not zero is on the right side.

    Parameters
    ----------
    X : CSR matrix, shape (n_samples, n_columns)
    """

    def __init__(self, X):
        self.X = X.tocsc(copy=True)
        self.X.eliminate_zeros()

    def best_split(self, mass):
        Z, total = np.empty(self.X.shape[1]), mass.sum(axis=0)
        share_out(_present_or_not, len(Z), self.X.indptr, self.X.indices, mass, total, Z)
        column = _first_least(Z)
        return Z[column], column, 0

    def right_side(self, column, last):
        side = np.zeros(self.X.shape[0], bool)
        side[self.X.indices[self.X.indptr[column] : self.X.indptr[column + 1]]] = True
        return side

    def threshold(self, column, last):
        return 0.0


def boost_stumps(X, bounds, n_rounds, *, stop=None):
    """The best stump of every round, until none is better than chance.

    Parameters
    ----------
    X : array, or CSR matrix, whose columns are there or not, shape (n_samples, n_columns)
    bounds : array, shape (n_samples, n_labels): weights, + if present, - if absent, 0 if unknown
    n_rounds : int, at most
    stop : function without arguments, asked before every round; True ends the training

    Returns
    -------
    Stumps
    """
    n_labels, total = bounds.shape[1], np.abs(bounds).sum()
    mass = np.hstack([np.maximum(bounds, 0), np.maximum(-bounds, 0)])
    rounds, columns = [], PresentColumns(X) if sparse.issparse(X) else BinnedColumns(X)
    while len(rounds) < n_rounds and total > 0 and not (stop is not None and stop()):
        mass /= mass.sum()
        Z, column, last = columns.best_split(mass)
        if rounds and Z >= 1 - NO_BETTER:
            break
        right = columns.right_side(column, last)
        votes = np.array(
            [_votes(mass[~right].sum(axis=0), 1 / total), _votes(mass[right].sum(axis=0), 1 / total)]
        )
        steps = np.exp(votes)
        mass *= np.hstack([1 / steps, steps])[right.astype(int)]
        rounds.append((column, columns.threshold(column, last), votes, mass.sum()))
    if not rounds:
        return Stumps(np.empty(0, int), np.empty(0), np.empty((0, 2, n_labels)), np.empty(0))
    return Stumps(*map(np.array, zip(*rounds, strict=True)))


def _first_least(values):
    return int(np.argmax(values <= values.min() + SAME))


def _votes(mass, smoothing):
    """Votes (n_labels,) of a side that holds this weight of present, then of absent entries."""
    present, absent = np.split(mass + smoothing, 2)
    return np.log(present / absent) / 2


def _bin_edges(values):
    """Rising numbers (n_bins - 1,); between two of them lies a bin."""
    distinct, counts = np.unique(values, return_counts=True)
    last = np.arange(len(distinct) - 1)
    if len(distinct) > N_BINS:
        ends = np.arange(1, N_BINS) * len(values) / N_BINS
        last = np.unique(np.searchsorted(np.cumsum(counts), ends))
        last = last[last < len(distinct) - 1]
    low, high = distinct[last], distinct[last + 1]
    middle = low + (high - low) / 2
    return np.where(middle < high, middle, low)


@compiled()
def _best_bins(codes, n_bins, mass, best, last, start, stop):
    """Of each column the least Z and the last bin of its left side."""
    n_samples = codes.shape[1]
    for j in range(start, stop):
        histogram = np.zeros((n_bins[j], mass.shape[1]))
        for i in range(n_samples):
            bin_mass, entries = histogram[codes[j, i]], mass[i]
            for k in range(mass.shape[1]):
                bin_mass[k] += entries[k]
        best[j], last[j] = _best_cut(histogram)


@compiled()
def _best_cut(histogram):
    """The least Z of all cuts between bins, and the last bin before the cut; one bin alone is no cut."""
    n_bins, width = histogram.shape
    if n_bins == 1:
        return _normalizer(histogram[0]), 0
    # sums from either end, no differences: the square root of what rounding leaves of a zero is not small
    right = np.zeros((n_bins, width))
    for b in range(n_bins - 2, -1, -1):
        for k in range(width):
            right[b, k] = right[b + 1, k] + histogram[b + 1, k]
    left, best, last = np.zeros(width), np.inf, 0
    for b in range(n_bins - 1):
        for k in range(width):
            left[k] += histogram[b, k]
        Z = _normalizer(left) + _normalizer(right[b])
        if best - SAME > Z:
            best, last = Z, b
    return best, last


@compiled()
def _present_or_not(indptr, indices, mass, total, best, start, stop):
    """Z of each column, cut between zero and all else."""
    for j in range(start, stop):
        right = np.zeros(mass.shape[1])
        for p in range(indptr[j], indptr[j + 1]):
            entries = mass[indices[p]]
            for k in range(mass.shape[1]):
                right[k] += entries[k]
        best[j] = _normalizer(right)
        for k in range(mass.shape[1]):
            left = total[k] - right[k]
            right[k] = left if left > ROUNDING * total[k] else 0.0
        best[j] += _normalizer(right)


@compiled()
def _normalizer(mass):
    """2 sum_l sqrt(P_l N_l) of one side."""
    n_labels = mass.shape[0] // 2
    total = 0.0
    for label in range(n_labels):
        total += np.sqrt(mass[label] * mass[n_labels + label])
    return 2 * total
