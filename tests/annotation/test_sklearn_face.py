"""An annotator among scikit-learn's estimators: parameters, clones, searches; and how it is shown."""

import pickle
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from tagrank.annotation import Annotator, RankedTag, RankedTags
from tagrank.estimators import LabelRanker, OneVsAllSVM
from tagrank.features import choose_features
from tagrank.kernels import Gaussian


def test_parameters_and_clones(collection):
    given = Annotator(LabelRanker(C=2), scaling="minmax", features=choose_features(["colour"]), costs=[1, 2])
    copy = clone(given)
    assert copy is not given
    assert copy.get_params()["estimator__C"] == 2
    assert copy.set_params(estimator__C=3, scaling="none").estimator.C == 3
    assert (given.estimator.C, given.scaling) == (2, "minmax")
    fitted = Annotator(OneVsAllSVM()).fit(collection)
    assert not hasattr(clone(fitted), "estimator_")
    assert fitted.estimator_ is not fitted.estimator
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(fitted)).scores(collection), fitted.scores(collection)
    )


def test_answers_by_the_names_of_scikit_learn(fitted, collection):
    assert fitted.classes_.tolist() == collection.tags
    np.testing.assert_array_equal(fitted.decision_function(collection), fitted.scores(collection))
    np.testing.assert_array_equal(fitted.predict_proba(collection), fitted.probabilities(collection))
    present = fitted.predict(collection)
    assert fitted.predict_tags(collection) == [
        {tag for tag, is_present in zip(collection.tags, row, strict=True) if is_present} for row in present
    ]
    assert 0.5 < fitted.score(collection, collection.labels) <= 1
    without = Annotator(OneVsAllSVM()).fit(collection)
    assert not hasattr(without, "predict_proba")
    assert not hasattr(Annotator(), "classes_")
    assert not hasattr(Annotator(), "predict_proba")


def test_searches_and_cross_validation(collection):
    X = collection.X
    tags = [{collection.tags[j] for j in np.flatnonzero(row > 0)} or {"none"} for row in collection.states()]
    search = GridSearchCV(Annotator(LabelRanker(max_iter=20)), {"scaling": ["none", "standard"]}, cv=2)
    assert search.fit(X, tags).best_params_["scaling"] in ("none", "standard")
    assert search.best_estimator_.tags == sorted({*collection.tags, "none"})
    assert np.isfinite(cross_val_score(Annotator(OneVsAllSVM()), X, tags, cv=2)).all()


def test_a_fitted_annotator_says_what_it_learned(collection):
    assert repr(Annotator(scaling="none")) == "Annotator(scaling='none')"
    fitted = Annotator(OneVsAllSVM(kernel=Gaussian(gamma=0.5))).fit(
        collection.replaced(tags=["<b>", "c", "d", "e"])
    )
    text = repr(fitted)
    for words in ("36 rows", "columns: features", "OneVsAllSVM", "Gaussian(gamma=0.5)", "4 (<b>, c, d, e)"):
        assert words in text
    assert "quality" not in text
    assert "gamma=0.1235)" in repr(Annotator(OneVsAllSVM(kernel=Gaussian(gamma=0.12345678))).fit(collection))
    shown = fitted._repr_html_()
    assert "&lt;b&gt;" in shown
    assert "<b>" not in shown
    assert fitted._repr_mimebundle_()["text/html"] == shown
    sure = Annotator("one-vs-all").fit(collection)
    assert re.search(
        r"quality: of 100 predicted tags, about \d+ are right; of 100 true tags, about \d+ are", repr(sure)
    )
    right = sure.estimator_.quality_.right
    assert f"about {right:.0%}".removesuffix("%") in repr(sure)
    assert "predicts no tags" in repr(sure.deciding(1.0))


def test_ranked_tags_answer_by_place_and_by_name():
    ranked = RankedTags("a.jpg", (RankedTag("sky", 2.0, 0.9, True), RankedTag("sea", -1.0, None, False)))
    assert ("sky" in ranked, "boat" in ranked, ranked.entries[1] in ranked, 3 in ranked) == (
        True,
        False,
        True,
        False,
    )
    assert ranked[0] is ranked["sky"] is ranked.entries[0]
    assert ranked[-1].tag == "sea"
    assert ranked[:1] == ranked.top(1)
    assert len(ranked) == 2
    with pytest.raises(KeyError, match=r"no tag 'sk' among the 2 of a\.jpg; did you mean 'sky'"):
        ranked["sk"]
    with pytest.raises(IndexError):
        ranked[2]
    frame = ranked.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame.columns.tolist() == ["tag", "score", "probability", "predicted"]
    assert frame.index.tolist() == [1, 2]
    assert frame.tag.tolist() == ["sky", "sea"]
    assert RankedTags("b.jpg", ()).to_frame().shape == (0, 4)
    assert repr(ranked) == "<RankedTags 'a.jpg': sky 90%*, sea -1.00>"
    assert repr(RankedTags("b.jpg", (), "is empty")) == "<RankedTags 'b.jpg': is empty>"
