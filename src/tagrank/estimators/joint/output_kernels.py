"""Output kernels: how alike two samples are judged by their labels.

A sample's labels are one vector v, a number for each label, 0 where unknown. Every output kernel has the
similarity of a vector with itself scaled to one, and answers two questions: how alike are these vectors
(`output(U, Z)`), and what does each training sample say about each label (`say`).
"""

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tagrank.errors import warn
from tagrank.estimators.joint.label_vectors import label_products
from tagrank.kernels import check_gram
from tagrank.resources import limited_threads
from tagrank.validation import check_positive

RELATIVE_FLOOR = 1e-6  # of the largest eigenvalue: what a clipped log-odds matrix keeps everywhere
ROUNDING = 1e-9  # of the largest eigenvalue: a negative one of this size is rounding and not worth a word


class OutputKernel:
    """Base of all output kernels; a subclass writes `prepare` and `compare`, and `say` where it knows better.

    `has_features`: whether the kernel is the inner product of prepared rows.
    """

    has_features = False

    def fit(self, states):
        """The same kernel with what depends on the labels (n_samples, n_labels; +1, -1, 0) decided."""
        return self

    def prepare(self, V):
        """What `compare` needs to know of each label vector, an array with as many rows."""
        return unit_rows(V)

    def compare(self, P, R):
        """Similarities (n_p, n_r) of prepared rows."""
        raise NotImplementedError(f"{type(self).__name__} must define compare(P, R)")

    def __call__(self, V, Z=None):
        """Similarities (n_v, n_z) of label vectors; of V with itself, a matrix fit for training."""
        P = self.prepare(V)
        return self.compare(P, P if Z is None else self.prepare(Z))

    def tiles(self, vectors, dtype):
        """A function of two slices: the similarities of these rows and columns of training LabelVectors."""
        P = self.prepare(vectors.rows.astype(dtype, copy=False))
        return lambda rows, columns: self.compare(P[rows], P[columns])

    def say(self, V, values):
        """What each sample says about each label, (n_samples, n_labels), given the entries of label vectors.

        It is how much more alike the sample is to one that has this label only than to one that has none.
        """
        absent, present = values
        return self(V, absent + np.diag(present - absent)) - self(V, absent[None])


