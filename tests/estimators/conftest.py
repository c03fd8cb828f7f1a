"""The methods of the registry, by what they have."""

import pytest

from tagrank import estimators
from tagrank.estimators.methods import METHODS

CLASSES = [getattr(estimators, method.estimator) for method in METHODS]


def every(*names):
    """A fixture of all classes that have these parameters."""
    kinds = [kind for kind in CLASSES if set(names) <= kind().get_params().keys()]
    return pytest.fixture(params=kinds, ids=lambda kind: kind.__name__)


@every("C")
def Estimator(request):
    """A class that is trained on similarities or rows, to a certificate."""
    return request.param


@every("C", "fit_intercept")
def WithIntercept(request):
    """One that may add an intercept."""
    return request.param
