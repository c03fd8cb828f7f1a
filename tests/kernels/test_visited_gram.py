"""Similarities whose rows are at hand only while they are visited."""

import errno
import os

import numpy as np
import pytest
from scipy import sparse

from tagrank.estimators import (
    IncompleteLabelRanker,
    LabelRanker,
    OneVsAllLogistic,
    OneVsAllSVM,
    PlattSVM,
    RidgeRegression,
    ScoreSum,
)
from tagrank.kernels import ChiSquared, Gaussian, Linear, visited_gram
from tagrank.kernels.visited_gram import visit_gram

PLACES = ("shared", "file", "computed")


@pytest.fixture
def X():
    return np.random.default_rng(0).random((70, 5)).astype(np.float32)


@pytest.fixture
def Y(X):
    Y = (np.cos(4 * X) > 0.2).astype(float)
    Y[3, 1] = np.nan
    return Y


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    "kernel", [Gaussian(), ChiSquared(), Gaussian() + 0.5 * Linear(), Gaussian() ** 2], ids=str
)
def test_rows_are_those_of_the_matrix(X, place, kernel, monkeypatch):
    monkeypatch.setattr(visited_gram, "BAND", 16)  # several bands, and pieces of them
    monkeypatch.setattr(visited_gram, "PIECE", 48)
    fitted, K = kernel.fit_gram(X)
    same, visited = visit_gram(kernel, X, place=place)
    assert visited.shape == K.shape
    assert visited.dtype == K.dtype
    np.testing.assert_allclose(visited[slice(None)], K, rtol=2e-5)
    np.testing.assert_allclose(same(X[:3], X), fitted(X[:3], X), rtol=2e-5)
    np.testing.assert_allclose(visited.diagonal(), K.diagonal(), rtol=1e-6)
    rows, columns = np.array([5, 2, 69]), np.array([1, 64, 2, 5])
    part = visited[np.ix_(rows, columns)]
    assert part.shape == (3, 4)
    np.testing.assert_allclose(part[slice(None)], K[np.ix_(rows, columns)], rtol=2e-5)
    np.testing.assert_allclose((part**3)[np.array([1])], K[np.ix_([2], columns)] ** 3, rtol=1e-4)
    np.testing.assert_allclose(part @ np.ones((4, 2)), K[np.ix_(rows, columns)] @ np.ones((4, 2)), rtol=1e-4)
    square = visited[np.ix_(rows, rows)]
    np.testing.assert_allclose((square**2).diagonal(), K.diagonal()[rows] ** 2, rtol=1e-6)


def test_a_file_is_symmetric_and_exact_in_its_diagonal(X, monkeypatch):
    monkeypatch.setattr(visited_gram, "BAND", 16)
    monkeypatch.setattr(visited_gram, "PIECE", 48)
    K = visit_gram(Gaussian(), X, place="file")[1][slice(None)]
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(K.diagonal(), 1)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    "estimator",
    [
        LabelRanker(),
        OneVsAllSVM(fit_intercept=True),
        OneVsAllLogistic(),
        PlattSVM(),
        ScoreSum(LabelRanker(), OneVsAllSVM()),
    ],
    ids=lambda one: type(one).__name__,
)
def test_solutions_are_those_of_a_matrix_in_memory(estimator, place, X, Y):
    tight = {name: 1e-6 for name in estimator.get_params() if name.split("__")[-1] == "tol"}
    seeds = {name: 0 for name in estimator.get_params() if name.split("__")[-1] == "random_state"}
    estimator.set_params(**tight, **seeds)
    known = np.nan_to_num(Y)
    plain, rows = estimator.compare(X), estimator.compare(X, place=place)
    part, rest = np.arange(0, 70, 2), np.arange(1, 70, 2)
    for power in (1, 2):
        one, other = (
            estimator.fit(each.raised(power).training(part), known[part]).decision_function(
                each.raised(power).held_out(rest, part)
            )
            for each in (plain, rows)
        )
        assert estimator.duality_gap_ <= 1e-6
        np.testing.assert_allclose(one, other, atol=0.01)
    primal = [estimator.fit(each, known).primal_objective_ for each in (plain, rows)]
    assert primal[0] == pytest.approx(primal[1], rel=1e-5)
    model = estimator.fit(rows, Y)
    np.testing.assert_allclose(
        model.decision_function(X), estimator.fit(X, Y).decision_function(X), atol=0.01
    )


def test_sparse_rows_and_views_are_compared_in_every_place(X, Y):
    views = {"a": sparse.csr_array(X), "b": X}
    kernel = Gaussian().on("a") + Gaussian().on("b")
    usual = LabelRanker(kernel=kernel, tol=1e-6, random_state=0).fit(views, Y).primal_objective_
    for place in PLACES:
        model = LabelRanker(kernel=kernel, tol=1e-6, random_state=0)
        assert model.fit(model.compare(views, place=place), Y).primal_objective_ == pytest.approx(
            usual, rel=1e-5
        )


@pytest.mark.parametrize("estimator", [RidgeRegression(), IncompleteLabelRanker(solver="paper")], ids=str)
def test_who_reads_everything_at_once_says_so(estimator, X):
    with pytest.raises(
        ValueError, match="needs all similarities at once: place must be 'memory', got 'file'"
    ):
        estimator.compare(X, place="file")
    with pytest.raises(ValueError, match="place must be one of"):
        estimator.compare(X, place="nowhere")


def test_a_full_disk_is_told_before_anything_is_computed(X, monkeypatch):
    def full(place, start, length):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    with pytest.raises(
        OSError, match=r"No space left on device: the similarities of 70 samples go to .*TMPDIR"
    ) as told:
        visit_gram(Gaussian(), X, place="file")
    assert told.value.errno == errno.ENOSPC


def test_a_file_that_was_cut_is_an_error(X):
    visited = visit_gram(Gaussian(), X, place="file")[1]
    visited.source.file.truncate(100)
    with pytest.raises(OSError, match="is too short"):
        visited[np.array([60])]


def test_the_file_goes_with_its_matrix(X, monkeypatch, tmp_path):
    monkeypatch.setattr(visited_gram, "large_files_folder", lambda: tmp_path)
    visited = visit_gram(Gaussian(), X, place="file")[1]
    assert list(tmp_path.iterdir()) == []
    part = visited[np.ix_([1, 2], [3])]
    del visited
    assert part[slice(None)].shape == (2, 1)
