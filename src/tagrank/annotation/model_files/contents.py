"""What a model folder holds, whoever wrote it: JSON fields and arrays, taken out one by one and checked."""

import json
import math
from typing import Any

import numpy as np
from scipy import sparse

from tagrank.data.label_matrix import Matrix
from tagrank.estimators.base import LARGEST

_MAX_DEPTH = 128
_MAX_VALUES = 2**21
_REQUIRED = object()
# some kernels walk over all columns, stored or not
_MAX_COLUMNS = 2**24


class Fields:
    """The fields of a JSON object; each is taken once, with its type, and none may be left over."""

    def __init__(self, value: Any, *, where: str) -> None:
        if not isinstance(value, dict):
            raise ValueError(f"{where} must be an object, got {type(value).__name__}")
        self._left, self.where = dict(value), where

    def __contains__(self, key: str) -> bool:
        return key in self._left

    def take(self, key: str, kind: type | tuple[type, ...], *, default: Any = _REQUIRED) -> Any:
        """The field `key`, which must be of type `kind`; a bool is no number, an int is a float too."""
        value = self._left.pop(key, default)
        if value is _REQUIRED:
            raise ValueError(f"{self.where} lacks {key!r}")
        kinds = kind if isinstance(kind, tuple) else (kind,)
        if type(value) is int and float in kinds and int not in kinds:
            return _as_float(value, f"{self.where}: {key!r}")
        if value is not default and type(value) not in kinds:
            names = " or ".join(kind.__name__ for kind in kinds)
            raise ValueError(f"{self.where}: {key!r} must be {names}, got {type(value).__name__}")
        return value

    def mapping(self, key: str) -> dict[str, Any]:
        """The field `key`, an object."""
        return self.take(key, dict)

    def strings(self, key: str) -> list[str]:
        """The field `key`, a list of different strings."""
        values = self.take(key, list)
        if not all(type(value) is str for value in values) or len(set(values)) != len(values):
            raise ValueError(f"{self.where}: {key!r} must be a list of different strings")
        return values

    def fields(self, key: str) -> "Fields":
        """The field `key`, an object to be taken apart."""
        return Fields(self.take(key, dict), where=f"{self.where}: {key}")

    def rest(self) -> dict[str, Any]:
        """All fields that were not taken."""
        return dict(self._left)

    def finish(self) -> None:
        """Refuse fields that nobody asked for."""
        if self._left:
            unknown = ", ".join(repr(key[:40]) for key in sorted(self._left)[:5])
            raise ValueError(f"{self.where} has fields that are unknown here: {unknown}")


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

    def put_matrix(self, name: str, matrix: Matrix) -> None:
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

    def take_matrix(self, name: str, shape: tuple[int | None, int | None]) -> Matrix:
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


def parse_json(data: bytes, *, where: str) -> Fields:
    """The JSON object in `data`; deep nesting, repeated keys, nan and infinite numbers are refused."""
    # empty lists take thirty times the memory of their text: count before anything is made
    if sum(map(data.count, (b",", b"[", b"{"))) > _MAX_VALUES:
        raise ValueError(f"{where} holds more than {_MAX_VALUES:,} values, more than are read")
    try:
        value = json.loads(data, object_pairs_hook=_unique, parse_constant=_refuse)
    except RecursionError:
        raise ValueError(f"{where} is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"{where} is damaged: {str(error)[:200]}") from None
    _check_plain(value, where, 0)
    return Fields(value, where=where)


def format_json(value: Any) -> bytes:
    """`value` as JSON bytes; nan and infinite numbers become null.

    Names of files that are no Unicode (lone surrogates) are escaped, and read back as they were.
    """
    text = json.dumps(_plain(value), indent=1, ensure_ascii=False, allow_nan=False)
    return text.encode(errors="backslashreplace") + b"\n"


def _plain(value: Any) -> Any:
    """`value` made of plain Python values; numpy numbers are converted."""
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()
    if isinstance(value, dict):
        return {_text(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    raise TypeError(f"cannot be written as JSON: {value!r}")


def _text(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"the keys of a JSON object are strings, got {key!r}")
    return key


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("an object has the same key twice")
    return value


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not a JSON number")


def _check_plain(value: Any, where: str, depth: int) -> None:
    if depth > _MAX_DEPTH:
        raise ValueError(f"{where} is nested too deeply")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{where} holds a number that is too large")
    if type(value) is int:
        _as_float(value, where)
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check_plain(item, where, depth + 1)


def _as_float(value: int, where: str) -> float:
    if abs(value) >= 2**63:
        raise ValueError(f"{where} holds a number that is too large")
    return float(value)


def _check_numbers(name: str, array: np.ndarray, largest: float) -> None:
    # nan is passed on by max and min and compares false; no copy of the array is made
    if array.size and not (float(array.max()) <= largest and float(array.min()) >= -largest):
        what = "nan" if np.isinf(largest) else f"nan, infinite numbers or numbers beyond {largest:g}"
        raise ValueError(f"the array {name!r} holds {what}; scale the columns and train again")
