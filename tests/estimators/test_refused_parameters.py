"""Parameters that mean nothing are refused when training begins, with what was expected and what came."""

import numpy as np
import pytest

from tagrank.estimators import (
    IncompleteLabelRanker,
    JointSVM,
    OneVsAllSVM,
    OnlineJointSVM,
    OnlineRanker,
    PriorMarginClassifier,
)
from tagrank.estimators.methods import METHODS

X = np.random.default_rng(0).normal(size=(20, 3))
Y = (X + 0.1 > 0).astype(float)
CLASSES = [method.load() for method in METHODS]


def every_with(*names):
    """All classes of the registry that have these parameters."""
    kinds = [kind for kind in CLASSES if set(names) <= kind().get_params().keys()]
    return pytest.mark.parametrize("Estimator", kinds)


def refuse(estimator, match):
    with pytest.raises(ValueError, match=match):
        estimator.fit(X, Y)


@every_with("max_iter")
@pytest.mark.parametrize("value", [0, -1, 2.5, "10", None, True])
def test_passes(Estimator, value):
    refuse(Estimator(max_iter=value), f"max_iter must be a positive integer, got {value!r}")


@every_with("max_seconds")
@pytest.mark.parametrize("value", [-1, 0, np.nan, "5"])
def test_seconds(Estimator, value):
    refuse(Estimator(max_seconds=value), "max_seconds must be a positive number, got")


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (JointSVM(center="false"), "center"),
        (OnlineJointSVM(center="foo"), "center"),
        (OnlineJointSVM(average="foo"), "average"),
        (OnlineRanker(average=1), "average"),
        (OneVsAllSVM(fit_intercept="no"), "fit_intercept"),
    ],
    ids=str,
)
def test_flags(estimator, name):
    refuse(estimator, f"{name} must be True or False, got")


def test_flags_of_numpy_are_taken():
    JointSVM(center=np.True_).fit(X, Y)


@every_with("kernel", "gamma")
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_gamma(Estimator, kernel):
    refuse(Estimator(kernel=kernel, gamma=-1), "gamma must be a positive number, got -1")


@pytest.mark.parametrize("solver", ["exact", "paper"])
def test_eta(solver):
    refuse(IncompleteLabelRanker(eta=-1, solver=solver), "eta must be a positive number, got -1")


def test_output_kernels_without_a_positive_eigenvalue():
    refuse(JointSVM(output_kernel=-np.eye(3)), "must have a positive eigenvalue, but the largest is -1")
    refuse(JointSVM(output_kernel=np.zeros((3, 3))), "must not be zero throughout")


def test_priors():
    refuse(PriorMarginClassifier(prior=np.eye(3) * 1e300), r"at most 1e\+06, got 1e\+300; divide it by")
    expected = (
        "'correlation' or 'identity', or a matrix .array or DataFrame. with a row and a column for each of"
    )
    for wrong in (None, 3, [1, 2, 3]):
        refuse(PriorMarginClassifier(prior=wrong), f"prior must be {expected} the 3 labels, got")
