"""Methods by their average rank over several data sets, and which ranks differ by more than chance.

Friedman's test asks whether all methods are alike; if not, two of k methods differ on N data sets where their
average ranks lie further apart than the critical difference of Nemenyi's test,

    CD = q_a sqrt(k (k + 1) / (6 N)),

q_a that of the studentised range over sqrt(2). Demsar: Statistical Comparisons of Classifiers over Multiple
Data Sets, JMLR 7, 2006.
"""

from dataclasses import asdict, dataclass

import numpy as np

LEVEL = 0.05


@dataclass(frozen=True)
class AverageRanks:
    """Average ranks, 1 is best, and what chance makes of them.

    Attributes
    ----------
    names : tuple of str, the best first
    ranks : tuple of float
    n_blocks : int, data sets or folds that were ranked
    p_value : float, of Friedman's test; nan for two methods
    critical_difference : float, of Nemenyi's test at 5 %
    groups : tuple of (first, last), places of methods that are not told apart; none inside another
    """

    names: tuple
    ranks: tuple
    n_blocks: int
    p_value: float
    critical_difference: float
    groups: tuple

    def to_dict(self):
        """Plain lists and numbers for JSON."""
        return asdict(self)


def average_ranks(names, values):
    """Average ranks of methods.

    Parameters
    ----------
    names : sequence of str, at least two methods
    values : array, shape (n_blocks, n_methods), the higher the better, none nan; ties share their places
    """
    # statistics take their time to load
    from scipy.stats import friedmanchisquare, rankdata, studentized_range

    values = np.asarray(values, dtype=float)
    n_blocks, n_methods = values.shape
    means = rankdata(-values, axis=1).mean(axis=0)
    order = np.argsort(means, kind="stable")
    ranks = means[order]
    q = studentized_range.ppf(1 - LEVEL, n_methods, np.inf) / np.sqrt(2)
    difference = float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_blocks)))
    is_constant = np.all(values == values[:, :1])
    p_value = 1.0 if is_constant else np.nan
    if n_methods > 2 and n_blocks > 1 and not is_constant:
        p_value = float(friedmanchisquare(*values.T).pvalue)
    return AverageRanks(
        tuple(names[j] for j in order),
        tuple(map(float, ranks)),
        n_blocks,
        p_value,
        difference,
        _groups(ranks, difference),
    )


def _groups(ranks, difference):
    """Runs of at least two places that lie within the critical difference; none inside another."""
    groups, reached = [], 0
    for first in range(len(ranks)):
        last = int(np.searchsorted(ranks, ranks[first] + difference, side="right")) - 1
        if last > first and last > reached:
            groups.append((first, last))
            reached = last
    return tuple(groups)
