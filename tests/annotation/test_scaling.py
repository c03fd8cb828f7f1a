"""Rows of counts: unit length and tf-idf, chosen by held-out rows, told, and stored with the model."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from tagrank import Annotator, Collection, Recipe, array_files
from tagrank.annotation.scaling import SCALING_WORDS, count_scalers, fit_scaler, scale_views
from tagrank.annotation.views import take_in
from tagrank.array_files import is_mapped
from tagrank.estimators import LabelRanker
from tagrank.kernels import ChiSquared, Gaussian, Linear, Precomputed
from tagrank.metrics import image_auc


def draw_counts(n=150, n_words=40, n_tags=5, seed=0):
    """Documents of very different lengths, each about two of five topics."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(n_words, 0.15), n_tags)
    labels = np.zeros((n, n_tags))
    counts = np.zeros((n, n_words))
    for row in range(n):
        tags = rng.choice(n_tags, 2, replace=False)
        labels[row, tags] = 1
        counts[row] = rng.multinomial(int(rng.lognormal(2.5, 1.3)) + 2, topics[tags].mean(axis=0))
    return counts, labels


@pytest.fixture(scope="module")
def documents():
    counts, labels = draw_counts()
    return Collection({"words": sparse.csr_array(counts)}, labels, list("abcde"))


@pytest.fixture(scope="module")
def annotator(documents):
    return Annotator("label-ranker").fit(documents)


@pytest.mark.parametrize("form", [sparse.csr_array, np.asarray])
def test_tf_idf_is_that_of_scikit_learn(form):
    counts, _ = draw_counts(60)
    scaler = fit_scaler(form(counts), "tf-idf", Linear(), "words")
    found = scaler.apply(form(counts))
    expected = TfidfTransformer().fit_transform(sparse.csr_matrix(counts)).toarray()
    np.testing.assert_allclose(found.toarray() if sparse.issparse(found) else found, expected)


@pytest.mark.parametrize("form", [sparse.csr_array, np.asarray])
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_rows_of_unit_length(form, dtype):
    counts, _ = draw_counts(60)
    counts = counts.astype(dtype)
    counts[3] = 0
    found = fit_scaler(form(counts), "unit", Linear(), "words").apply(form(counts))
    found = found.toarray() if sparse.issparse(found) else found
    assert found.dtype.kind == "f"
    lengths = np.linalg.norm(found, axis=1)
    assert not lengths[3]
    np.testing.assert_allclose(np.delete(lengths, 3), 1, atol=1e-6)


def test_only_counts_under_kernels_of_vectors_are_open():
    counts, _ = draw_counts(60)
    rows = sparse.csr_array(counts)
    for X in (rows, counts):
        assert list(count_scalers({"words": X}, Gaussian())) == [
            "none" if sparse.issparse(X) else "standard",
            *SCALING_WORDS,
        ]
    assert count_scalers({"words": rows}, Linear())["none"] is None
    closed = [
        ({"words": counts + 0.5}, Linear(), "auto"),
        ({"words": rows * -1.0}, Linear(), "auto"),
        ({"words": rows, "more": rows}, Linear(), "auto"),
        ({"words": rows}, ChiSquared(), "auto"),
        ({"words": rows}, Precomputed(), "auto"),
        ({"words": rows}, None, "auto"),
        ({"words": rows}, Linear(), "none"),
        ({"words": sparse.csr_array((4, 3))}, Linear(), "auto"),
    ]
    for views, kernel, scaling in closed:
        assert not count_scalers(views, kernel, scaling)


def test_the_scale_of_counts_is_chosen_and_told(documents, annotator):
    chosen = annotator.choice_.chosen[0]
    assert annotator.scalers_["words"].unit
    assert any(words in chosen.kernel for words in SCALING_WORDS.values())
    words = [trial.kernel for trial in annotator.choice_.trials]
    assert {"linear", "linear, rows of unit length", "linear, tf-idf"} <= set(words)
    counts, labels = draw_counts(300, seed=0)
    plain = Annotator("label-ranker", scaling="none").fit(documents)
    assert plain.scalers_["words"] is None
    unseen = sparse.csr_array(counts[150:])
    by_length, as_they_are = (image_auc(labels[150:], one.scores(unseen)) for one in (annotator, plain))
    assert by_length > as_they_are


