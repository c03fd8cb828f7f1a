"""Every form of labels and weights that the max-margin estimators take, and what they refuse."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from tagrank.data import Collection
from tagrank.estimators import OneVsAllSVM
from tagrank.estimators.targets import encode_targets
from tagrank.kernels import Gaussian
from tagrank.labels import label_states
from tagrank.metrics import image_auc

NAMES = ["sea", "sun", "tree"]


@pytest.fixture(scope="module")
def problem():
    """40 samples, 3 labels, some unknown."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 3))
    Y = (X + 0.5 * rng.normal(size=X.shape) > 0.2).astype(float)
    Y[rng.random(Y.shape) < 0.1] = np.nan
    X.flags.writeable = Y.flags.writeable = False
    return X, Y


def test_frames_keep_their_names(problem, Estimator):
    X, Y = problem
    frame = pd.DataFrame(X, columns=["red", "green", "blue"])
    model = Estimator(random_state=0).fit(frame, pd.DataFrame(Y, columns=NAMES))
    assert model.classes_.tolist() == NAMES
    assert model.feature_names_in_.tolist() == ["red", "green", "blue"]
    expected = Estimator(random_state=0).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(frame), expected.decision_function(X), atol=1e-4)
    shuffled = pd.DataFrame(Y, columns=NAMES)[["tree", "sea", "sun"]]
    assert model.score(frame, shuffled) == expected.score(X, Y)


def test_sparse_labels_with_a_stored_nan(problem, Estimator):
    X, Y = problem
    rows, columns = np.nonzero(Y)
    stored = sparse.csr_array((Y[rows, columns], (rows, columns)), shape=Y.shape)
    expected = Estimator(random_state=0).fit(X, Y).decision_function(X)
    np.testing.assert_array_equal(Estimator(random_state=0).fit(X, stored).decision_function(X), expected)


def test_tag_sets(problem, Estimator):
    X, Y = problem
    Y = np.nan_to_num(Y)
    tags = [{name for name, present in zip(NAMES, row, strict=True) if present} or None for row in Y]
    Y[Y.sum(axis=1) == 0] = np.nan
    model = Estimator(random_state=0).fit(X, tags)
    assert model.classes_.tolist() == NAMES
    expected = Estimator(random_state=0).fit(X, Y)
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(X))


def test_one_dimensional_classes(problem, Estimator):
    X, _ = problem
    two = np.where(X[:, 0] > 0, "yes", "no")
    model = Estimator(C=10, random_state=0).fit(X, two)
    assert model.decision_function(X).shape == model.predict(X).shape == (40,)
    assert np.mean(model.predict(X) == two) > 0.9
    np.testing.assert_array_equal(model.predict(X) == "yes", model.decision_function(X) > 0)
    three = np.digitize(X[:, 0], [-0.5, 0.5])
    model = Estimator(C=10, random_state=0).fit(X, three)
    assert model.decision_function(X).shape == (40, 3)
    assert np.mean(model.predict(X) == three) > 0.8


def test_class_weights(problem, Estimator):
    X, Y = problem
    frame = pd.DataFrame(Y, columns=NAMES)

    def scores(class_weight, **weights):
        model = Estimator(gamma=0.3, tol=1e-6, max_iter=5000, class_weight=class_weight, random_state=0)
        return model.fit(X, frame, **weights).decision_function(X)

    by_state = np.where(Y == 1, 3.0, 0.5)
    np.testing.assert_allclose(scores({1: 3.0, 0: 0.5}), scores(None, sample_weight=by_state), atol=5e-3)
    by_label = np.tile([1.0, 2.0, 1.0], (40, 1))
    np.testing.assert_allclose(scores({"sun": 2.0}), scores(None, sample_weight=by_label), atol=5e-3)
    n_known = np.sum(~np.isnan(Y), axis=0)
    shares = np.where(Y == 1, n_known / 2 / np.nansum(Y, axis=0), n_known / 2 / np.nansum(1 - Y, axis=0))
    np.testing.assert_allclose(scores("balanced"), scores(None, sample_weight=shares), atol=5e-3)


def test_views(problem, Estimator):
    X, Y = problem
    views = {"left": X[:, :1], "right": X[:, 1:]}
    kernel = Gaussian().on("left") + 0.5 * Gaussian().on("right")
    model = Estimator(kernel=kernel, random_state=0).fit(views, Y)
    assert model.score(views, Y) > 0.8
    if np.ndim(getattr(model, "kernel_weights_", 0)) == 2:
        return  # each label has a kernel of its own; see test_each_label_has_its_own_weights
    K = model.kernel_(views)
    expected = K @ model.dual_coef_ + model.intercept_
    np.testing.assert_allclose(model.decision_function(views), expected, atol=1e-4)


def test_views_of_different_length_are_refused(problem, Estimator):
    X, Y = problem
    kernel = Gaussian().on("left") + Gaussian().on("right")
    with pytest.raises(
        ValueError, match="the numbers of rows differ: view 'left' has 40, view 'right' has 39"
    ):
        Estimator(kernel=kernel).fit({"left": X[:, :1], "right": X[:-1, 1:]}, Y)


