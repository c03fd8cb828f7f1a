"""tagrank learns from pictures that carry some of their tags, and ranks every tag for any picture.

Public names are resolved on first use, so that ``import tagrank`` stays fast.
"""

from importlib import import_module

from tagrank._version import __version__

_HOMES = {
    "tagrank.data": [],
    "tagrank.kernels": [],
    "tagrank.estimators": [],
    "tagrank.metrics": [],
    "tagrank.annotation": [],
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_ROOMS = ["annotation", "data", "estimators", "features", "kernels", "metrics", "study"]

__all__ = ["__version__", *sorted(_HOME_OF)]


def __getattr__(name):
    if name in _HOME_OF:
        return getattr(import_module(_HOME_OF[name]), name)
    if name in _ROOMS:
        return import_module(f"tagrank.{name}")
    raise AttributeError(f"module 'tagrank' has no attribute {name!r}")


def __dir__():
    return sorted([*__all__, *_ROOMS])
