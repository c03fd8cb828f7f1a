"""Which visual words lie nearest to local descriptors."""

import numpy as np

from tagrank.arrays import row_blocks

# so many rows of scores against 1,000 words stay in the cache of one core
_BLOCK = 256


def nearest_words(descriptors, centres, *, n_nearest=1):
    """The exact nearest centres of every descriptor, nearest first.

    |x - c|^2 is smallest where c.x - |c|^2 / 2 is largest: one matrix product. Taking the maximum a few
    times is several times faster than partial sorting, for the handful that is asked for.

    Parameters
    ----------
    descriptors : float32 array, shape (n_points, n_columns)
    centres : float32 array, shape (n_words, n_columns)
    n_nearest : int, at most n_words

    Returns
    -------
    words : intp array, shape (n_points, n_nearest)
    """
    words = np.empty((len(descriptors), n_nearest), dtype=np.intp)
    half_norms = np.einsum("ij,ij->i", centres, centres) / 2
    for block in row_blocks(len(descriptors), _BLOCK):
        scores = descriptors[block] @ centres.T
        scores -= half_norms
        take_largest(scores, words[block])
    return words


def take_largest(scores, places):
    """Write the columns of the largest scores of every row into `places`, largest first; spoils `scores`.

    Parameters
    ----------
    scores : float array, shape (n_rows, n_columns)
    places : integer array, shape (n_rows, n_largest), to be filled
    """
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