@dataclass(frozen=True)
class LinearOutputs(OutputKernel):
    """v' S z / (|v| |z|) with |v|^2 = v' S v, for a matrix S of similarities between labels.

    Parameters
    ----------
    similarity : array, shape (n_labels, n_labels), symmetric; None is the identity
        Negative eigenvalues are clipped, with a warning that tells how much.
    """

    similarity: Any = None

    has_features = True

    def fit(self, states):
        if self.similarity is None:
            return self
        n_labels = states.shape[1]
        S = _check_matrix(self.similarity, n_labels)
        if not S.any():
            raise ValueError("the output kernel matrix must not be zero throughout; the identity is 'linear'")
        return LinearOutputs(_clip(S, name="the output kernel matrix"))

    def prepare(self, V):
        """Rows (n_samples, n_features) of unit length whose inner products are the similarities."""
        return unit_rows(V if self.similarity is None else V @ self._root.astype(V.dtype))

    def compare(self, P, R):
        return P @ R.T

    def tiles(self, vectors, dtype):
        with limited_threads(1):  # matrices of the size of the labels are too small to share
            products = label_products(vectors.rows, vectors.values[0], self.similarity, dtype)
            return super().tiles(vectors, dtype) if products is None else products

    def _pull(self, V):
        """V S, and the inverse lengths of V."""
        pulled = V if self.similarity is None else V @ self.similarity
        return pulled, inverse_roots(np.einsum("ij,ij->i", pulled, V))

    @cached_property
    def _root(self):
        """The symmetric square root of the similarity of labels."""
        values, vectors = np.linalg.eigh(self.similarity)
        return (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T

    def scaled(self, V):
        """Label vectors v / |v|; times the scores that `say` makes, they tell how well a sample agrees."""
        _, inverse_lengths = self._pull(V)
        return V * inverse_lengths[:, None]

    def say(self, V, values):
        """The best answer is the sign of the scores that this makes, label by label."""
        pulled, inverse_lengths = self._pull(V)
        return pulled * inverse_lengths[:, None]


@dataclass(frozen=True)
class OddsRatioOutputs(OutputKernel):
    """Linear outputs whose label similarities are logarithms of odds ratios of the training labels.

    With n11 samples that have both labels, n00 neither, n10 and n01 one of them, the odds ratio is
    n11 n00 / (n10 n01), `smoothing` added to each count. The matrix is seldom positive semidefinite: its
    eigenvalues are clipped at a millionth of the largest one.

    Parameters
    ----------
    smoothing : float
    min_expected : float, pairs of labels expected together in fewer samples count as independent
    """

    smoothing: float = 0.5
    min_expected: float = 0.0

    def fit(self, states):
        counting = np.float32 if len(states) < 2**24 else np.float64  # both are exact
        present, absent = ((states == value).astype(counting) for value in (1, -1))
        smoothing = np.float64(check_positive("smoothing", self.smoothing))
        n11, n00 = (part.T @ part + smoothing for part in (present, absent))
        n10 = present.T @ absent + smoothing
        S = np.log(n11) + np.log(n00) - np.log(n10) - np.log(n10.T)
        counts = present.sum(axis=0, dtype=np.float64)
        expected = np.outer(counts, counts) / max(len(states), 1)
        rare = (expected < self.min_expected) & ~np.eye(len(S), dtype=bool)
        values, vectors = np.linalg.eigh(np.where(rare, 0.0, S))
        floor = RELATIVE_FLOOR * max(values[-1], 0.0)
        return LinearOutputs((vectors * np.maximum(values, floor)) @ vectors.T)


@dataclass(frozen=True)
class PolynomialOutputs(OutputKernel):
    """((<u, z> + constant) / (1 + constant))^degree for u, z of unit length: pairs, triples ... of labels."""

    degree: int = 2
    constant: float = 1.0

    def compare(self, P, R):
        return self._power(P @ R.T)

    def tiles(self, vectors, dtype):
        products = LinearOutputs().tiles(vectors, dtype)
        return lambda rows, columns: self._power(products(rows, columns))

    def _power(self, products):
        return ((products + self.constant) / (1 + self.constant)) ** self.degree

    def say(self, V, values):
        """The part that is linear in the other vector."""
        slope = self.degree * self.constant ** (self.degree - 1) / (1 + self.constant) ** self.degree
        return slope * unit_rows(V)


@dataclass(frozen=True)
class CallableOutputs(OutputKernel):
    """A user's function of label vectors (n_v, n_labels), (n_z, n_labels): similarities (n_v, n_z).

    They are scaled so that every vector is as similar to itself as 1.
    """

    function: Any

    def __call__(self, V, Z=None):
        scale = [inverse_roots(self._own(rows)) for rows in ((V,) if Z is None else (V, Z))]
        L = self._ask(V, V if Z is None else Z) * scale[0][:, None] * scale[-1]
        return _clip_gram(L) if Z is None else L

    def tiles(self, vectors, dtype):
        """All at once, for only the whole matrix tells whether it is positive semidefinite."""
        L = self(vectors.rows.astype(dtype, copy=False))
        return lambda rows, columns: L[rows, columns]

    def _ask(self, V, Z):
        L = np.asarray(self.function(V, Z), dtype=np.float64)
        if L.shape != (len(V), len(Z)) or not np.all(np.isfinite(L)):
            raise ValueError(
                f"the output kernel must answer a finite array of shape {(len(V), len(Z))}, "
                f"got shape {L.shape}" + ("" if np.all(np.isfinite(L)) else " with nan or inf")
            )
        return L

    def _own(self, V):
        """Similarity of each vector with itself; a few at a time, for most of what is asked for is lost."""
        parts = [V[start : start + 32] for start in range(0, len(V), 32)]
        return np.concatenate([self._ask(part, part).diagonal() for part in parts])


OUTPUT_KERNELS = {
    "linear": LinearOutputs(),
    "odds-ratio": OddsRatioOutputs(),
    "poly2": PolynomialOutputs(2),
    "poly3": PolynomialOutputs(3),
}
_STORED = {kind.__name__: kind for kind in (OddsRatioOutputs, PolynomialOutputs)}


def make_output_kernel(given):
    """An OutputKernel from a name, a matrix of label similarities, a function, or an OutputKernel."""
    if isinstance(given, OutputKernel):
        return given
    if isinstance(given, str) and given in OUTPUT_KERNELS:
        return OUTPUT_KERNELS[given]
    if callable(given):
        return CallableOutputs(given)
    if isinstance(given, str) or np.ndim(given) != 2:
        raise ValueError(
            f"output_kernel must be one of {', '.join(map(repr, OUTPUT_KERNELS))}, a matrix "
            f"(n_labels, n_labels), a function of two sets of label vectors or an OutputKernel, got {given!r}"
        )
    return LinearOutputs(given)


def describe_output(given):
    """An output kernel as plain JSON values, from which `output_from_dict` builds it again, or None."""
    name = type(given).__name__
    return {"class": name, **asdict(given)} if name in _STORED else None


def output_from_dict(described):
    """The output kernel that `describe_output` described."""
    numbers = {key: number for key, number in described.items() if key != "class"}
    kind = _STORED.get(str(described.get("class")))
    if kind is None or not all(isinstance(number, int | float) for number in numbers.values()):
        raise ValueError(f"unknown output kernel {str(described)[:60]}")
    known = set(kind.__dataclass_fields__)
    if set(numbers) != known:
        raise ValueError(
            f"the output kernel {kind.__name__} must have the numbers {', '.join(sorted(known))}"
        )
    return kind(**numbers)


def unit_rows(V):
    """Rows scaled to unit length; a row of zeros stays."""
    return V * inverse_roots(np.einsum("ij,ij->i", V, V))[:, None]


def inverse_roots(squares):
    """1 / sqrt, and 0 where nothing is left but rounding."""
    squares = np.asarray(squares)
    return np.divide(1, np.sqrt(np.maximum(squares, 0)), out=np.zeros_like(squares), where=squares > 1e-18)


def _check_matrix(similarity, n_labels):
    S = np.asarray(similarity, dtype=np.float64)
    if S.shape != (n_labels, n_labels):
        raise ValueError(f"the output kernel matrix must have shape {(n_labels, n_labels)}, got {S.shape}")
    if not np.all(np.isfinite(S)):
        raise ValueError("the output kernel matrix must be finite, got nan or inf")
    if not np.allclose(S, S.T, rtol=1e-6, atol=1e-9 * np.abs(S).max(initial=0)):
        raise ValueError(
            f"the output kernel matrix must be symmetric, but entries differ by {np.abs(S - S.T).max():.3g}; "
            "use (S + S.T) / 2"
        )
    return (S + S.T) / 2


def _clip(S, *, name):
    """`S` with its negative eigenvalues set to zero, and a word about them."""
    values, vectors = np.linalg.eigh(S)
    negative = values < 0
    if not values[0] < -ROUNDING * max(values[-1], 0.0):
        return S
    if values[-1] <= 0:
        raise ValueError(
            f"{name} must have a positive eigenvalue, but the largest is {values[-1]:.3g}: entries are "
            "similarities, and a label is most similar to itself; is the sign reversed?"
        )
    share = -values[negative].sum() / np.abs(values).sum()
    warn(
        f"{name} is not positive semidefinite: {negative.sum()} of its {len(values)} eigenvalues are "
        f"negative, down to {values[0]:.3g} where the largest is {values[-1]:.3g}, and hold "
        f"{100 * share:.2g} % of the sum of their sizes; they are set to zero",
        UserWarning,
    )
    return (vectors * np.maximum(values, 0)) @ vectors.T


def _clip_gram(L):
    """A user's similarities of the training labels, made symmetric and positive semidefinite."""
    L = _check_matrix(L, len(L))
    try:
        return check_gram(L)
    except ValueError:
        return _clip(L, name="the output kernel of the training labels")
