"""The scikit-learn face of tagrank."""

from tagrank.estimators.calibrated import CalibratedRanker
from tagrank.estimators.calibration import Calibration, calibration_from_arrays
from tagrank.estimators.incomplete_label_ranker import IncompleteLabelRanker
from tagrank.estimators.joint_svm import JointSVM
from tagrank.estimators.label_frequency import LabelFrequency
from tagrank.estimators.label_ranker import LabelRanker
from tagrank.estimators.one_vs_all import OneVsAllSVM
from tagrank.estimators.online_joint_svm import OnlineJointSVM
from tagrank.estimators.online_ranker import OnlineRanker
from tagrank.estimators.pairwise_ranker import PairwiseRanker
from tagrank.estimators.prior_margin import PriorMarginClassifier
from tagrank.estimators.priors import correlation_prior, signature_prior

__all__ = [
    "CalibratedRanker",
    "Calibration",
    "IncompleteLabelRanker",
    "JointSVM",
    "LabelFrequency",
    "LabelRanker",
    "OneVsAllSVM",
    "OnlineJointSVM",
    "OnlineRanker",
    "PairwiseRanker",
    "PriorMarginClassifier",
    "calibration_from_arrays",
    "correlation_prior",
    "signature_prior",
]
