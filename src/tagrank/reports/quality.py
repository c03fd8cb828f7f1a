"""One sentence of quality, the same at the top of the terminal output, of every page and of the desk.

"Of 100 predicted tags, about 57 are right (52 to 63); of 100 true tags, 61 are predicted (58 to 64)."

Right means true. Where pictures lack true tags, a tag that is written and listed stands for 1 / c true ones,
c being the share of the true tags that are listed, its completeness; what is found among the listed tags is
found among all, because a tag is listed whatever the model thinks of it. Where the completeness is not known,
only listed tags count as right, and the sentence says "at least". Where pictures were audited, true tags are
counted in these, and nothing is supposed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from tagrank.annotation import Annotator
from tagrank.estimators.calibration.audit import FEWEST_AUDITED, ratio
from tagrank.estimators.calibration.completeness import (
    AT_LEAST_UNSURE,
    COMPLETE,
    Completeness,
    listed_states,
)
from tagrank.labels import label_states

SPREAD = 1.96  # standard errors of an interval of 95 %
SLACK = 0.1  # by which the completeness of other data may seem to differ and still be that of the training
SMALLEST_SHARE = 0.05  # of the true tags that are listed, at which an interval ends
FEW = 50  # held-out samples count as half as many trials up to here, and more of them the more there are


class Interval(NamedTuple):
    """Where a share lies, with 95 % certainty."""

    low: float
    high: float


@dataclass(frozen=True)
class QualityNote:
    """What the tags are worth that a model writes down, and how that was measured.

    Attributes
    ----------
    right : share of the tags written that are true; nan if none is written
    found : share of the true tags that are written; nan if there are none
    measured : on what, "on 120 pictures whose tags are known"
    completeness : the share of the true tags that are listed, where the figures allow for it
    is_least : whether only listed tags count as right, so that there may be more
    right_interval, found_interval : where both lie; None where that is not known
    is_audited : whether true tags were counted, in pictures whose tags were all looked at
    """

    right: float
    found: float
    measured: str
    completeness: Completeness | None = None
    is_least: bool = False
    right_interval: Interval | None = None
    found_interval: Interval | None = None
    is_audited: bool = False

    @property
    def kind(self) -> str:
        """Whether `right` is "estimated", "at least" so large, or "audited"."""
        return "audited" if self.is_audited else "at least" if self.is_least else "estimated"

    @property
    def sentence(self) -> str:
        """How many of 100 predicted tags are right, and how many of 100 true tags are predicted."""
        if np.isnan(self.right):
            return "The model predicts no tags: none is probable enough."
        right = f"{_right_of_100(self.right, self.is_least)}{_between(self.right_interval)}"
        found = "" if np.isnan(self.found) else f"; of 100 true tags, {_are(_of_100(self.found))} predicted"
        return f"Of 100 predicted tags, {right}{found}{_between(found and self.found_interval)}."

    @property
    def origin(self) -> str:
        """How it was measured."""
        origin = f"Measured {self.measured}."
        if self.is_least and not np.isnan(self.right):
            origin += " Only listed tags count as right."
        elif self.is_audited and self.completeness is not None:
            listed = self.completeness.words
            origin += f" {listed[0].upper()}{listed[1:]} of the true tags are listed."
        elif self.completeness is not None and self.completeness.share < 1:
            listed = self.completeness.words
            origin += (
                f" {listed[0].upper()}{listed[1:]} of the true tags are listed; the figures account for that."
            )
        return origin

    @property
    def words(self) -> str:
        """The sentence, and how it was measured."""
        return f"{self.sentence} {self.origin}"

    def of_unseen(self, n_measured: int, kind: str = "picture") -> "QualityNote":
        """The same, measured on rows that are known to be none of the training."""
        return replace(self, measured=f"on {_counted(n_measured, kind)} that the model was not trained on")

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "right": self.right,
            "right_interval": _plain(self.right_interval),
            "found": self.found,
            "found_interval": _plain(self.found_interval),
            "kind": self.kind,
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
    how = f"on {_counted(estimator.n_held_out_, kind)}, with models that were not trained on them"
    if estimator.curve_.is_audited:
        counted = _counted(estimator.completeness_.n_audited, kind)
        how = f"on {counted} with audited tags, with models that were not trained on them"
    if max_tags is not None:
        how += f", without the limit of {max_tags:,} tags"
    return held_out_quality(estimator, how, max(own, min_probability))


def held_out_quality(estimator: Any, measured: str, threshold: float | None = None) -> QualityNote:
    """What a fitted `ProbabilityRanker` knows of itself; `threshold` is its own by default."""
    threshold = estimator.threshold_ if threshold is None else threshold
    right, found, per_sample = estimator.curve_.quality(threshold)
    completeness = estimator.completeness_
    if estimator.curve_.is_audited:
        of_right, of_found = estimator.curve_.intervals(threshold) or (None, None)
        return QualityNote(
            right,
            found,
            measured,
            completeness,
            False,
            None if of_right is None else Interval(*of_right),
            None if of_found is None else Interval(*of_found),
            is_audited=True,
        )
    n_written = per_sample * estimator.n_held_out_
    n_listed = right * completeness.share * n_written / found if found > 0 else 0.0
    n_trials = _trials(estimator.n_held_out_)
    return _note(right, found, min(n_written, n_trials), min(n_listed, n_trials), measured, completeness)


def _trials(n_held_out: int) -> float:
    """How many independent tags held-out samples are worth at most.

    The tags of one sample go together, and what is measured are models that learned from fewer samples than
    the final one. With few samples this is the larger error; with more it falls faster than chance does.
    """
    return n_held_out / 2 * max(1.0, n_held_out / FEW)


def measured_quality(
    Y: Any,
    predictions: np.ndarray,
    measured: str,
    *,
    estimator: Any = None,
    probabilities: np.ndarray | None = None,
    decided: np.ndarray | None = None,
    audited: np.ndarray | None = None,
) -> QualityNote:
    """What predicted tags are worth on rows whose tags are known.

    Parameters
    ----------
    Y, predictions : labels and what is written, shape (n, n_tags)
    measured : on what
    estimator : that predicted; it may know how complete the tags of its training were
    probabilities : of the tags to be true; where these let expect far more or far fewer listed tags than
        there are, the data are not as complete as the training, and only listed tags count
    decided : bool (n, n_tags), where somebody looked: found where it was not listed, or absent
    audited : bool (n,), rows whose tags were all looked at; from ten on, these alone are counted
    """
    states, written = label_states(Y), np.asarray(predictions) > 0
    if audited is not None and np.count_nonzero(audited) >= FEWEST_AUDITED:
        n_audited = np.count_nonzero(audited)
        if n_audited < len(states):
            measured = f"{measured}, but only on the {n_audited:,} whose tags were audited"
        return _audited_quality(states[audited], written[audited], measured, estimator)
    completeness = getattr(estimator, "completeness_", None)
    if completeness is None:
        return _counted_quality(_Counts.of(states, written), measured, None)
    counts = _Counts.of(listed_states(states, decided), written, estimator.label_completeness_)
    expects = (
        completeness.share == 1 or probabilities is None or counts.are_expected(probabilities, completeness)
    )
    if not expects:
        return _counted_quality(_Counts.of(states, written), measured, None)
    return _counted_quality(counts, measured, completeness)


def _audited_quality(states: np.ndarray, written: np.ndarray, measured: str, estimator: Any) -> QualityNote:
    """True tags counted in rows of which all are known."""
    is_true, is_written = states > 0, written & (states != 0)
    n_hits = np.count_nonzero(is_true & is_written, axis=1)
    right = ratio(n_hits, np.count_nonzero(is_written, axis=1))
    found = ratio(n_hits, np.count_nonzero(is_true, axis=1))
    completeness = getattr(estimator, "completeness_", None)
    return QualityNote(
        right.share,
        found.share,
        measured,
        completeness if completeness is not None and completeness.n_audited else None,
        False,
        Interval(right.low, right.high),
        Interval(found.low, found.high),
        is_audited=True,
    )


@dataclass(frozen=True)
class _Counts:
    """Tags written and listed, both, and how many true ones these stand for.

    `spread` says how much wider intervals are because the tags of a picture stand or fall together.
    """

    known: np.ndarray
    n_written: int
    n_listed: int
    n_hits: int
    n_true: float
    spread: float

    @classmethod
    def of(cls, states: np.ndarray, written: np.ndarray, completeness: Any = 1.0) -> "_Counts":
        known, is_hit = written & (states != 0), written & (states > 0)
        n_written, n_hits = int(np.count_nonzero(known)), int(np.count_nonzero(is_hit))
        spread = 1.0
        if 0 < n_hits < n_written:
            share = n_hits / n_written
            of_rows = np.count_nonzero(is_hit, axis=1) - share * np.count_nonzero(known, axis=1)
            spread = max(1.0, float(np.sum(of_rows**2)) / (share * (1 - share) * n_written))
        n_true = float(np.sum(is_hit / np.asarray(completeness, dtype=np.float64)))
        return cls(known, n_written, int(np.count_nonzero(states > 0)), n_hits, n_true, spread)

    def are_expected(self, probabilities: np.ndarray, completeness: Completeness) -> bool:
        """Whether as many written tags are listed as the completeness of the training lets expect."""
        n_true = float(np.sum(np.where(self.known, probabilities, 0.0), dtype=np.float64))
        if not self.n_written or n_true <= 0:
            return True
        low, high = _wilson(self.n_hits / self.n_written, self.n_written / self.spread)
        least, most = low * self.n_written / n_true, high * self.n_written / n_true
        ends = completeness.low, completeness.high
        if not completeness.n_audited:
            # the probabilities rest on the estimate, however far from the truth it may be
            ends = completeness.share - AT_LEAST_UNSURE, completeness.share + AT_LEAST_UNSURE
        return most >= ends[0] - SLACK and least <= ends[1] + SLACK


def _counted_quality(counts: _Counts, measured: str, completeness: Completeness | None) -> QualityNote:
    right = min(1.0, counts.n_true / counts.n_written) if counts.n_written else float("nan")
    found = counts.n_hits / counts.n_listed if counts.n_listed else float("nan")
    return _note(right, found, counts.n_written, counts.n_listed, measured, completeness, counts.spread)


def _note(
    right: float,
    found: float,
    n_written: float,
    n_listed: float,
    measured: str,
    completeness: Completeness | None,
    spread: float = 1.0,
) -> QualityNote:
    """The note, with intervals for chance and for what is not known of the completeness."""
    least, share = 1.0, 1.0
    if completeness is not None:
        least, share = completeness.low, completeness.share
    is_least = completeness is None or (share == 1 and least < COMPLETE)
    if np.isnan(right):
        return QualityNote(right, found, measured, completeness, is_least)
    low, high = (end / share for end in _wilson(min(1.0, right * share), n_written / spread))
    below, above = right - low, high - right
    if completeness is not None and not is_least:
        below = np.hypot(below, right - right * share / completeness.high)
        above = np.hypot(above, right * share / max(SMALLEST_SHARE, least) - right)
    return QualityNote(
        right,
        found,
        measured,
        completeness,
        is_least,
        Interval(max(0.0, float(right - below)), min(1.0, float(right + above))),
        None if np.isnan(found) else Interval(*_wilson(found, n_listed / spread)),
    )


def _wilson(share: float, n: float) -> tuple[float, float]:
    """Wilson's interval of a share of n trials."""
    if n <= 0:
        return 0.0, 1.0
    middle, z = share + SPREAD**2 / (2 * n), SPREAD
    width = z * np.sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2)
    return float((middle - width) / (1 + z**2 / n)), float((middle + width) / (1 + z**2 / n))


def _right_of_100(share: float, is_least: bool) -> str:
    if share in (0, 1) and not is_least:
        return "all are right" if share else "none is right"
    if share == 1:
        return "all are right"
    number = _of_100(share)
    if is_least and " " not in number:
        return f"at least {_are(number)} right"
    return f"{'' if ' ' in number else 'about '}{_are(number)} right"


def _are(number: str) -> str:
    """The number with its verb: '1 is', '40 are'."""
    return f"{number} {'is' if number.split()[-1] == '1' else 'are'}"


def _between(interval: Any) -> str:
    """(52 to 63); nothing where there is no interval, or nothing between its ends."""
    if not interval:
        return ""
    low, high = (f"{100 * end:.0f}" for end in interval)
    return "" if low == high else f" ({low} to {high})"


def _plain(interval: Sequence[float] | None) -> list[float] | None:
    return None if interval is None else list(interval)


def _of_100(share: float) -> str:
    """A whole number; nearly none is not none, and nearly all are not all."""
    if 0 < share < 0.005:
        return "fewer than 1"
    return "more than 99" if 0.995 <= share < 1 else f"{100 * share:.0f}"


def _counted(number: int, kind: str) -> str:
    return f"{number:,} {kind}{'' if number == 1 else 's'}"
