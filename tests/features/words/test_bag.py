"""Bags of words as a whole: rows, sharing, learning from many pictures."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from tagrank.features.extraction import fit_features
from tagrank.features.feature import Picture
from tagrank.features.whole_picture.colour import ColourHistogram
from tagrank.features.words.bag import BagOfWords, EvenSample
from tagrank.features.words.encoding import HardEncoding, LocalityConstrained, SalientEncoding, SoftEncoding
from tagrank.features.words.fisher import FisherEncoding, GaussianMixtureWords
from tagrank.features.words.hierarchy import HierarchicalWords
from tagrank.features.words.layout import CellLayout, MaxPooling
from tagrank.features.words.local_descriptors import LocalDescriptor
from tagrank.features.words.sampling import DenseGrid, Points, Sampling
from tagrank.features.words.vocabulary import KMeansWords

CALLS = []


@dataclass(frozen=True)
class EveryFourth(Sampling):
    """Every fourth pixel across and down, of those brighter than a limit."""

    brighter: float = 0.0

    def points(self, picture):
        CALLS.append("points")
        y, x = np.nonzero(picture.grey[::4, ::4] > self.brighter)
        return Points(np.float32(4 * x), np.float32(4 * y), np.ones(len(x), dtype=np.float32))


@dataclass(frozen=True)
class Colour(LocalDescriptor):
    """The pixel itself."""

    n_columns: ClassVar[int] = 3

    def compute(self, picture, points):
        CALLS.append("compute")
        assert len(points.x)
        return picture.pixels[points.y.astype(int), points.x.astype(int)].astype(np.float32) / 255


BAG = BagOfWords(EveryFourth(), Colour(), KMeansWords(6))
BAGS = {
    "hard": BAG,
    "bands": BAG.replace(layout=CellLayout("3x1")),
    "pyramid": BAG.replace(layout=CellLayout("pyramid"), encoding=SoftEncoding(3)),
    "salient": BAG.replace(encoding=SalientEncoding(3), pooling=MaxPooling()),
    "llc": BAG.replace(encoding=LocalityConstrained(3), pooling=MaxPooling(), layout=CellLayout("2x2")),
    "tree": BAG.replace(vocabulary=HierarchicalWords(2, 2)),
    "fisher": BAG.replace(vocabulary=GaussianMixtureWords(2, n_projected=2), encoding=FisherEncoding()),
}


@pytest.fixture(scope="module")
def pictures():
    rng = np.random.default_rng(0)
    return [rng.integers(1, 256, (24 + 4 * size, 36, 3), dtype=np.uint8) for size in range(6)]


@pytest.fixture(scope="module")
def fitted(pictures):
    return fit_features(BAGS, pictures)


@pytest.mark.parametrize("name", BAGS)
def test_rows_have_their_length_and_norm(name, fitted, pictures):
    bag = fitted[name]
    assert not BAGS[name].is_fitted
    assert bag.is_fitted
    for picture in pictures:
        row = bag(picture)
        assert row.shape == (bag.n_columns,)
        assert row.dtype == np.float32
        if bag.kernel == "chi2":
            assert row.min() >= 0
            assert row.sum() == pytest.approx(1, abs=1e-5)
        else:
            assert bag.kernel == "linear"
            assert np.linalg.norm(row) == pytest.approx(1, abs=1e-5)


def test_counts_of_bands_by_a_plain_loop(fitted, pictures):
    bag, picture = fitted["bands"], pictures[3]
    counts = np.zeros((3, 6))
    for y in range(0, picture.shape[0], 4):
        for x in range(0, picture.shape[1], 4):
            distances = ((bag.vocabulary.centres - picture[y, x] / 255) ** 2).sum(axis=1)
            counts[y * 3 // picture.shape[0], distances.argmin()] += 1
    expected = (counts / counts.sum(axis=1, keepdims=True) / 3).ravel()
    np.testing.assert_allclose(bag(picture), expected, rtol=1e-5)
    whole = counts.sum(axis=0) / counts.sum()
    np.testing.assert_allclose(fitted["hard"](picture), whole, rtol=1e-5)


def test_levels_of_a_pyramid_have_their_weights(fitted, pictures):
    row = fitted["pyramid"](pictures[0]).reshape(21, 6)
    levels = [row[:1].sum(), row[1:5].sum(), row[5:].sum()]
    np.testing.assert_allclose(levels, [0.25, 0.25, 0.5], rtol=1e-5)


@pytest.mark.parametrize("name", BAGS)
def test_pictures_without_points_are_zeros(name, fitted, pictures):
    bag = fitted[name].replace(sampling=EveryFourth(brighter=2.0))
    np.testing.assert_array_equal(bag(pictures[0]), np.zeros(bag.n_columns))


def test_bands_without_points_are_zeros_and_the_rest_sums_to_one(fitted, pictures):
    picture = pictures[0].copy()
    picture[: len(picture) // 3] = 0
    row = fitted["bands"](picture).reshape(3, 6)
    np.testing.assert_allclose(row.sum(axis=1), [0, 0.5, 0.5], rtol=1e-5)


def test_bags_share_a_picture_and_a_vocabulary(fitted, pictures):
    assert fitted["hard"].vocabulary is fitted["bands"].vocabulary is fitted["llc"].vocabulary
    CALLS.clear()
    picture = Picture(pictures[1])
    rows = [bag(picture) for bag in fitted.values()]
    assert CALLS == ["points", "compute"]
    for bag, row in zip(fitted.values(), rows, strict=True):
        np.testing.assert_array_equal(row, bag(pictures[1]))


def test_other_words_of_the_same_picture_are_not_mixed_up(fitted, pictures):
    picture = Picture(pictures[1])
    first = fitted["hard"]
    other = BAG.fit(pictures, random_state=9)
    assert not np.array_equal(first(picture), other(picture))
    np.testing.assert_array_equal(other(picture), other(pictures[1]))


def test_one_pass_describes_each_picture_once(pictures):
    CALLS.clear()
    seen = []
    given = {"colours": ColourHistogram("rgb", 4, 1), **BAGS}
    result = fit_features(given, iter(pictures), progress=seen.append)
    assert list(result) == list(given)
    assert result["colours"] is given["colours"]
    assert ["points", "compute"] * len(pictures) == CALLS
    assert seen == [1, 2, 3, 4, 5, 6]


def test_what_is_fitted_stays_and_reads_no_picture(fitted):
    def unreadable():
        raise AssertionError("a picture was read")
        yield

    again = fit_features(fitted, unreadable())
    assert all(again[name] is fitted[name] for name in fitted)


def test_fitting_alone_or_together_is_the_same(fitted, pictures):
    assert BAG.fit(pictures) == fitted["hard"]


def test_fitting_in_processes_is_the_same(pictures):
    # a class of its own: other processes cannot import this file
    @dataclass(frozen=True)
    class Pixel(LocalDescriptor):
        n_columns: ClassVar[int] = 3

        def compute(self, picture, points):
            return picture.pixels[points.y.astype(int), points.x.astype(int)].astype(np.float32)

    grid = {"grid": BAG.replace(sampling=DenseGrid(8, (4.0,)), descriptor=Pixel())}
    one, two = (fit_features(grid, pictures, n_jobs=n_jobs)["grid"] for n_jobs in (1, 2))
    assert one.fingerprint() == two.fingerprint()


def test_what_cannot_work_is_said_at_once(fitted, pictures):
    with pytest.raises(RuntimeError, match="no vocabulary yet"):
        BAG(pictures[0])
    with pytest.raises(RuntimeError, match="no vocabulary yet"):
        _ = BAG.n_columns
    with pytest.raises(ValueError, match="FisherEncoding needs a GaussianMixtureWords, got KMeansWords"):
        BAG.replace(encoding=FisherEncoding())
    with pytest.raises(ValueError, match="HardEncoding needs a CentreVocabulary"):
        BAGS["fisher"].replace(encoding=HardEncoding())
    with pytest.raises(ValueError, match="has no maximum"):
        BAGS["fisher"].replace(pooling=MaxPooling())
    with pytest.raises(ValueError, match="learned from 3"):
        fitted["hard"].replace(descriptor=FourColumns())
    with pytest.raises(ValueError, match="learned from pictures, got none"):
        BAG.fit([])
    with pytest.raises(ValueError, match="at least one point"):
        BAG.replace(sampling=EveryFourth(brighter=2.0)).fit(pictures)


@dataclass(frozen=True)
class FourColumns(LocalDescriptor):
    n_columns: ClassVar[int] = 4


def test_even_samples_take_as_much_from_every_group():
    sample = EvenSample(100, random_state=0)
    sizes = [3, 400, 50, 1, 0, 200, 33, 60]
    for number, size in enumerate(sizes):
        sample.add(np.stack([np.full(size, number), np.arange(size)], axis=1))
    rows = sample.rows()
    assert rows.shape == (100, 2)
    assert len(np.unique(rows, axis=0)) == 100
    counts = np.bincount(rows[:, 0], minlength=8)
    # 96 rows are shared by five large groups: 19 each, one of them 20
    np.testing.assert_array_equal(counts[[0, 3, 4]], [3, 1, 0])
    np.testing.assert_array_equal(np.sort(counts[[1, 2, 5, 6, 7]]), [19, 19, 19, 19, 20])


def test_even_samples_take_from_anywhere_and_hold_little():
    sample = EvenSample(50, random_state=1)
    group = np.arange(1000)[:, None]
    for number in range(300):
        sample.add(group + 1000 * number)
        assert sum(map(len, sample._groups)) <= 63
    numbers, places = np.divmod(sample.rows()[:, 0], 1000)
    assert len(np.unique(numbers)) == 50
    assert 350 < places.mean() < 650
    assert 100 < numbers.mean() < 200
