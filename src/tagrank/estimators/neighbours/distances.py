"""Distances of samples under a kernel, and the search for the nearest ones.

How far samples are from each other, for each term of a kernel.

The distance of a term is the square root of `Kernel.squared_distances`: Euclidean for Gaussian and linear
kernels, the root of the chi-square distance for ChiSquared, that of the kernel's own space for others. Each
is divided by its mean over training pairs, so that views of any size can be added.

The nearest of many rows, exactly: equal distances by index, and in training no row beside itself.

Dense rows under the Euclidean distance are compared in blocks by matrix products in float32, which keep a
few more candidates than are wanted; these are measured again by differences in float64. A bound on the
rounding of the products tells whether a row that was not kept could be among the nearest: if so, products are
made in float64, and at last all differences. Products of small whole numbers, such as counts, are exact.
Beside the rows, memory holds their copy in float32 and a few blocks.
"""

import numpy as np

from tagrank.arrays import row_blocks
from tagrank.estimators.compared_rows import ComparedRows
from tagrank.kernels.gram import as_rows, evaluate, float_type, n_rows, run_tiles, take_rows
from tagrank.resources import compiled

SAMPLE = 1000  # training rows whose pairs give the mean distance


def fit_distances(kernel, X):
    """The kernel with its widths fixed, and the mean distances (n_terms,) of its terms, by some rows."""
    some = take_rows(X, spread(n_rows(X)))
    kernel = kernel.fit(some)
    unscaled = distances_of(kernel, some, None, np.ones(len(kernel.terms)))
    return kernel, mean_distances(unscaled)


def spread(n_samples):
    """Indices of some samples, evenly spread over all."""
    return np.arange(n_samples) if n_samples <= SAMPLE else np.linspace(0, n_samples - 1, SAMPLE).astype(int)


def mean_distances(D):
    """Means (n_terms,) over pairs of different rows of `D` (n, n, n_terms); 1 where all coincide."""
    n_samples = len(D)
    diagonal = np.einsum("iit->t", D)
    means = (D.sum(axis=(0, 1), dtype=np.float64) - diagonal) / max(1, n_samples * (n_samples - 1))
    return np.where(means > 0, means, 1.0)


def distances_of(kernel, X, Z, scales, *, dtype=np.float64, n_jobs=None):
    """Distances (n_x, n_z, n_terms) of rows, each divided by the scale of its term; without Z of X itself."""
    D = np.empty((n_rows(X), n_rows(X if Z is None else Z), len(scales)), dtype)
    for t, (_, part) in enumerate(kernel.terms):

        def measure(rows, others, part=part, scale=scales[t]):
            squares = part.squared_distances(rows, others)
            squares /= scale**2
            return np.sqrt(squares, out=squares)

        evaluate(measure, X, Z, out=D[:, :, t], n_jobs=n_jobs)
    return D


def similarity_distances(K, diagonal, own=None):
    """Distances (n_x, n_z, 1) from similarities; `diagonal` (n_z,), `own` (n_x,) are those with themselves.

    Where `own` is not known, it is the mean of `diagonal`, or the least with which no square is negative.
    """
    squares = -2.0 * K
    squares += diagonal
    if own is None:
        own = np.maximum(diagonal.mean(), -squares.min(axis=1))
    squares += own[:, None]
    return np.sqrt(np.maximum(squares, 0, out=squares), out=squares)[:, :, None]


def term_weights(kernel):
    """Weights (n_terms,) of the terms in the distance by which neighbours are found; their sum is one."""
    weights = np.array([weight for weight, _ in kernel.terms], np.float64)
    return weights / weights.sum() if weights.any() else np.full(len(weights), 1 / len(weights))


def is_euclidean(kernel):
    """Whether neighbours of dense rows under this kernel are those of `nearest_rows`."""
    return kernel.is_euclidean


class ComparedDistances(ComparedRows):
    """Rows whose distances (n, n, n_terms) stand in the place of similarities."""

    def training(self, rows):
        return ComparedDistances(None, self.kernel, self.K[np.ix_(rows, rows)], self.known)

    def raised(self, power):
        """A kernel to a power has the same neighbours."""
        return self


