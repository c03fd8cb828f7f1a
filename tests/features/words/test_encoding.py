"""Every encoding against a plain loop over points; pooling against dense matrices."""

import numpy as np
import pytest

from tagrank.features.words.encoding import (
    HardEncoding,
    LocalityConstrained,
    SalientEncoding,
    SoftEncoding,
    WordCodes,
)
from tagrank.features.words.fisher import FisherEncoding, GaussianMixtureWords
from tagrank.features.words.layout import AveragePooling, MaxPooling
from tagrank.features.words.vocabulary import KMeansWords

N_WORDS, N_COLUMNS = 12, 6


@pytest.fixture(scope="module")
def vocabulary():
    rng = np.random.default_rng(0)
    return KMeansWords(N_WORDS, centres=rng.random((N_WORDS, N_COLUMNS), np.float32), spread=0.2)


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(1).random((80, N_COLUMNS), np.float32)


def by_distance(row, vocabulary, n_nearest):
    """Nearest words and their distances, in float64."""
    distances = np.linalg.norm(vocabulary.centres.astype(float) - row, axis=1)
    words = distances.argsort()[:n_nearest]
    return words, distances[words]


def hard(row, vocabulary):
    words, _ = by_distance(row, vocabulary, 1)
    return words, np.ones(1)


def soft(row, vocabulary):
    words, distances = by_distance(row, vocabulary, 4)
    kernel = np.exp(-(distances**2) / (2 * 0.7**2 * vocabulary.spread))
    return words, kernel / kernel.sum()


def salient(row, vocabulary):
    words, distances = by_distance(row, vocabulary, 3)
    return words[:1], 1 - distances[:1] / distances[1:].mean()


def locality_constrained(row, vocabulary):
    """The constrained least squares by its optimality conditions."""
    words, distances = by_distance(row, vocabulary, 4)
    base = vocabulary.centres[words].astype(float)
    penalty = 0.01 * (distances**2).sum()
    system = np.ones((5, 5))
    system[:4, :4] = 2 * (base @ base.T + penalty * np.eye(4))
    system[4, 4] = 0
    return words, np.linalg.solve(system, np.append(2 * base @ row, 1))[:4]


ORACLES = [
    (HardEncoding(), hard),
    (SoftEncoding(4, width=0.7), soft),
    (SalientEncoding(3), salient),
    (LocalityConstrained(4, ridge=0.01), locality_constrained),
]


