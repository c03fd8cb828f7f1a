"""Metrics of a ranking: per sample over its labels ("image-based") or per label over the samples.

Rules that hold for all of them:

- an unknown label counts as if it were not there;
- a sample (or label) that does not have both a known positive and a known negative is left out of the mean,
  since every ranking would serve it equally well; `metric_table` reports how many were left out;
- if nothing is left the result is nan: these labels cannot tell a good ranking from a bad one;
- no result depends on the order in which tied labels are stored. How a tie counts is stated with each metric;
  where it crosses the cut of a list of k, each order of the tied labels is equally likely and the expected
  value is returned: a constant score earns what guessing earns.
"""

from functools import partial

import numpy as np

from tagrank.labels import label_states, labels_from_states
from tagrank.metrics import ranks
from tagrank.metrics.metric import Metric, check_scores
from tagrank.metrics.ranks import mean_defined, measure_rows
from tagrank.validation import check_count


def image_auc(Y, F) -> float:
    """Image-based AUC: share of (present, absent) label pairs in the right order, mean over samples.

    A tie counts 1/2. Equals ``sklearn.metrics.roc_auc_score(Y, F, average="samples")`` on complete labels.

    Parameters
    ----------
    Y : array-like, sparse matrix or DataFrame, shape (n_samples, n_labels), of 1, 0 and nan (unknown)
    F : array-like, shape (n_samples, n_labels), scores; higher means more likely present

    Returns
    -------
    float, 1 is best, 0.5 is chance; nan if no sample has a known positive and a known negative
    """
    return mean_over_samples(ranks.auc, Y, F)


def image_average_precision(Y, F) -> float:
    """Image-based 11-point average precision, mean over samples (image-based MAP).

    Best precision at recall 0, 0.1, ..., 1 or more, as in PASCAL VOC 2007; recall is compared in integers.
    Tied labels enter the list together, so they share the precision at the end of the tie.

    The result is as for `image_auc`; 1 is best.

    Parameters
    ----------
    Y : array-like, sparse matrix or DataFrame, shape (n_samples, n_labels), of 1, 0 and nan (unknown)
    F : array-like, shape (n_samples, n_labels), scores; higher means more likely present
    """
    return mean_over_samples(ranks.eleven_point_precision, Y, F)


def category_auc(Y, F) -> float:
    """Category-based AUC: per label over the samples, then the mean over labels. A tie counts 1/2.

    Equals ``sklearn.metrics.roc_auc_score(Y, F, average="macro")`` on complete labels.

    The result is as for `image_auc`; nan if no label has a known positive and a known negative.

    Parameters
    ----------
    Y : array-like, sparse matrix or DataFrame, shape (n_samples, n_labels), of 1, 0 and nan (unknown)
    F : array-like, shape (n_samples, n_labels), scores; higher means more likely present
    """
    return mean_over_labels(ranks.auc, Y, F)


def category_average_precision(Y, F) -> float:
    """Category-based 11-point average precision: per label over the samples, then the mean over labels.

    Ties as in `image_average_precision`. Parameters as for `image_auc`; 1 is best; nan if no label has a
    known positive and a known negative.

    Parameters
    ----------
    Y : array-like, sparse matrix or DataFrame, shape (n_samples, n_labels), of 1, 0 and nan (unknown)
    F : array-like, shape (n_samples, n_labels), scores; higher means more likely present
    """
    return mean_over_labels(ranks.eleven_point_precision, Y, F)


def label_ranking_average_precision(Y, F) -> float:
    """Average precision of each sample without interpolation, mean over samples (LRAP).

    A tied label stands on the last place of its tie, as in
    ``sklearn.metrics.label_ranking_average_precision_score``, which however counts samples without a positive
    or without a negative as 1. The result is as for `image_auc`; 1 is best.

    Parameters
    ----------
    Y : array-like, sparse matrix or DataFrame, shape (n_samples, n_labels), of 1, 0 and nan (unknown)
    F : array-like, shape (n_samples, n_labels), scores; higher means more likely present
    """
    return mean_over_samples(ranks.average_precision, Y, F)


