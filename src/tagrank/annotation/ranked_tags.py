"""RankedTags: all that command line, reports and pages show of one picture; and which tags to write down."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, overload

import numpy as np

from tagrank.arrays import need_pandas
from tagrank.errors import ArgumentError, did_you_mean, warn
from tagrank.validation import check_share

_SHOWN = 5


class RankedTag(NamedTuple):
    """One tag of one picture.

    Attributes
    ----------
    tag : its name
    score : the higher, the better; comparable within a picture
    probability : that the tag is present, None where the model is not calibrated
    predicted : whether the model would write the tag down
    """

    tag: str
    score: float
    probability: float | None
    predicted: bool


@dataclass(frozen=True, repr=False)
class RankedTags:
    """The tags of one picture, best first.

    Parameters
    ----------
    name : what the picture is called
    entries : its tags in order
    problem : why there are none, if the picture cannot be read

    Examples
    --------
    >>> ranked = RankedTags("a.jpg", (RankedTag("sky", 2.0, 0.9, True), RankedTag("sea", -1.0, 0.3, False)))
    >>> ranked
    <RankedTags 'a.jpg': sky 90%*, sea 30%>
    >>> ranked[0].tag, ranked["sea"].probability, "boat" in ranked, len(ranked)
    ('sky', 0.3, False, 2)
    """

    name: str
    entries: tuple[RankedTag, ...]
    problem: str = ""

    def __iter__(self) -> Iterator[RankedTag]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __contains__(self, tag: object) -> bool:
        """Whether a tag is ranked here; ``tag in ranked.predicted`` tells whether it is predicted."""
        return any(tag in (entry.tag, entry) for entry in self.entries)

    @overload
    def __getitem__(self, place: int | str) -> RankedTag: ...
    @overload
    def __getitem__(self, place: slice) -> "RankedTags": ...
    def __getitem__(self, place: int | str | slice) -> "RankedTag | RankedTags":
        """The tag of a place, 0 for the best; of a name; or those of some places."""
        if isinstance(place, slice):
            return replace(self, entries=self.entries[place])
        if not isinstance(place, str):
            return self.entries[place]
        for entry in self.entries:
            if entry.tag == place:
                return entry
        raise KeyError(
            f"no tag {place!r} among the {len(self)} of {self.name}{did_you_mean(place, self.tags)}"
        )

    def __repr__(self) -> str:
        if self.problem:
            return f"<RankedTags {self.name!r}: {self.problem}>"
        shown = ", ".join(map(_in_words, self.entries[:_SHOWN])) + (", ..." if len(self) > _SHOWN else "")
        return f"<RankedTags {self.name!r}: {shown}>"

    @property
    def tags(self) -> list[str]:
        """The names of the tags, best first."""
        return [entry.tag for entry in self.entries]

    @property
    def predicted(self) -> list[str]:
        """The names of the tags that the model would write down, best first."""
        return [entry.tag for entry in self.entries if entry.predicted]

    def top(self, n: int | None) -> "RankedTags":
        """The best `n` tags; None keeps all."""
        return replace(self, entries=self.entries if n is None else self.entries[: max(0, n)])

    def with_fewer(self, max_tags: int | None = None, *, min_probability: float = 0.0) -> "RankedTags":
        """The same order; of the predicted tags only the best `max_tags`, and none that is less probable."""
        kept = [entry.tag for entry in self.entries if entry.predicted and _reaches(entry, min_probability)]
        kept = kept[:max_tags]
        entries = (entry._replace(predicted=entry.tag in kept) for entry in self.entries)
        return replace(self, entries=tuple(entries))

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values: the name, and for each tag its score, probability and prediction."""
        plain = {"name": self.name, "tags": [entry._asdict() for entry in self.entries]}
        return plain | ({"problem": self.problem} if self.problem else {})

    def to_frame(self) -> Any:
        """A pandas DataFrame with a row for each tag, best first; its index counts the places from 1."""
        columns = {field: [getattr(entry, field) for entry in self.entries] for field in RankedTag._fields}
        return need_pandas().DataFrame(columns, index=range(1, len(self) + 1))


def _in_words(entry: RankedTag) -> str:
    sure = f"{entry.score:.2f}" if entry.probability is None else f"{entry.probability:.0%}"
    return f"{entry.tag} {sure}{'*' if entry.predicted else ''}"


def _reaches(entry: RankedTag, probability: float) -> bool:
    return entry.probability is None or entry.probability >= probability


def rank_tags(
    scores: np.ndarray,
    tags: Sequence[str],
    *,
    names: Sequence[str],
    predicted: np.ndarray,
    probabilities: np.ndarray | None = None,
    last: np.ndarray | None = None,
    n_tags: int | None = None,
) -> list[RankedTags]:
    """The tags of every picture by falling score; of equal ones the earlier tag comes first.

    Scores, predictions and probabilities, if there are any, have the shape (n_pictures, n_tags). Tags that
    are `last` (n_tags,) come after all others, whatever their scores. `n_tags` are kept; all by default.
    """
    behind = np.zeros(len(tags), dtype=bool) if last is None else last
    keys = np.broadcast_to(behind, scores.shape)
    sure = np.zeros(scores.shape) if probabilities is None else probabilities
    order = np.lexsort((-scores, -sure, keys), axis=1)[:, :n_tags]

    def entry(i: int, j: int) -> RankedTag:
        probability = None if probabilities is None else float(probabilities[i, j])
        return RankedTag(tags[j], float(scores[i, j]), probability, bool(predicted[i, j]))

    return [RankedTags(name, tuple(entry(i, int(j)) for j in order[i])) for i, name in enumerate(names)]


def threshold_for(estimator: Any, min_probability: float | None, precision: float | None) -> float | None:
    """The probability from which on a tag is written down; None leaves the decision to the estimator."""
    if min_probability is not None and precision is not None:
        raise ArgumentError(
            f"min_probability={min_probability} and precision={precision} cannot be combined; pass only one"
        )
    if min_probability is not None:
        check_share("min_probability", min_probability)
        if not hasattr(estimator, "predict_proba") or not hasattr(estimator, "probabilities_of"):
            raise ArgumentError(
                f"min_probability={min_probability:g} needs a model with probabilities, and this one has "
                "none; train it again with a calibration"
            )
        return min_probability
    if precision is None:
        return None
    check_share("precision", precision)
    if not hasattr(estimator, "curve_"):
        raise ArgumentError(
            f"precision={precision:g} needs a model that knows how often its tags are right, and this one "
            "does not; train it again with calibration 'shared', the default, or pass min_probability"
        )
    return estimator.curve_.for_precision(precision)


def warn_never_positive(tags: Sequence[str], never_positive: np.ndarray) -> None:
    """Tell by name which tags are ranked last, if there are any."""
    missing = [tag for tag, never in zip(tags, never_positive, strict=True) if never]
    if missing:
        shown = ", ".join(missing[:5]) + (", ..." if len(missing) > 5 else "")
        warn(f"{len(missing)} of {len(tags)} tags are never present in training and are ranked last: {shown}")
