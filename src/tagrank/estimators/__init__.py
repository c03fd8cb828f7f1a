"""The scikit-learn face of tagrank."""

from tagrank.estimators.calibrated import CalibratedRanker
from tagrank.estimators.calibration import Calibration, calibration_from_arrays
from tagrank.estimators.label_frequency import LabelFrequency
from tagrank.estimators.label_ranker import LabelRanker
from tagrank.estimators.one_vs_all import OneVsAllSVM

__all__ = [
    "CalibratedRanker",
    "Calibration",
    "LabelFrequency",
    "LabelRanker",
    "OneVsAllSVM",
    "calibration_from_arrays",
]
