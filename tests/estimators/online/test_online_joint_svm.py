"""OnlineJointSVM: chunks, kernels, averages, and streams that go wrong."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from tagrank.estimators import OnlineJointSVM

KERNELS = ["linear", "rbf"]


@pytest.fixture(scope="module")
def stream():
    """400 samples, 5 labels, a tenth unknown, two rows and no label wholly unknown."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    Y = (X @ rng.normal(size=(6, 5)) + 0.3 * rng.normal(size=(400, 5)) > 0.8).astype(float)
    Y[rng.random(Y.shape) < 0.1] = np.nan
    Y[[5, 200]] = np.nan
    X.flags.writeable = Y.flags.writeable = False
    return X, Y


def learn(model, X, Y, size, **options):
    for start in range(0, X.shape[0], size):
        model.partial_fit(X[start : start + size], Y[start : start + size], **options)
        options = {}
    return model


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("average", [True, False])
def test_chunks_do_not_matter(stream, kernel, average):
    X, Y = stream
    options = {"kernel": kernel, "gamma": None if kernel == "linear" else 0.1, "average": average}
    whole = OnlineJointSVM(**options).partial_fit(X, Y)
    for size in (1 if kernel == "linear" else 40, 130):
        chunked = learn(OnlineJointSVM(**options), X, Y, size)
        assert (
            (chunked.n_seen_, chunked.n_updates_)
            == (whole.n_seen_, whole.n_updates_)
            == (400, whole.n_updates_)
        )
        np.testing.assert_allclose(chunked.decision_function(X), whole.decision_function(X), atol=1e-8)
        np.testing.assert_array_equal(chunked.predict(X), whole.predict(X))


@pytest.mark.parametrize("average", [True, False])
def test_kernel_form_equals_weights(stream, average):
    """The dual form of the linear kernel is the primal one."""
    from tagrank.kernels import Polynomial

    X, Y = stream
    linear = OnlineJointSVM(average=average, max_iter=3, random_state=0)
    dual = OnlineJointSVM(average=average, max_iter=3, random_state=0, kernel=Polynomial(1, gamma=1, coef0=0))
    for method in ("partial_fit", "fit"):
        expected, found = getattr(linear, method)(X, Y), getattr(dual, method)(X, Y)
        assert found.n_updates_ == expected.n_updates_
        np.testing.assert_allclose(found.decision_function(X), expected.decision_function(X), atol=1e-8)
    np.testing.assert_allclose(
        dual.kernel_(X, dual.X_fit_) @ dual.dual_coef_, dual.decision_function(X), atol=1e-10
    )


@pytest.mark.parametrize("kernel", KERNELS)
def test_learns_and_goes_on_after_fit(stream, kernel):
    X, Y = stream
    model = OnlineJointSVM(kernel=kernel, random_state=0).fit(X[:300], Y[:300])
    assert model.score(X[300:], Y[300:]) > 0.85
    before = model.n_updates_
    copy = pickle.loads(pickle.dumps(model))
    for one in (model, copy):
        one.partial_fit(X[300:], Y[300:])
    assert model.n_updates_ > before
    np.testing.assert_array_equal(copy.decision_function(X), model.decision_function(X))
    known = ~np.isnan(Y)
    assert np.mean(model.predict(X)[known] == Y[known]) > 0.75


def test_sparse_rows_and_single_precision(stream):
    X, Y = stream
    dense = OnlineJointSVM().partial_fit(X, Y).decision_function(X)
    sparse_rows = sparse.csr_array(X)
    np.testing.assert_allclose(
        learn(OnlineJointSVM(), sparse_rows, Y, 100).decision_function(sparse_rows), dense, atol=1e-8
    )
    single = OnlineJointSVM().partial_fit(X.astype(np.float32), Y)
    np.testing.assert_allclose(single.decision_function(X.astype(np.float32)), dense, atol=1e-2)


