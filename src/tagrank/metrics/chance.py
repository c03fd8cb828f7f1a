"""What chance makes of metrics: average ranks of methods over data sets, and samples drawn with replacement.

Friedman's test asks whether all methods are alike; if not, two of k methods differ on N data sets where their
average ranks lie further apart than the critical difference of Nemenyi's test,

    CD = q_a sqrt(k (k + 1) / (6 N)),

q_a that of the studentised range over sqrt(2). Demsar: Statistical Comparisons of Classifiers over Multiple
Data Sets, JMLR 7, 2006.

Drawn with replacement, samples show what a metric might have been on others of the same kind. Draw b is the
same for whatever is measured on as many samples with the same seed, so that differences of two methods are
those on the same samples (paired bootstrap).
"""

from dataclasses import asdict, dataclass

import numpy as np

from tagrank.labels import labels_from_states
from tagrank.metrics.metric import check_scores
from tagrank.metrics.ranks import mean_defined, measure_rows

LEVEL = 0.05
MOST_DRAWS, FEWEST_DRAWS = 1000, 50
MOST_ENTRIES = 5e7  # of all draws, for metrics that are counted anew in each


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


def resampled(Y, F, predictions, metrics, *, seed=0):
    """Values of metrics on each draw.

    Parameters
    ----------
    Y, F, predictions : labels, scores and 0/1 predictions, shape (n_samples, n_labels)
    metrics : sequence of Metric
    seed : int, of the draws

    Returns
    -------
    dict of name -> array, shape (n_draws,); metrics that are no mean over samples have fewer draws, down to
    fifty, where there are many samples and labels
    """
    states, scores = check_scores(Y, F)
    ranked = {
        metric.name: metric.measure
        for metric in metrics
        if metric.measure and (metric.takes, metric.over) == ("scores", "samples")
    }
    rows = measure_rows(states, scores, ranked) if ranked else {}
    n_counted = int(np.clip(MOST_ENTRIES / max(1, states.size), FEWEST_DRAWS, MOST_DRAWS))
    answer = {metric.name: [] for metric in metrics}
    for number in range(MOST_DRAWS):
        drawn = np.random.default_rng([seed, number]).integers(len(states), size=len(states))
        for metric in metrics:
            if metric.name in rows:
                answer[metric.name].append(mean_defined(rows[metric.name][drawn]))
            elif number < n_counted:
                values = scores if metric.takes == "scores" else np.asarray(predictions)
                answer[metric.name].append(metric(labels_from_states(states[drawn]), values[drawn]))
    return {name: np.array(values, dtype=float) for name, values in answer.items()}


def interval(values, *, share=0.95):
    """The middle `share` of draws, (low, high); nan where nothing is defined."""
    defined = np.asarray(values)[~np.isnan(values)]
    if not len(defined):
        return float("nan"), float("nan")
    tail = (1 - share) / 2
    low, high = np.quantile(defined, [tail, 1 - tail])
    return float(low), float(high)
