"""Explicit feature maps: rows whose inner products approximate a kernel, for linear models on many samples.

Nyström works for every kernel. Random Fourier features work for the Gaussian kernel, and after scikit-learn's
additive chi-square map for ChiSquared as well: the squared Euclidean distance of two mapped histograms is
(nearly) their chi-square distance. That additive map alone, scikit-learn's `AdditiveChi2Sampler`, followed by
a linear model is the cheap additive chi-square machine.
"""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.kernel_approximation import AdditiveChi2Sampler, RBFSampler
from sklearn.utils import check_random_state

from tagrank.kernels.gram import diagonal_of, gram, n_rows, sliceable, take_rows
from tagrank.kernels.histograms import ChiSquared
from tagrank.kernels.stack import LowRankStack
from tagrank.kernels.stack_checks import check_kernels
from tagrank.kernels.vectors import Gaussian
from tagrank.validation import check_choice

MOST_LOOKED_AT = 10_000  # rows among which pivots are looked for
ROUNDS_OF_PIVOTS = 16  # at least, for pivots of one round do not know of each other
PIVOT_ROUNDING = 1e-5  # of the largest k(x, x): what is left of a row that is explained


def approximate(kernel, *, n_components=256, method="nystroem", random_state=None) -> Any:
    """A transformer (`fit`, `transform`) whose rows have inner products close to `kernel`.

    Parameters
    ----------
    kernel : Kernel
        Its width is fixed by the transformer's `fit`, as everywhere.
    n_components : int
        Number of columns that `transform` returns (Nyström: at most).
    method : "nystroem" or "fourier"
        Nyström adapts to the data and serves every kernel; Fourier features need no training rows to be kept,
        and serve Gaussian and ChiSquared.
    random_state : int, RandomState or None
    """
    makers = {"nystroem": NystroemMap, "fourier": FourierMap}
    maker = makers[check_choice("method", method, tuple(makers))]
    return maker(kernel, n_components=n_components, random_state=random_state)


def approximate_stack(
    kernels, X, *, names=None, n_components=256, method="nystroem", random_state=0
) -> LowRankStack:
    """One map for each kernel, fitted to the rows `X`, and the stack of the columns that they make of `X`.

    Parameters
    ----------
    kernels : a list of kernels, or a sum of them; each becomes one part of the stack
    X : rows, or a mapping of views to rows
    names : how the kernels are called, see `LowRankStack`
    n_components : int, how many columns stand for each kernel, at most
    method : how kernels are approximated, see `approximate`
    random_state : int, RandomState or None, seeds the approximation

    Returns
    -------
    maps : list of transformers, as `approximate` makes them
    stack : LowRankStack; of other rows it is `LowRankStack([each.transform(X) for each in maps])`
    """
    X = sliceable(X)
    options = {"n_components": n_components, "method": method, "random_state": random_state}
    maps = [approximate(kernel, **options).fit(X) for kernel in check_kernels(kernels)]
    return maps, LowRankStack([each.transform(X) for each in maps], names)


class NystroemMap(TransformerMixin, BaseEstimator):
    """Similarities to landmark rows, whitened.

    Parameters
    ----------
    kernel : Kernel
        The kernel to approximate; its width may be left to `fit`.
    n_components : int, default 256
        Number of training rows to compare with, at most. More are more exact and take more time and memory.
    sampling : "uniform" or "pivots", default "uniform"
        Which rows are chosen: any, or those that the rows chosen before them explain least.
    random_state : int, RandomState or None, default None
        Seeds the choice of the rows.

    Attributes
    ----------
    kernel_ : Kernel
        With its width fixed on the training rows; with "pivots" on those that were looked at.
    chosen_ : indices of the chosen training rows
    components_ : the chosen training rows, at most `n_components`
    projection_ : array of shape (n_chosen, n_columns)
    """

    def __init__(self, kernel, *, n_components=256, sampling="uniform", random_state=None) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.sampling = sampling
        self.random_state = random_state

    def fit(self, X, y=None) -> Self:
        check_choice("sampling", self.sampling, ("uniform", "pivots"))
        rng = check_random_state(self.random_state)
        order = rng.permutation(n_rows(X))
        if self.sampling == "uniform":
            self.kernel_, self.chosen_ = self.kernel.fit(X), np.sort(order[: self.n_components])
        else:
            looked_at = np.sort(order[: max(MOST_LOOKED_AT, 2 * self.n_components)])
            rows = take_rows(X, looked_at)
            self.kernel_ = self.kernel.fit(rows)
            self.chosen_ = looked_at[choose_pivots(self.kernel_, rows, self.n_components, rng)]
        self.components_ = take_rows(X, self.chosen_)
        K = self.kernel_(self.components_)
        eigenvalues, eigenvectors = np.linalg.eigh(K.astype(np.float64))
        # directions without length would only amplify rounding
        kept = eigenvalues > n_rows(self.components_) * np.finfo(K.dtype).eps * eigenvalues[-1]
        self.projection_ = (eigenvectors[:, kept] / np.sqrt(eigenvalues[kept])).astype(K.dtype)
        return self

    def transform(self, X) -> Any:
        return gram(self.kernel_, X, self.components_) @ self.projection_


