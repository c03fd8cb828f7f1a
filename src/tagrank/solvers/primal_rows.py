"""Rows under the linear kernel as the primal engine sees them: three operations, on a part at a time.

    scores      W X'              W (n_labels, n_features), X (n_samples, n_features)
    gathered    A X               A (n_labels, n_samples)
    bent        what a loss makes of scores: coefficients, curvatures and sums

Nothing else is done with the rows. A part keeps its rows and bounds and is never changed; what a step makes
of it is handed from operation to operation. So parts may be blocks of an array in memory, of a file that is
mapped into memory, of a matrix on a GPU, or partitions on other machines, where a lost part is made again.

The constant feature of an intercept is no column: it is the last column of W, and is added and summed up.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import get_num_threads
from scipy import sparse

from tagrank.arrays import astype, beside, namespace_of, row_blocks, rows_within
from tagrank.losses import softened
from tagrank.resources import limited_loops, limited_products, thread_pool, wait_for
from tagrank.simd import aligned_zeros, padded
from tagrank.solvers.linear_rows import multiply_columns, multiply_rows, plain_csr

ROWS_ON_DEVICE = 2**18  # of a part; several arrays of labels and samples live at a time
# into how many parts rows in memory are cut, for threads to share, and how few rows are worth a part
PARTS, FEWEST_ROWS = 32, 2**10
SPARED = 8  # every eighth row is begun on, and of these every eighth
ROWS_A_COLUMN_SPARED = 20  # that such rows must be at least: fewer say little about all
LARGE_ANSWERS = ("products", "own_products")  # of operations whose threads are at work inside a part


class Bent(NamedTuple):
    """What a loss makes of the scores of a part.

    Attributes
    ----------
    scores, curvatures : arrays, shape (n_labels, n_samples)
    sums : array, shape (4, n_labels), see `tagrank.losses.softened`
    gathered : array, shape (n_labels, n_features), of the coefficients
    """

    scores: Any
    curvatures: Any
    sums: Any
    gathered: Any


class RowPart:
    """Some of the rows, dense or CSR, with their bounds.

    Parameters
    ----------
    X : rows (n_samples, n_features); of a file they are read when they are worked on
    bounds : array, shape (n_samples, n_labels), for C = 1
    has_constant : whether a feature that is always one stands behind the columns
    offset : LOGISTIC or HINGE of `tagrank.losses.softened`
    cost : float, C
    """

    def __init__(self, X, bounds, *, has_constant, offset, cost):
        self.X = plain_csr(X) if sparse.issparse(X) else X
        self.bounds = bounds.T if namespace_of(bounds) is not np else np.ascontiguousarray(bounds.T)
        self.has_constant, self.offset, self.cost = has_constant, offset, cost

    def scores(self, W):
        """Scores (n_labels, n_samples) by weights (n_labels, n_features)."""
        columns, constant = (W[:, :-1], W[:, -1:]) if self.has_constant else (W, None)
        scores = self._multiply(columns)
        return scores if constant is None else scores + constant

    def moved(self, scores, changes, steps):
        """Scores after each label took its step."""
        return scores + steps[:, None] * changes

    def bent(self, scores, labels, temperatures):
        """The `Bent` of scores of some labels."""
        bounds = self._bounds_of(labels, scores)
        coefficients, curvatures, sums = softened.measure(
            bounds, self.cost, scores, self.offset, temperatures
        )
        return Bent(scores, curvatures, sums, self._gather(coefficients))

    def told(self, bent):
        """Sums and gathered coefficients."""
        return bent.sums, bent.gathered

    def curved(self, bent, V):
        """Second derivatives of the losses times directions V (n_labels, n_features)."""
        return (self._gather(bent.curvatures * self.scores(V)),)

    def diagonal(self, bent):
        """The diagonal of the second derivatives of the losses (n_labels, n_features)."""
        squares = self.X.multiply(self.X).tocsr() if sparse.issparse(self.X) else self._rows(bent.scores) ** 2
        part = RowPart(squares, self.bounds.T, has_constant=self.has_constant, offset=0, cost=1)
        return (part._gather(bent.curvatures),)

    def losses(self, scores, changes, steps, labels, temperatures):
        """Sums (n_labels,) of the losses at scores + steps * changes."""
        bounds = self._bounds_of(labels, scores)
        return (softened.losses(bounds, self.cost, scores, changes, steps, self.offset, temperatures),)

    def products(self, share, like):
        """Products (n_features, n_features) of the columns; of a share of the rows, enlarged accordingly."""
        n_samples, X = self.X.shape[0], self.X
        if share < 1:
            n_taken = max(1, round(share * n_samples))
            X = X[np.sort(np.random.default_rng(0).choice(n_samples, n_taken, replace=False))]
        X = self._with_constant(X.toarray() if sparse.issparse(X) else X, like)
        return (astype(X.T @ X, namespace_of(X).float64) * (n_samples / X.shape[0]),)

    def counted(self, bent, least):
        """How many samples count in `own_products`, summed over the labels."""
        return (namespace_of(bent.scores).sum(_counted(bent, least)),)

    def own_products(self, bent, least):
        """X' D X of each label over the samples that count, shape (n_labels, n_features, n_features).

        These are the samples whose curvature is not below a share `least` of the largest one of the label.
        """
        xp = namespace_of(bent.scores)
        counted = _counted(bent, least)

        def of_label(label):
            curvatures, rows = bent.curvatures[label], xp.where(counted[label])[0]
            X = self.X[rows]
            X = self._with_constant(X.toarray() if sparse.issparse(X) else X, curvatures)
            X = X * xp.sqrt(curvatures[rows])[:, None]
            return astype(X.T @ X, xp.float64)

        labels = range(len(counted))
        products = share_calls(of_label, labels) if xp is np else [of_label(label) for label in labels]
        return (xp.stack(products),)

    def certified(self, W, temperatures):
        """In double precision: sums, gathered coefficients, and the coefficients (n_samples, n_labels)."""
        labels = slice(None)
        xp = namespace_of(W)
        W, temperatures = astype(W, xp.float64), astype(temperatures, xp.float64)
        sums, gathered, parts = 0, 0, []
        for rows in row_blocks(self.X.shape[0], rows_within(max(W.shape))):
            part = RowPart(self.X[rows], self.bounds.T[rows], **self._settings())
            scores = part.scores(W)
            bounds = part._bounds_of(labels, scores)
            A, _, its = softened.measure(bounds, self.cost, scores, self.offset, temperatures)
            sums, gathered = sums + its, gathered + part._gather(A)
            parts.append(astype(A.T, xp.float32))
        return sums, gathered, xp.concat(parts) if hasattr(xp, "concat") else xp.concatenate(parts)

    def _settings(self):
        return {"has_constant": self.has_constant, "offset": self.offset, "cost": self.cost}

    def _bounds_of(self, labels, scores):
        bounds = self.bounds[labels]
        return bounds if namespace_of(scores) is np else astype(bounds, scores.dtype)

    def _with_constant(self, X, like):
        X = astype(X, like.dtype)
        if not self.has_constant:
            return X
        return namespace_of(X).hstack([X, beside(np.ones((len(X), 1)), X, like.dtype)])

    def _rows(self, like):
        return astype(self.X, like.dtype)

    def _multiply(self, W):
        """W X'."""
        if not sparse.issparse(self.X):
            return W @ self._rows(W).T
        groups = _in_groups(W.T)
        scores = np.empty((self.X.shape[0], groups.shape[0] * groups.shape[2]), W.dtype)
        multiply_rows(self.X.indptr, self.X.indices, self._values(W), 0, groups, scores)
        return np.ascontiguousarray(scores[:, : len(W)].T)

    def _gather(self, A):
        """A X, and of the constant feature the sums of A."""
        xp = namespace_of(A)
        if not sparse.issparse(self.X):
            columns = A @ self._rows(A)
        else:
            groups = _in_groups(np.zeros((self.X.shape[1], len(A)), A.dtype))
            coefficients = np.ascontiguousarray(A.T)
            multiply_columns(self.X.indptr, self.X.indices, self._values(A), coefficients, groups)
            columns = np.concatenate(groups, axis=1)[:, : len(A)].T
        if not self.has_constant:
            return columns
        return xp.concatenate([columns, xp.sum(A, 1)[:, None]], 1)

    def _values(self, like):
        return self.X.data.astype(like.dtype, copy=False)


