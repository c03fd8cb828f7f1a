"""The wrapper: held-out scores, thresholds that predict honours, every form of rows and labels."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, ShuffleSplit

from tagrank.data import LabelStratifiedKFold
from tagrank.data.catalog import load_dataset
from tagrank.estimators import CalibratedRanker, LabelFrequency, LabelRanker, OneVsAllSVM
from tagrank.estimators.calibration.calibrated import fit_platt, prior_probabilities
from tagrank.estimators.calibration.decisions import f1_thresholds, global_threshold
from tagrank.kernels import Gaussian
from tagrank.labels import label_states
from tagrank.metrics import f_measure

SVM = OneVsAllSVM(kernel="linear", tol=1e-2, random_state=0)
RANKER = LabelRanker(kernel="linear", tol=1e-2, random_state=0)


@pytest.fixture(scope="module")
def problem():
    """90 samples, 5 labels of a noisy linear kind, a tenth of the labels unknown."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 6))
    Y = (X @ rng.normal(size=(6, 5)) + rng.normal(size=(90, 5)) > [0, 0.5, 1, 2, 2]).astype(float)
    Y[rng.random(Y.shape) < 0.1] = np.nan
    X.flags.writeable = Y.flags.writeable = False
    return X, Y


def fit(problem, estimator=SVM, **options):
    return CalibratedRanker(estimator, **{"random_state": 0} | options).fit(*problem)


@pytest.mark.parametrize("estimator", [SVM, RANKER, LabelFrequency()])
@pytest.mark.parametrize("method", ["platt", "isotonic", None])
@pytest.mark.parametrize("strategy", ["f1", "global", "cardinality", "top_k"])
def test_predict_honours_what_was_fitted(problem, estimator, method, strategy):
    X, _ = problem
    model = fit(problem, estimator, method=method, strategy=strategy, n_tags=2)
    scores = model.decision_function(X)
    np.testing.assert_array_equal(scores, clone(estimator).fit(*problem).decision_function(X))
    if strategy == "top_k":
        assert np.all(model.predict(X).sum(axis=1) == 2)
    else:
        values = scores if method is None else model.predict_proba(X)
        np.testing.assert_array_equal(model.predict(X), values >= model.thresholds_)
    assert model.thresholds_.shape == (5,)
    assert model.score(X, problem[1]) >= 0.5


def test_scores_are_held_out(problem):
    X, Y = problem
    halves = [(np.arange(45), np.arange(45, 90)), (np.arange(45, 90), np.arange(45))]
    model = fit(problem, cv=halves)
    scores = np.empty(Y.shape)
    for train, test in halves:
        scores[test] = clone(SVM).fit(X[train], Y[train]).decision_function(X[test])
    states = label_states(Y)
    expected = fit_platt(states, scores, prior_probabilities(states))
    np.testing.assert_allclose(model.calibration_.slope, expected.slope)
    values = expected.probabilities(scores)
    thresholds = f1_thresholds(states, values, fallback=global_threshold(states, values))
    np.testing.assert_allclose(model.thresholds_, thresholds)


def test_no_strategy_is_probability_one_half(problem):
    model = fit(problem, strategy=None)
    np.testing.assert_array_equal(model.predict(problem[0]), model.predict_proba(problem[0]) >= 0.5)


def test_cardinality_predicts_as_many_labels_as_there_are():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 4))
    Y = (X + rng.normal(size=X.shape) > 0.8).astype(float)
    model = fit((X, Y), strategy="cardinality")
    assert model.predict(X).sum() == pytest.approx(Y.sum(), rel=0.1)


def test_without_method_there_are_no_probabilities(problem):
    model = fit(problem, method=None)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match="predict_proba"):
        model.predict_proba(problem[0])


@pytest.mark.parametrize("splitter", [LabelStratifiedKFold(3), ShuffleSplit(2, random_state=0)])
def test_any_splitter(problem, splitter):
    assert np.all(np.isfinite(fit(problem, cv=splitter).thresholds_))


def test_precomputed_similarities_equal_the_linear_kernel(problem):
    X, Y = problem
    options = {"tol": 1e-7, "random_state": 0, "max_iter": 5000}
    by_rows = fit(problem, OneVsAllSVM(kernel="linear", **options))
    by_gram = fit((X @ X.T, Y), OneVsAllSVM(kernel="precomputed", **options))
    np.testing.assert_allclose(by_gram.predict_proba(X @ X.T), by_rows.predict_proba(X), atol=1e-3)
    with pytest.raises(ValueError, match="square"):
        fit((X @ X[:50].T, Y), OneVsAllSVM(kernel="precomputed"))


def test_forms_of_rows(problem):
    X, Y = problem
    exact = clone(SVM).set_params(tol=1e-7, max_iter=10_000)
    expected = fit(problem, exact).predict_proba(X)
    for rows in (sparse.csr_array(X), sparse.coo_matrix(X), X.tolist()):
        np.testing.assert_allclose(fit((rows, Y), exact).predict_proba(rows), expected, atol=1e-3)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = fit((frame, Y), exact)
    np.testing.assert_allclose(model.predict_proba(frame), expected)
    assert model.feature_names_in_.tolist() == list("abcdef")
    assert model.n_features_in_ == 6


def test_mapping_of_views(problem):
    X, Y = problem
    views = {"left": X[:, :3], "right": sparse.csr_array(X[:, 3:])}
    model = fit((views, Y), LabelRanker(kernel=Gaussian().on("left") + Gaussian().on("right"), tol=1e-2))
    assert model.predict_proba(views).shape == (90, 5)
    assert model.score(views, Y) > 0.7


