"""Labels from which nothing can be learned are worth a word."""

import warnings

import numpy as np
import pytest

from tagrank.annotation import Annotator
from tagrank.data import Collection
from tagrank.estimators import (
    CalibratedRanker,
    IncompleteLabelRanker,
    JointSVM,
    LabelRanker,
    OneVsAllSVM,
    OnlineJointSVM,
    OnlineRanker,
    PairwiseRanker,
)
from tagrank.estimators.methods import METHODS

X = np.random.default_rng(0).normal(size=(40, 3))
SINGLE = (X[:, :1] > 0).astype(float)
NEVER_MIXED = np.repeat(SINGLE, 3, axis=1)
RANKERS = [
    LabelRanker(),
    IncompleteLabelRanker(),
    IncompleteLabelRanker(solver="paper"),
    PairwiseRanker(),
    PairwiseRanker(pairs="lowest"),
    OnlineRanker(),
]
JOINT = [JointSVM(), JointSVM(kernel="linear"), OnlineJointSVM(), OnlineJointSVM(kernel="rbf")]
NOTHING = "there is nothing to"


@pytest.mark.parametrize("estimator", RANKERS, ids=str)
@pytest.mark.parametrize("Y", [SINGLE, NEVER_MIXED], ids=["one label", "all or none"])
def test_rankers_need_a_present_and_an_absent_label_together(estimator, Y):
    with pytest.warns(UserWarning, match="both a present and an absent label.*OneVsAllSVM") as caught:
        scores = estimator.fit(X, Y).decision_function(X)
    assert caught[0].filename == __file__ or isinstance(estimator, PairwiseRanker)
    assert len(caught) == 1
    assert not scores.any()


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
@pytest.mark.parametrize(
    "Y", [SINGLE, NEVER_MIXED, np.ones((40, 3))], ids=["one label", "all or none", "all"]
)
def test_every_method_learns_or_says_so(method, Y):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scores = method.load()().fit(X, Y).decision_function(X)
    assert any(NOTHING in str(warning.message) for warning in caught) == (not scores.any())


def test_one_sample_with_both_is_enough():
    Y = NEVER_MIXED.copy()
    Y[0] = [1, 0, np.nan]
    assert LabelRanker().fit(X, Y).decision_function(X).any()


def test_samples_without_weight_do_not_count():
    Y = NEVER_MIXED.copy()
    Y[0] = [1, 0, 0]
    with pytest.warns(UserWarning, match=NOTHING):
        LabelRanker().fit(X, Y, sample_weight=np.arange(40) > 0)


@pytest.mark.parametrize("estimator", JOINT, ids=str)
def test_joint_methods_need_labels_that_differ(estimator):
    with pytest.warns(
        UserWarning, match="no label is present in some samples and absent in others"
    ) as caught:
        scores = estimator.fit(X, np.ones((40, 3))).decision_function(X)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert not scores.any()


@pytest.mark.parametrize("Estimator", [JointSVM, OnlineJointSVM])
def test_what_all_samples_share_is_learned_without_centring(Estimator):
    assert (Estimator(center=False, kernel="rbf").fit(X, np.ones((40, 3))).decision_function(X) > 0).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("estimator", [*RANKERS, *JOINT], ids=str)
def test_labels_that_are_never_present_are_said_once(estimator):
    with pytest.warns(UserWarning, match="never positive") as caught:
        estimator.fit(X, np.zeros((40, 3)))
    assert len(caught) == 1


@pytest.mark.parametrize("estimator", [OneVsAllSVM(), JointSVM(), OnlineJointSVM()], ids=str)
def test_other_methods_learn_single_labels(estimator):
    scores = estimator.fit(X, SINGLE).decision_function(X)
    assert np.corrcoef(scores[:, 0], SINGLE[:, 0])[0, 1] > 0.5


@pytest.mark.parametrize("costs", [None, (0.1, 1.0)])
def test_it_is_said_once(costs):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Annotator(CalibratedRanker(LabelRanker()), costs=costs).fit(Collection({"features": X}, SINGLE))
    assert [NOTHING in str(warning.message) for warning in caught] == [True]
