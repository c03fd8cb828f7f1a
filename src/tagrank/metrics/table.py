"""All metrics by name, and those of one set of scores in one table, each matrix sorted once."""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tagrank.metrics.metric import Metric, check_predictions, check_scores
from tagrank.metrics.predictions import (
    ANNOTATION_FIELDS,
    PREDICTION_METRICS,
    annotation_metrics,
    count_labels,
    count_top_labels,
    divide,
    summarise,
)
from tagrank.metrics.ranking import RANKING_METRICS, list_metrics, object_parts
from tagrank.metrics.ranks import auc, eleven_point_precision, mean_defined, measure_rows
from tagrank.validation import check_count

_SPLIT = ("Image-AUC", "Image-MAP")
_PARTS = {
    " (single)": "The same, for pictures with one tag.",
    " (multi)": "The same, for pictures with several tags.",
}


def catalog_metrics(*, ks=(1, 3, 5), n_tags=5) -> dict[str, Metric]:
    """All metrics, in the order of the table.

    Parameters
    ----------
    ks : sequence of int, lengths of the lists of P@k, R@k and NDCG@k
    n_tags : int, labels given to each sample by the annotation scores

    Returns
    -------
    dict of name -> Metric
    """
    ks = [check_count("each of ks", k) for k in ks]
    n_tags = check_count("n_tags", n_tags)
    metrics = [*RANKING_METRICS, *list_metrics(ks), *annotation_metrics(n_tags), *PREDICTION_METRICS]
    return {metric.name: metric for metric in metrics}


@dataclass(frozen=True)
class MetricRow:
    """One metric of a table.

    Attributes
    ----------
    name : str
    value : float, nan if the metric is defined for no sample or label
    higher_is_better : bool
    over : {"samples", "labels", "entries"}, what the mean runs over
    n_used, n_dropped : int, samples, labels or entries in the mean, and left out of it
    about : str, what it tells, in a line for people
    """

    name: str
    value: float
    higher_is_better: bool
    over: str
    n_used: int
    n_dropped: int
    about: str = ""