def test_forms_of_labels(problem):
    X, Y = problem
    expected = fit(problem).predict_proba(X)
    stored = sparse.csr_array(np.where(Y == 0, 0, 1) * np.nan_to_num(Y, nan=7.0))
    stored.data[stored.data == 7] = np.nan
    names = ["sea", "sun", "tree", "boat", "bird"]
    frame = pd.DataFrame(Y, columns=names)
    for labels in (stored, frame):
        np.testing.assert_allclose(fit((X, labels)).predict_proba(X), expected)
    assert fit((X, frame)).classes_.tolist() == names
    tags = [{name for name, state in zip(names, row, strict=True) if state == 1} for row in Y]
    model = fit((X, tags))
    assert model.classes_.tolist() == sorted(names)
    assert model.score(X, tags) > 0.7


def test_one_dimensional_classes(problem):
    X, _ = problem
    two = np.where(X[:, 0] > 0, "yes", "no")
    model = fit((X, two))
    assert model.decision_function(X).shape == (90,)
    assert model.predict_proba(X).shape == (90, 2)
    assert np.mean(model.predict(X) == two) > 0.9
    three = np.digitize(X[:, 0], [-0.5, 0.5])
    model = fit((X, three))
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert set(model.predict(X)) <= {0, 1, 2}


def test_rare_labels_and_labels_never_present(problem):
    X, Y = problem
    Y = np.column_stack([Y, np.zeros(90), np.zeros(90), np.full(90, np.nan)])
    Y[7, 5] = 1
    with pytest.warns(UserWarning, match="2 of 8 labels are never positive") as caught:
        model = fit((X, Y))
    assert len(caught) == 1
    assert np.isfinite(model.thresholds_[:6]).all()
    assert model.thresholds_[6:].tolist() == [np.inf, np.inf]
    np.testing.assert_allclose(model.predict_proba(X)[:, 5], 2 / 92)
    assert model.predict(X)[:, 6:].sum() == 0


def test_samples_of_weight_zero_do_not_count(problem):
    X, Y = problem
    rng = np.random.default_rng(3)
    noise = rng.integers(0, 2, size=(30, 5)).astype(float)
    folds = [(np.arange(0, 90, 2), np.arange(1, 90, 2)), (np.arange(1, 90, 2), np.arange(0, 90, 2))]
    with_noise = [
        (np.append(train, np.arange(90, 120)), np.append(test, np.arange(90, 120))) for train, test in folds
    ]
    weights = np.append(np.ones(90), np.zeros(30))
    estimator = clone(SVM).set_params(tol=1e-8, max_iter=10_000)
    expected = fit(problem, estimator, cv=folds)
    model = CalibratedRanker(estimator, cv=with_noise)
    model.fit(np.vstack([X, X[:30]]), np.vstack([Y, noise]), sample_weight=weights)
    np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(X), atol=1e-3)


def test_callback_hears_of_the_last_training_only(problem):
    points = []
    model = CalibratedRanker(SVM, random_state=0).fit(*problem, callback=points.append)
    assert points == list(model.estimator_.trace_)
    # an estimator that reports nothing is trained all the same
    CalibratedRanker(LabelFrequency(), random_state=0).fit(*problem, callback=points.append)
    assert points == list(model.estimator_.trace_)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "sigmoid"}, "method must be one of 'platt', 'isotonic', None, got 'sigmoid'"),
        ({"strategy": "best"}, "strategy must be one of"),
        ({"strategy": "top_k", "n_tags": 0}, "n_tags must be a positive integer, got 0"),
        ({"method": None, "strategy": None}, "use the estimator itself"),
        ({"cv": 91}, "n_splits=91"),
    ],
)
def test_wrong_parameters(problem, options, message):
    with pytest.raises(ValueError, match=message):
        fit(problem, **options)


def test_pickle_grid_search_and_processes(problem):
    X, Y = problem
    model = fit(problem)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(fit(problem, LabelFrequency(), n_jobs=2).predict(X).shape, Y.shape)
    search = GridSearchCV(model, {"estimator__C": [0.01, 1], "method": ["platt", None]}, cv=2).fit(X, Y)
    assert search.best_score_ > 0.7


def load_parts(name):
    """X and Y of the training part, then of the test part."""
    collection = load_dataset(name)
    dense = [Y.toarray() if sparse.issparse(Y) else Y for Y in (collection.train.Y, collection.test.Y)]
    return (collection.train.X, dense[0]), (collection.test.X, dense[1])


@pytest.mark.usefixtures("research_data")
@pytest.mark.parametrize("Estimator", [OneVsAllSVM, LabelRanker])
def test_probabilities_of_photographs_beat_squashed_scores(Estimator):
    train, (X, Y) = load_parts("scene")
    for method in ("platt", "isotonic"):
        model = fit(train, Estimator(tol=1e-2, random_state=0), method=method)
        squashed = expit(model.decision_function(X))
        assert np.mean((model.predict_proba(X) - Y) ** 2) < 0.8 * np.mean((squashed - Y) ** 2)


# scene has one label a sample, nearly always: there the relative rule of a LabelRanker is hard to beat
@pytest.mark.usefixtures("research_data")
@pytest.mark.parametrize(("name", "Estimator"), [("scene", OneVsAllSVM), ("yeast", LabelRanker)])
def test_f1_thresholds_beat_the_own_rule(name, Estimator):
    train, (X, Y) = load_parts(name)
    model = fit(train, Estimator(tol=1e-2, random_state=0))
    found = f_measure(Y, model.predict(X), average="macro")
    assert found > f_measure(Y, model.estimator_.predict(X), average="macro") + 0.02