def test_label_never_positive_is_ranked_last(problem, Estimator):
    X, Y = problem
    with pytest.warns(
        UserWarning, match="1 of 4 labels are never positive in training and are ranked last: 3"
    ):
        model = Estimator(random_state=0).fit(X, np.column_stack([Y, np.zeros(40)]))
    scores = model.decision_function(X)
    assert np.all(scores[:, 3] < scores[:, :3].min(axis=1))


def test_rows_without_any_label(problem, Estimator):
    X, Y = problem
    Y = Y.copy()
    Y[:5], Y[5:10] = 0, np.nan
    assert Estimator(random_state=0).fit(X, Y).score(X, Y) > 0.8


def test_one_example(problem, Estimator):
    X, _ = problem
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scores = Estimator().fit(X[:1], [[1, 0]]).decision_function(X[:1])
    assert any("never positive" in str(warning.message) for warning in caught)
    assert scores[0, 0] > scores[0, 1]


def test_one_label(problem, Estimator):
    X, Y = problem
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = Estimator().fit(X, Y[:, :1])
    assert model.predict(X).shape == (40, 1)
    assert bool(caught) == (not model.decision_function(X).any())


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.full((40, 2), -1), r"Y contains -1.*If -1 means absent use \(Y > 0\)"),
        (np.full((40, 2), 2.0), "contains 2, but labels are 1"),
        (np.zeros((40, 0)), "at least one label"),
        (np.zeros((39, 2)), "numbers of rows differ|inconsistent numbers"),
        (pd.DataFrame(np.eye(40, 2), columns=["sea", "sea"]), "duplicate tag names: sea"),
        (np.full(40, np.nan), "NaN"),
    ],
)
def test_labels_that_are_refused(problem, Estimator, labels, message):
    with pytest.raises(ValueError, match=message):
        Estimator().fit(problem[0], labels)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_rows_that_are_refused(problem, Estimator, bad):
    X, Y = problem
    X = X.copy()
    X[3, 1] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        Estimator().fit(X, Y)


def test_matrices_that_are_no_similarities(problem, Estimator):
    X, Y = problem
    model = Estimator(kernel="precomputed")
    with pytest.raises(ValueError, match="square"):
        model.fit(X, Y)
    with pytest.raises(ValueError, match="positive semidefinite"):
        model.fit(-X @ X.T, Y)


@pytest.mark.parametrize(
    ("weights", "message"),
    [(np.ones(7), "sample_weight"), (-np.ones(40), "negative"), (np.full(40, np.nan), "finite|NaN")],
)
def test_weights_that_are_refused(problem, Estimator, weights, message):
    with pytest.raises(ValueError, match=message):
        Estimator().fit(*problem, sample_weight=weights)


def test_what_a_masked_array_masks_is_unknown():
    masked = np.ma.masked_array([[1, 0, 1], [0, 1, 0]], mask=[[0, 0, 1], [1, 0, 0]])
    np.testing.assert_array_equal(encode_targets(masked).states, [[1, -1, 0], [0, 1, -1]])


@pytest.mark.parametrize("dtype", ["Int64", "boolean", "Float64"])
def test_nullable_columns_of_pandas_are_labels_in_three_states(dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    Y = (X > 0).astype(float)
    Y[:5, 1] = np.nan
    frame = pd.DataFrame(Y, columns=["a", "b", "c"])
    expected = OneVsAllSVM(random_state=0).fit(X, frame).decision_function(X)
    nullable = frame.astype(dtype)
    rows = pd.DataFrame(X, columns=["x", "y", "z"]).astype("Float64")
    for given in (nullable, nullable.to_numpy(), frame.astype(object)):
        np.testing.assert_array_equal(label_states(given), label_states(Y))
        scores = OneVsAllSVM(random_state=0).fit(rows, given).decision_function(rows)
        np.testing.assert_allclose(scores, expected, rtol=1e-9)
        np.testing.assert_array_equal(Collection({"x": X}, given).labels, Y)
    assert image_auc(nullable, expected) == image_auc(Y, expected)
    assert OneVsAllSVM(random_state=0).fit(X, nullable).score(X, nullable[["c", "b", "a"]]) == image_auc(
        Y, expected
    )


def test_a_series_of_tag_sets_and_classes_that_are_missing():
    X = np.arange(6.0)[:, None]
    sets = pd.Series([{"a"}, {"b"}, {"a", "b"}, {"a"}, {"b"}, None], index=range(3, 9))
    assert OneVsAllSVM().fit(X, sets).classes_.tolist() == ["a", "b"]
    for missing in (
        pd.Series(["a", "b", pd.NA] * 2, dtype="string"),
        pd.Series([0, 1, None] * 2, dtype="Int64"),
    ):
        with pytest.raises(ValueError, match="unknown labels need a two-dimensional Y"):
            OneVsAllSVM().fit(X, missing)
