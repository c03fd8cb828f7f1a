"""The scikit-learn face of tagrank."""

from tagrank.estimators.baselines.label_frequency import LabelFrequency
from tagrank.estimators.calibration.calibrated import CalibratedRanker
from tagrank.estimators.calibration.calibration import Calibration, calibration_from_arrays
from tagrank.estimators.classification.one_vs_all import OneVsAllSVM
from tagrank.estimators.classification.prior_margin import PriorMarginClassifier
from tagrank.estimators.classification.priors import correlation_prior, signature_prior
from tagrank.estimators.joint.joint_svm import JointSVM
from tagrank.estimators.online.online_joint_svm import OnlineJointSVM
from tagrank.estimators.online.online_ranker import OnlineRanker
from tagrank.estimators.ranking.incomplete_label_ranker import IncompleteLabelRanker
from tagrank.estimators.ranking.label_ranker import LabelRanker
from tagrank.estimators.ranking.pairwise_ranker import PairwiseRanker

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
