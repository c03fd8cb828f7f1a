"""Training on one Gram matrix: the choice of C, the folds of a calibration and the last fit share it.

Widths of kernels are those of all training rows, also within the folds; they know nothing of the labels.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from tagrank.annotation.bank.picture_keys import Progress
from tagrank.annotation.nesting import innermost, innermost_fitted
from tagrank.annotation.tuning import CRITERION, Tuning, tune_cost
from tagrank.kernels import Kernel, Linear, Power, Precomputed, make_kernel
from tagrank.solvers.solution import SINGLE_PRECISION_TOL


def fit_on_gram(
    estimator: Any,
    X: Any,
    labels: Any,
    *,
    costs: Sequence[float] | None = None,
    powers: Sequence[int] = (1,),
    criterion: str = CRITERION,
    progress: Progress | None = None,
    **more: Any,
) -> tuple[Any, Tuning | None]:
    """Train an estimator, or what calibrates one, after choosing its C and a power of its kernel.

    Parameters
    ----------
    estimator : not fitted; it stays as it is
    X : rows, or mapping of views to rows
    labels : shape (n, n_labels)
    costs : values of C to choose among by cross-validation; None keeps that of the estimator
    powers : with `costs`, also choose to which of these powers the kernel is raised
    criterion : what to choose by, a key of `CRITERIA`
    progress : called with how much is done, of how much, and what is being done
    more : handed to `fit`

    Returns
    -------
    fitted : as if it had been trained on the rows
    tuning : how well the costs did with the power that was chosen, None without `costs`
    """
    model = clone(estimator)
    inner = innermost(model)
    if costs is not None and not hasattr(inner, "C"):
        costs = None
    shared = share_gram(inner, X, progress=progress)
    if shared is None:
        tuning = None if costs is None else tune_cost(inner, X, labels, costs=costs, progress=progress)
        if tuning is not None:
            inner.set_params(C=tuning.best(criterion))
        return model.fit(X, labels, **more), tuning
    fitted_kernel, K = shared
    asked, tuning = innermost(clone(estimator)), None
    if costs is not None:
        tuning = _choose(inner, K, labels, costs, powers, criterion, progress)
        inner.set_params(C=tuning.best(criterion))
        if tuning.power > 1:
            K **= tuning.power
            fitted_kernel = Power(fitted_kernel, tuning.power)
            kernel = make_kernel(asked.kernel, gamma=asked.gamma)
            asked.set_params(kernel=Power(kernel, tuning.power), gamma=None)
    model.fit(K, labels, **more)
    _read_rows(model, asked, fitted_kernel, X)
    return model, tuning


def share_gram(
    estimator: Any, X: Any, *, progress: Progress | None = None
) -> tuple[Kernel, np.ndarray] | None:
    """Compare all rows with each other, and let the estimator read such similarities from now on.

    Parameters
    ----------
    estimator : not fitted; its kernel becomes a precomputed one
    X : rows, or mapping of views to rows
    progress : called with how much is done, of how much, and what is being done

    Returns
    -------
    kernel, K : the kernel with its widths fixed, and the Gram matrix; None, with the estimator as it was, for
        one that is better off with the rows themselves
    """
    kernel = make_kernel(estimator.kernel, gamma=estimator.gamma) if hasattr(estimator, "kernel") else None
    if kernel is None or isinstance(kernel, Linear | Precomputed):
        return None
    if progress is not None:
        progress(0, 1, "comparing pictures with each other")
    dtype = np.float32 if estimator.tol >= SINGLE_PRECISION_TOL else None
    fitted, K = kernel.fit_gram(X, dtype=dtype, n_jobs=estimator.n_jobs)
    estimator.set_params(kernel=Precomputed(trusted=True), gamma=None)
    return fitted, K


def _choose(
    inner: Any,
    K: np.ndarray,
    labels: Any,
    costs: Sequence[float],
    powers: Sequence[int],
    criterion: str,
    progress: Progress | None,
) -> Tuning:
    """The costs under the best power of the kernel; the smallest of equals."""

    def counted(i: int) -> Progress | None:
        if progress is None:
            return None
        return lambda done, total, what: progress(i * total + done, len(powers) * total, what)

    tunings = [
        tune_cost(inner, K if power == 1 else K**power, labels, costs=costs, power=power, progress=counted(i))
        for i, power in enumerate(sorted(powers))
    ]
    return max(tunings, key=lambda tuning: tuning.best_score(criterion))


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