def ranking_loss(Y, F) -> float:
    """Share of (present, absent) label pairs in the wrong order, mean over samples; lower is better.

    A tie counts as an error, as in the literature and ``sklearn.metrics.label_ranking_loss`` (which however
    counts samples without a positive or a negative as 0). So it is 1 - `image_auc` only without ties.
    The result is as for `image_auc`; 0 is best.

    Parameters
    ----------
    Y : array-like, sparse matrix or DataFrame, shape (n_samples, n_labels), of 1, 0 and nan (unknown)
    F : array-like, shape (n_samples, n_labels), scores; higher means more likely present
    """
    return mean_over_samples(ranks.pair_loss, Y, F)


def coverage(Y, F, *, first_place=1) -> float:
    """How far down the list one must go to find all present labels, mean over samples; lower is better.

    A tied label stands on the last place of its tie, as in ``sklearn.metrics.coverage_error``.

    Parameters
    ----------
    Y, F : as for `image_auc`
    first_place : {1, 0}, the number of the first place: 1 as scikit-learn counts, 0 as the multi-label
        literature does

    Returns
    -------
    float; the best possible value is the mean number of positives, less 1 if places count from 0
    """
    if first_place not in (0, 1):
        raise ValueError(f"first_place must be 1 (scikit-learn) or 0 (literature), got {first_place!r}")
    return mean_over_samples(ranks.depth, Y, F) - (1 - first_place)


def one_error(Y, F) -> float:
    """Share of samples whose first label is not present; lower is better.

    Among labels tied for the first place each is first with the same chance: the expected value is returned.
    The result is as for `image_auc`; 0 is best.

    Parameters
    ----------
    Y : array-like, sparse matrix or DataFrame, shape (n_samples, n_labels), of 1, 0 and nan (unknown)
    F : array-like, shape (n_samples, n_labels), scores; higher means more likely present
    """
    return mean_over_samples(ranks.miss_at_top, Y, F)


def split_by_objects(metric, Y, F) -> dict[str, float]:
    """A metric on all samples, on those with exactly one known positive and on those with two or more.

    Parameters
    ----------
    metric : function of (Y, F), any metric of this package; F may also hold predictions
    Y, F : as for `image_auc`

    Returns
    -------
    dict with the keys "overall", "single", "multi"
    """
    answer, states = {"overall": metric(Y, F)}, label_states(Y)
    labels, values = labels_from_states(states), F.tocsr() if hasattr(F, "tocsr") else np.asarray(F)
    for name, rows in object_parts(states).items():
        answer[name] = metric(labels[rows], values[rows])
    return answer


def object_parts(states):
    """Masks of the samples with exactly one ("single") and with two or more known positives ("multi")."""
    n_positive = np.count_nonzero(states > 0, axis=1)
    return {"single": n_positive == 1, "multi": n_positive > 1}


def mean_over_samples(measure, Y, F):
    """Mean of a row measure over the samples that it is defined for."""
    states, scores = check_scores(Y, F)
    return mean_defined(measure_rows(states, scores, {"value": measure})["value"])


def mean_over_labels(measure, Y, F):
    """Mean of a row measure over the labels that it is defined for."""
    states, scores = check_scores(Y, F)
    return mean_defined(measure_rows(states.T, scores.T, {"value": measure})["value"])


def precision_at_k(Y, F, *, k=5) -> float:
    """P@k: present labels among the first k, divided by k, mean over samples.

    The divisor stays k where a sample has fewer than k positives or fewer than k known labels.

    Parameters
    ----------
    Y : array-like, sparse matrix or DataFrame, shape (n_samples, n_labels), of 1, 0 and nan (unknown)
    F : array-like, shape (n_samples, n_labels), scores
    k : int, length of the list

    Returns
    -------
    float, higher is better; nan if no sample has a known positive and a known negative
    """
    return mean_over_samples(partial(ranks.precision_at, k=check_count("k", k)), Y, F)


def recall_at_k(Y, F, *, k=5) -> float:
    """R@k: share of a sample's present labels that are among the first k, mean over samples.

    The result is as for `precision_at_k`.

    Parameters
    ----------
    Y : array-like, sparse matrix or DataFrame, shape (n_samples, n_labels), of 1, 0 and nan (unknown)
    F : array-like, shape (n_samples, n_labels), scores; higher means more likely present
    k : int, how many labels of each sample are looked at, from the top
    """
    return mean_over_samples(partial(ranks.recall_at, k=check_count("k", k)), Y, F)


