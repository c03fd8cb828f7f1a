"""Visual words: centres among local descriptors, learned by k-means, and which of them lie nearest."""

import warnings
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from threadpoolctl import ThreadpoolController

from tagrank.arrays import row_blocks
from tagrank.errors import warn
from tagrank.features.feature import Part
from tagrank.resources import count_threads, limited_threads

# so many rows of scores against 1,000 words stay in the cache of one core
_BLOCK = 256


def nearest_words(descriptors, centres, *, n_nearest=1):
    """The exact nearest centres of every float32 descriptor, nearest first: intp (n_points, n_nearest).

    |x - c|^2 is smallest where c.x - |c|^2 / 2 is largest: one matrix product. Taking the maximum a few times
    is several times faster than partial sorting, for the handful that is asked for.
    """
    words = np.empty((len(descriptors), n_nearest), dtype=np.intp)
    half_norms = np.einsum("ij,ij->i", centres, centres) / 2
    for block in row_blocks(len(descriptors), _BLOCK):
        scores = descriptors[block] @ centres.T
        scores -= half_norms
        take_largest(scores, words[block])
    return words


def take_largest(scores, places):
    """Write the columns of the largest scores of every row into `places`, largest first; spoils `scores`."""
    rows = np.arange(len(scores))
    for rank in range(places.shape[1]):
        places[:, rank] = scores.argmax(axis=1)
        scores[rows, places[:, rank]] = -np.inf


def squared_distances(descriptors, centres, words):
    """From every descriptor to each of its words, float32, shape (n_points, n_nearest).

    The differences are formed first: expanding the square would lose the small distances in float32.
    """
    distances = np.empty(words.shape, dtype=np.float32)
    for rank in range(words.shape[1]):
        difference = descriptors - centres[words[:, rank]]
        np.einsum("ij,ij->i", difference, difference, out=distances[:, rank])
    return distances


@dataclass(frozen=True, eq=False)
class Vocabulary(Part):
    """What a bag of words learns. Unfitted it has settings alone; `fit` returns one with learned arrays.

    Subclasses have a field `n_samples`: how many descriptors, evenly from all pictures, it learns from.
    """

    @property
    def is_fitted(self) -> bool:
        """Whether it has learned its arrays."""
        raise NotImplementedError

    @property
    def n_columns(self) -> int:
        """The length of the descriptors that a fitted one knows."""
        raise NotImplementedError

    def fit(self, descriptors, *, random_state=0):
        """A fitted vocabulary of the same class, learned from float32 descriptors (n_points, n_columns)."""
        rng = np.random.default_rng(random_state)
        sample = _draw_sample(descriptors, self.n_samples, rng)
        # the products are small: threads would spend their time waiting for each other
        with limited_threads(1):
            return self.learn(sample, rng)

    def learn(self, sample, rng):
        """The fitted vocabulary of all rows of a sample, float32; subclasses write this."""
        raise NotImplementedError

    # the fields hold arrays, which Python can neither compare nor hash at once
    def __eq__(self, other):
        return type(self) is type(other) and self.identity == other.identity

    def __hash__(self):
        return hash(self.identity)

    @cached_property
    def identity(self) -> str:
        """The fingerprint, computed once: it reads all of the arrays."""
        return self.fingerprint()


