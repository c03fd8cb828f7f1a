"""How many tags are missing, told by all trainings together.

Each training estimates how many tags were missing when the archive came: those that were found since, and
those that remain. That number does not change with decisions, so the estimates of all trainings are averaged,
each weighted by how narrow its interval is; what was found is taken away. A single training would let the
number jump: completeness 0.02 smaller, as chance has it, is a tenth more missing tags. What is not known of
the completeness is the same in all of them and weighs nothing. Once pictures were audited, the completeness
does not jump, and what was told before is not needed.

Where somebody only accepts, a training cannot tell: among pairs of the same score those decided are all true,
and what was left open beside them looks as probable as before, so that each accepted tag seems to bring
another. Then the estimate of the trainings before stays, less what was accepted.
"""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from tagrank.desk.learning.learn import Learned
from tagrank.desk.learning.models import Proposals
from tagrank.estimators.calibration.completeness import Completeness

FEWEST_ABSENT = 0.1  # of what was decided; where less is absent, somebody only accepts


@dataclass(frozen=True)
class Total:
    """The tags that were missing at first, by the trainings so far; `weight` is that of all of them."""

    number: float
    weight: float

    def joined(self, other: "Total") -> "Total":
        """Both together."""
        weight = self.weight + other.weight
        return Total((self.number * self.weight + other.number * other.weight) / weight, weight)


def missing_facts(learned: Learned, before: Proposals | None) -> dict[str, Any]:
    """What a training and those before it tell.

    Parameters
    ----------
    learned : the training
    before : the model of the one before it; None for the first

    Returns
    -------
    facts : "estimate", "low" and "high", what remains; "own", the sum of what the desk shows; "total"
        and "weight" for the next one; "is_told" is false where too little is known for more than the interval
    """
    probabilities, remaining = learned.open_probabilities(alone=True), learned.missing
    own = float(np.sum(probabilities, dtype=np.float64))
    # what is told of pictures with tags holds for those without any, too
    times = own / remaining.estimate if remaining.estimate > 0 else 1.0
    low, high = times * remaining.low, times * remaining.high
    is_found = learned.examples.decided_mask() & (learned.states > 0)
    n_found = np.count_nonzero(is_found)
    share, n_audited = learned.completeness.share, learned.completeness.n_audited
    steady = learned.missing_if(Completeness(share, share, share))
    width = times * (steady.high - steady.low)
    total = Total(own + n_found, ((own + n_found) / max(1.0, width)) ** 2)
    earlier = None if before is None or n_audited else _earlier(before)
    is_old = None if before is None else _is_old(before, learned)
    if earlier is not None and is_old is not None:
        # what came since has been estimated once only
        added = float(np.sum(np.where(is_old, 0, probabilities), dtype=np.float64))
        added += np.count_nonzero(is_found & ~is_old)
        if not _is_only_accepting(learned):
            earlier = Total(total.number - added, total.weight).joined(earlier)
        total = Total(earlier.number + added, earlier.weight)
    estimate = min(max(total.number - n_found, 0.0), high)
    return {
        "estimate": estimate,
        "low": min(low, estimate),
        "high": high,
        "own": float(np.sum(learned.open_probabilities(), dtype=np.float64)),
        "is_told": bool(share < 1 or n_audited),
        "total": total.number,
        "weight": total.weight,
    }


def _is_only_accepting(learned: Learned) -> bool:
    """Whether nearly everything that was decided is true."""
    answers = learned.states[learned.examples.decided_mask()]
    return bool(np.count_nonzero(answers < 0) < FEWEST_ABSENT * np.count_nonzero(answers))


def _earlier(before: Proposals) -> Total | None:
    """What the facts of a model tell; None where they do not, as those of older versions."""
    told = before.facts.get("missing")
    with suppress(KeyError, TypeError, ValueError):
        total = Total(float(told["total"]), float(told["weight"]))  # type: ignore[index]
        if not told["is_told"]:  # type: ignore[index]
            return None
        if np.isfinite(total.number) and total.number >= 0 and np.isfinite(total.weight) and total.weight > 0:
            return total
    return None


def _is_old(before: Proposals, learned: Learned) -> np.ndarray | None:
    """Which pairs the model before knew, bool (n, n_tags); None where pictures or tags are gone since."""
    rows, columns = np.isin(learned.ids, before.ids), np.isin(learned.tags, before.tags)
    if rows.sum() < len(before.ids) or columns.sum() < len(before.tags):
        return None
    return rows[:, None] & columns
