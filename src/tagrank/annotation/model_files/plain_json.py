"""JSON from strangers: parsed within bounds, and taken apart field by field."""

import json
import math
from typing import Any

_MAX_DEPTH = 128
_MAX_VALUES = 2**21
_REQUIRED = object()


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
    raise ValueError(f"{constant} is no JSON number")


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