@dataclass(frozen=True, eq=False)
class CentreVocabulary(Vocabulary):
    """A vocabulary whose words are points; it has `words`, `n_words`, `spread` and `nearest`.

    `spread` is the mean squared distance of the training descriptors to their nearest words.
    """

    @property
    def is_fitted(self):
        return self.centres is not None

    @property
    def n_columns(self):
        return self.centres.shape[1]

    def nearest(self, descriptors, *, n_nearest=1):
        """The nearest words, nearest first, intp array of shape (n_points, min(n_nearest, n_words))."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class KMeansWords(CentreVocabulary):
    """The centres of k-means, found again by comparing with all of them.

    Parameters
    ----------
    n_words : int
    n_samples : int
    max_iter : int, rounds of k-means; more than the default lower the distances by some tenths of a percent
    centres : float32 array, shape (n_words, n_columns), learned
    spread : float, learned
    """

    n_words: int = 1000
    n_samples: int = 100_000
    max_iter: int = 20
    centres: np.ndarray | None = None
    spread: float | None = None

    def __post_init__(self):
        check_counts(self, "n_words", "n_samples", "max_iter")
        if self.centres is not None:
            check_learned("centres", self.centres, (self.n_words, None))
            check_spread(self.spread)

    @property
    def words(self):
        return self.centres

    def learn(self, sample, rng):
        centres = learn_centres(sample, self.n_words, max_iter=self.max_iter, rng=rng)
        warn_if_fewer(len(centres), self.n_words, "words")
        spread = squared_distances(sample, centres, nearest_words(sample, centres)).mean()
        return self.replace(n_words=len(centres), centres=centres, spread=float(spread) or 1.0)

    def nearest(self, descriptors, *, n_nearest=1):
        return nearest_words(descriptors, self.centres, n_nearest=min(n_nearest, self.n_words))


def learn_centres(sample, n_centres, *, max_iter, rng):
    """Centres of k-means, float32, shape (at most n_centres, n_columns): one each for too few distinct rows.

    It starts from random rows: on SIFT descriptors the result is within 0.2 % of that of k-means++, which
    takes several times as long for 1,000 centres.
    """
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    distinct = np.array(list({row.tobytes(): place for place, row in enumerate(sample)}.values()))
    if len(distinct) <= n_centres:
        return sample[np.sort(distinct)]
    start = sample[np.sort(rng.choice(distinct, n_centres, replace=False))]
    means = KMeans(n_centres, init=start, n_init=1, max_iter=max_iter, random_state=0)
    # two threads' sums add up to the same in either order; with more, the last digits depend on timing
    pools = ThreadpoolController().select(user_api="openmp")
    with pools.limit(limits=min(2, count_threads())), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        means.fit(sample)
    return np.ascontiguousarray(means.cluster_centers_, dtype=np.float32)


def _draw_sample(descriptors, n_samples, rng):
    """At most `n_samples` of the descriptors at random, float32, or an error that says what is wrong."""
    descriptors = np.ascontiguousarray(descriptors, dtype=np.float32)
    if descriptors.ndim != 2 or not descriptors.size:
        raise ValueError(
            "a vocabulary needs descriptors of shape (n_points, n_columns) with at least one point, "
            f"got shape {descriptors.shape}; take pictures with more detail, or sample more points"
        )
    if not np.isfinite(descriptors).all():
        raise ValueError("descriptors must be finite, got nan or infinity")
    if len(descriptors) <= n_samples:
        return descriptors
    return descriptors[np.sort(rng.choice(len(descriptors), n_samples, replace=False))]


def warn_if_fewer(n_found, n_wanted, what):
    """Tell that there are fewer words, which makes rows shorter."""
    if n_found < n_wanted:
        warn(
            f"the descriptors are too few or too much alike for {n_wanted} {what}: the vocabulary has "
            f"{n_found}; learn it from more pictures or ask for fewer {what}"
        )


def check_counts(part, *names):
    """Raise unless the named fields are positive whole numbers."""
    for name in names:
        value = getattr(part, name)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ValueError(f"{name} must be a positive whole number, got {value!r}")


def check_learned(name, array, shape, *, dtype=np.float32):
    """Raise unless a learned array has the dtype and shape, in which None stands for any positive length."""
    if array is None:
        raise ValueError(f"a fitted vocabulary must have {name}")
    fits = array.ndim == len(shape) and all(
        (length > 0 if expected is None else length == expected)
        for length, expected in zip(array.shape, shape, strict=True)
    )
    if not fits or array.dtype != dtype:
        expected = tuple("any" if length is None else length for length in shape)
        raise ValueError(
            f"{name} must be {np.dtype(dtype)} of shape {expected}, got {array.dtype} of shape {array.shape}"
        )


def check_spread(spread):
    """Raise unless the learned spread is a positive number."""
    if spread is None or not 0 < spread < np.inf:
        raise ValueError(f"a fitted vocabulary must have a positive spread, got {spread!r}")