class RowParts:
    """All rows, as parts in this process, which threads share out among them.

    Sums are added in the order of the parts, so that they do not depend on the number of threads.

    Parameters
    ----------
    parts : list of RowPart
    n_samples, n_features : of all rows, the constant feature included
    is_shared : whether threads share the parts; otherwise these come one after the other
    """

    def __init__(self, parts, n_samples, n_features, is_shared=False):
        self.parts, self.n_samples, self.n_features = parts, n_samples, n_features
        self.is_shared = is_shared

    def gather(self, A):
        """Coefficients (n_samples, n_labels) as the weights (n_labels, n_features) that they make."""
        sizes = [part.X.shape[0] for part in self.parts]
        stops = np.cumsum(sizes)
        return sum(
            part._gather(A[stop - size : stop].T)
            for part, size, stop in zip(self.parts, sizes, stops, strict=True)
        )

    def each(self, work, *values, **common):
        """An operation on every part with what earlier operations made of it; a list as long as the parts."""

        def of_part(number):
            return getattr(self.parts[number], work)(*(value[number] for value in values), **common)

        numbers = range(len(self.parts))
        return share_calls(of_part, numbers) if self.is_shared else [of_part(number) for number in numbers]

    def total(self, work, *values, **common):
        """The sums over the parts of what an operation answers, a tuple of arrays."""
        if self.is_shared and work not in LARGE_ANSWERS:
            return _add_up(self.each(work, *values, **common))
        return _add_up(
            getattr(part, work)(*(value[i] for value in values), **common)
            for i, part in enumerate(self.parts)
        )

    def certified(self, W, temperatures):
        """Sums and gathered coefficients in double precision, and coefficients (n_samples, n_labels)."""
        answers = self.each("certified", W=W, temperatures=temperatures)
        xp = namespace_of(W)
        sums, gathered = (sum(answer[i] for answer in answers[1:]) + answers[0][i] for i in range(2))
        return sums, gathered, xp.concatenate([answer[2] for answer in answers])


