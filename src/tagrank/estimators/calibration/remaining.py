"""How many true tags are still missing: neither listed nor decided.

Of a tag that is true with probability p, and was listed with probability c if it is, it is known that it was
not listed: it is true with probability q = p (1 - c) / (1 - c p). The number of missing tags is the sum of q.
It is unsure for three reasons: chance, sum of q (1 - q); completeness, which is only known to lie between two
values; and the probabilities themselves, which may be too high or too low together. How probable it is that a
tag is listed, c p, is seen in the labels: were c smaller, p would be larger by as much.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tagrank.estimators.calibration.completeness import Completeness

SPREAD = 1.96
UNSURE = 0.2  # share by which probabilities may be too high or too low together
UNSURE_SHARE = 0.12  # by which completeness may be wrong at least: tags differ in it, and so do pictures
SMALLEST_SHARE = 0.05  # of the true tags that are listed


@dataclass(frozen=True)
class Remaining:
    """The number of missing tags, and an interval of about 95 %."""

    estimate: float
    low: float
    high: float

    def to_dict(self) -> dict[str, Any]:
        """Whole numbers for JSON."""
        return {"estimate": round(self.estimate), "low": int(self.low), "high": int(np.ceil(self.high))}


def given_not_listed(probabilities: np.ndarray, completeness: Any) -> np.ndarray:
    """P(true | not listed) of P(true) (n, n_tags) and completeness, one number or one for each tag."""
    share = np.minimum(np.asarray(completeness, dtype=np.float32), np.float32(1))
    return probabilities * (1 - share) / np.maximum(1 - share * probabilities, np.float32(1e-7))


def estimate_remaining(
    probabilities: np.ndarray, is_open: np.ndarray, completeness: Completeness, by_tag: np.ndarray
) -> Remaining:
    """The number of true tags among those that are open.

    Parameters
    ----------
    probabilities : that a tag is true, (n, n_tags)
    is_open : those neither listed nor decided, bool (n, n_tags)
    completeness : how complete the listed ones are
    by_tag : the same of each tag
    """
    open_ = np.where(is_open, probabilities, 0)
    true = given_not_listed(open_, by_tag)
    estimate, variance = float(true.sum(dtype=np.float64)), float((true * (1 - true)).sum(dtype=np.float64))
    ends = []
    share = completeness.share
    for end in (max(completeness.high, share + UNSURE_SHARE), min(completeness.low, share - UNSURE_SHARE)):
        moved = np.clip(by_tag + end - share, SMALLEST_SHARE, 1.0)
        supposed = np.minimum(open_ * (by_tag / moved).astype(np.float32), 1)
        ends.append(float(given_not_listed(supposed, moved).sum(dtype=np.float64)))
    width = SPREAD**2 * variance + (UNSURE * estimate) ** 2
    low = estimate - np.sqrt((estimate - ends[0]) ** 2 + width)
    high = estimate + np.sqrt((ends[1] - estimate) ** 2 + width)
    return Remaining(estimate, max(0.0, float(low)), min(float(np.count_nonzero(is_open)), float(high)))
