"""The methods of the registry, by what they have."""

import pytest

from tagrank.estimators.methods import METHODS

CLASSES = [method.load() for method in METHODS]


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


@pytest.fixture(
    params=[kind for kind in CLASSES if hasattr(kind, "partial_fit")], ids=lambda kind: kind.__name__
)
def Online(request):
    """One that goes on learning from a stream."""
    return request.param
