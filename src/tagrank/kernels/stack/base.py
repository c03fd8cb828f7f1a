"""What all stacks of kernels share: names, factors, and parts that are positions instead of copies."""

import numpy as np

from tagrank.kernels.stack.checks import (
    check_coefficients,
    check_factors,
    check_names,
    positions,
    split_key,
)


class Stack:
    """Kernels of the same samples: one array each, read through positions of rows and columns.

    Attributes
    ----------
    names : tuple of str
    dtype : float32 if all arrays are, else float64
    shape : (n_samples, n_columns); of a part of held-out with training samples they differ
    kind : "gram" or "rows", what `combined` returns, as solvers name it
    """

    kind: str
    # what belongs to one object only, not to its parts and copies
    _own = ("_buffer",)

    def _hold(self, arrays, names, shape, is_gram=True):
        self._arrays, self.names, self.shape = arrays, check_names(names, len(arrays)), shape
        self.dtype = np.result_type(*arrays)
        self._is_gram, self._rows, self._columns = is_gram, None, None
        self._factors = np.ones(len(arrays))
        self._folder = None
        self.__dict__.update(dict.fromkeys(self._own))

    def _like(self, **changes):
        other = type(self).__new__(type(self))
        other.__dict__.update({**self.__dict__, **changes, **dict.fromkeys(self._own)})
        return other

    def keep_alive(self, folder):
        """Let `folder`, an object that removes its files when it is collected, live as long as all parts."""
        self._folder = folder

    def __getstate__(self):
        # files are pickled as arrays
        return {**self.__dict__, **dict.fromkeys(self._own), "_folder": None}

    @property
    def n_kernels(self):
        return len(self._arrays)

    @property
    def n_samples(self):
        return self.shape[0]

    @property
    def is_symmetric(self):
        """Whether rows and columns are the same samples."""
        return self._is_gram and self._rows is self._columns

    def __len__(self):
        return self.shape[0]

    def __repr__(self):
        return f"{type(self).__name__}({self.n_kernels} kernels, shape={self.shape}, dtype={self.dtype})"

    def __array__(self, dtype=None, copy=None):
        raise TypeError(
            f"{self!r} is not one matrix; take stack.combined(weights), or stack.kernel(j) for one of them"
        )

    def __getitem__(self, key):
        """The part `stack[np.ix_(rows, columns)]`, or `stack[rows]` with all columns; nothing is copied."""
        rows, columns = split_key(key)
        rows, columns = positions(rows, self.shape[0]), positions(columns, self.shape[1])
        shape = (len(rows), len(columns))
        rows = rows if self._rows is None else self._rows[rows]
        columns = columns if self._columns is None else self._columns[columns]
        if self._is_gram and np.array_equal(rows, columns):
            columns = rows
        return self._like(shape=shape, _rows=rows, _columns=columns)

    def scaled(self, factors):
        """The same kernels, each times its positive factor."""
        return self._like(_factors=self._factors * check_factors(factors, self.n_kernels))

    def _check_coefficients(self, T):
        self._require_symmetric()
        return check_coefficients(T, self.n_samples).astype(self.dtype, copy=False)

    def _require_symmetric(self):
        if not self.is_symmetric:
            raise ValueError(
                "diagonals and quadratic forms need the same samples as rows and columns, got a part of "
                f"shape {self.shape}; cut it with stack[np.ix_(rows, rows)]"
            )
