"""Estimators inside estimators: a wrapper carries its own as `estimator`, and fitted as `estimator_`."""

from typing import Any


def innermost(estimator: Any) -> Any:
    """The estimator inside all wrappers."""
    while hasattr(estimator, "estimator"):
        estimator = estimator.estimator
    return estimator


def innermost_fitted(estimator: Any) -> Any:
    """The fitted estimator inside all fitted wrappers."""
    while hasattr(estimator, "estimator_"):
        estimator = estimator.estimator_
    return estimator
