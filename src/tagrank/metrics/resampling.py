"""Metrics on samples drawn with replacement: what they might have been on others of the same kind.

Draw b is the same for whatever is measured on as many samples with the same seed, so that differences of two
methods are those on the same samples (paired bootstrap).
"""

import numpy as np

from tagrank.labels import labels_from_states
from tagrank.metrics.inputs import check_scores
from tagrank.metrics.ranks import mean_defined, measure_rows

MOST_DRAWS, FEWEST_DRAWS = 1000, 50
MOST_ENTRIES = 5e7  # of all draws, for metrics that are counted anew in each


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
        metric.name: metric.measure for metric in metrics if metric.measure and metric.over == "samples"
    }
    found = {name: values for name, values in measure_rows(states, scores, ranked).items()} if ranked else {}
    n_counted = int(np.clip(MOST_ENTRIES / max(1, states.size), FEWEST_DRAWS, MOST_DRAWS))
    answer = {metric.name: [] for metric in metrics}
    for number in range(MOST_DRAWS):
        drawn = np.random.default_rng([seed, number]).integers(len(states), size=len(states))
        for metric in metrics:
            if metric.name in found:
                answer[metric.name].append(mean_defined(found[metric.name][drawn]))
            elif number < n_counted:
                given = scores if metric.takes == "scores" else np.asarray(predictions)
                answer[metric.name].append(metric(labels_from_states(states[drawn]), given[drawn]))
    return {name: np.array(values, dtype=float) for name, values in answer.items()}


def interval(values, *, share=0.95):
    """The middle `share` of draws, (low, high); nan where nothing is defined."""
    defined = np.asarray(values)[~np.isnan(values)]
    if not len(defined):
        return float("nan"), float("nan")
    tail = (1 - share) / 2
    low, high = np.quantile(defined, [tail, 1 - tail])
    return float(low), float(high)
