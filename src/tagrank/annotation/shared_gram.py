"""Training on one Gram matrix: the choice of C, the folds of a calibration and the last fit share it.

Widths of kernels are those of all training rows, also within the folds; they know nothing of the labels.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from tagrank.annotation.nesting import innermost, innermost_fitted
from tagrank.annotation.picture_keys import Progress
from tagrank.annotation.tuning import Tuning, tune_cost
from tagrank.kernels import Kernel, Linear, Precomputed, make_kernel
from tagrank.solvers.dual_ascent import SINGLE_PRECISION_TOL


def fit_on_gram(
    estimator: Any,
    X: Any,
    labels: Any,
    *,
    costs: Sequence[float] | None = None,
    progress: Progress | None = None,
    **more: Any,
) -> tuple[Any, Tuning | None]:
    """Train an estimator, or what calibrates one, after choosing its C.

    Parameters
    ----------
    estimator : not fitted; it stays as it is
    X : rows, or mapping of views to rows
    labels : shape (n, n_labels)
    costs : values of C to choose among by cross-validation; None keeps that of the estimator
    progress : called with how much is done, of how much, and what is being done
    more : handed to `fit`

    Returns
    -------
    fitted : as if it had been trained on the rows
    tuning : how well the costs did, None without `costs`
    """
    model = clone(estimator)
    inner = innermost(model)
    kernel = make_kernel(inner.kernel, gamma=inner.gamma) if hasattr(inner, "kernel") else None
    if kernel is None or isinstance(kernel, Linear | Precomputed):
        tuning = _tune(inner, X, labels, costs, progress)
        return model.fit(X, labels, **more), tuning
    if progress is not None:
        progress(0, 1, "comparing pictures with each other")
    fitted_kernel, K = kernel.fit_gram(
        X, dtype=np.float32 if inner.tol >= SINGLE_PRECISION_TOL else None, n_jobs=inner.n_jobs
    )
    inner.set_params(kernel=Precomputed(trusted=True), gamma=None)
    tuning = _tune(inner, K, labels, costs, progress)
    model.fit(K, labels, **more)
    _read_rows(model, innermost(estimator), fitted_kernel, X)
    return model, tuning


def _tune(
    inner: Any, X: Any, labels: Any, costs: Sequence[float] | None, progress: Progress | None
) -> Tuning | None:
    if costs is None or not hasattr(inner, "C"):
        return None
    tuning = tune_cost(inner, X, labels, costs=costs, progress=progress)
    inner.set_params(C=tuning.best())
    return tuning


def _read_rows(model: Any, asked: Any, kernel: Kernel, X: Any) -> None:
    """Let an estimator that was trained on a Gram matrix answer for rows, as the one that was asked for."""
    fitted = innermost_fitted(model)
    for inner in (innermost(model), fitted):
        inner.set_params(kernel=asked.kernel, gamma=asked.gamma)
    fitted.kernel_, fitted.X_fit_ = kernel, X
    for level in (model, fitted):
        vars(level).pop("n_features_in_", None)
        if hasattr(X, "shape"):
            level.n_features_in_ = X.shape[1]
