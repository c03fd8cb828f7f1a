"""Factorizations: forms of rows, streams, divergence, held-out rows, thresholds, torch."""

import pickle
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from tagrank.estimators.factorization import Factorization
from tagrank.estimators.methods import METHODS

KINDS = [kind for kind in (method.load() for method in METHODS) if issubclass(kind, Factorization)]


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def Kind(request):
    return request.param


@pytest.fixture(scope="module")
def problem():
    """300 samples, 6 rare labels, a tenth unknown."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8))
    Y = (X @ rng.normal(size=(8, 6)) + 0.5 * rng.normal(size=(300, 6)) > 3).astype(float)
    Y[rng.random(Y.shape) < 0.1] = np.nan
    X.flags.writeable = Y.flags.writeable = False
    return X, Y


def test_learns(problem, Kind):
    X, Y = problem
    model = Kind(n_components=20, random_state=0).fit(X[:200], Y[:200])
    assert model.score(X[200:], Y[200:]) > 0.9
    known = ~np.isnan(Y[200:])
    shares = model.predict(X[200:])[known].mean(), Y[200:][known].mean()
    assert shares[0] == pytest.approx(shares[1], rel=0.4)


def test_scores_are_codes_times_decoder(problem, Kind):
    X, Y = problem
    model = Kind(n_components=5, max_iter=3, random_state=0).fit(X, Y)
    rows = np.hstack([X / np.linalg.norm(X, axis=1, keepdims=True), np.full((300, 1), 0.3)])
    expected = rows @ model.encoder_ @ model.decoder_.T
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-10)
    plain = Kind(n_components=5, max_iter=3, normalize=False, fit_intercept=False, random_state=0).fit(X, Y)
    expected = X @ plain.encoder_ @ plain.decoder_.T
    np.testing.assert_allclose(plain.decision_function(X), expected, atol=1e-10)


def test_sparse_rows_and_views_answer_alike(problem, Kind):
    X, Y = problem
    model = Kind(n_components=5, max_iter=10, random_state=0)
    expected = clone(model).fit(X, Y).decision_function(X)
    forms = {
        "sparse": sparse.csr_array(X),
        "views": {"b": X[:, 3:], "a": X[:, :3]},
        "mixed views": {"a": sparse.csr_array(X[:, :3]), "b": X[:, 3:]},
    }
    for rows in forms.values():
        found = clone(model).fit(rows, Y).decision_function(rows)
        np.testing.assert_allclose(found, expected, atol=1e-4)


def test_what_unknown_labels_hide_does_not_matter(problem, Kind):
    """Known labels and sparse products, or a mask: the same steps."""
    X, Y = problem
    known = np.where(np.isnan(Y), 0, Y)
    seen = np.vstack([known, np.full((1, 6), np.nan)])
    rows = np.vstack([X, np.zeros((1, 8))])
    model = Kind(n_components=5, max_iter=1, batch_size=301, fit_intercept=False, step=0.1, random_state=0)
    masked = clone(model).fit(rows, seen)
    filled = clone(model).fit(rows, np.vstack([known, np.zeros((1, 6))]))
    np.testing.assert_allclose(masked.decision_function(X), filled.decision_function(X), atol=1e-4)


def test_a_stream_is_learned_in_constant_memory(problem, Kind):
    X, Y = problem
    model, sizes = Kind(n_components=5), set()
    for _ in range(20):
        for start in range(0, 300, 60):
            model.partial_fit(X[start : start + 60], Y[start : start + 60])
            sizes.add(sum(value.nbytes for value in vars(model).values() if isinstance(value, np.ndarray)))
    assert len(sizes) == 1
    assert model.n_seen_ == 6000
    assert model.score(X, Y) > 0.9


def test_a_stored_stream_goes_on(problem, Kind):
    X, Y = problem
    model = Kind(n_components=5, random_state=0).fit(X[:200], Y[:200])
    copy = pickle.loads(pickle.dumps(model))
    for one in (model, copy):
        one.partial_fit(X[200:], Y[200:])
    assert model.n_seen_ == 120 * 200 + 100
    np.testing.assert_array_equal(copy.decision_function(X), model.decision_function(X))


def test_divergence_is_told_once(problem, Kind):
    X, Y = problem
    model = Kind(step=1e4, n_components=5, max_iter=10, random_state=0)
    with pytest.warns(UserWarning, match="diverged with a step of 1e.04, and went on") as caught:
        model.fit(X, Y)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert model.step_ < 1e3
    assert f"{model.step_:.3g}" in str(caught[0].message)
    assert np.log2(1e4 / model.step_) % 1 == 0
    assert np.all(np.isfinite(model.decision_function(X)))
    with pytest.warns(UserWarning, match="diverged"):
        Kind(step=1e4, n_components=5).partial_fit(X, Y)


@pytest.mark.parametrize("size", [1e-6, 1, 1e6])
def test_the_usual_step_suits_rows_of_any_length(problem, Kind, size):
    X, Y = problem
    model = Kind(normalize=False, fit_intercept=False, n_components=5, random_state=0).fit(size * X, Y)
    assert np.all(np.isfinite(model.decision_function(size * X)))


def test_held_out_rows_tell_which_pass_was_best(problem, Kind):
    X, Y = problem
    model = Kind(
        n_components=30, beta=1e-6, validation_fraction=0.3, patience=3, max_iter=500, random_state=0
    )
    points = []
    model.fit(X, Y, callback=points.append)
    assert model.n_iter_ == len(points) < 500
    assert model.n_seen_ == 210 * model.n_iter_
    # its best pass was the one before the last three
    best = Kind(**model.get_params() | {"max_iter": model.n_iter_ - 3}).fit(X, Y)
    np.testing.assert_array_equal(best.decision_function(X), model.decision_function(X))


def test_callback_sees_every_pass(problem, Kind):
    points = []
    Kind(n_components=5, max_iter=20, random_state=0).fit(*problem, callback=points.append)
    assert [point.n_iter for point in points] == list(range(1, 21))
    assert points[-1].primal < points[0].primal


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components must be a positive integer"),
        ({"alpha": 1.0}, "alpha must be a number from 0 to below 1, got 1.0"),
        ({"beta": -1}, "beta must be a non-negative number"),
        ({"momentum": 1}, "momentum must be a number from 0 to below 1"),
        ({"step": 0}, "step must be a positive number"),
        ({"normalize": "yes"}, "normalize must be True or False"),
    ],
)
def test_bad_parameters(problem, Kind, parameters, message):
    with pytest.raises(ValueError, match=message):
        Kind(**parameters).fit(*problem)


def test_views_of_different_length(problem, Kind):
    X, Y = problem
    with pytest.raises(ValueError, match="view a has 300, view b has 299"):
        Kind().fit({"a": X, "b": X[1:]}, Y)


def test_torch_is_asked_for_in_a_sentence(problem, Kind, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ModuleNotFoundError, match=r"device='cuda' needs torch.*tagrank\[gpu\]"):
        Kind(device="cuda").fit(*problem)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_torch_answers_as_numpy_does(problem, Kind, form):
    torch = pytest.importorskip("torch")
    X, Y = problem
    model = Kind(n_components=5, max_iter=20, random_state=0)
    expected = clone(model).fit(form(X), Y)
    for device in ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",):
        found = clone(model).set_params(device=device).fit(form(X), Y)
        np.testing.assert_allclose(found.decision_function(X), expected.decision_function(X), atol=1e-3)
        assert type(found.encoder_) is np.ndarray
        found.partial_fit(form(X), Y)
    with pytest.raises(ValueError, match="device must name one that torch can use"):
        clone(model).set_params(device="nowhere").fit(form(X), Y)
