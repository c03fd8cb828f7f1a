"""Estimators of methods that are given by name, and what pictures and tags decide about them."""

from collections.abc import Mapping, Sequence
from typing import Any

from tagrank.annotation.estimator_choice import mean_kernel
from tagrank.errors import ArgumentError
from tagrank.estimators.methods import find_method
from tagrank.estimators.tag_matrices import TagMatrix, as_tag_matrix
from tagrank.features import Feature
from tagrank.suggestions import did_you_mean

PICTURE_COSTS = (0.3, 1.0, 3.0, 10.0)


def make_estimator(
    method: str, parameters: Mapping[str, Any], *, seed: int | None = None, n_jobs: int | None = None
) -> Any:
    """The estimator of a method, not fitted.

    Parameters
    ----------
    method : a name from `methods`
    parameters : constructor arguments; None leaves the default of the estimator, anything else must be one
        of its parameters. For a matrix with a row and a column for each tag there may stand its file, see
        `read_tag_matrix`, or a DataFrame; `order_matrices` has the last word on them.
    seed, n_jobs : its `random_state` and its threads, where it has any
    """
    from tagrank import estimators

    estimator = getattr(estimators, find_method(method).estimator)()
    known = estimator.get_params(deep=False)
    given = {name: as_tag_matrix(value, name) for name, value in parameters.items() if value is not None}
    if strangers := sorted(set(given) - set(known)):
        raise ArgumentError(
            f"method {method!r} has no parameter {', '.join(strangers)}{did_you_mean(strangers[0], known)}; "
            f"it has: {', '.join(known) or 'none'}"
        )
    usual = {"random_state": seed, "n_jobs": n_jobs}
    given |= {name: value for name, value in usual.items() if name in known}
    return estimator.set_params(**given)


def order_matrices(estimator: Any, tags: Sequence[str]) -> None:
    """Bring the rows and columns of matrices among the parameters into the order of the tags."""
    for name, value in estimator.get_params(deep=False).items():
        if isinstance(value, TagMatrix):
            estimator.set_params(**{name: value.ordered(tags)})


def check_gamma(parameters: Mapping[str, Any]) -> None:
    """Raise if a width is given for pictures without the kernel that it belongs to."""
    gamma = parameters.get("gamma")
    if gamma is not None and parameters.get("kernel") is None:
        raise ArgumentError(
            f"gamma={gamma:g} goes with kernel=rbf or kernel=chi2: unless a kernel is named, pictures have "
            "the mean of those that suit their features, each with a width of its own"
        )


def suit_kernel(estimator: Any, parameters: Mapping[str, Any], features: Mapping[str, Feature]) -> None:
    """Give the estimator the kernel of these features, if there are any, unless one was chosen."""
    if features and hasattr(estimator, "kernel") and parameters.get("kernel") is None:
        estimator.set_params(kernel=mean_kernel(features))
