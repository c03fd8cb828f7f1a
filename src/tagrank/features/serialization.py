"""Features and their steps rebuilt from what `Part.settings` and `Part.arrays` wrote down.

Model files come from anywhere: only classes that the caller names are built, every setting is compared with
the type that its field declares, and the classes check the values.
"""

from dataclasses import fields
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from tagrank.features.feature import Part

# sums of products of numbers up to this one are finite
_LARGEST = 1e100


def part_from_settings(settings, arrays, known):
    """The part whose `settings()`, as read from JSON, and `arrays()`, by dotted name, these are.

    Only classes that are `known` by name are built. It has the same fingerprint as the one written down.
    """
    part_type = _known_type(settings, known)
    hints = get_type_hints(part_type)
    values = {name: value for name, value in settings.items() if name not in ("type", "version")}
    own, inner = _split_names(arrays)
    _check_names(part_type, values, own, inner)
    for name, array in own.items():
        values[name] = _check_array(f"{part_type.__name__}.{name}", array)
    for name, value in values.items():
        if isinstance(value, dict):
            _known_type(value, known, hints[name])
            value = part_from_settings(value, inner.pop(name, {}), known)
        values[name] = _check_value(f"{part_type.__name__}.{name}", _as_tuple(value), hints[name])
    if inner:
        raise ValueError(f"{part_type.__name__} has no part for the arrays of {', '.join(sorted(inner))}")
    return part_type(**values)


def _known_type(settings, known, hint=Part):
    """The class that settings ask for, or an error if it is not one to be built here."""
    if not isinstance(settings, dict) or not isinstance(settings.get("type"), str):
        raise ValueError(f"settings of a feature must be an object with a 'type', got {settings!r:.100}")
    part_type = known.get(settings["type"])
    allowed = tuple(kind for kind in (get_args(hint) or (hint,)) if isinstance(kind, type))
    if part_type is None or not issubclass(part_type, allowed):
        suitable = sorted(name for name, kind in known.items() if issubclass(kind, allowed))
        raise ValueError(
            f"the type must be one of {', '.join(suitable) or 'none'}, got {settings['type']!r:.100}"
        )
    if settings.get("version") != part_type.version:
        raise ValueError(
            f"{part_type.__name__} is of version {part_type.version} here, the settings are of version "
            f"{settings.get('version')!r:.100}: extract the features again, or use the release that made them"
        )
    return part_type


def _split_names(arrays):
    """Arrays of the part itself by name, and those of the parts within it by the name of the part."""
    own, inner = {}, {}
    for name, array in arrays.items():
        first, dot, rest = name.partition(".")
        if dot:
            inner.setdefault(first, {})[rest] = array
        else:
            own[name] = array
    return own, inner


def _check_names(part_type, values, own, inner):
    """Raise unless every field is given once, as a setting or as an array, and nothing else is."""
    names = {field.name for field in fields(part_type)}
    for problem, wrong in {
        "has no": (values.keys() | own.keys() | inner.keys()) - names,
        "needs": names - values.keys() - own.keys(),
        "has settings and arrays at once for": values.keys() & own.keys(),
    }.items():
        if wrong:
            raise ValueError(f"{part_type.__name__} {problem} {', '.join(sorted(wrong)):.200}")


def _check_array(name, array):
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "iuf" or not np.isfinite(array).all():
        kind = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
        raise ValueError(f"{name} must be an array of finite numbers, got {kind}")
    if array.size and max(float(array.max()), -float(array.min())) > _LARGEST:
        raise ValueError(f"{name} must be an array of numbers up to {_LARGEST:g}, got larger ones")
    return array


def _check_value(name, value, hint):
    if not _matches(value, hint):
        expected = getattr(hint, "__name__", None) or str(hint)
        raise ValueError(f"{name} must be {expected}, got {value!r:.100}")
    return value


def _matches(value, hint):
    """Whether a value is of the type that a field declares."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(_matches(value, one) for one in inner)
    if origin is Literal:
        return value in inner
    if origin is tuple:
        return isinstance(value, tuple) and _match_all(value, inner)
    if hint in (int, float):
        return _is_number(value, (int, float) if hint is float else int)
    return hint is Any or isinstance(value, origin or hint)


def _match_all(values, hints):
    if hints[1:] == (...,):
        hints = hints[:1] * len(values)
    return len(values) == len(hints) and all(map(_matches, values, hints))


def _is_number(value, kinds):
    """Whether it is a number that numpy can hold; JSON has also longer ones, nan and infinity."""
    return isinstance(value, kinds) and not isinstance(value, bool) and abs(value) < 2**63


def _as_tuple(value):
    """JSON knows lists alone; the fields of parts are tuples, which can be hashed."""
    return tuple(map(_as_tuple, value)) if isinstance(value, list) else value
