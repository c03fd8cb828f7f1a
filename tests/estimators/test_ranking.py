"""IncompleteLabelRanker, PairwiseRanker and OnlineRanker beyond what their losses are tested for."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from tagrank.annotation import Annotator
from tagrank.data import Collection
from tagrank.estimators import IncompleteLabelRanker, LabelRanker, OnlineRanker, PairwiseRanker


@pytest.fixture(scope="module")
def problem():
    """60 samples, 5 labels, a tenth of the labels unknown."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6))
    Y = (X @ rng.normal(size=(6, 5)) + 0.3 * rng.normal(size=(60, 5)) > 0.3).astype(float)
    Y[rng.random(Y.shape) < 0.1] = np.nan
    X.flags.writeable = Y.flags.writeable = False
    return X, Y


RANKERS = [
    IncompleteLabelRanker(random_state=0),
    IncompleteLabelRanker(solver="paper", eta=10.0, random_state=0),
    IncompleteLabelRanker(kernel="linear", solver="paper", random_state=0),
    PairwiseRanker(pairs="lowest", kernel="linear", random_state=0),
    PairwiseRanker(random_state=0),
    OnlineRanker(random_state=0),
]


@pytest.mark.parametrize("ranker", RANKERS, ids=str)
def test_ranks_well_and_is_the_same_after_saving(ranker, problem, tmp_path):
    X, Y = problem
    names = [f"tag{j}" for j in range(Y.shape[1])]
    collection = Collection({"rows": X}, Y, names)
    annotator = Annotator(ranker).fit(collection)
    annotator.save(tmp_path / "model")
    loaded = Annotator.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.scores(collection), annotator.scores(collection))
    np.testing.assert_array_equal(loaded.predict(collection), annotator.predict(collection))
    assert loaded.estimator_.get_params() == annotator.estimator_.get_params()
    assert ranker.fit(X, Y).score(X, Y) > 0.85


def test_values_rise_from_the_matching_over_the_lowest_label_to_all_pairs(problem):
    X, Y = problem
    rankers = [LabelRanker(), PairwiseRanker(pairs="lowest"), PairwiseRanker(pairs="all")]
    matching, lowest, every = (ranker.set_params(tol=1e-6, max_iter=10**5).fit(X, Y) for ranker in rankers)
    assert matching.primal_objective_ < lowest.dual_objective_
    assert lowest.primal_objective_ < every.dual_objective_
    F = lowest.decision_function(X)
    loss = 0.0
    for scores, row in zip(F, Y, strict=True):
        if (row == 1).any():
            loss += np.maximum(2 - scores[row == 1].min() + scores[row == 0], 0).sum()
    assert lowest.primal_objective_ == pytest.approx((lowest.dual_coef_ * F).sum() / 2 + loss, rel=1e-6)


def test_paper_reports_the_gap_of_the_original_problem(problem):
    X, Y = problem
    exact = IncompleteLabelRanker(tol=1e-6, max_iter=10**5).fit(X, Y)
    paper = IncompleteLabelRanker(solver="paper", tol=1e-6, max_iter=10**5).fit(X, Y)
    assert paper.converged_
    assert paper.dual_objective_ < exact.dual_objective_ <= exact.primal_objective_ < paper.primal_objective_
    assert paper.duality_gap_ > 100 * exact.duality_gap_
    with pytest.warns(ConvergenceWarning, match="still change"):
        IncompleteLabelRanker(solver="paper", max_iter=1).fit(X, Y)
    with pytest.raises(ValueError, match="solver must be one of"):
        IncompleteLabelRanker(solver="fast").fit(X, Y)


def test_path_starts_from_the_last_cost_and_ends_where_fit_does(problem):
    X, Y = problem
    model = IncompleteLabelRanker(tol=1e-5, max_iter=10**5, random_state=0)
    for fitted, C in zip(model.path(X, Y, [0.1, 1.0]), [0.1, 1.0], strict=True):
        alone = IncompleteLabelRanker(C, tol=1e-5, max_iter=10**5, random_state=0).fit(X, Y)
        assert fitted.primal_objective_ == pytest.approx(alone.primal_objective_, rel=2e-5)


@pytest.mark.parametrize("pairs", ["uniform", "worst"])
@pytest.mark.parametrize("step", ["loss", "constant"])
def test_online_ranker_follows_its_rule(problem, pairs, step):
    X, Y = problem
    W, history = np.zeros((5, 6)), []
    for x, row in zip(X, Y, strict=True):
        f = W @ x
        wrong = [(k, j) for k in np.flatnonzero(row == 1) for j in np.flatnonzero(row == 0) if f[k] <= f[j]]
        if wrong:
            tau = len(wrong) / ((row == 1).sum() * (row == 0).sum()) if step == "loss" else 1
            if pairs == "worst":
                wrong = [(min(wrong, key=lambda p: f[p[0]])[0], max(wrong, key=lambda p: f[p[1]])[1])]
            for k, j in wrong:
                W[k] += tau / len(wrong) * x
                W[j] -= tau / len(wrong) * x
        history.append(W.copy())
    in_chunks = OnlineRanker(pairs=pairs, step=step).partial_fit(X[:7], Y[:7]).partial_fit(X[7:], Y[7:])
    np.testing.assert_allclose(in_chunks.coef_, np.mean(history, axis=0), atol=1e-12)
    last = OnlineRanker(pairs=pairs, step=step, average=False).partial_fit(X, Y)
    np.testing.assert_allclose(last.coef_, W, atol=1e-12)
    with pytest.raises(ValueError, match="stream"):
        in_chunks.partial_fit(X, np.ones((60, 9)))
