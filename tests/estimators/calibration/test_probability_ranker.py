"""One probability: what is ranked higher is more probable, and what is predicted reaches one threshold."""

import numpy as np
import pytest
from scipy.special import expit

from tagrank import image_auc
from tagrank.estimators import LabelRanker, OneVsAllLogistic, OneVsAllSVM, ProbabilityRanker, ScoreSum
from tagrank.estimators.calibration.completeness import Completeness
from tagrank.estimators.calibration.decisions import NEVER, DecisionCurve


@pytest.fixture(scope="module")
def problem():
    """900 rows, 12 labels from frequent to rare, of a noisy linear kind."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(900, 8))
    truth = X @ rng.normal(size=(8, 12)) + 0.3 * rng.normal(size=(900, 12)) > np.linspace(0.5, 6, 12)
    return X[:600], truth[:600].astype(float), X[600:], truth[600:].astype(float)


@pytest.fixture(scope="module")
def model(problem):
    X, Y, _, _ = problem
    return ProbabilityRanker(OneVsAllLogistic(kernel="linear", random_state=0), random_state=0).fit(X, Y)


def test_order_percentage_and_decision_agree(model, problem):
    scores, probabilities = model.decision_function(problem[2]), model.predict_proba(problem[2])
    known = ~model.never_positive_
    np.testing.assert_allclose(expit(scores[:, known]), probabilities[:, known])
    np.testing.assert_array_equal(
        model.predict(problem[2])[:, known], probabilities[:, known] >= model.threshold_
    )
    lowest_predicted = np.where(model.predict(problem[2]) > 0, probabilities, np.inf).min(axis=1)
    highest_other = np.where(model.predict(problem[2]) > 0, -np.inf, probabilities).max(axis=1)
    assert np.all(lowest_predicted > highest_other)


def test_probabilities_are_right_on_new_rows(model, problem):
    probabilities, Y = model.predict_proba(problem[2]), problem[3]
    predicted = model.predict(problem[2]) > 0
    assert abs(probabilities[predicted].mean() - Y[predicted].mean()) < 0.06
    assert abs(model.quality_.right - Y[predicted].mean()) < 0.06
    assert abs(model.quality_.found - np.mean(predicted[Y > 0])) < 0.06


def test_ranking_by_probability_is_no_worse(model, problem):
    by_score = model.estimator_.decision_function(problem[2])
    assert (
        image_auc(problem[3], model.decision_function(problem[2])) > image_auc(problem[3], by_score) - 0.005
    )


def test_rare_labels_can_be_predicted(model, problem):
    rare = np.flatnonzero(problem[1].sum(axis=0) < 15)
    assert len(rare)
    assert model.predict(problem[2])[:, rare].sum() > 0


def test_hidden_labels_are_allowed_for(problem):
    X, Y, X_test, Y_test = problem
    hidden = np.where(np.random.default_rng(0).random(Y.shape) < 0.5, 0, Y)
    estimator = OneVsAllLogistic(kernel="linear", random_state=0)
    given = ProbabilityRanker(estimator, completeness=0.5, random_state=0).fit(X, hidden)
    taken = ProbabilityRanker(estimator, completeness=1, random_state=0).fit(X, hidden)
    predicted = given.predict(X_test) > 0
    assert abs(given.predict_proba(X_test)[predicted].mean() - Y_test[predicted].mean()) < 0.1
    assert given.completeness_ == Completeness(0.5, 0.5, 0.5)
    low = taken.predict(X_test) > 0
    assert taken.predict_proba(X_test)[low].mean() < Y_test[low].mean() - 0.1


def test_precision_is_kept(problem):
    X, Y, X_test, Y_test = problem
    model = ProbabilityRanker(
        OneVsAllLogistic(kernel="linear", random_state=0), precision=0.9, completeness=1, random_state=0
    ).fit(X, Y)
    predicted = model.predict(X_test) > 0
    assert predicted.any()
    assert Y_test[predicted].mean() > 0.83
    assert model.curve_.for_precision(0.97) > model.threshold_ > model.curve_.for_precision(0.7)


def test_held_out_scores_that_are_known_are_not_made_again(problem):
    X, Y, X_test, _ = problem
    rng = np.random.default_rng(0)
    scores = 4 * Y - 2 + rng.normal(size=Y.shape)
    states = np.where(Y > 0, 1, -1).astype(np.int8)
    model = ProbabilityRanker(OneVsAllSVM(kernel="linear", random_state=0), completeness=1, cv="unused")
    fitted = model.fit(X, Y, held_out=(states, scores))
    assert fitted.n_held_out_ == 600
    assert fitted.predict_proba(X_test).shape == (300, 12)


def test_labels_never_positive_are_ranked_last(problem):
    X, Y, X_test, _ = problem
    Y = Y.copy()
    Y[:, 2] = 0
    with pytest.warns(UserWarning, match="never positive"):
        model = ProbabilityRanker(OneVsAllSVM(kernel="linear", random_state=0), random_state=0).fit(X, Y)
    scores = model.decision_function(X_test)
    assert np.all(np.argmin(scores, axis=1) == 2)
    assert not model.predict(X_test)[:, 2].any()


def test_classes(problem):
    X, Y, X_test, _ = problem
    y = np.array(["dry", "wet"])[Y[:, 0].astype(int)]
    model = ProbabilityRanker(OneVsAllSVM(kernel="linear", random_state=0), random_state=0).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X_test).sum(axis=1), 1)
    assert set(model.predict(X_test)) == {"dry", "wet"}
    assert model.decision_function(X_test).shape == (300,)


@pytest.mark.parametrize("name", ["completeness", "precision"])
@pytest.mark.parametrize("value", [0, 1.5, True, "high"])
def test_shares_are_checked(problem, name, value):
    model = ProbabilityRanker(OneVsAllSVM(), **{name: value})
    with pytest.raises(ValueError, match=f"{name} must be a share above 0 and up to 1"):
        model.fit(problem[0], problem[1])


def test_curve_counts():
    states = np.array([[1, -1, 1], [-1, 1, 0]], np.int8)
    probabilities = np.array([[0.9, 0.2, 0.4], [0.6, 0.8, 0.99]])
    curve = DecisionCurve.measured(states, probabilities, np.ones(3))
    right, found, per_sample = curve.quality(0.5)
    assert (right, found, per_sample) == (pytest.approx(2 / 3), pytest.approx(2 / 3), 1.5)
    assert curve.for_precision(0.85) == pytest.approx(0.61)
    assert curve.for_precision(0.95) == NEVER
    nothing = curve.quality(NEVER)
    assert np.isnan(nothing.right)
    assert nothing.found == nothing.per_sample == 0
    half = DecisionCurve.measured(states, probabilities, np.full(3, 0.5)).quality(0.7)
    assert half.right == 1.0


def test_best_f1_is_that_of_the_expected_counts():
    rng = np.random.default_rng(0)
    probabilities = rng.beta(0.5, 2, size=(500, 6))
    states = np.where(rng.random(probabilities.shape) < probabilities, 1, -1).astype(np.int8)
    found = DecisionCurve.measured(states, probabilities, np.ones(6)).best_f1()

    def expected(threshold):
        above = probabilities >= threshold
        return 2 * probabilities[above].sum() / (above.sum() + probabilities.sum())

    assert expected(found) == pytest.approx(max(map(expected, np.linspace(0, 0.99, 100))), abs=1e-6)


def test_a_model_that_knows_nothing_writes_nothing():
    states = np.where(np.random.default_rng(0).random((200, 6)) < 0.3, 1, -1).astype(np.int8)
    curve = DecisionCurve.measured(states, np.full((200, 6), 0.3), np.ones(6))
    assert curve.best_f1() > 0.3
    assert curve.quality(curve.best_f1()).per_sample == 0
    sure = DecisionCurve.measured(np.ones((50, 3), np.int8), np.full((50, 3), 0.95), np.ones(3))
    assert sure.quality(sure.best_f1()).per_sample == 3


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_a_sum_of_two_models(problem, kernel):
    X, Y, X_test, _ = problem
    first, second = (
        LabelRanker(kernel=kernel, random_state=0),
        OneVsAllLogistic(kernel=kernel, random_state=0),
    )
    both = ScoreSum(first, second, first_weight=2.0, second_weight=0.5).fit(X, Y)
    parts = [model.fit(X, Y).decision_function(X_test) for model in (first, second)]
    np.testing.assert_allclose(
        both.decision_function(X_test), 2 * parts[0] + 0.5 * parts[1], atol=1e-3, rtol=1e-3
    )
    np.testing.assert_allclose(both.first_scores(X_test), 2 * parts[0], atol=1e-3, rtol=1e-3)
    assert both.duality_gap_ <= 1e-3
    assert both.primal_objective_ >= both.dual_objective_
