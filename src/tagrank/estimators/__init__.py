"""The scikit-learn face of tagrank: every class of the registry, and what goes around one.

Names are resolved on first use: listing the methods should not wait for scikit-learn.
"""

from importlib import import_module

from tagrank.estimators.methods import METHODS

_HOME_OF = {
    "CalibratedRanker": "calibration.calibrated",
    "Calibration": "calibration.calibrated",
    "LabelEstimator": "base",
    "MaxMarginEstimator": "max_margin",
    "ProbabilityRanker": "calibration.probability_ranker",
    "ScoreSum": "score_sum",
    "calibration_from_arrays": "calibration.calibrated",
    "correlation_prior": "prior_margin",
    "signature_prior": "prior_margin",
}


def __getattr__(name):
    if name in _HOME_OF:
        return getattr(import_module(f"tagrank.estimators.{_HOME_OF[name]}"), name)
    if name == "__all__":
        return sorted([*_HOME_OF, *(method.estimator for method in METHODS)])
    for method in METHODS:
        if method.estimator == name:
            return method.load()
    raise AttributeError(f"module 'tagrank.estimators' has no attribute {name!r}")
