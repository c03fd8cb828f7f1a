"""What a model file holds of a fitted estimator: every class declares its attributes in `stored`, by kind.

Model files are written and read by one piece of code, which finds here what to expect; sizes by name are the
same wherever they occur: ``n_labels`` is known before, the others are fixed by the first array that has them.
"""

from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Numbers:
    """An array of finite numbers.

    Attributes
    ----------
    kind : letter of the dtype: "f" floats, "i" whole numbers, "b" truth values
    shape : a number, the name of a size, or None for any, for each dimension
    optional : whether it may be None
    infinite : whether infinite values may stand in it
    """

    kind: str
    shape: tuple[int | str | None, ...]
    optional: bool = False
    infinite: bool = False


@dataclass(frozen=True)
class Rows:
    """Samples: a dense or sparse matrix of floats, or a mapping of views to such; may be None.

    Attributes
    ----------
    n_rows : the name of a size
    """

    n_rows: str


@dataclass(frozen=True)
class Value:
    """A flag, a count, a number or a text; None if `optional`. Numbers that are not finite become nan."""

    kind: type
    optional: bool = False


@dataclass(frozen=True)
class FittedKernel:
    """A kernel whose widths are fixed."""


@dataclass(frozen=True)
class FittedEstimator:
    """Another estimator, inside this one."""


FLAG, COUNT, NUMBER = Value(bool), Value(int), Value(float)
KERNEL, ESTIMATOR = FittedKernel(), FittedEstimator()


def stores(**kinds):
    """The declaration of a class: attribute to its kind; None takes back what a more general class says."""
    return MappingProxyType(kinds)


def stored_by(kind):
    """All that a class and those it derives from declare, the most general first."""
    declared = {}
    for base in reversed(kind.__mro__):
        declared |= vars(base).get("stored", {})
    return {name: found for name, found in declared.items() if found is not None}
