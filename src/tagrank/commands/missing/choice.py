"""Which pairs of picture and tag deserve a look, and in which order."""

from dataclasses import dataclass

import numpy as np

from tagrank.commands.missing.held_out import HeldOut
from tagrank.errors import ArgumentError

SUSPECT = 0.5  # a present tag that is more probable than this is not called wrong


@dataclass(frozen=True)
class PairChoice:
    """What to list.

    Parameters
    ----------
    wrong : tags that are present, the least probable first; else those absent or unknown, the most probable
        first
    top, per_tag : how many at most, in all and of the same tag; None for all
    min_probability, max_probability : leave out tags that are less or more probable; with `wrong`, what is
        more probable than not is no suspect unless a `max_probability` says so
    """

    wrong: bool = False
    top: int | None = None
    per_tag: int | None = None
    min_probability: float = 0.0
    max_probability: float | None = None

    @property
    def most_probable(self) -> float:
        """The probability up to which tags are listed."""
        if self.max_probability is not None:
            return self.max_probability
        return SUSPECT if self.wrong and self.min_probability <= SUSPECT else 1.0

    def __post_init__(self) -> None:
        for name, count in {"top": self.top, "per_tag": self.per_tag}.items():
            if count is not None and count < 1:
                raise ArgumentError(f"{name} must be at least 1, or None for all, got {count!r}")
        if not 0 <= self.min_probability <= self.most_probable <= 1:
            raise ArgumentError(
                "expected 0 <= min_probability <= max_probability <= 1, got "
                f"min_probability={self.min_probability!r} and max_probability={self.most_probable!r}"
            )

    def candidates(self, held_out: HeldOut, is_open: np.ndarray | bool = True) -> np.ndarray:
        """Whether a pair is to be looked at, shape (n, n_tags); only those that are open, not decided."""
        is_state = (held_out.states > 0) if self.wrong else (held_out.states <= 0)
        return held_out.is_judged & is_state & is_open

    def pick(self, held_out: HeldOut, is_open: np.ndarray | bool = True) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns of the pairs in their order; of equal probabilities the scores decide."""
        probabilities = held_out.probabilities
        is_wanted = self.candidates(held_out, is_open)
        is_wanted &= (probabilities >= self.min_probability) & (probabilities <= self.most_probable)
        places, columns = np.nonzero(is_wanted)
        direction = 1 if self.wrong else -1
        order = np.lexsort([direction * values[is_wanted] for values in (held_out.scores, probabilities)])
        if self.per_tag is not None:
            order = order[_occurrence(columns[order]) < self.per_tag]
        return places[order[: self.top]], columns[order[: self.top]]


def _occurrence(values: np.ndarray) -> np.ndarray:
    """How many entries before each one have the same value."""
    by_value = np.argsort(values, kind="stable")
    _, starts, counts = np.unique(values[by_value], return_index=True, return_counts=True)
    occurrence = np.empty(len(values), dtype=np.intp)
    occurrence[by_value] = np.arange(len(values)) - np.repeat(starts, counts)
    return occurrence
