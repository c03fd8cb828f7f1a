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


@pytest.mark.parametrize("costs", [None, (0.1, 1.0)])
def test_a_tag_of_which_nothing_is_known_is_ranked_by_the_prior(costs, make_collection, tmp_path):
    collection = make_collection()
    labels = collection.labels.copy()
    labels[:, 1] = np.nan
    R = np.eye(4)
    R[0, 1] = R[1, 0] = 0.9
    annotator = Annotator(PriorMarginClassifier(prior=R, random_state=0), costs=costs)
    annotator.fit(collection.with_labels(labels)).save(tmp_path / "model")
    scores = annotator.scores(collection)
    np.testing.assert_allclose(scores[:, 1], 0.9 * scores[:, 0], atol=1e-4)
    ranked = Annotator.load(tmp_path / "model").annotate(collection)
    assert len({row.tags.index(annotator.tags[1]) for row in ranked}) > 1
    assert all(
        [entry.score for entry in row] == sorted((e.score for e in row), reverse=True) for row in ranked
    )
