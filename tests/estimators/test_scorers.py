"""Scorers are the metrics of estimators' answers; they know unknown labels, tag sets and column names."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier

import tagrank
from tagrank.estimators import LabelRanker, OneVsAllSVM
from tagrank.estimators.scorers import get_scorer
from tagrank.metrics import catalog_metrics

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 4))
Y = (X[:, :3] + rng.normal(scale=0.5, size=(40, 3)) > 0).astype(float)
Y[rng.random(Y.shape) < 0.1] = np.nan
TAGS = ["a", "b", "c"]
SETS = [{tag for tag, value in zip(TAGS, row, strict=True) if value == 1} or None for row in Y]
METRICS = catalog_metrics()


@pytest.fixture(scope="module")
def model():
    return LabelRanker(max_iter=20, random_state=0).fit(X, Y)


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_has_a_scorer(name, model):
    metric = METRICS[name]
    words = ["ranking_loss", "coverage", "one_error", "hamming_loss"]
    by_name = [word for word in words if word == name.lower().replace(" ", "_").replace("-", "_")]
    scorer = get_scorer(f"neg_{by_name[0]}" if by_name else name)
    values = model.predict(X) if metric.takes == "predictions" else model.decision_function(X)
    value = metric(Y, values)
    assert scorer(model, X, Y) == (value if metric.higher_is_better else -value)
    assert get_scorer(scorer.name).name == scorer.name
    assert pickle.loads(pickle.dumps(scorer))(model, X, Y) == scorer(model, X, Y)


def test_names_of_lists_and_of_functions():
    assert get_scorer("precision_at_10").metric.name == "P@10"
    assert get_scorer("Image-MAP").name == "image_average_precision"
    for name in ("image_auc", "image_average_precision", "category_auc", "category_average_precision"):
        assert getattr(tagrank, f"{name}_scorer").name == name
        assert get_scorer(name).metric.function is getattr(tagrank, name)
    with pytest.raises(
        ValueError, match=r"no scorer 'image_auk'; did you mean 'image_auc'.*n_plus, micro_f1"
    ):
        get_scorer("image_auk")
    with pytest.raises(ValueError, match="no scorer 'ranking_loss'; did you mean 'neg_ranking_loss'"):
        get_scorer("ranking_loss")
    for wrong in (3, None, "precision_at_0"):
        with pytest.raises(ValueError, match="no scorer"):
            get_scorer(wrong)


def test_labels_in_every_form():
    scorer, frame = get_scorer("image_auc"), pd.DataFrame(Y, columns=TAGS)
    named = OneVsAllSVM(random_state=0).fit(X, frame)
    expected = scorer(named, X, frame)
    assert expected == tagrank.image_auc(Y, named.decision_function(X))
    for labels in (frame[["c", "a", "b"]], frame.astype("Int64"), frame.astype("boolean"), Y):
        assert scorer(named, X, labels) == expected
    of_sets = np.array([[tag in (tags or ()) for tag in TAGS] for tags in SETS], dtype=float)
    of_sets[[tags is None for tags in SETS]] = np.nan
    known = [(tags | {"no such tag"}) if tags else None for tags in SETS]
    assert scorer(named, X, known) == tagrank.image_auc(of_sets, named.decision_function(X))
    with pytest.raises(ValueError, match="Y has no columns for 1 of 3 labels: 'c'"):
        scorer(named, X, frame[["a", "b"]])


@pytest.mark.parametrize("name", ["category_auc", "micro_f1"])
def test_one_dimensional_classes(name):
    for y in (X[:, 0] > 0, np.digitize(X[:, 0], [-0.5, 0.5])):
        model = OneVsAllSVM(random_state=0).fit(X, y)
        matrix = (y[:, None] == model.classes_).astype(float)
        F = model.decision_function(X)
        values = np.column_stack([-F, F]) if F.ndim == 1 else F
        predicted = model.predict(X)[:, None] == model.classes_
        expected = METRICS["Category-AUC" if name == "category_auc" else "Micro-F1"]
        assert get_scorer(name)(model, X, y) == expected(
            matrix, values if name == "category_auc" else predicted
        )


def test_estimators_of_scikit_learn():
    complete = np.nan_to_num(Y)
    for model in (OneVsRestClassifier(LogisticRegression()), MultiOutputClassifier(LogisticRegression())):
        model.fit(X, complete)
        columns = model.predict_proba(X)
        if isinstance(columns, list):
            columns = np.column_stack([one[:, 1] for one in columns])
        # log-odds and probabilities have the same order
        assert get_scorer("image_auc")(model, X, Y) == pytest.approx(tagrank.image_auc(Y, columns))
        assert get_scorer("micro_f1")(model, X, Y) == tagrank.f_measure(Y, model.predict(X), average="micro")


def test_searches_with_unknown_labels_and_tag_sets():
    folds = KFold(3, shuffle=True, random_state=0)
    scoring = {"auc": get_scorer("image_auc"), "errors": get_scorer("neg_one_error")}
    for labels in (Y, SETS, pd.DataFrame(Y, columns=TAGS).astype("Int64")):
        search = GridSearchCV(
            OneVsAllSVM(random_state=0), {"C": [0.1, 1]}, scoring=scoring, refit="auc", cv=folds
        )
        results = search.fit(X, labels).cv_results_
        assert (results["mean_test_auc"] > 0.5).all()
        assert (results["mean_test_errors"] <= 0).all()
    scores = cross_val_score(OneVsAllSVM(random_state=0), X, Y, scoring=scoring["auc"], cv=folds)
    by_hand = []
    for train, test in folds.split(X):
        model = OneVsAllSVM(random_state=0).fit(X[train], Y[train])
        by_hand.append(tagrank.image_auc(Y[test], model.decision_function(X[test])))
    np.testing.assert_allclose(scores, by_hand)
