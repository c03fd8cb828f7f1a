"""Arrays of a model by name: put there when it is saved, taken and checked when it is loaded."""

from typing import Any

import numpy as np
from scipy import sparse

from tagrank.estimators.base import LARGEST

# some kernels walk over all columns, stored or not
_MAX_COLUMNS = 2**24


class ArrayShelf:
    """Named arrays below a prefix; `at` goes one level deeper on the same shelf."""

    def __init__(self, arrays: dict[str, np.ndarray] | None = None, prefix: str = "") -> None:
        self.arrays: dict[str, np.ndarray] = {} if arrays is None else arrays
        self._prefix = prefix

    def at(self, name: str) -> "ArrayShelf":
        """The part of this shelf whose names begin with `name`."""
        return ArrayShelf(self.arrays, f"{self._prefix}{name}.")

    def __contains__(self, name: str) -> bool:
        return self._prefix + name in self.arrays

    def put(self, name: str, array: Any) -> None:
        """Store an array."""
        self.arrays[self._prefix + name] = np.asarray(array)

    def put_matrix(self, name: str, matrix: Any) -> None:
        """Store a dense or a CSR matrix."""
        if not sparse.issparse(matrix):
            return self.put(name, matrix)
        parts = self.at(name)
        for part in ("data", "indices", "indptr", "shape"):
            parts.put(part, getattr(matrix, part))

    def take(
        self,
        name: str,
        kind: str,
        shape: tuple[int | None, ...],
        *,
        infinite: bool = False,
        least: float = -np.inf,
    ) -> np.ndarray:
        """The array `name`, removed from the shelf.

        `kind` is the letter of its dtype: "f" floats, "i" whole numbers, "b" truth values. In `shape` None
        matches any length. No number may be below `least`.
        """
        full_name = self._prefix + name
        if full_name not in self.arrays:
            raise ValueError(f"the array {full_name!r} is missing; copy or save the model again")
        array = self.arrays.pop(full_name)
        fits = array.ndim == len(shape) and all(
            wanted in (None, found) for wanted, found in zip(shape, array.shape, strict=True)
        )
        if not fits or array.dtype.kind != kind:
            wanted = tuple("any" if length is None else length for length in shape)
            raise ValueError(
                f"the array {full_name!r} must have the shape {wanted} and numbers of kind {kind!r}, "
                f"got {array.shape} of {array.dtype}"
            )
        if kind == "f":
            _check_numbers(full_name, array, np.inf if infinite else LARGEST)
        if array.size and array.min() < least:
            raise ValueError(f"the array {full_name!r} holds {array.min():g}; expected at least {least:g}")
        return array

    def take_matrix(self, name: str, shape: tuple[int | None, int | None]) -> Any:
        """The dense or CSR matrix `name` of floats, removed from the shelf."""
        if name in self:
            return self.take(name, "f", shape)
        parts = self.at(name)
        n_rows, n_columns = (int(length) for length in parts.take("shape", "i", (2,)))
        if shape[0] not in (None, n_rows) or shape[1] not in (None, n_columns):
            raise ValueError(
                f"the sparse matrix {name!r} has the shape {(n_rows, n_columns)}, expected {shape}"
            )
        if not 0 <= n_columns <= _MAX_COLUMNS:
            raise ValueError(
                f"the sparse matrix {name!r} has {n_columns:,} columns, more than {_MAX_COLUMNS:,}; "
                "train on fewer, such as those that occur in several rows"
            )
        data = parts.take("data", "f", (None,))
        indices, indptr = parts.take("indices", "i", data.shape), parts.take("indptr", "i", (n_rows + 1,))
        matrix = sparse.csr_array((data, indices, indptr), shape=(n_rows, n_columns))
        matrix.check_format(full_check=True)
        return matrix

    def take_all(self) -> dict[str, np.ndarray]:
        """All arrays of this part of the shelf, removed from it."""
        names = [name for name in self.arrays if name.startswith(self._prefix)]
        return {name.removeprefix(self._prefix): self.arrays.pop(name) for name in names}

    def finish(self) -> None:
        """Refuse arrays that nobody asked for."""
        if self.arrays:
            raise ValueError(f"arrays that do not belong to this model: {', '.join(sorted(self.arrays)[:5])}")


def _check_numbers(name: str, array: np.ndarray, largest: float) -> None:
    # nan is passed on by max and min and compares false; no copy of the array is made
    if array.size and not (float(array.max()) <= largest and float(array.min()) >= -largest):
        what = "nan" if np.isinf(largest) else f"nan, infinite numbers or numbers beyond {largest:g}"
        raise ValueError(f"the array {name!r} holds {what}; scale the columns and train again")