def test_separable_data_end_after_a_pass_without_updates():
    X = np.repeat(np.eye(4), 5, axis=0)
    Y = np.repeat(np.eye(4), 5, axis=0)
    model = OnlineJointSVM(max_iter=100, random_state=0).fit(X, Y)
    assert model.n_iter_ < 10
    np.testing.assert_array_equal(model.predict(X), Y)


def test_similarities_can_be_fitted_but_not_streamed(stream):
    X, Y = stream
    by_rows = OnlineJointSVM(random_state=0).fit(X, Y)
    by_gram = OnlineJointSVM(kernel="precomputed", random_state=0).fit(X @ X.T, Y)
    np.testing.assert_allclose(by_gram.decision_function(X @ X.T), by_rows.decision_function(X), atol=1e-8)
    with pytest.raises(ValueError, match="a stream needs rows"):
        OnlineJointSVM(kernel="precomputed").partial_fit(X @ X.T, Y)


def test_tags_by_name():
    rows, tags = [[0.0, 1.0], [1.0, 0.0]], [{"sea"}, {"street"}]
    model = OnlineJointSVM().partial_fit(rows, tags, classes=["boat", "sea", "street"])
    assert model.never_positive_.tolist() == [True, False, False]
    assert model.decision_function(rows)[:, 0].max() < model.decision_function(rows)[:, 1:].min()
    model.partial_fit(rows, [{"sea", "boat"}, None])
    assert not model.never_positive_.any()
    model.partial_fit([[1.0, 0.0]], np.array([[0, 0, 1.0]]))
    assert model.n_seen_ == 5


BROKEN = {
    "new tags": ([[1.0, 0.0]], [{"car", "sea"}], "1 labels that the stream did not begin with: 'car'"),
    "another number of labels": ([[1.0, 0.0]], [[1, 0, 1]], "3 labels, but the stream began with 2"),
    "fewer rows of labels": ([[1.0, 0.0], [0.0, 1.0]], [{"sea"}], "numbers of rows differ: X has 2, y has 1"),
    "a row that ends early": ([[1.0, np.nan]], [{"sea"}], "contains NaN"),
    "shorter rows": ([[1.0]], [{"sea"}], "X has 1 features"),
    "a last row that is shorter": ([[1.0, 0.0], [1.0]], [{"sea"}] * 2, "rows of X .* row 1 has length 1"),
    "labels that end early": ([[1.0, 0.0], [0.0, 1.0]], [[1, 0], [0]], "rows of y .* row 1 has length 1"),
    "no rows": (np.zeros((0, 2)), np.zeros((0, 2)), "0 sample"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_refused_chunk_changes_nothing(case, Online):
    rows, tags = [[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]], [{"sea"}, {"street"}, {"sea"}]
    model = Online().partial_fit(rows, tags)
    before = pickle.dumps(model)
    X, y, message = BROKEN[case]
    with pytest.raises(ValueError, match=message):
        model.partial_fit(X, y)
    assert pickle.dumps(model) == before
    with pytest.raises(ValueError, match="classes differ"):
        model.partial_fit(rows, tags, classes=["sea"])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"margin": 1.0}, "margin must be a number from 0 to below 1"), ({"max_iter": 0}, "positive integer")],
)
def test_bad_parameters(stream, parameters, message):
    with pytest.raises(ValueError, match=message):
        OnlineJointSVM(**parameters).fit(*stream)


def test_labels_unknown_throughout(stream):
    X, Y = stream
    unknown = Y.copy()
    unknown[:, 2] = np.nan
    model = learn(OnlineJointSVM(), X, unknown, 100)
    assert (model.decision_function(X).argmin(axis=1) == 2).all()
    with pytest.warns(UserWarning, match="1 of 5 labels are never positive"):
        OnlineJointSVM().fit(X, unknown)
    nothing = OnlineJointSVM().partial_fit(X, np.full((400, 2), np.nan))
    assert nothing.n_updates_ == 0
    assert not nothing.decision_function(X).any()
    assert not nothing.predict(X).any()