def test_a_model_remembers_the_scale_of_its_rows(annotator, documents, tmp_path):
    annotator.save(tmp_path / "model")
    again = Annotator.load(tmp_path / "model")
    assert again.scalers_["words"].unit
    np.testing.assert_allclose(again.scores(documents), annotator.scores(documents), atol=1e-5)


def test_dense_counts_are_scaled_as_sparse_ones(documents):
    dense = documents.replaced(views={"words": documents.view("words").toarray()})
    recipe = Recipe("one-vs-all", {"C": 1.0, "kernel": "linear"})
    found = Annotator(recipe).fit(dense)
    assert {trial.kernel for trial in found.choice_.trials} == {"", *SCALING_WORDS.values()}


def test_an_estimator_that_somebody_made_reads_rows_as_they_are(documents):
    found = Annotator(LabelRanker(kernel="linear", random_state=0)).fit(documents)
    assert found.scalers_["words"] is None


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(array_files, "BLOCK_BYTES", 400)


@pytest.mark.parametrize("scaling", ["standard", "minmax", "unit", "tf-idf"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_blocks_change_nothing(scaling, dtype, monkeypatch):
    X = (1000 + 50 * np.random.default_rng(0).standard_normal((333, 6)) ** 3).astype(dtype)
    X[:, 2], X[:150, 4] = 7, 0
    whole = fit_scaler(X, scaling, Linear(), "rows")
    expected = whole.apply(X)
    monkeypatch.setattr(array_files, "BLOCK_BYTES", 400)
    in_blocks = fit_scaler(X, scaling, Linear(), "rows")
    np.testing.assert_allclose(in_blocks.offset, whole.offset, rtol=1e-12)
    np.testing.assert_allclose(in_blocks.width, whole.width, rtol=1e-12)
    np.testing.assert_array_equal(whole.apply(X), expected)
    assert expected.dtype == (np.float32 if dtype == np.float32 else np.float64)


def test_moments_are_exact_far_from_zero(small_blocks):
    X = 1e6 + np.random.default_rng(0).standard_normal((5_000, 3))
    scaler = fit_scaler(X, "standard", Linear(), "rows")
    np.testing.assert_allclose(scaler.offset, X.mean(axis=0), rtol=1e-14)
    np.testing.assert_allclose(scaler.width, X.std(axis=0), rtol=1e-9)


def test_columns_of_enormous_numbers_have_no_nan(small_blocks):
    X = np.full((500, 2), 1e150)
    X[:, 1] = np.arange(500)
    scaler = fit_scaler(X, "standard", Linear(), "rows")
    np.testing.assert_allclose(scaler.width, [1, X[:, 1].std()])
    assert np.isfinite(scaler.apply(X)).all()


def test_whether_rows_are_counts_is_told_from_all_blocks(small_blocks):
    counts, _ = draw_counts(60)
    assert count_scalers({"words": counts}, Linear())
    counts[-1, -1] = 0.5
    assert not count_scalers({"words": counts}, Linear())


def test_memory_of_scaling_does_not_grow_with_the_rows(tmp_path, monkeypatch):
    """Rows of 40 MB in a file are measured, scaled and joined within 24 MB."""
    monkeypatch.setattr(array_files, "LARGEST_IN_MEMORY", 0)
    rows = np.lib.format.open_memmap(tmp_path / "x.npy", "w+", np.float32, (10_000, 1000))
    rows[::3] = 2
    tracemalloc.start()
    try:
        scaled = scale_views({"a": rows, "b": rows}, Linear())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert is_mapped(scaled)
    assert scaled.shape == (10_000, 2000)
    assert peak < 24e6


def test_half_precision_becomes_single(tmp_path):
    rows = np.random.default_rng(0).random((30, 4)).astype(np.float16)
    views = take_in(Collection({"rows": rows}, [["a"], ["b"]] * 15)).views
    assert views["rows"].dtype == np.float32
    np.testing.assert_array_equal(views["rows"], rows)