def ndcg_at_k(Y, F, *, k=5) -> float:
    """NDCG@k: gains discounted by log2(place + 1) over those of a perfect list, mean over samples.

    Equals ``sklearn.metrics.ndcg_score(Y, F, k=k)`` on complete labels, also with ties, where every sample
    has a positive and a negative. The result is as for `precision_at_k`; 1 is best.

    Parameters
    ----------
    Y : array-like, sparse matrix or DataFrame, shape (n_samples, n_labels), of 1, 0 and nan (unknown)
    F : array-like, shape (n_samples, n_labels), scores; higher means more likely present
    k : int, how many labels of each sample are looked at, from the top
    """
    return mean_over_samples(partial(ranks.discounted_gain_at, k=check_count("k", k)), Y, F)


_over_samples = partial(Metric, takes="scores", over="samples")
_over_labels = partial(Metric, takes="scores", over="labels")
RANKING_METRICS = (
    _over_samples(
        "Image-AUC",
        image_auc,
        measure=ranks.auc,
        about="How often a right tag of a picture ranks above a wrong one; 0.5 is guessing.",
        formula="share of (positive, negative) pairs in order, mean over samples",
    ),
    _over_samples(
        "Image-MAP",
        image_average_precision,
        measure=ranks.eleven_point_precision,
        about="Mean precision of the ranked tags of a picture at eleven levels of recall.",
        formula="11-point: mean over q = 0..10 of max { hits_p / upto_p : 10 hits_p ≥ q a }, in integers",
    ),
    _over_labels(
        "Category-AUC",
        category_auc,
        measure=ranks.auc,
        about="How often a picture with a tag ranks above a picture without it; 0.5 is guessing.",
        formula="as Image-AUC, per label over the samples, mean over labels",
    ),
    _over_labels(
        "Category-MAP",
        category_average_precision,
        measure=ranks.eleven_point_precision,
        about="Mean precision of the ranked pictures of a tag at eleven levels of recall.",
        formula="as Image-MAP, per label over the samples, mean over labels",
    ),
    _over_samples(
        "LRAP",
        label_ranking_average_precision,
        measure=ranks.average_precision,
        about="The share of right tags among those down to each right tag.",
        formula="mean of hits_p / upto_p, not interpolated",
    ),
    _over_samples(
        "Ranking loss",
        ranking_loss,
        measure=ranks.pair_loss,
        higher_is_better=False,
        about="The share of pairs of a right and a wrong tag of a picture in the wrong order.",
        formula="sum of (upto_p - hits_p) / (a b); 1 - AUC without ties",
    ),
    _over_samples(
        "Coverage",
        coverage,
        measure=ranks.depth,
        higher_is_better=False,
        about="How far down the ranking one must go to find all tags of a picture.",
        formula="max of upto_p; places count from 1 as in scikit-learn, `first_place=0` as in the literature",
    ),
    _over_samples(
        "One-error",
        one_error,
        measure=ranks.miss_at_top,
        higher_is_better=False,
        about="The share of pictures whose best tag is wrong.",
        formula="chance that the first label is not present",
    ),
)
# of a list of k labels: what each tells, for k = 1 and otherwise, and its formula
_LISTS = {
    "P": (
        precision_at_k,
        ranks.precision_at,
        (
            "The share of pictures whose best tag is right.",
            "The share of right tags among the {k} best tags of a picture.",
        ),
        "positives among the first k, divided by k (always k)",
    ),
    "R": (
        recall_at_k,
        ranks.recall_at,
        (
            "The share of the right tags of a picture that its best tag covers.",
            "The share of the right tags of a picture that are among its {k} best tags.",
        ),
        "positives among the first k, divided by a",
    ),
    "NDCG": (
        ndcg_at_k,
        ranks.discounted_gain_at,
        ("Like P@{k}, but a right tag counts more the higher it ranks.",) * 2,
        "sum of 1 / log2(place + 1) over positives in the first k, divided by that of a perfect list",
    ),
}


def list_metrics(ks):
    """Entries of the metrics of a list, for each of its lengths."""
    return [
        _over_samples(
            f"{name}@{k}",
            partial(function, k=k),
            measure=partial(measure, k=k),
            about=about[k > 1].format(k=k),
            formula=formula,
        )
        for name, (function, measure, about, formula) in _LISTS.items()
        for k in ks
    ]
