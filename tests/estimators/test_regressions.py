"""Faults that were found once: each is pinned by the smallest example that showed it."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from tagrank import Gaussian, LabelRanker, OneVsAllSVM
from tagrank.losses.hinge import Hinge
from tagrank.solvers.dual_ascent import solve_dual
from tagrank.solvers.linear_rows import SparseRows


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(40, 5))


@pytest.fixture(scope="module")
def Y(X):
    return (X[:, :3] > 0).astype(float)


def test_another_kernel_forgets_the_first(Estimator, X, Y):
    model = Estimator(kernel="linear", random_state=0).fit(X, Y)
    again = model.set_params(kernel="rbf").fit(X, Y)
    fresh = Estimator(kernel="rbf", random_state=0).fit(X, Y)
    np.testing.assert_array_equal(again.decision_function(X), fresh.decision_function(X))
    assert not hasattr(again, "coef_")


def test_labels_without_weight_do_not_reach_the_threshold_rule(X, Y):
    weights = np.ones_like(Y)
    weights[:10, 0] = 0
    rule = LabelRanker(random_state=0).fit(X, Y, sample_weight=weights).threshold_rule_
    assert np.abs(rule).max() < 10


def test_a_label_never_positive_is_never_predicted(WithIntercept, X):
    Y = np.tile([1.0, 0.0], (40, 1))
    with pytest.warns(UserWarning, match="never positive"):
        model = WithIntercept(kernel="linear", C=10, fit_intercept=True).fit(X, Y)
    assert not model.predict(X)[:, 1].any()


@pytest.mark.parametrize(("n_labels", "n_groups"), [(49, 3), (150, 8), (1, 4), (16, 2), (17, 2)])
def test_no_group_of_labels_is_empty(n_labels, n_groups, X):
    A = np.random.default_rng(1).normal(size=(40, n_labels))
    samples = SparseRows(sparse.csr_array(X), n_labels, np.dtype(np.float64), n_groups)
    assert (len(samples.W) - 1) * samples.W.shape[2] < n_labels
    samples.recompute(A)
    np.testing.assert_allclose(samples.weights, X.T @ A, atol=1e-12)


def test_values_of_sparse_rows_may_lie_apart(X, Y):
    rows = sparse.csr_array(X)
    record = np.zeros(rows.nnz, dtype=[("value", float), ("other", float)])
    record["value"] = rows.data
    apart = sparse.csr_array((record["value"], rows.indices, rows.indptr), shape=rows.shape)
    model = OneVsAllSVM(kernel="linear", tol=1e-6, max_iter=10_000, random_state=0)
    expected = model.fit(rows, Y).coef_
    np.testing.assert_allclose(model.fit(apart, Y).coef_, expected)


def test_models_of_a_path_are_like_fitted_ones(Estimator, X, Y):
    frame = pd.DataFrame(X, columns=list("abcde"))
    [model] = Estimator(random_state=0).path(frame, Y, [Estimator().C])
    fitted = Estimator(random_state=0).fit(frame, Y)
    assert set(vars(model)) == set(vars(fitted))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(model.predict(frame), fitted.predict(frame))


@pytest.mark.parametrize("labels", [[set()] * 40, sparse.csr_array((40, 0)), pd.DataFrame(index=range(40))])
def test_no_labels_at_all(labels, X):
    with pytest.raises(ValueError, match="at least one label"):
        OneVsAllSVM().fit(X, labels)


def test_a_column_of_tag_lists(X):
    tags = pd.Series([["sea", "boat"], ["street"]] * 20)
    assert LabelRanker(random_state=0).fit(X, tags).classes_.tolist() == ["boat", "sea", "street"]


@pytest.mark.parametrize("views", [{}, {"colour": np.zeros((40, 2))}])
@pytest.mark.parametrize("kernel", ["linear", "rbf", Gaussian()])
def test_views_need_a_kernel_that_reads_them(views, kernel, Y):
    with pytest.raises(ValueError, match=r"mapping of views .* kernel.on\(view\)"):
        OneVsAllSVM(kernel=kernel).fit(views, Y)


def test_similarities_are_dense(X, Y):
    with pytest.raises(TypeError, match="dense"):
        OneVsAllSVM(kernel="precomputed").fit(sparse.csr_array(X @ X.T), Y)


def test_an_interrupt_after_the_goal_is_no_failure(X, Y):
    def interrupt(point):
        if point.gap <= 1e-3:
            raise KeyboardInterrupt

    bounds = np.where(Y > 0, 1.0, -1.0)
    assert solve_dual(X @ X.T, Hinge, bounds, kind="gram", tol=1e-3, callback=interrupt).converged


def test_weights_of_classes_are_weights_of_their_samples(X):
    y = np.array(["a", "b"] * 20)
    model = OneVsAllSVM(kernel="linear", tol=1e-6, max_iter=10_000, random_state=0)
    weighted = model.fit(X, y, sample_weight=np.where(y == "a", 5.0, 1.0)).coef_
    np.testing.assert_allclose(model.set_params(class_weight={"a": 5}).fit(X, y).coef_, weighted, atol=1e-3)


def test_a_view_of_another_width_is_named(X, Y):
    model = OneVsAllSVM(kernel=Gaussian().on("colour")).fit({"colour": X}, Y)
    with pytest.raises(ValueError, match="view 'colour' must have the same number of columns"):
        model.predict({"colour": X[:, :3]})
