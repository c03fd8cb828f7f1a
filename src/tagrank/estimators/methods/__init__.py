"""The registry: one entry a method. All other rooms know a method from here.

Public names, the words of the command line and their help, what model files may name, the table in
docs/models.md, search spaces and the lists of all shared tests come from `METHODS`.
Listing them loads no estimator.
"""

import re
from collections.abc import Mapping
from typing import Any

from tagrank.errors import ArgumentError, did_you_mean
from tagrank.estimators.methods import classifiers, multiple_kernels, neighbours, spaces, transformations
from tagrank.estimators.methods.method import Method

METHODS = [
    *classifiers.METHODS,
    *multiple_kernels.METHODS,
    *neighbours.METHODS,
    *spaces.METHODS,
    *transformations.METHODS,
]


def methods(name: str | None = None) -> list[Method]:
    """All methods that `train` knows, or only the one of this name.

    Parameters
    ----------
    name : the word behind ``--method``, or a name of the literature, such as "ml-knn"; all methods by default
    """
    return list(METHODS) if name is None else [find_method(name)]


def find_method(name: str) -> Method:
    """The method called `name`, by us, by the literature or by its class, or an error that suggests one.

    Capital letters, hyphens, underscores and blanks make no difference.
    """
    if isinstance(name, str):
        for method in METHODS:
            if _bare(name) in map(_bare, (method.name, method.estimator, *method.also)):
                return method
    hint = did_you_mean(str(name), method_names(), "'tagrank methods' lists all methods")
    raise ArgumentError(f"no method {name!r}{hint}")


def method_names() -> list[str]:
    """All that ``--method`` takes, our names first; those of the literature without blanks."""
    also = (word.casefold().replace(" ", "-") for method in METHODS for word in method.also)
    return list(dict.fromkeys([*(method.name for method in METHODS), *also]))


def _bare(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.casefold())


def read_parameters(method: str, texts: Mapping[str, str]) -> dict[str, Any]:
    """Parameters of a method from their texts, as `train` takes them; in names ``-`` may stand for ``_``."""
    known = {parameter.name: parameter for parameter in find_method(method).parameters}
    values = {}
    for written, text in texts.items():
        name = written.replace("-", "_")
        if name not in known:
            hint = did_you_mean(name, known, f"its own parameters: {', '.join(known) or 'none'}")
            raise ArgumentError(f"method {method!r} has no parameter {written!r} of its own{hint}")
        values[name] = known[name].read(text)
    return values
