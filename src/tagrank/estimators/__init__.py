"""The scikit-learn face of tagrank."""

from tagrank.estimators.label_ranker import LabelRanker
from tagrank.estimators.one_vs_all import OneVsAllSVM

__all__ = ["LabelRanker", "OneVsAllSVM"]
