"""All rows as parts on the workers of a Dask cluster, for the primal engine; they stay where they are.

What the engine sends are weights, what comes back are sums, added up in a tree on the workers, and in the end
the coefficients. One certificate covers all rows, as in one process.

Each answer is a future that knows how it came about. A worker that dies takes parts with it, and Dask makes
them, and what the steps made of them, once more on the others: from the file, from the graph of a dask.array,
or from the rows themselves, which the scheduler keeps when they were handed over in memory.
"""

import mmap
import os
from functools import partial, reduce
from typing import NamedTuple

import numpy as np
from scipy import sparse

from tagrank.arrays import row_blocks, rows_within
from tagrank.files import FileError
from tagrank.resources import limited_threads
from tagrank.solvers.cluster.client import (
    answers_of,
    ask,
    ask_each,
    check_cluster,
    count_threads_of,
    given,
    need_distributed,
)
from tagrank.solvers.primal_rows import RowPart

FEW_BYTES = 2**14  # that may be sent along with every task
BRANCHES = 8  # sums that are added up in one task


class DaskRows:
    """All rows, as parts on workers; see `RowParts`.

    Parameters
    ----------
    client : distributed.Client
    parts : futures of RowPart
    n_samples, n_features : of all rows, the constant feature included
    """

    def __init__(self, client, parts, n_samples, n_features):
        self.client, self.parts = client, parts
        self.n_samples, self.n_features = n_samples, n_features

    def each(self, work, *values, **common):
        """An operation on every part with what earlier operations made of it; futures, one a part."""
        if sum(getattr(value, "nbytes", 0) for value in common.values()) > FEW_BYTES:
            common = given(self.client, common)
        same = ([value] * len(self.parts) for value in (work, common))
        return tuple(ask_each(self.client, _work, self.parts, *same, *values))

    def total(self, work, *values, **common):
        """The sums over the parts of what an operation answers, a tuple of arrays."""
        return answers_of(self.client, [self._add_up(self.each(work, *values, **common))])[0]

    def certified(self, W, temperatures):
        """Sums and gathered coefficients in double precision, and coefficients (n_samples, n_labels)."""
        answers = self.each("certified", W=W, temperatures=temperatures)
        sums = self._add_up(ask_each(self.client, _all_but_last, answers))
        coefficients = ask_each(self.client, _last, answers)
        (sums, gathered), *coefficients = answers_of(self.client, [sums, *coefficients])
        return sums, gathered, np.concatenate(coefficients)

    def _add_up(self, answers):
        """The future of the sums, in the order of the parts, so that they are always the same."""
        while len(answers) > 1:
            answers = [ask(self.client, _add, *answers[some]) for some in row_blocks(len(answers), BRANCHES)]
        return answers[0]


def _work(part, work, common, *values):
    # a worker has as many threads as it may take tasks
    with limited_threads(1):
        return getattr(part, work)(*values, **common)


def _add(*answers):
    return reduce(lambda one, other: tuple(a + b for a, b in zip(one, other, strict=True)), answers)


def _all_but_last(answer):
    return answer[:-1]


def _last(answer):
    return answer[-1]


def is_dask_array(X):
    """Whether `X` is a dask.array, without loading Dask."""
    return type(X).__module__.split(".")[0] == "dask" and hasattr(X, "chunks")


def rows_of(X, bounds, *, offset, cost, has_constant=False, client=None):
    """`DaskRows` of rows, wherever these are.

    Parameters
    ----------
    X : rows (n_samples, n_features): a dask.array, the blocks of whose rows become parts; the path of a .npy
        file that all workers can read, or such a file that np.load mapped into memory, which each worker
        opens itself; or an array or CSR rows in memory, of which the scheduler keeps a copy
    bounds : array or dask.array, shape (n_samples, n_labels), for C = 1
    offset, cost, has_constant : as for `RowPart`
    client : distributed.Client; by default the one that was made last
    """
    client = _usual_client() if client is None else client
    check_cluster(client)
    X = _open_rows(X)
    n_samples, n_features = X.shape
    if bounds.shape[0] != n_samples:
        raise ValueError(f"bounds must have a row for each of {n_samples:,} rows, got {bounds.shape[0]:,}")
    blocks = _cut(X, max(n_features, bounds.shape[1]), count_threads_of(client))
    settings = {"offset": offset, "cost": cost, "has_constant": has_constant}
    make = partial(_make_part, settings=settings)
    columns = [_parts_of(client, array, blocks) for array in (X, bounds)]
    return DaskRows(client, ask_each(client, make, *columns), n_samples, n_features + has_constant)


