"""Similarities on a device of torch: the answers of numpy, from rows of numpy or of torch."""

import numpy as np
import pytest

from tagrank import (
    ChiSquared,
    Gaussian,
    Hellinger,
    IncompleteLabelRanker,
    Intersection,
    LabelRanker,
    Linear,
    OneVsAllLogistic,
    OneVsAllSVM,
    Polynomial,
    ProbabilityRanker,
)

torch = pytest.importorskip("torch", reason="torch is not installed")
DEVICES = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
KERNELS = {
    "gaussian": Gaussian(),
    "chi-square": ChiSquared(),
    "whole vectors": ChiSquared(whole_vector=True),
    "intersection": Intersection(),
    "hellinger": Hellinger(),
    "polynomial": Polynomial(),
    "sum": 0.5 * Gaussian() + 2 * Linear().unit_trace(),
    "product": Gaussian(gamma=0.1) * ChiSquared(),
    "power": Intersection().unit_diagonal() ** 3,
    "columns": Gaussian().on([0, 2]) + ChiSquared().on(slice(1, 3)),
}


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.random((60, 4)) * (rng.random((60, 4)) > 0.2)
    X[5] = 0  # an empty histogram
    X[6] = X[7]
    return X


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_similarities_are_those_of_numpy(kernel, dtype, rows, device, monkeypatch):
    from tagrank.kernels.device import gram

    monkeypatch.setattr(gram, "BLOCK_ENTRIES", 1_000)  # several blocks
    monkeypatch.setattr(gram, "CHUNK_ENTRIES", 500)
    X = rows.astype(dtype)
    there = torch.asarray(X, device=device)
    assert gram.is_known(kernel)
    _fitted, K = kernel.fit_gram(X)
    found = gram.fit_on_device(kernel, there)
    tolerance = {"rtol": 1e-5, "atol": 1e-5} if dtype == np.float32 else {"rtol": 1e-10, "atol": 1e-10}
    np.testing.assert_allclose(gram.device_gram(found, there).cpu(), K, **tolerance)
    np.testing.assert_allclose(gram.device_gram(found, there[:7], there).cpu(), K[:7], **tolerance)
    assert str(found.fit(X)) == str(found)  # nothing is left to fix


def test_kernels_that_a_device_does_not_know_are_computed_on_the_cpu(rows):
    from tagrank.kernels.device.gram import is_known

    class Own(Gaussian):
        """A kernel of somebody else."""

    assert not is_known(Own())
    assert not is_known(Gaussian() + Own())


def make_labels(rows, seed=1):
    rng = np.random.default_rng(seed)
    Y = (rows[:, :3] + 0.3 * rng.standard_normal((len(rows), 3)) > 0.4).astype(float)
    Y[rng.random(Y.shape) < 0.1] = np.nan
    return Y


@pytest.mark.parametrize("Kind", [OneVsAllSVM, OneVsAllLogistic, LabelRanker, IncompleteLabelRanker])
@pytest.mark.parametrize("kernel", ["rbf", "chi2", "linear"])
@pytest.mark.parametrize("form", ["device=", "tensor"])
def test_fits_answer_as_those_of_numpy(Kind, kernel, form, rows, device):
    Y, options = make_labels(rows), {"kernel": kernel, "tol": 1e-6, "fit_intercept": True}
    here = Kind(**options).fit(rows, Y)
    if form == "tensor":
        X = torch.asarray(rows, device=device)
        there = Kind(**options).fit(X, Y)
    else:
        X = rows
        there = Kind(device=device, **options).fit(rows, Y)
    assert there.converged_
    assert there.duality_gap_ <= 1e-6
    assert there.primal_objective_ == pytest.approx(here.primal_objective_, rel=1e-5)
    scores = there.decision_function(X)
    assert isinstance(scores, np.ndarray)
    np.testing.assert_allclose(scores, here.decision_function(rows), atol=2e-2)
    assert there.n_features_in_ == 4
    # a model learned there answers here, and is stored with arrays of numpy
    np.testing.assert_allclose(there.decision_function(rows), scores, atol=1e-5)
    assert all(not hasattr(value, "detach") for value in there.stored_state().values())