@dataclass(frozen=True)
class MetricTable:
    """Metrics in a fixed order; ``table["P@1"]`` is a value, iteration gives the rows.

    Attributes
    ----------
    rows : tuple of MetricRow
    n_samples, n_labels, n_unknown : int, shape of the labels and how many of them are unknown
    n_tags : int, labels given to each sample by the annotation scores
    """

    rows: tuple
    n_samples: int
    n_labels: int
    n_unknown: int
    n_tags: int

    def __getitem__(self, name) -> float:
        for row in self.rows:
            if row.name == name:
                return row.value
        raise KeyError(f"no metric {name!r} in this table; it has {', '.join(self.names())}")

    def __iter__(self) -> Iterator[MetricRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def names(self) -> list[str]:
        """The names of the metrics, in order."""
        return [row.name for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers for JSON; an undefined value is None."""
        answer = asdict(self)
        answer["rows"] = [
            {**asdict(row), "value": None if math.isnan(row.value) else row.value} for row in self.rows
        ]
        return answer

    def __str__(self):
        width = max(map(len, self.names()), default=0)
        return "\n".join(_line(row, width) for row in self.rows)


def metric_table(Y, F, predictions=None, *, n_tags=5, ks=(1, 3, 5)) -> MetricTable:
    """Every metric of the catalogue, and image-based AUC and MAP split by the number of objects.

    Parameters
    ----------
    Y : array-like, sparse matrix or DataFrame, shape (n_samples, n_labels), of 1, 0 and nan (unknown)
    F : array-like, shape (n_samples, n_labels), scores
    predictions : array-like or sparse matrix, shape (n_samples, n_labels), of 0 and 1; without them the table
        has no F-measures and no Hamming loss
    n_tags : int, labels given to each sample by the annotation scores
    ks : sequence of int, lengths of the lists of P@k, R@k and NDCG@k

    Returns
    -------
    MetricTable
    """
    states, scores = check_scores(Y, F)
    metrics = catalog_metrics(ks=ks, n_tags=n_tags)
    by_name = {**_ranking_rows(states, scores, metrics), **_annotation_rows(states, scores, metrics, n_tags)}
    if predictions is not None:
        by_name.update(_prediction_rows(Y, predictions, metrics))
    n_unknown = int(np.count_nonzero(states == 0))
    # the split rows follow the metric that they split
    rows = tuple(row for name in metrics if name in by_name for row in by_name[name])
    return MetricTable(rows, *states.shape, n_unknown=n_unknown, n_tags=int(n_tags))


def per_label_table(Y, F, predictions=None, *, tags=None, n_tags=5) -> dict[str, np.ndarray]:
    """Support, precision, recall, F1, AUC and 11-point AP of each label.

    Parameters
    ----------
    Y, F, predictions : as for `metric_table`; without predictions each sample gets its `n_tags` best labels
    tags : sequence of str, names of the labels; default the columns of a DataFrame Y, else their numbers
    n_tags : int, default 5, how many labels each sample gets without predictions

    Returns
    -------
    dict of column -> array, shape (n_labels,): "tag", "support" (known positives), "known" (known labels),
    "precision" (0 if never predicted), "recall", "f1", "auc", "ap"; nan where undefined. recall and f1 are
    undefined without a positive, auc and ap without a positive and a negative.
    """
    states, scores = check_scores(Y, F)
    if predictions is None:
        counts = count_top_labels(states, scores, n_tags=check_count("n_tags", n_tags))
    else:
        counts = count_labels(*check_predictions(Y, predictions))
    precision, recall = counts.precision(), counts.recall()
    f1 = divide(2 * precision * recall, precision + recall, empty=0)
    present = counts.n_present > 0
    return {
        "tag": _label_names(Y, tags, states.shape[1]),
        "support": counts.n_present,
        "known": np.count_nonzero(states, axis=0),
        "precision": precision,
        "recall": np.where(present, recall, np.nan),
        "f1": np.where(present, f1, np.nan),
        **measure_rows(states.T, scores.T, {"auc": auc, "ap": eleven_point_precision}),
    }


def _ranking_rows(states, scores, metrics):
    rows = {}
    for over, matrices in (("samples", (states, scores)), ("labels", (states.T, scores.T))):
        ranked = {
            name: metric.measure
            for name, metric in metrics.items()
            if metric.measure and (metric.takes, metric.over) == ("scores", over)
        }
        for name, values in measure_rows(*matrices, ranked).items():
            rows[name] = [_mean_row(metrics[name], values)]
            if name in _SPLIT:
                rows[name] += [
                    _mean_row(metrics[name], values[part], f" ({kind})")
                    for kind, part in object_parts(states).items()
                ]
    return rows


def _annotation_rows(states, scores, metrics, n_tags):
    summary = summarise(count_top_labels(states, scores, n_tags=n_tags))
    return {
        name: [_row(metrics[name], float(getattr(summary, field)), summary.n_labels, summary.n_dropped)]
        for name, (field, *_) in ANNOTATION_FIELDS.items()
    }


def _prediction_rows(Y, predictions, metrics):
    states, predicted = check_predictions(Y, predictions)
    n_known, rows = np.count_nonzero(states), {}
    for name, metric in metrics.items():
        if metric.takes == "predictions":
            values = metric.measure(states, predicted)
            if metric.over == "entries":
                rows[name] = [_row(metric, mean_defined(values), n_known, states.size - n_known)]
            else:
                rows[name] = [_mean_row(metric, values)]
    return rows


def _mean_row(metric, values, suffix=""):
    n_dropped = np.count_nonzero(np.isnan(values))
    return _row(metric, mean_defined(values), len(values) - n_dropped, n_dropped, suffix)


def _row(metric, value, n_used, n_dropped, suffix=""):
    name, about = metric.name + suffix, _PARTS.get(suffix, metric.about)
    return MetricRow(name, value, metric.higher_is_better, metric.over, int(n_used), int(n_dropped), about)


def _line(row, width):
    value = "undefined" if math.isnan(row.value) else f"{row.value:.4f}"
    better = "higher" if row.higher_is_better else "lower"
    counts = f"{row.n_used} {row.over}, {row.n_dropped} dropped"
    return f"{row.name:{width}}  {value:>9}  {better:6} is better, {counts}"


def _label_names(Y, tags, n_labels):
    if tags is None:
        tags = list(getattr(Y, "columns", range(n_labels)))
    if len(tags) != n_labels:
        raise ValueError(f"tags must name the {n_labels} labels, got {len(tags)} names")
    return np.array(tags, dtype=object)
