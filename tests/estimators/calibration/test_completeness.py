"""The number of missing tags: right where the model is, and an interval that allows for completeness."""

import numpy as np
import pytest
from scipy.special import expit

from tagrank.estimators.calibration.completeness import Completeness, estimate_remaining, given_not_listed


def draw(completeness, seed=0, shape=(2000, 20)):
    """Probabilities, what is true, and what of it is listed."""
    rng = np.random.default_rng(seed)
    probabilities = expit(rng.normal(-3, 2, shape))
    truth = rng.random(shape) < probabilities
    return probabilities.astype(np.float32), truth, truth & (rng.random(shape) < completeness)


@pytest.mark.parametrize("share", [0.4, 0.6, 0.9])
def test_what_is_not_listed_is_as_probable_as_it_says(share):
    probabilities, truth, listed = draw(share)
    given = given_not_listed(probabilities, share)
    for low, high in ((0.0, 0.1), (0.1, 0.4), (0.4, 1.0)):
        chosen = ~listed & (given >= low) & (given < high)
        assert abs(truth[chosen].mean() - given[chosen].mean()) < 0.05


@pytest.mark.parametrize("share", [0.4, 0.6])
def test_the_number_of_missing_tags(share):
    probabilities, truth, listed = draw(share)
    missing = np.count_nonzero(truth & ~listed)
    found = estimate_remaining(probabilities, ~listed, Completeness(share, share, share), np.full(20, share))
    assert abs(found.estimate - missing) < 0.05 * missing
    assert found.low < missing < found.high
    # decided ones are not missing any more
    open_ = ~listed & (np.random.default_rng(1).random(listed.shape) < 0.5)
    left = estimate_remaining(probabilities, open_, Completeness(share, share, share), np.full(20, share))
    assert abs(left.estimate - np.count_nonzero(truth & open_)) < 0.05 * missing


def test_the_interval_allows_for_a_wrong_completeness():
    probabilities, truth, listed = draw(0.5)
    missing = np.count_nonzero(truth & ~listed)
    for share in (0.4, 0.6):
        # what is seen is how often a tag is listed
        supposed = np.minimum(probabilities * 0.5 / share, 1)
        told = Completeness(share, share - 0.05, share + 0.05)
        found = estimate_remaining(supposed, ~listed, told, np.full(20, share))
        assert found.low < missing < found.high
        assert abs(found.estimate - missing) > 0.15 * missing
    assert found.to_dict().keys() == {"estimate", "low", "high"}


def test_nothing_open_is_nothing_missing():
    probabilities, _, listed = draw(0.5, shape=(5, 3))
    found = estimate_remaining(probabilities, np.zeros_like(listed), Completeness(1.0, 0.2, 1.0), np.ones(3))
    assert found.to_dict() == {"estimate": 0, "low": 0, "high": 0}
