"""What is chosen among: a candidate is an estimator on a kernel, with the values of C that are tried."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from tagrank.annotation.choosing.plan import Budget
from tagrank.annotation.scaling import Scaler
from tagrank.annotation.views import UnscaledRows
from tagrank.estimators.base import innermost
from tagrank.features import Feature
from tagrank.kernels import Kernel, Linear, Precomputed, Sum, make_kernel

SHORTEST = 1.0  # seconds that are left for the training, however long the choice took


class Candidate(NamedTuple):
    """An estimator that may be chosen.

    Attributes
    ----------
    method : its name
    family : rankers and classifiers may be added up
    estimator : not fitted
    costs : values of C to choose among; None keeps that of the estimator
    tries_intercept : whether it is also tried without its intercept, or with one
    extends : whether to go on beyond the costs while the best is the first or the last of them
    parameters : those that other candidates of the same method have otherwise
    kernel : in the place of that of the estimator; None keeps that
    power : to which the kernel is raised
    kernel_words : what the kernel is called
    scaler : of the rows, where it is part of the choice; None leaves them as they are
    """

    method: str
    family: str
    estimator: Any
    costs: Sequence[float] | None = None
    tries_intercept: bool = False
    extends: bool = False
    parameters: Mapping[str, Any] = MappingProxyType({})
    kernel: Any = None
    power: int = 1
    kernel_words: str = ""
    scaler: Scaler | None = None

    def on_kernel_of(self, other: "Candidate") -> "Candidate":
        """The same estimator on the kernel and the scaled rows of another candidate."""
        names = ("kernel", "power", "kernel_words", "scaler")
        return self._replace(**{name: getattr(other, name) for name in names})

    def on_rows_of(self, words: str, scaler: Scaler | None) -> "Candidate":
        """The same on rows that are scaled so; `words` tell how."""
        kernel_words = ", ".join(filter(None, (self.kernel_words, words)))
        return self._replace(scaler=scaler, kernel_words=kernel_words)

    def made(self, cost: float | None = None) -> Any:
        """A copy of the estimator with the kernel and, where values of C are tried, with that one."""
        estimator = clone(self.estimator)
        if self.kernel is not None:
            estimator.set_params(kernel=self.kernel, gamma=None)
        if self.power > 1 and is_compared(estimator):
            estimator.set_params(kernel=estimator.raised_kernel(self.power), gamma=None)
        return estimator.set_params(C=cost) if self.costs and cost is not None else estimator


@dataclass(frozen=True)
class Candidates:
    """All that is chosen among.

    Attributes
    ----------
    around : what is learned on top of the estimator, not fitted; None for nothing
    on_kernels : for each kernel, the usual one first, the candidates that are tried on it
    others : candidates that are tried on the best of these kernels only
    weigher : estimator that finds the weights of the kernels in the sum, not fitted; None keeps them
    scalers : of rows, by their names; the best is found on a straight line, which is tried fastest. Empty
        where rows are scaled already
    max_seconds : for the choice and the training together; None for as long as it takes
    budget : what memory the training may take
    """

    around: Any
    on_kernels: Sequence[Sequence[Candidate]]
    others: Sequence[Candidate] = ()
    weigher: Any = None
    scalers: Mapping[str, Scaler | None] = field(default_factory=dict)
    max_seconds: float | None = None
    budget: Budget = field(default_factory=Budget)

    @property
    def methods(self) -> Sequence[Candidate]:
        """Each candidate once, whatever its kernel; the usual one is the first."""
        return [*self.on_kernels[0], *self.others]

    @property
    def usual(self) -> Candidate:
        """The first candidate on the first kernel."""
        return self.on_kernels[0][0]

    @property
    def has_choice(self) -> bool:
        """Whether there is anything to choose."""
        several = (self.methods, self.on_kernels, self.scalers)
        return any(len(one) > 1 for one in several) or self.usual.costs is not None

    def changed(self, change: Callable[[Candidate], Candidate]) -> "Candidates":
        """The same with every candidate changed."""
        on_kernels = [[change(one) for one in group] for group in self.on_kernels]
        return replace(self, on_kernels=on_kernels, others=[change(one) for one in self.others])

    def only(self, is_kept: Callable[[Candidate], bool]) -> "Candidates":
        """Without the candidates for which `is_kept` answers false."""
        on_kernels = [[one for one in group if is_kept(one)] for group in self.on_kernels]
        return replace(self, on_kernels=on_kernels, others=[one for one in self.others if is_kept(one)])

    def with_powers(self, powers: Sequence[int]) -> "Candidates":
        """The same where the kernels are these powers of that of the estimators."""
        return replace(self, on_kernels=on_kernels_of(self.on_kernels[0], map(kernel_to_the_power, powers)))

    def scaling_of(self, scaler: Scaler | None) -> str:
        """The name of one of the scalers."""
        return next(name for name, one in self.scalers.items() if one is scaler)

    def wrapped(self, estimator: Any) -> Any:
        """The estimator with what goes around it."""
        return estimator if self.around is None else clone(self.around).set_params(estimator=estimator)


def kernel_to_the_power(power: int) -> dict[str, Any]:
    """Fields of a candidate on a power of the kernel of its estimator."""
    return {"kernel_words": f"kernel to the power {power}", "power": power}


def on_kernels_of(group: Sequence[Candidate], kernels: Iterable[Mapping[str, Any]]) -> list[list[Candidate]]:
    """The candidates on each of the kernels, which are fields of a candidate."""
    return [[one._replace(**kernel) for one in group] for kernel in kernels]


def candidates_of(
    estimator: Any, rows: UnscaledRows, costs: Sequence[float] | None, powers: Sequence[int] = (1,)
) -> Candidates:
    """A copy of an estimator that somebody made, to be trained as it is but for the choice among `costs`."""
    if isinstance(estimator, type) or not all(hasattr(estimator, name) for name in ("fit", "get_params")):
        example = f"{estimator.__name__}()" if isinstance(estimator, type) else "LabelRanker()"
        raise TypeError(
            f"estimator must be a tagrank estimator such as {example}, the name of a method, a Recipe, or "
            f"None for the usual one, got {estimator!r}"
        )
    around = suit_views(clone(estimator), rows)
    inner = innermost(around)
    name = type(inner).__name__
    around = None if inner is around else around
    if costs is None or not hasattr(inner, "C"):
        return Candidates(around, [[Candidate(name, name, inner)]])
    kernels = [{} if power == 1 else kernel_to_the_power(power) for power in powers]
    return Candidates(around, on_kernels_of([Candidate(name, name, inner, costs)], kernels))


def suit_views(estimator: Any, rows: UnscaledRows) -> Any:
    """The estimator; a kernel given by name reads several sets of features as the mean of one on each."""
    inner = innermost(estimator)
    several_features = rows.features is not None and len(rows.views) > 1
    if several_features and isinstance(getattr(inner, "kernel", None), str):
        inner.set_params(kernel=_mean_over_views(inner, list(rows.views)), gamma=None)
    return estimator


def mean_kernel(features: Mapping[str, Feature]) -> Kernel:
    """The mean of the kernels that suit these sets of features, each on its own view.

    Embeddings together have the weight of all other sets together: each of them tells more.
    """
    families = Counter(feature.family for feature in features.values())
    parts = tuple(make_kernel(feature.kernel).on(name) for name, feature in features.items())
    weights = (1 / (len(families) * families[feature.family]) for feature in features.values())
    return Sum(parts, tuple(weights))


def kernel_of(estimator: Any) -> Kernel | None:
    """The kernel that an estimator will use, None if it has none."""
    inner = innermost(estimator)
    return make_kernel(inner.kernel, gamma=inner.gamma) if hasattr(inner, "kernel") else None


def is_compared(estimator: Any) -> bool:
    """Whether it reads the similarities of all rows with each other, which take their time."""
    kernel = kernel_of(estimator)
    return kernel is not None and not isinstance(kernel, Linear | Precomputed)


def limited(estimator: Any, candidates: Candidates, *, since: float) -> Any:
    """The estimator with what is left of the budget that began `since` then; as it is without a budget.

    Each of the folds of the calibration has as much as the last training.
    """
    if candidates.max_seconds is None:
        return estimator
    n_trainings = 1 + (0 if candidates.around is None else candidates.around.cv)
    left = max(SHORTEST, candidates.max_seconds - (time.perf_counter() - since)) / n_trainings
    names = [name for name in estimator.get_params() if name.split("__")[-1] == "max_seconds"]
    return clone(estimator).set_params(**dict.fromkeys(names, left))


def take_tag_weights(estimator: Any, tags: Sequence[str], n_rows: int) -> dict[str, Any]:
    """Weights by tag name as weights of samples: the estimator knows the tags by number only."""
    inner = innermost(estimator)
    weights = getattr(inner, "class_weight", None)
    if not isinstance(weights, Mapping) or not any(isinstance(key, str) for key in weights):
        return {}
    if unknown := [key for key in weights if key not in tags]:
        raise ValueError(f"class_weight names tags that the collection does not have: {unknown}")
    inner.set_params(class_weight=None)
    return {"sample_weight": np.tile([weights.get(tag, 1.0) for tag in tags], (n_rows, 1))}


def _mean_over_views(inner: Any, views: list[str]) -> Kernel | str:
    kernel = make_kernel(inner.kernel, gamma=inner.gamma)
    if isinstance(kernel, Linear):
        # on columns side by side it is the sum already, and trains on the rows themselves
        return "linear"
    return Sum(tuple(kernel.on(view) for view in views), (1 / len(views),) * len(views))
