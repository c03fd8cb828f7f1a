"""Estimators that compare samples by a kernel."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_array
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import _check_n_features, validate_data

from tagrank.arrays import (
    astype,
    beside,
    free_memory_beside,
    is_elsewhere,
    namespace_of,
    on_device,
    row_blocks,
    rows_within,
    to_host,
)
from tagrank.errors import warn
from tagrank.estimators.base import FLOATS, KERNEL, LabelEstimator, Numbers, Rows, stores
from tagrank.estimators.compared_rows import (
    ComparedRows,
    GramRows,
    LandmarkRows,
    PlainRows,
    Similarities,
)
from tagrank.kernels import Linear, Precomputed, make_kernel, reads_views
from tagrank.kernels.gram import gram, n_rows, take_rows
from tagrank.kernels.maps import NystroemMap
from tagrank.kernels.structure import views_of
from tagrank.kernels.visited_gram import PLACES, visit_gram
from tagrank.resources import available_memory, gibibytes, limited_threads
from tagrank.validation import check_choice, check_rows, check_same_length

KNOWN_OF_ROWS = ("n_features_in_", "feature_names_in_")


class KernelEstimator(LabelEstimator):
    """Scores samples by K(X, X_train) @ dual_coef_ + intercept_, or by X @ coef_.T under the linear kernel.

    A subclass has the parameters `kernel`, `gamma` and `n_jobs`, and once fitted `kernel_`, `intercept_`, and
    `coef_` or `dual_coef_`, `support_` and `X_fit_`.
    """

    # of the training rows only those with a coefficient that is not zero are kept, none for a linear model
    stored = stores(
        kernel_=KERNEL,
        intercept_=Numbers("f", ("n_labels",)),
        coef_=Numbers("f", ("n_labels", "n_features"), optional=True),
        dual_coef_=Numbers("f", ("n_kept", "n_labels"), optional=True),
        X_fit_=Rows("n_kept"),
    )
    gram_dtype = None
    device = None  # where similarities of dense rows are computed and kept; a parameter of some
    visits_rows = False  # whether training reads a few rows of a Gram matrix at a time

    def compare(self, X, *, place="memory") -> Any:
        """As `LabelEstimator.compare`; similarities need not be in memory where `visits_rows` is true.

        Parameters
        ----------
        X : rows in any form that `fit` takes
        place : "memory", "shared", "file" or "computed", where the n x n similarities come from. Folds copy
            their part in "memory", and read it out of the whole where it is "shared", or in a nameless file.
            "computed" holds none, and computes them each time that training visits a row

        Returns
        -------
        PlainRows, or another with its methods `training` and `held_out`, which cut folds out of it
        """
        check_choice("place", place, PLACES)
        if isinstance(X, PlainRows):
            return X
        self._check_parameters()
        kernel = self._kernel_for(X)
        if isinstance(kernel, Linear):
            return PlainRows(X)
        if isinstance(kernel, Precomputed):
            return GramRows.of_all(X)
        checked = clone(self)
        X = checked._check_rows(X, reset=True)
        known = {name: vars(checked)[name] for name in KNOWN_OF_ROWS if name in vars(checked)}
        if getattr(self, "landmarks", None) is not None:
            return self._compare_with_landmarks(X, kernel, known)
        if place != "memory":
            return ComparedRows(X, *self._visit_gram(X, kernel, place), known)
        return ComparedRows(X, *self._fit_gram(X), known)

    def _compare_with_landmarks(self, X, kernel, known):
        X = _on_host(X)
        chosen = NystroemMap(kernel, n_components=self.landmarks, sampling="pivots", random_state=0).fit(X)
        Z = np.empty((n_rows(X), chosen.projection_.shape[1]), dtype=np.float32)
        with limited_threads(self.n_jobs):
            for block in row_blocks(len(Z), rows_within(len(chosen.chosen_))):
                Z[block] = chosen.transform(take_rows(X, block))
        return LandmarkRows(X, chosen.kernel_, Z, chosen.chosen_, chosen.projection_, known)

    def _visit_gram(self, X, kernel, place):
        if not self.visits_rows:
            raise ValueError(
                f"{type(self).__name__} needs all similarities at once: place must be 'memory', got {place!r}"
            )
        return visit_gram(kernel, X, place=place, dtype=self.gram_dtype, n_jobs=self.n_jobs)

    def _fit_gram(self, X, **more):
        """The fitted kernel and the Gram matrix of checked rows."""
        if isinstance(X, ComparedRows):
            return X.kernel, X.K
        kernel = self._kernel_for(X)
        dtype = None if isinstance(kernel, Precomputed) else self.gram_dtype
        if not isinstance(kernel, Precomputed):
            fitted = self._fit_gram_on_device(X, kernel, dtype)
            if fitted is not None:
                return fitted
            X = _on_host(X)
            _check_memory(n_rows(X) ** 2 * np.dtype(dtype or np.float64).itemsize, n_rows(X))
        return kernel.fit_gram(X, dtype=dtype, n_jobs=self.n_jobs, **more)

    def _fit_gram_on_device(self, X, kernel, dtype):
        """The fitted kernel and the Gram matrix on the device of the rows, or on `device`; None on neither.

        A matrix that does not fit there is computed on the CPU, with a warning.
        """
        X = self._rows_on_device(X, kernel, dtype)
        if X is None:
            return None
        from tagrank.kernels.device.gram import BLOCK_ENTRIES, device_gram, fit_on_device

        some = next(iter(X.values())) if isinstance(X, Mapping) else X
        free, itemsize = free_memory_beside(some), some.dtype.itemsize
        needed = itemsize * (n_rows(X) ** 2 + 4 * min(n_rows(X) ** 2, BLOCK_ENTRIES))
        if free is not None and needed > free:
            warn(
                f"the similarities of {n_rows(X):,} samples take {gibibytes(needed)}, and {gibibytes(free)} "
                "of the GPU are free: the CPU computes and keeps them; landmarks=1024 needs far less"
            )
            return None
        kernel = fit_on_device(kernel, X)
        return kernel, device_gram(kernel, X)

    def _rows_on_device(self, X, kernel, dtype=None):
        """Dense rows as arrays of a device, if they are there or `device` names one; None otherwise."""
        some = next(iter(X.values())) if isinstance(X, Mapping) else X
        if self.device is None and not is_elsewhere(some):
            return None
        from tagrank.kernels.device.gram import is_known

        views = X.values() if isinstance(X, Mapping) else (X,)
        if not is_known(kernel) or any(map(sparse.issparse, views)):
            return None

        def placed(rows):
            rows = rows if is_elsewhere(rows) else on_device(rows, self.device)
            name = np.dtype(dtype or np.float64).name
            return astype(rows, getattr(namespace_of(rows), name)) if dtype is not None else rows

        return {view: placed(rows) for view, rows in X.items()} if isinstance(X, Mapping) else placed(X)

    def _kernel_for(self, X):
        """The kernel that the parameters mean for such rows, not fitted."""
        return make_kernel(self.kernel, gamma=self.gamma)

    def raised_kernel(self, power):
        """Its kernel to a power, not fitted."""
        return make_kernel(self.kernel, gamma=self.gamma) ** power

    def _check_parameters(self):
        make_kernel(self.kernel, gamma=self.gamma)

    def _check_rows(self, X, *, reset):
        """Finite rows, or the views of a mapping; a Gram matrix is checked by its kernel."""
        if isinstance(X, ComparedRows | LandmarkRows):
            vars(self).update(X.known)
            return X
        if isinstance(X, Similarities):
            return X
        if isinstance(X, PlainRows):
            X = X.X
        if is_elsewhere(X):
            return self._check_rows_elsewhere(X, reset=reset)
        check_rows("X", X)
        kernel = self._kernel_for(X)
        if isinstance(X, Mapping) and not sparse.issparse(X):
            if not X or not reads_views(kernel):
                raise ValueError(
                    f"X is a mapping of views ({', '.join(map(str, X)) or 'empty'}), but {kernel!r} reads "
                    "one array: say which view with kernel.on(view), or pass that array"
                )
            views = {
                view: check_array(rows, accept_sparse="csr", dtype=FLOATS)
                for view, rows in X.items()
                if view in views_of(kernel) or not isinstance(view, str)
            }
            check_same_length(**{f"view {view!r}": rows for view, rows in views.items()})
            return views
        is_gram = reset and isinstance(kernel, Precomputed)
        return validate_data(
            self,
            X,
            accept_sparse=False if is_gram else "csr",
            dtype=FLOATS,
            ensure_all_finite=not is_gram or kernel.trusted,  # otherwise `fit_gram` looks, in threads
            reset=reset,
        )

    def _check_rows_elsewhere(self, X, *, reset):
        """Finite rows of torch or CuPy, which stay where they are."""
        xp = namespace_of(X)
        if isinstance(self._kernel_for(X), Precomputed) or X.ndim != 2:
            raise ValueError(
                f"an array of {xp.__name__} must hold rows (n_samples, n_features), got the shape "
                f"{tuple(X.shape)} for the kernel {self.kernel!r}"
            )
        if reset:
            vars(self).pop("feature_names_in_", None)
        _check_n_features(self, X, reset=reset)
        if not bool(xp.isfinite(X).all()):
            raise ValueError("X must be finite, got nan or inf")
        return X if X.dtype in (xp.float32, xp.float64) else astype(X, xp.float32)

    def _keep_rows(self, X):
        """Remember the training rows, where scores are computed from them."""
        vars(self).pop("X_fit_", None)
        rows = X.X if isinstance(X, ComparedRows | LandmarkRows) else X
        if rows is not None and not isinstance(self.kernel_, Precomputed):
            self.X_fit_ = _on_host(rows)

    def _scores_of_all(self, X):
        with limited_threads(self.n_jobs):
            return super()._scores_of_all(X)

    def _scores(self, X):
        if hasattr(self, "coef_"):
            if is_elsewhere(X):
                return to_host(X @ beside(self.coef_.T, X, X.dtype)).astype(np.float64) + self.intercept_
            return safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_
        coefficients = self.dual_coef_[self.support_]
        scores = np.empty((n_rows(X), len(self.classes_)))
        similarities = self._similarities_on_device(X) or (lambda block: self._similarities(X, block))
        for block in row_blocks(len(scores), rows_within(len(self.support_))):
            K = similarities(block)
            scores[block] = (
                to_host(K @ beside(coefficients, K, K.dtype)) if is_elsewhere(K) else K @ coefficients
            )
        return scores + self.intercept_

    def _similarities_on_device(self, X):
        """A function of a block of samples, like `_similarities`, for rows on a device; None for others."""
        if isinstance(X, Similarities) or isinstance(self.kernel_, Precomputed):
            return None
        rows = self._rows_on_device(X, self.kernel_)
        if rows is None:
            return None
        from tagrank.kernels.device.gram import device_gram

        kept = take_rows(self.X_fit_, self.support_)
        some = next(iter(rows.values())) if isinstance(rows, Mapping) else rows
        kept = (
            {view: beside(kept[view], some, rows[view].dtype) for view in rows}
            if isinstance(rows, Mapping)
            else beside(kept, some, some.dtype)
        )
        return lambda block: device_gram(self.kernel_, take_rows(rows, block), kept)

    def _similarities(self, X, block=slice(None)):
        """Of the samples in `block` with the support vectors, shape (n_samples, n_support)."""
        X = _on_host(X)
        if isinstance(X, Similarities):
            K = X.K[block]
            return K[:, beside(self.support_, K) if is_elsewhere(K) else self.support_]
        if isinstance(self.kernel_, Precomputed):
            return X[block][:, self.support_]
        return gram(
            self.kernel_, take_rows(X, block), take_rows(self.X_fit_, self.support_), n_jobs=self.n_jobs
        )

    def stored_state(self):
        state = super().stored_state()
        if state["coef_"] is not None:
            state["dual_coef_"] = state["X_fit_"] = None
        elif state["X_fit_"] is not None:
            state["dual_coef_"] = self.dual_coef_[self.support_]
            state["X_fit_"] = take_rows(self.X_fit_, self.support_)
        return state

    def restore(self, state):
        super().restore({name: value for name, value in state.items() if value is not None})
        if "coef_" in vars(self):
            return
        if "dual_coef_" not in vars(self):
            raise ValueError("a kernel model has coefficients of its training rows or of its columns")
        self.support_ = np.flatnonzero(np.any(self.dual_coef_ != 0, axis=1))
        n_kept, n_columns = len(self.dual_coef_), getattr(self, "n_features_in_", None)
        if isinstance(self.kernel_, Precomputed):
            if n_kept != n_columns:
                raise ValueError(
                    f"{n_kept} coefficients do not fit similarities to {n_columns} training rows"
                )
        elif "X_fit_" not in vars(self):
            raise ValueError(f"the training rows of {n_kept} coefficients are missing")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed" or isinstance(self.kernel, Precomputed)
        tags.input_tags.sparse = not tags.input_tags.pairwise
        tags.input_tags.positive_only = self.kernel in ("chi2", "intersection", "hellinger")
        return tags


def _on_host(X):
    """Rows, or views of rows, as arrays of numpy; sparse and other ones as they are."""
    if isinstance(X, Mapping) and not sparse.issparse(X):
        return {view: _on_host(rows) for view, rows in X.items()}
    return to_host(X) if is_elsewhere(X) else X


def _check_memory(n_bytes, n_samples):
    """Raise before a Gram matrix is begun that this machine, or its container, cannot hold."""
    free = available_memory()
    if n_bytes > free:
        raise MemoryError(
            f"the similarities of {n_samples:,} samples take {gibibytes(n_bytes)}, and {gibibytes(free)} are "
            "free; landmarks=1024 compares with some of them only, compare(X, place='file') keeps them in a "
            "file, and kernel='linear' needs none"
        )