@pytest.mark.parametrize(("encoding", "oracle"), ORACLES, ids=lambda value: type(value).__name__)
def test_codes_equal_a_plain_loop(encoding, oracle, rows, vocabulary):
    codes = encoding.encode(rows, vocabulary)
    assert codes.weights.dtype == np.float32
    for row, words, weights in zip(rows, codes.words, codes.weights, strict=True):
        expected_words, expected = oracle(row, vocabulary)
        np.testing.assert_array_equal(words, expected_words)
        np.testing.assert_allclose(weights, expected, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize(("encoding", "oracle"), ORACLES, ids=lambda value: type(value).__name__)
def test_descriptors_that_are_words_are_encoded_by_themselves(encoding, oracle, vocabulary):
    codes = encoding.encode(vocabulary.centres, vocabulary)
    np.testing.assert_array_equal(codes.words[:, 0], np.arange(N_WORDS))
    assert (codes.weights[:, 0] > 0.5).all()
    assert np.isfinite(codes.weights).all()


@pytest.mark.parametrize(("encoding", "oracle"), ORACLES, ids=lambda value: type(value).__name__)
def test_one_word_or_equal_words(encoding, oracle, rows):
    for n_words in (1, 3):
        alike = KMeansWords(n_words, centres=np.zeros((n_words, N_COLUMNS), dtype=np.float32), spread=1.0)
        for points in (rows, np.zeros((2, N_COLUMNS), dtype=np.float32)):
            codes = encoding.encode(points, alike)
            assert np.isfinite(codes.weights).all()
            assert codes.words.max() < n_words


@pytest.mark.parametrize(
    "encoding", [encoding for encoding, _ in ORACLES], ids=lambda one: type(one).__name__
)
@pytest.mark.parametrize("pooling", [AveragePooling(), MaxPooling()], ids=lambda one: type(one).__name__)
def test_pooling_equals_dense_matrices(encoding, pooling, rows, vocabulary):
    codes = encoding.encode(rows, vocabulary)
    dense = np.zeros((len(rows), N_WORDS))
    np.put_along_axis(dense, codes.words, codes.weights, axis=1)
    cells = np.random.default_rng(2).choice([0, 1, 3], len(rows))
    pooled = pooling.pool(codes, cells, 4)
    assert pooled.shape == (4, N_WORDS)
    assert pooled.dtype == np.float32
    assert (pooled[2] == 0).all()
    for cell in (0, 1, 3):
        inside = dense[cells == cell]
        expected = inside.mean(axis=0) if pooling == AveragePooling() else inside.max(axis=0).clip(0)
        np.testing.assert_allclose(pooled[cell], expected, rtol=1e-5, atol=1e-7)


def test_rows_are_normalised_for_their_kernel():
    rows = np.float32([[1, 3, 0], [0, 0, 0]])
    np.testing.assert_allclose(HardEncoding().normalise(rows), [[0.25, 0.75, 0], [0, 0, 0]])
    unit = LocalityConstrained().normalise(np.float32([[3, -4, 0], [0, 0, 0]]))
    np.testing.assert_allclose(unit, [[0.6, -0.8, 0], [0, 0, 0]])
    assert (HardEncoding.kernel, LocalityConstrained.kernel, FisherEncoding.kernel) == (
        "chi2",
        "linear",
        "linear",
    )


def test_shares_of_cells_are_shares_of_the_kernel():
    row = np.float32([[1, 2, 2]])
    counts, unit = HardEncoding().finish_cells(row, 0.5), LocalityConstrained().finish_cells(row, 0.5)
    assert np.minimum(counts, counts).sum() == pytest.approx(0.5)
    assert (unit @ unit.T).item() == pytest.approx(0.5)


def test_codes_of_no_points_are_zeros():
    codes = WordCodes(np.empty((0, 2), dtype=np.intp), np.empty((0, 2), dtype=np.float32), 5)
    nowhere = np.empty(0, dtype=np.intp)
    np.testing.assert_array_equal(codes.mean(nowhere, 3), np.zeros((3, 5)))
    np.testing.assert_array_equal(codes.max(nowhere, 3), np.zeros((3, 5)))


@pytest.mark.parametrize("make", [SoftEncoding, SalientEncoding, LocalityConstrained])
@pytest.mark.parametrize("n_nearest", [0, 2.0, 65])
def test_wrong_settings_are_refused(make, n_nearest):
    with pytest.raises(ValueError, match="n_nearest must be a whole number"):
        make(n_nearest)
    with pytest.raises(ValueError, match="width"):
        SoftEncoding(width=0)
    with pytest.raises(ValueError, match="ridge"):
        LocalityConstrained(ridge=-1)


def log_likelihood(rows, weights, means, widths):
    """Mean over the rows, in float64."""
    standard = (rows[:, None] - means) / widths
    logs = np.log(weights) - 0.5 * (standard**2).sum(axis=2) - np.log(widths).sum(axis=1)
    return np.log(np.exp(logs).sum(axis=1)).mean()


def numeric_gradient(function, start, step=1e-5):
    gradient = np.empty(start.shape)
    for place in np.ndindex(start.shape):
        shift = np.zeros(start.shape)
        shift[place] = step
        gradient[place] = (function(start + shift) - function(start - shift)) / (2 * step)
    return gradient


def test_fisher_vector_is_the_scaled_gradient_of_the_log_likelihood(rows):
    mixture = GaussianMixtureWords(3, n_projected=4).fit(rows)
    encoding = FisherEncoding()
    cells = np.arange(len(rows)) % 3 // 2 * 2
    found = encoding.encode(rows, mixture).mean(cells, 3)
    assert found.shape == (3, encoding.n_columns(mixture)) == (3, 24)
    assert (found[1] == 0).all()
    weights = mixture.weights.astype(float)
    means, widths = mixture.means.astype(float), np.sqrt(mixture.variances.astype(float))
    # Fisher information of a mean is weight / variance, of a standard deviation twice that
    scale = widths / np.sqrt(weights)[:, None]
    for cell in (0, 2):
        inside = mixture.project(rows)[cells == cell].astype(float)
        by_mean = numeric_gradient(lambda m, x=inside: log_likelihood(x, weights, m, widths), means)
        by_width = numeric_gradient(lambda s, x=inside: log_likelihood(x, weights, means, s), widths)
        expected = np.concatenate([(by_mean * scale).ravel(), (by_width * scale / np.sqrt(2)).ravel()])
        np.testing.assert_allclose(found[cell], expected, rtol=1e-3, atol=1e-4)


def test_fisher_vectors_of_cells_are_rooted_once_and_scaled():
    raw = np.float32([[4, -9, 0], [0, 0, 0]])
    finished = FisherEncoding().finish_cells(raw, 1.0)
    np.testing.assert_allclose(finished, [[2 / 13**0.5, -3 / 13**0.5, 0], [0, 0, 0]], rtol=1e-6)
