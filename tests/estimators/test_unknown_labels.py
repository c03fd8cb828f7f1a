"""Labels all unknown for a sample, for a label, for everybody: every estimator, on every path."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from tagrank.estimators import (
    CalibratedRanker,
    IncompleteLabelRanker,
    JointSVM,
    LabelRanker,
    PairwiseRanker,
)
from tagrank.estimators.methods import METHODS

EXACT = {"tol": 1e-6, "max_iter": 10**5, "random_state": 0}
CLASSES = [method.load() for method in METHODS]
CERTIFIED = {kind.__name__: kind(**EXACT) for kind in CLASSES if "C" in kind().get_params()} | {
    "PairwiseRanker, lowest": PairwiseRanker(pairs="lowest", **EXACT),
    "JointSVM, transfer": JointSVM(decoding="transfer", **EXACT),
    "JointSVM, odds-ratio": JointSVM(output_kernel="odds-ratio", **EXACT),
}
OTHERS = {kind.__name__: kind() for kind in CLASSES if kind.__name__ not in CERTIFIED} | {
    "IncompleteLabelRanker, paper": IncompleteLabelRanker(solver="paper", random_state=0),
    "CalibratedRanker": CalibratedRanker(LabelRanker(random_state=0), random_state=0),
}
ALL = CERTIFIED | OTHERS
PATHS = {
    "similarities": ({"kernel": "rbf", "gamma": 0.3}, np.asarray),
    "dense rows": ({"kernel": "linear"}, np.asarray),
    "sparse rows": ({"kernel": "linear"}, sparse.csr_array),
}
every_path = pytest.mark.parametrize("path", PATHS)
SAMPLE, LABEL = 4, 2


@pytest.fixture(scope="module")
def problem():
    """40 samples, 4 labels, a tenth of them unknown."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5))
    Y = (X @ rng.normal(size=(5, 4)) + 0.3 * rng.normal(size=(40, 4)) > 0.3).astype(float)
    Y[rng.random(Y.shape) < 0.1] = np.nan
    X.flags.writeable = Y.flags.writeable = False
    return X, Y


def train(estimator, path, X, Y):
    """A fitted copy on this path, where the estimator has a choice, and its rows."""
    parameters, hold = PATHS[path]
    if "kernel" in estimator.get_params():
        estimator = clone(estimator).set_params(**parameters)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*never positive")
        return estimator.fit(hold(X), Y), hold(X)


def check_answers(model, X):
    scores, chosen = model.decision_function(X), model.predict(X)
    assert np.all(np.isfinite(scores))
    assert set(np.unique(chosen)) <= {0, 1}
    if hasattr(model, "primal_objective_"):
        assert np.isfinite(model.primal_objective_)
        assert model.duality_gap_ >= 0
    return scores, chosen


@every_path
@pytest.mark.parametrize("name", ALL)
def test_a_sample_of_which_nothing_is_known(problem, name, path):
    X, Y = problem
    unknown = Y.copy()
    unknown[SAMPLE] = np.nan
    model, rows = train(ALL[name], path, X, unknown)
    check_answers(model, rows)
    if name not in CERTIFIED:
        return
    without, _ = train(ALL[name], path, np.delete(X, SAMPLE, axis=0), np.delete(Y, SAMPLE, axis=0))
    assert model.primal_objective_ == pytest.approx(without.primal_objective_, rel=1e-5)
    np.testing.assert_allclose(model.dual_coef_[SAMPLE], 0, atol=1e-9)


@every_path
@pytest.mark.parametrize("name", ALL)
def test_a_label_of_which_nothing_is_known_is_ranked_last(problem, name, path):
    X, Y = problem
    unknown = Y.copy()
    unknown[:, LABEL] = np.nan
    model, rows = train(ALL[name], path, X, unknown)
    scores, chosen = check_answers(model, rows)
    others = np.delete(scores, LABEL, axis=1)
    assert np.all(scores[:, LABEL] < others.min(axis=1))
    assert not chosen[:, LABEL].any()
    if name in CERTIFIED:
        without, _ = train(ALL[name], path, X, np.delete(Y, LABEL, axis=1))
        assert model.primal_objective_ == pytest.approx(without.primal_objective_, rel=1e-5)


@every_path
@pytest.mark.parametrize("name", ALL)
def test_nothing_known_at_all(problem, name, path):
    X, Y = problem
    model, rows = train(ALL[name], path, X, np.full(Y.shape, np.nan))
    scores, chosen = check_answers(model, rows)
    assert np.ptp(scores) == 0
    assert not chosen.any()
