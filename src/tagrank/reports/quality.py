"""One sentence of quality, the same at the top of the terminal output and of every page."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tagrank.annotation import Annotator
from tagrank.estimators.calibration.completeness import Completeness
from tagrank.labels import label_states


@dataclass(frozen=True)
class QualityNote:
    """What the tags are worth that a model writes down, and how that was measured.

    Attributes
    ----------
    right : share of the tags written that are right; nan if none is written
    found : share of the right tags that are written; nan if there are none
    measured : on what, "on 120 pictures whose tags are known"
    completeness : the share of the true tags that are listed, where the figures allow for it
    """

    right: float
    found: float
    measured: str
    completeness: Completeness | None = None

    @property
    def sentence(self) -> str:
        """Of 100 tags that it would write, so many are right."""
        if np.isnan(self.right):
            return "It would write no tag at all: none is probable enough."
        found = "" if np.isnan(self.found) else f"; it finds {_of_100(self.found)} of 100"
        return f"Of 100 tags that it would write, {_right_of_100(self.right)}{found}."

    @property
    def origin(self) -> str:
        """How it was measured."""
        origin = f"Measured {self.measured}."
        if self.completeness is None or self.completeness.share == 1:
            return origin
        listed = self.completeness.words
        return (
            f"{origin} {listed[0].upper()}{listed[1:]} of the true tags are listed; figures allow for that."
        )

    @property
    def words(self) -> str:
        """The sentence, and how it was measured."""
        return f"{self.sentence} {self.origin}"

    def of_unseen(self, n_measured: int, kind: str = "picture") -> "QualityNote":
        """The same, measured on rows that are known to be none of the training."""
        return replace(self, measured=f"on {_counted(n_measured, kind)} that it was not trained on")

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "right": self.right,
            "found": self.found,
            "sentence": self.sentence,
            "measured": self.origin,
        }


def can_rank(n_tags: int, n_samples: int) -> bool:
    """Whether there is a ranking whose quality could be told: of one tag, or by one sample, there is none."""
    return n_tags > 1 and n_samples > 1


def model_quality(
    annotator: Annotator, *, min_probability: float = 0.0, max_tags: int | None = None, kind: str = "picture"
) -> QualityNote | None:
    """What a model knows of itself from samples held out in training; None for a model that knows nothing.

    `min_probability` is what a tag must have, too, besides what the model asks for. A limit of `max_tags`
    for each picture was not measured, which is said.
    """
    estimator = annotator.estimator_
    if not hasattr(estimator, "curve_") or not can_rank(len(annotator.tags), estimator.n_held_out_):
        return None
    own = estimator.threshold_ if annotator.min_probability is None else annotator.min_probability
    right, found, _ = estimator.curve_.quality(max(own, min_probability))
    how = f"on {_counted(estimator.n_held_out_, kind)} by models that did not see them"
    if max_tags is not None:
        how += f", without the limit of {max_tags:,} for each"
    return QualityNote(right, found, how, estimator.completeness_)


def measured_quality(Y: Any, predictions: np.ndarray, measured: str) -> QualityNote:
    """Of the tags written, the share that is listed; of those listed, the share that is written."""
    states, written = label_states(Y), np.asarray(predictions) > 0
    hits = np.count_nonzero(written & (states > 0))
    n_written, n_listed = np.count_nonzero(written & (states != 0)), np.count_nonzero(states > 0)
    right = hits / n_written if n_written else float("nan")
    return QualityNote(right, hits / n_listed if n_listed else float("nan"), measured)


def _right_of_100(share: float) -> str:
    if share in (0, 1):
        return "all are right" if share else "none is right"
    number = _of_100(share)
    about = "" if " " in number else "about "
    return f"{about}{number} {'is' if number.split()[-1] == '1' else 'are'} right"


def _of_100(share: float) -> str:
    """A whole number; nearly none is not none, and nearly all are not all."""
    if 0 < share < 0.005:
        return "fewer than 1"
    return "more than 99" if 0.995 <= share < 1 else f"{100 * share:.0f}"


def _counted(number: int, kind: str) -> str:
    return f"{number:,} {kind}{'' if number == 1 else 's'}"
