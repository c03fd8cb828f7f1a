"""A stored PriorMarginClassifier answers as before, and remembers its prior."""

import numpy as np
import pytest

from tagrank.annotation import Annotator
from tagrank.estimators import PriorMarginClassifier, correlation_prior


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("is_given", [True, False])
def test_round_trip(kernel, is_given, make_collection, tmp_path):
    collection = make_collection()
    prior = correlation_prior(collection.labels, shrinkage=0.5) if is_given else "correlation"
    estimator = PriorMarginClassifier(prior=prior, kernel=kernel, random_state=0)
    annotator = Annotator(estimator).fit(collection)
    annotator.save(tmp_path / "model")
    loaded = Annotator.load(tmp_path / "model")
    assert loaded.annotate(collection) == annotator.annotate(collection)
    np.testing.assert_array_equal(loaded.estimator_.prior_, annotator.estimator_.prior_)
    np.testing.assert_array_equal(loaded.estimator_.prior, prior)
    assert loaded.estimator_.duality_gap_ == annotator.estimator_.duality_gap_