ROWS, COLUMNS = 256, 4096  # of a block of products
SPARE = 16  # candidates beyond those wanted, at least


def nearest_of(D, n_neighbors, *, own=None):
    """Columns (n_rows, n_neighbors) of the smallest entries of each row of `D`, and these entries.

    `own` is the column of the first row itself, and so on along the diagonal; it is left out.
    """
    indices, distances = _nothing_kept(len(D), n_neighbors)
    if n_neighbors:
        _keep_smallest(D, np.zeros(D.shape[1]), 0, -1 if own is None else own, distances, indices)
    return indices, distances


def nearest_by_turns(D, n_neighbors, *, own=None):
    """Columns (n_rows, n_neighbors) of `D` (n_rows, n_columns, n_terms): the nearest by each term in turn.

    First the nearest by each term, then the second nearest by each, and so on, each column once. `own` as in
    `nearest_of`.
    """
    terms = (np.ascontiguousarray(D[:, :, t]) for t in range(D.shape[2]))
    by_term = [nearest_of(term, n_neighbors, own=own)[0] for term in terms]
    candidates = np.stack(by_term, axis=2).reshape(len(D), -1)
    found = np.empty((len(D), n_neighbors), np.int64)
    _take_turns(candidates, np.full(D.shape[1], -1), found)
    return found


@compiled()
def _take_turns(candidates, last_taken, found):
    """The first different ones of the candidates of each row; `last_taken` is -1 for each candidate."""
    for r in range(len(candidates)):
        place = 0
        for index in candidates[r]:
            if place < found.shape[1] and last_taken[index] != r:
                last_taken[index] = r
                found[r, place] = index
                place += 1


