"""Rows on a cluster: the solution of one process, whatever the rows are and whichever worker dies."""

import os
import pickle
import signal

import numpy as np
import pytest
from scipy import sparse

from tagrank.files import FileError
from tagrank.losses.softened import HINGE, LOGISTIC
from tagrank.solvers.cluster.dask_rows import BRANCHES, FileRows, _make_part, is_dask_array, rows_of
from tagrank.solvers.primal_newton import solve_primal
from tagrank.solvers.primal_rows import cut_rows

distributed = pytest.importorskip("distributed", reason="distributed is absent: pip install 'tagrank[dask]'")
N_SAMPLES, N_FEATURES, N_LABELS = 400, 6, 3
TOL = 1e-4


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_SAMPLES, N_FEATURES)).astype(np.float32)
    X[:, 0] *= rng.random(N_SAMPLES) < 0.3
    scores = X @ rng.normal(size=(N_FEATURES, N_LABELS)) + rng.normal(size=(N_SAMPLES, N_LABELS)) + 0.5
    bounds = (np.sign(scores) * rng.uniform(0.5, 2, scores.shape)).astype(np.float32)
    bounds[rng.random(bounds.shape) < 0.1] = 0
    return X, bounds


def hold(X, way, folder):
    """The rows, held in one of the ways."""
    if way in ("path", "mapped"):
        np.save(folder / "rows.npy", X)
        return folder / "rows.npy" if way == "path" else np.load(folder / "rows.npy", "r")
    if way in ("dask", "many blocks"):
        import dask.array as da

        heights = (150, 7, 243) if way == "dask" else (N_SAMPLES // (2 * BRANCHES + 4),) * (2 * BRANCHES + 4)
        return da.from_array(X, chunks=(heights, (4, 2)))
    return X if way == "array" else sparse.csr_array(X)


def settings(offset):
    return {"offset": offset, "cost": 0.5, "has_constant": True}


def solve(rows, problem, offset, **options):
    return solve_primal(rows, N_LABELS, like=problem[0][:1], offset=offset, tol=TOL, **options)


def objective(problem, weights, offset):
    """The primal objective, written down once more."""
    X, bounds = (array.astype(np.float64) for array in problem)
    margins = np.sign(bounds) * (X @ weights[:-1] + weights[-1])
    losses = np.logaddexp(0, -margins) if offset == LOGISTIC else np.maximum(0, 1 - margins)
    return (weights**2).sum() / 2 + 0.5 * (np.abs(bounds) * losses).sum()


@pytest.mark.parametrize(
    ("way", "offset"),
    [(way, LOGISTIC) for way in ("array", "CSR", "path", "mapped", "dask", "many blocks")]
    + [("dask", HINGE)],
)
def test_the_solution_is_that_of_one_process(two_workers, problem, tmp_path, way, offset):
    X = hold(problem[0], way, tmp_path)
    there = solve(rows_of(X, problem[1], **settings(offset), client=two_workers), problem, offset)
    here = solve(cut_rows(*problem, **settings(offset)), problem, offset)
    value = objective(problem, there.weights, offset)
    assert there.stopped_by == "tol"
    assert there.gap <= TOL
    assert there.primal == pytest.approx(value, rel=1e-9)
    # one certificate for all rows: the optimum lies between the dual and the primal of either
    assert there.dual <= here.primal
    assert here.dual <= there.primal
    assert there.coefficients.shape == (N_SAMPLES, N_LABELS)
    weights = problem[0].T.astype(np.float64) @ there.coefficients
    np.testing.assert_allclose(
        np.linalg.norm(weights, axis=0) / np.linalg.norm(there.weights[:-1], axis=0), 1, atol=0.1
    )


def test_rows_of_a_client_are_shared_out(two_workers, problem):
    with two_workers.as_current():
        parts = rows_of(*problem, **settings(LOGISTIC)).parts
        distributed.wait(parts)
    places = two_workers.who_has(parts)
    assert len({worker for workers in places.values() for worker in workers}) == 2


@pytest.mark.parametrize("way", ["array", "path", "dask"])
def test_a_worker_that_is_killed_changes_nothing(two_workers, problem, tmp_path, way):
    there = rows_of(hold(problem[0], way, tmp_path), problem[1], **settings(HINGE), client=two_workers)
    undisturbed = solve(there, problem, HINGE)
    before = two_workers.run(os.getpid)
    held = {worker for workers in two_workers.who_has(there.parts).values() for worker in workers}
    killed = []

    def kill(point):
        if point.n_iter == 2 and not killed:
            killed.append(before[held.pop()])
            os.kill(killed[0], signal.SIGKILL)

    disturbed = solve(there, problem, HINGE, callback=kill)
    assert killed
    assert killed[0] not in two_workers.run(os.getpid).values()
    np.testing.assert_array_equal(disturbed.weights, undisturbed.weights)
    np.testing.assert_array_equal(disturbed.coefficients, undisturbed.coefficients)
    assert disturbed.gap == undisturbed.gap


def test_bounds_may_be_a_dask_array(two_workers, problem):
    da = pytest.importorskip("dask.array")
    X, bounds = problem
    chunked = da.from_array(X, chunks=(90, 6)), da.from_array(bounds, chunks=(70, 2))
    there = rows_of(*chunked, **settings(LOGISTIC), client=two_workers)
    assert solve(there, problem, LOGISTIC).primal == pytest.approx(
        solve(cut_rows(*problem, **settings(LOGISTIC)), problem, LOGISTIC).primal, rel=TOL
    )


def test_rows_of_unknown_number_are_refused(two_workers, problem):
    da = pytest.importorskip("dask.array")
    X = da.from_array(problem[0], chunks=(100, 6))
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        rows_of(X[X[:, 0] > 0], problem[1], **settings(LOGISTIC), client=two_workers)


def test_rows_and_bounds_must_be_as_many(two_workers, problem):
    with pytest.raises(ValueError, match="a row for each of 400 rows, got 399"):
        rows_of(problem[0], problem[1][1:], **settings(LOGISTIC), client=two_workers)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_block_that_is_not_finite_is_refused(two_workers, problem, bad):
    X = problem[0].copy()
    X[-1, 2] = bad
    with pytest.raises(ValueError, match="a block of its rows holds nan or infinity"):
        solve(rows_of(X, problem[1], **settings(LOGISTIC), client=two_workers), problem, LOGISTIC)


def test_rows_without_a_client(problem, monkeypatch):
    def none():
        raise ValueError("No clients found")

    monkeypatch.setattr(distributed, "default_client", none)
    with pytest.raises(ValueError, match=r"make one first, distributed\.Client"):
        rows_of(*problem, **settings(LOGISTIC))


def test_a_file_that_a_worker_cannot_see(two_workers, problem, tmp_path):
    np.save(tmp_path / "rows.npy", problem[0])
    X = np.load(tmp_path / "rows.npy", "r")
    (tmp_path / "rows.npy").unlink()
    with pytest.raises(FileError, match="all workers must see the file by this path"):
        solve(rows_of(X, problem[1], **settings(LOGISTIC), client=two_workers), problem, LOGISTIC)


def test_a_file_that_is_another_on_a_worker(problem, tmp_path):
    np.save(tmp_path / "rows.npy", problem[0][:100])
    with pytest.raises(FileError, match=r"rows 0 to 400 of 6 columns were expected.*\(100, 6\)"):
        FileRows(str(tmp_path / "rows.npy"), (400, 6)).open()


def test_a_part_of_a_file_travels_as_its_path(problem, tmp_path):
    X, bounds = problem
    np.save(tmp_path / "rows.npy", X)
    part = _make_part(
        FileRows(str(tmp_path / "rows.npy"), X.shape)[100:300], bounds[100:300], settings(HINGE)
    )
    packed = pickle.dumps(part)
    assert len(packed) < X[100:300].nbytes + bounds[100:300].nbytes
    np.testing.assert_array_equal(pickle.loads(packed).X, X[100:300])


def test_a_part_of_a_mapped_array_is_taken_as_it_is(two_workers, problem, tmp_path):
    X, bounds = problem
    np.save(tmp_path / "rows.npy", np.vstack([X[::-1], X]))
    there = rows_of(
        np.load(tmp_path / "rows.npy", "r")[N_SAMPLES:], bounds, **settings(LOGISTIC), client=two_workers
    )
    assert solve(there, problem, LOGISTIC).gap <= TOL
    here = solve(cut_rows(*problem, **settings(LOGISTIC)), problem, LOGISTIC)
    assert solve(there, problem, LOGISTIC).primal == pytest.approx(here.primal, rel=TOL)


def test_a_dask_array_is_known(problem):
    da = pytest.importorskip("dask.array")
    assert is_dask_array(da.from_array(problem[0]))
    assert not is_dask_array(problem[0])