def cut_rows(X, bounds, *, offset, cost, has_constant=False):
    """`RowParts` of an array (in memory, of a file, on a device) or of CSR rows."""
    n_samples, n_features = X.shape
    settings = {"has_constant": has_constant, "offset": offset, "cost": cost}
    is_shared = False
    if sparse.issparse(X):
        X = plain_csr(X)  # the threads of its products want many rows at a time
        size = n_samples
    elif namespace_of(X) is np:
        X, is_shared = np.asarray(X), True
        size = min(
            rows_within(max(n_features, bounds.shape[1]), itemsize=4),
            max(FEWEST_ROWS, -(-n_samples // PARTS)),
        )
    else:
        size = ROWS_ON_DEVICE
    blocks = row_blocks(n_samples, max(1, min(size, n_samples)))
    parts = [RowPart(X[rows], bounds[rows], **settings) for rows in blocks]
    return RowParts(parts, n_samples, n_features + has_constant, is_shared)


def cut_some_rows(X, bounds, *, cost, **settings):
    """`RowParts` of fewer and fewer rows, the fewest first, each with the costs of all; [] for few rows."""
    step, levels = SPARED, []
    while X.shape[0] // step >= ROWS_A_COLUMN_SPARED * X.shape[1]:
        levels.append(cut_rows(X[::step], bounds[::step], cost=cost * step, **settings))
        step *= SPARED
    return levels[::-1]


def share_calls(work, items):
    """[work(item) for item in items], by as many threads as compiled loops may take.

    Each thread has BLAS and compiled loops to itself: threads of BLAS that wait for each other in every
    product are slow where it is long and narrow, and far slower on a busy machine.
    """
    items, n_threads = list(items), get_num_threads()
    if min(len(items), n_threads) < 2:
        return [work(item) for item in items]
    answers, numbers = [None] * len(items), iter(range(len(items)))

    def take_turns():
        with limited_loops(1):
            for number in numbers:
                answers[number] = work(items[number])

    with limited_products(1):
        others = [thread_pool().submit(take_turns) for _ in range(min(len(items), n_threads) - 1)]
        try:
            take_turns()
        finally:
            for _ in numbers:  # after an error nothing more is begun
                pass
            wait_for(others)
    for other in others:
        other.result()
    return answers


def _add_up(answers):
    """The sums of tuples of arrays, in their order."""
    sums = None
    for answer in answers:
        sums = answer if sums is None else tuple(a + b for a, b in zip(sums, answer, strict=True))
    return sums


def _counted(bent, least):
    """Which samples are curved by a share of the largest curvature of the label (n_labels, n_samples)."""
    xp = namespace_of(bent.curvatures)
    largest = xp.amax(bent.curvatures, 1)
    return bent.curvatures >= least * largest[:, None]


def _in_groups(W):
    """Weights (n_features, n_labels) as compiled products read them: a group of labels for each thread."""
    n_features, n_labels = W.shape
    width = padded(-(-n_labels // get_num_threads()))
    groups = aligned_zeros((-(-n_labels // width), n_features, width), W.dtype)
    for group in range(len(groups)):
        own = W[:, group * width : (group + 1) * width]
        groups[group, :, : own.shape[1]] = own
    return groups