def nearest_rows(X, Z, n_neighbors, *, leave_one_out=False, n_jobs=None):
    """The rows of `Z` nearest to each row of `X` by Euclidean distance, both dense.

    Parameters
    ----------
    X, Z : arrays, shape (n_x, n_columns), (n_z, n_columns)
    n_neighbors : int, at most n_z, or n_z - 1 with `leave_one_out`
    leave_one_out : bool, whether `X` is `Z` and no row is its own neighbour
    n_jobs : int, optional, number of threads

    Returns
    -------
    indices : array, shape (n_x, n_neighbors), nearest first
    distances : array, shape (n_x, n_neighbors)
    """
    X, Z = (as_rows(rows, float_type(Z)) for rows in (X, Z))
    indices, squares = _nothing_kept(len(X), n_neighbors)
    n_candidates = n_neighbors + max(SPARE, n_neighbors // 2)
    pending = np.arange(len(X) if n_neighbors else 0)
    for dtype in (np.float32, np.float64):
        if len(pending) and len(Z) > 4 * n_candidates:
            filter_rows = _make_filter(X, Z, dtype, n_candidates, leave_one_out, indices, squares)
            blocks = [pending[block] for block in row_blocks(len(pending), ROWS)]
            pending = np.concatenate(run_tiles(filter_rows, blocks, n_jobs))

    def measure(rows):
        _measure_all(X, Z, rows, leave_one_out, squares, indices)

    run_tiles(measure, [pending[block] for block in row_blocks(len(pending), ROWS)], n_jobs)
    return indices, np.sqrt(squares)


def _nothing_kept(n_rows, n_neighbors):
    """Indices that are valid even if no distance is a number below infinity, and distances."""
    return np.tile(np.arange(n_neighbors), (n_rows, 1)), np.full((n_rows, n_neighbors), np.inf)


def _make_filter(X, Z, dtype, n_candidates, leave_one_out, indices, squares):
    """A function that finds the neighbours of some rows and answers those of which it cannot be sure."""
    is_exact = _has_exact_products(X, dtype) and _has_exact_products(Z, dtype)
    centre = 0.0 if is_exact else Z.mean(axis=0, dtype=np.float64)
    # lengths of about one neither overflow nor vanish in float32
    widest = np.maximum(Z.max(axis=0) - centre, centre - Z.min(axis=0))
    size = 1.0 if is_exact else float(np.linalg.norm(widest)) or 1.0
    right = _scaled(Z, centre, size, dtype)
    norms = np.einsum("ij,ij->i", right, right)
    reach = float(np.sqrt(norms.max()))
    rounding = 4 * (Z.shape[1] + 4) * float(np.finfo(dtype).eps)

    def filter_rows(rows):
        left = _scaled(X[rows], centre, -size / 2, dtype)
        candidates, rough = _nothing_kept(len(rows), n_candidates)
        for columns in row_blocks(len(Z), COLUMNS):
            _keep_smallest(left @ right[columns].T, norms[columns], columns.start, -1, rough, candidates)
        lengths = np.einsum("ij,ij->i", left, left).astype(np.float64) / 4
        found, exact = _nothing_kept(len(rows), indices.shape[1])
        _measure(X, Z, rows, candidates, leave_one_out, exact, found)
        indices[rows], squares[rows] = found, exact
        # what was left out is no nearer than the last candidate, up to rounding
        beyond = rough[:, -1] + lengths - rounding * (np.sqrt(lengths) + reach) ** 2
        return rows[:0] if is_exact else rows[~(exact[:, -1] / size**2 < beyond)]

    return filter_rows


def _has_exact_products(rows, dtype):
    """Whether the rows are whole numbers whose products, and sums of four of them, `dtype` can hold."""
    largest = max(float(rows.max(initial=0)), -float(rows.min(initial=0)))
    return 4 * rows.shape[1] * largest**2 < 1 / np.finfo(dtype).eps and bool(np.all(rows == np.rint(rows)))


def _scaled(rows, centre, size, dtype):
    scaled = np.empty(rows.shape, dtype)
    for block in row_blocks(len(rows), COLUMNS):
        scaled[block] = (rows[block] - centre) / size
    return scaled


@compiled()
def _keep_smallest(D, offsets, first_column, own, distances, indices):
    """Enter what is below those kept of a block of columns, D + offsets, but not column own + r of row r."""
    last = distances.shape[1] - 1
    for r in range(D.shape[0]):
        worst = distances[r, last]
        for c in range(D.shape[1]):
            distance = D[r, c] + offsets[c]
            if distance < worst and (own < 0 or c != own + r):
                place = last
                while place > 0 and distances[r, place - 1] > distance:
                    distances[r, place] = distances[r, place - 1]
                    indices[r, place] = indices[r, place - 1]
                    place -= 1
                distances[r, place] = distance
                indices[r, place] = first_column + c
                worst = distances[r, last]


@compiled()
def _enter(distance, index, distances, indices):
    """Put one into its place among those kept, equal distances by index."""
    place = len(distances) - 1
    if not distance < distances[place] and not (distance == distances[place] and index < indices[place]):
        return
    while place > 0 and (
        distances[place - 1] > distance or (distances[place - 1] == distance and indices[place - 1] > index)
    ):
        distances[place] = distances[place - 1]
        indices[place] = indices[place - 1]
        place -= 1
    distances[place] = distance
    indices[place] = index


@compiled(fastmath={"reassoc", "contract"})
def _squared_distance(x, z):
    total = 0.0
    for t in range(len(x)):
        difference = np.float64(x[t]) - np.float64(z[t])
        total += difference * difference
    return total


@compiled()
def _measure(X, Z, rows, candidates, leave_one_out, distances, indices):
    """Keep the nearest of the candidates of some rows, by differences."""
    for r in range(len(rows)):
        for index in candidates[r]:
            if not (leave_one_out and index == rows[r]):
                _enter(_squared_distance(X[rows[r]], Z[index]), index, distances[r], indices[r])


@compiled()
def _measure_all(X, Z, rows, leave_one_out, distances, indices):
    """Keep the nearest of all, by differences."""
    for i in rows:
        distances[i] = np.inf
        indices[i] = np.arange(indices.shape[1])
        for index in range(len(Z)):
            if not (leave_one_out and index == i):
                _enter(_squared_distance(X[i], Z[index]), index, distances[i], indices[i])
