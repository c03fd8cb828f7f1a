"""JointSVM on rows answers as it does on the Gram matrix, and makes nothing of that size."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from tagrank.estimators import JointSVM
from tagrank.estimators.joint import joint_svm
from tagrank.estimators.joint.joint_svm import prefers_rows
from tagrank.estimators.joint.output_kernels import CallableOutputs, LinearOutputs, PolynomialOutputs
from tagrank.kernels import Gaussian, Linear

EXACT = {"kernel": "linear", "tol": 1e-8, "max_iter": 20_000, "random_state": 0}
SIMILARITY = np.array([[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 1, -0.5], [0, 0, -0.5, 1.0]])
every_output = pytest.mark.parametrize("output", ["linear", "odds-ratio", SIMILARITY], ids=str)


@pytest.fixture(scope="module")
def problem():
    """More features than samples, so that the solution is unique; unknown labels and rows without length."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 80)) * (rng.random((60, 80)) < 0.4)
    Y = (X @ rng.normal(size=(80, 4)) + rng.normal(size=(60, 4)) > 1).astype(float)
    Y[rng.random(Y.shape) < 0.1] = np.nan
    Y[0], Y[1], Y[2] = 1, 0, np.nan
    X[[3, 7]] = 0
    X.flags.writeable = Y.flags.writeable = False
    return X, Y


@pytest.fixture
def take(monkeypatch):
    """Decides which way the next models are trained, whatever their size."""

    def decide(way):
        monkeypatch.setattr(joint_svm, "VISITS", 0 if way == "rows" else np.inf)

    return decide


@every_output
@pytest.mark.parametrize("form", [np.array, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("decoding", ["direct", "transfer"])
def test_same_answers_both_ways(problem, take, output, form, decoding):
    X, Y = problem
    X = form(X)
    models = {}
    for way in ("gram", "rows"):
        take(way)
        model = JointSVM(2.0, output_kernel=output, decoding=decoding, n_neighbors=3, **EXACT)
        models[way] = model.fit(X, Y, sample_weight=np.arange(60) % 3)
    gram, rows = models["gram"], models["rows"]
    assert rows.primal_objective_ == pytest.approx(gram.primal_objective_, rel=1e-7)
    np.testing.assert_allclose(rows.alpha_, gram.alpha_, atol=2e-3)
    for attribute in ("dual_coef_", "coef_"):
        np.testing.assert_allclose(getattr(rows, attribute), getattr(gram, attribute), atol=1e-3)
    np.testing.assert_allclose(rows.decision_function(X), gram.decision_function(X), atol=5e-3)
    if decoding == "direct":
        np.testing.assert_allclose(rows.decision_function(X), X @ X.T @ rows.dual_coef_, atol=1e-9)


def test_path(problem, take):
    take("rows")
    for model in JointSVM(**EXACT).path(*problem, [1e-4, 0.1, 10.0]):
        take("gram")
        alone = JointSVM(model.C, **EXACT).fit(*problem)
        assert model.converged_
        assert model.primal_objective_ == pytest.approx(alone.primal_objective_, rel=1e-6)


def test_early_end_is_certified(problem, take):
    take("rows")

    def interrupt(point):
        raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted"):
        model = JointSVM(100, **EXACT).fit(*problem, callback=interrupt)
    assert 0 < model.dual_objective_ < model.primal_objective_


def test_nothing_of_the_size_of_a_gram_matrix_is_made():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 5))
    Y = (X @ rng.normal(size=(5, 3)) > 0).astype(float)
    model = JointSVM(kernel="linear", random_state=0)
    model.fit(X, Y)  # compiles, which takes memory of its own
    tracemalloc.start()
    try:
        model.fit(X, Y)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 0.1 * 4 * 4000**2
    assert model.score(X, Y) > 0.95


def rows_are_taken(shape, n_labels, *, kernel=None, output=None, density=None):
    X = np.broadcast_to(np.float32(1), shape)
    if density is not None:
        X = sparse.csr_array(shape)
        X.indptr = np.linspace(0, density * shape[0] * shape[1], shape[0] + 1).astype(np.int64)
        X.indices, X.data = np.broadcast_to(0, X.indptr[-1]), np.broadcast_to(1.0, X.indptr[-1])
    dtype = np.dtype(np.float32)
    return prefers_rows(X, kernel or Linear(), output or LinearOutputs(), n_labels, dtype)


def test_the_cheaper_way_is_taken():
    assert rows_are_taken((30_000, 100), 50)
    assert not rows_are_taken((1_000, 100), 50)
    assert not rows_are_taken((9_000, 4_000), 500), "a pass over the rows costs more than a Gram matrix"
    assert rows_are_taken((9_000, 4_000), 500, density=0.005)
    assert rows_are_taken((50_000, 4_000), 2_000), "the Gram matrix would be large"
    assert not rows_are_taken((9_000, 1_000_000), 2_000, density=1e-5), "the model would be larger"


def test_other_kernels_need_the_gram_matrix():
    large = (30_000, 100)
    assert not rows_are_taken(large, 50, kernel=Gaussian())
    for output in (PolynomialOutputs(), CallableOutputs(np.inner)):
        assert not rows_are_taken(large, 50, output=output)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_gram_matrix_that_is_not_finite(value):
    """Outside the part that is looked at when a large Gram matrix is checked."""
    X = np.random.default_rng(0).normal(size=(1500, 20))
    K = X @ X.T
    K[700, 1200] = K[1200, 700] = value
    with pytest.raises(ValueError, match="K must be finite, got nan or inf"):
        JointSVM(kernel="precomputed").fit(K, X[:, :3] > 0)
