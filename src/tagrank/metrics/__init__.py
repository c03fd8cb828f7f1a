"""True labels and scores in, numbers out; unknown labels are masked out."""

from tagrank.metrics.metric import Metric
from tagrank.metrics.predictions import AnnotationScores, annotation_scores, f_measure, hamming_loss
from tagrank.metrics.ranking import (
    category_auc,
    category_average_precision,
    coverage,
    image_auc,
    image_average_precision,
    label_ranking_average_precision,
    ndcg_at_k,
    one_error,
    precision_at_k,
    ranking_loss,
    recall_at_k,
    split_by_objects,
)
from tagrank.metrics.table import MetricRow, MetricTable, catalog_metrics, metric_table, per_label_table

__all__ = [
    "AnnotationScores",
    "Metric",
    "MetricRow",
    "MetricTable",
    "annotation_scores",
    "catalog_metrics",
    "category_auc",
    "category_average_precision",
    "coverage",
    "f_measure",
    "hamming_loss",
    "image_auc",
    "image_average_precision",
    "label_ranking_average_precision",
    "metric_table",
    "ndcg_at_k",
    "one_error",
    "per_label_table",
    "precision_at_k",
    "ranking_loss",
    "recall_at_k",
    "split_by_objects",
]
