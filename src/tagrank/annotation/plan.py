"""What is to be chosen among: methods, their parameters, kernels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

from sklearn.base import clone


class Candidate(NamedTuple):
    """A method that may be chosen.

    Attributes
    ----------
    method : its name
    family : rankers and classifiers may be added up
    estimator : not fitted
    costs : values of C to choose among; None keeps that of the estimator
    tries_intercept : whether it is also tried without its intercept, or with one
    extends : whether to go on beyond the costs while the best is the first or the last of them
    settings : parameters that other candidates of the same method have otherwise
    """

    method: str
    family: str
    estimator: Any
    costs: Sequence[float] | None
    tries_intercept: bool = False
    extends: bool = False
    settings: Mapping[str, Any] = MappingProxyType({})


class KernelOption(NamedTuple):
    """A kernel that may be chosen.

    Attributes
    ----------
    words : what it is called
    kernel : in the place of that of the estimator; None keeps that
    power : to which it is raised
    """

    words: str = ""
    kernel: Any = None
    power: int = 1


KEPT = KernelOption()


@dataclass(frozen=True)
class Plan:
    """What is to be chosen among.

    Attributes
    ----------
    around : what is learned on top of the estimator, not fitted; None for nothing
    candidates : methods, the usual one first
    kernels : kernels, the usual one first
    n_leading : how many of the candidates are tried on every kernel; the others are on the best
    weigher : estimator that finds the weights of the kernels in the sum, not fitted; None keeps them
    """

    around: Any
    candidates: Sequence[Candidate]
    kernels: Sequence[KernelOption] = (KEPT,)
    n_leading: int = 1
    weigher: Any = None

    @property
    def leading(self) -> Sequence[Candidate]:
        """The candidates that are tried on every kernel."""
        return self.candidates[: self.n_leading]

    @property
    def usual(self) -> Any:
        """The estimator of the first candidate."""
        return self.candidates[0].estimator

    @property
    def has_choice(self) -> bool:
        """Whether there is anything to choose."""
        return len(self.candidates) > 1 or len(self.kernels) > 1 or self.candidates[0].costs is not None

    def wrapped(self, estimator: Any) -> Any:
        """The estimator with what goes around it."""
        return estimator if self.around is None else clone(self.around).set_params(estimator=estimator)