def test_views_go_to_the_device(rows, device):
    views = {"left": rows[:, :2], "right": rows[:, 2:]}
    kernel = Gaussian().on("left") + ChiSquared().on("right")
    Y = make_labels(rows)
    here = OneVsAllSVM(kernel=kernel, tol=1e-6).fit(views, Y)
    there = OneVsAllSVM(kernel=kernel, tol=1e-6, device=device).fit(views, Y)
    np.testing.assert_allclose(there.decision_function(views), here.decision_function(views), atol=2e-2)


def test_folds_are_cut_on_the_device(rows, device):
    Y = make_labels(rows)
    here = ProbabilityRanker(LabelRanker(tol=1e-6), random_state=0).fit(rows, Y)
    there = ProbabilityRanker(LabelRanker(tol=1e-6, device=device), random_state=0).fit(rows, Y)
    np.testing.assert_allclose(there.predict_proba(rows), here.predict_proba(rows), atol=2e-2)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda X: X * float("nan"), "X must be finite"),
        (lambda X: X[:, 0], r"rows \(n_samples, n_features\)"),
        (lambda X: X - 1, "rows without negative numbers"),
    ],
    ids=["nan", "one dimension", "negative"],
)
def test_bad_rows_of_a_device_are_told(damage, message, rows, device):
    X = damage(torch.asarray(rows, device=device))
    with pytest.raises(ValueError, match=message):
        LabelRanker(kernel="chi2").fit(X, make_labels(rows))


def test_other_columns_are_told(rows, device):
    X = torch.asarray(rows, device=device)
    model = OneVsAllSVM().fit(X, make_labels(rows))
    with pytest.raises(ValueError, match="X has 3 features, but OneVsAllSVM is expecting 4"):
        model.decision_function(X[:, :3])


def test_a_matrix_that_does_not_fit_is_computed_on_the_cpu_aloud(rows, monkeypatch):
    from tagrank.estimators import kernel_estimator

    monkeypatch.setattr(kernel_estimator, "free_memory_beside", lambda array: 10.0)
    Y = make_labels(rows)
    with pytest.warns(UserWarning, match="of the GPU are free: the CPU computes and keeps them"):
        there = OneVsAllSVM(device="cpu", random_state=0).fit(rows, Y)
    here = OneVsAllSVM(random_state=0).fit(rows, Y)
    np.testing.assert_allclose(there.decision_function(rows), here.decision_function(rows), atol=1e-6)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU that torch can use")
@pytest.mark.parametrize("intercept", [0.0, 0.5])
@pytest.mark.parametrize("tol", [1e-2, 1e-3, 1e-6])
def test_sweeps_of_the_device_reach_the_optimum(intercept, tol):
    from tagrank.solvers.dual_ascent import solve_dual

    rng = np.random.default_rng(0)
    X = rng.standard_normal((900, 8))
    bounds = np.where(X[:, :5] + 0.5 * rng.standard_normal((900, 5)) > 0.5, 1.0, -1.0)
    bounds[rng.random(bounds.shape) < 0.1] = 0
    K = np.exp(-((X[:, None] - X) ** 2).sum(2) / 16)
    exact = solve_dual(K, "hinge", bounds, kind="gram", tol=1e-8, intercept=intercept)
    for dtype in (torch.float32, torch.float64):
        there = torch.asarray(K, device="cuda").to(dtype)
        found = solve_dual(there, "hinge", bounds, kind="gram", tol=tol, intercept=intercept)
        assert found.converged
        assert exact.dual * (1 - 1e-5) <= found.primal <= exact.primal * (1 + 1.1 * tol)
        again = solve_dual(
            there, "hinge", bounds, kind="gram", tol=tol, intercept=intercept, start=found.coefficients
        )
        assert again.n_iter <= 1
        stopped = solve_dual(
            there, "hinge", bounds, kind="gram", tol=tol, intercept=intercept, stop=lambda: True
        )
        assert stopped.stopped_by == "stop"
        assert stopped.gap >= 0