def choose_pivots(kernel, X, n_pivots, rng):
    """Rows that stand for all: each is drawn by how much of it the rows before it leave unexplained.

    Randomly pivoted Cholesky decomposition, a block of pivots at a time (Chen, Epperly, Tropp, Webber).

    Parameters
    ----------
    kernel : Kernel, with its width fixed
    X : rows, or views of rows
    n_pivots : how many to choose, at most
    rng : RandomState

    Returns
    -------
    int array of indices, ascending
    """
    left = diagonal_of(kernel, X).astype(np.float64)
    at_once = max(1, n_pivots // ROUNDS_OF_PIVOTS)
    enough, n_samples = PIVOT_ROUNDING * left.max(initial=0), len(left)
    factor, chosen = np.zeros((n_samples, 0), dtype=np.float32), np.zeros(0, dtype=np.int64)
    while len(chosen) < min(n_pivots, n_samples) and (left > enough).any():
        share = np.where(left > enough, left, 0.0)
        n_drawn = min(at_once, n_pivots - len(chosen), np.count_nonzero(share))
        drawn = rng.choice(n_samples, n_drawn, replace=False, p=share / share.sum())
        columns = gram(kernel, X, take_rows(X, drawn)) - factor @ factor[drawn].T
        lengths, directions = np.linalg.eigh(columns[drawn].astype(np.float64))
        kept = lengths > enough
        columns = columns @ (directions[:, kept] / np.sqrt(lengths[kept])).astype(columns.dtype)
        factor = np.hstack([factor, columns.astype(np.float32)])
        left = np.maximum(left - np.einsum("ij,ij->i", columns, columns, dtype=np.float64), 0)
        left[drawn] = 0
        chosen = np.append(chosen, drawn)
    return np.sort(chosen)


class FourierMap(TransformerMixin, BaseEstimator):
    """Random Fourier features of Gaussian, or of ChiSquared through the additive chi-square map.

    Parameters
    ----------
    kernel : Gaussian or ChiSquared
        The kernel to approximate; its width may be left to `fit`.
    n_components : int, default 256
        Number of random directions. More are more exact and take more time and memory.
    random_state : int, RandomState or None, default None
        Seeds the directions.

    Attributes
    ----------
    kernel_ : Kernel
        With its width fixed on all training rows.
    """

    def __init__(self, kernel, *, n_components=256, random_state=None) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X, y=None) -> Self:
        chi_square = isinstance(self.kernel, ChiSquared) and not self.kernel.whole_vector
        if not (chi_square or isinstance(self.kernel, Gaussian)):
            raise ValueError(
                f"Fourier features exist for Gaussian() and ChiSquared(), got {self.kernel!r}; "
                'use method="nystroem"'
            )
        self.kernel_ = self.kernel.fit(X)
        self._additive = AdditiveChi2Sampler(sample_steps=3).fit(X) if chi_square else None
        self._fourier = RBFSampler(
            gamma=self.kernel_.gamma, n_components=self.n_components, random_state=self.random_state
        ).fit(self._flatten(X))
        return self

    def transform(self, X) -> Any:
        return self._fourier.transform(self._flatten(X))

    def _flatten(self, X):
        """Rows whose squared Euclidean distances are the kernel's distances."""
        return X if self._additive is None else self._additive.transform(X)