def _usual_client():
    try:
        return need_distributed().default_client()
    except ValueError:
        raise ValueError(
            "rows of Dask need a client: make one first, distributed.Client(address), or "
            "distributed.Client() for this machine"
        ) from None


class FileRows(NamedTuple):
    """Consecutive rows of a .npy file, by its path."""

    path: str
    shape: tuple[int, int]
    start: int = 0

    def __getitem__(self, rows):
        return self._replace(start=rows.start, shape=(rows.stop - rows.start, self.shape[1]))

    def open(self):
        """The rows, left on disk until they are looked at; on a worker."""
        try:
            whole = np.load(self.path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise FileError(
                self.path, f"a worker cannot open it ({reason}); all workers must see the file by this path"
            ) from None
        stop = self.start + self.shape[0]
        if whole.ndim != 2 or whole.shape[1] != self.shape[1] or len(whole) < stop:
            raise FileError(
                self.path,
                f"rows {self.start:,} to {stop:,} of {self.shape[1]:,} columns were expected, but "
                f"a worker sees the shape {whole.shape}",
            )
        return whole[self.start : stop]


def _open_rows(X):
    """The rows, or `FileRows` of a path or of a whole file that is mapped into memory."""
    if is_dask_array(X):
        if X.ndim != 2 or any(np.isnan(length) for length in X.chunks[0]):
            raise ValueError(
                f"rows of known number were expected, got a dask.array of shape {X.shape}; "
                "X.compute_chunk_sizes() finds out"
            )
        return X.rechunk({1: -1})
    if isinstance(X, str | os.PathLike):
        X = np.load(X, mmap_mode="r", allow_pickle=False)
    # a part of a mapped array does not say where it begins
    is_whole = isinstance(X, np.memmap) and isinstance(X.base, mmap.mmap)
    if is_whole and X.ndim == 2 and str(X.filename).endswith(".npy"):
        return FileRows(os.path.abspath(X.filename), X.shape)
    return X


def _cut(X, width, n_threads):
    """The blocks of rows that become parts: those of a dask.array, or as many as the workers have threads."""
    n_samples = X.shape[0]
    if is_dask_array(X):
        stops = np.cumsum(X.chunks[0]).tolist()
        starts = [0, *stops[:-1]]
        return [slice(*ends) for ends in zip(starts, stops, strict=True) if ends[0] < ends[1]]
    size = min(rows_within(width, itemsize=4), -(-n_samples // n_threads))
    return list(row_blocks(n_samples, max(1, size)))


def _parts_of(client, array, blocks):
    """The blocks of an array; of a dask.array, futures."""
    if not is_dask_array(array):
        return [array[rows] for rows in blocks]
    lengths = tuple(rows.stop - rows.start for rows in blocks)
    return client.compute(array.rechunk((lengths, (array.shape[1],))).to_delayed().ravel().tolist())


class _PartOnWorker(RowPart):
    """A part whose size Dask knows, so that it takes the work to the rows and not the rows to the work."""

    def __init__(self, rows, bounds, settings):
        self.made_of = rows, bounds, settings
        super().__init__(rows.open() if isinstance(rows, FileRows) else rows, bounds, **settings)

    def __reduce__(self):
        return type(self), self.made_of

    def __sizeof__(self):
        rows, bounds, _ = self.made_of
        if isinstance(rows, FileRows):  # the rows stay in the file
            return bounds.nbytes
        return bounds.nbytes + (
            rows.data.nbytes + rows.indices.nbytes if sparse.issparse(rows) else rows.nbytes
        )


def _make_part(rows, bounds, settings):
    """A part, on the worker where it is to stay."""
    if not isinstance(rows, FileRows | np.ndarray) and not sparse.issparse(rows):
        raise TypeError(f"blocks of rows must be numpy arrays or CSR arrays, got {type(rows).__name__}")
    part = _PartOnWorker(rows, bounds, settings)
    values = part.X.data if sparse.issparse(part.X) else part.X
    if values.dtype.kind != "f":
        raise ValueError(f"X must hold floats, got {values.dtype}")
    for some in row_blocks(len(values), rows_within(part.X.shape[1])):
        if not np.isfinite(values[some]).all():
            raise ValueError("X must be finite, but a block of its rows holds nan or infinity")
    return part
