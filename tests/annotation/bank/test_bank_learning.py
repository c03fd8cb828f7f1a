"""A bank whose features learn: once from the same pictures, and anew when anything differs."""

import numpy as np
import pytest

from tagrank.annotation.bank import bank_files
from tagrank.annotation.bank.feature_bank import FeatureBank
from tagrank.annotation.bank.row_store import CacheWarning
from tagrank.features.extraction import fit_features
from tagrank.features.whole_picture.colour import ColourHistogram
from tagrank.features.whole_picture.edges import PyramidEdges
from tagrank.features.words.bag import BagOfWords
from tagrank.features.words.layout import CellLayout
from tagrank.features.words.local_descriptors import Sift
from tagrank.features.words.sampling import DenseGrid
from tagrank.features.words.vocabulary import KMeansWords

BAG = BagOfWords(DenseGrid(), Sift(), KMeansWords(4, n_samples=200))
FEATURES = {"bag": BAG, "bands": BAG.replace(layout=CellLayout("3x1")), "rgb": ColourHistogram("rgb")}


@pytest.fixture
def pictures():
    return list(np.random.default_rng(0).integers(0, 255, (9, 40, 48, 3), dtype=np.uint8))


@pytest.fixture
def learned(monkeypatch):
    """How many pictures every learning looked at."""
    counts = []

    def count(features, pictures, **options):
        pictures = list(pictures)
        counts.append(len(pictures))
        return fit_features(features, pictures, **options)

    monkeypatch.setattr(bank_files, "fit_features", count)
    return counts


def test_learned_once_and_the_same(pictures, tmp_path, learned):
    bank = FeatureBank(FEATURES, folder=tmp_path, n_jobs=1)
    first = bank.fit(pictures, random_state=3)
    second = FeatureBank(FEATURES, folder=tmp_path, n_jobs=1).fit(pictures, random_state=3)
    assert learned == [9]
    expected = fit_features(FEATURES, pictures, random_state=3)
    for name, feature in expected.items():
        assert first.features[name].fingerprint() == feature.fingerprint()
        assert second.features[name].fingerprint() == feature.fingerprint()
    assert not bank.features["bag"].is_fitted
    rows = second.extract(pictures).views["bands"]
    np.testing.assert_array_equal(rows, [expected["bands"](picture) for picture in pictures])
    assert second.fit(pictures).features == second.features


def test_anything_else_is_learned_anew(pictures, tmp_path, learned):
    bank = FeatureBank(FEATURES, folder=tmp_path, n_jobs=1)
    bank.fit(pictures)
    bank.fit(pictures, random_state=1)
    bank.fit(pictures, n_pictures=5)
    bank.fit(pictures[1:])
    FeatureBank(FEATURES, folder=tmp_path, n_jobs=1, max_side=100).fit(pictures)
    FeatureBank({"bag": BAG.replace(vocabulary=KMeansWords(3))}, folder=tmp_path, n_jobs=1).fit(pictures)
    FeatureBank(FEATURES, keep=False, n_jobs=1).fit(pictures)
    assert learned == [9, 9, 5, 8, 9, 9, 9]


def test_damaged_results_are_learned_anew(pictures, tmp_path, learned):
    bank = FeatureBank(FEATURES, folder=tmp_path, n_jobs=1)
    bank.fit(pictures)
    for path in (tmp_path / "learned").iterdir():
        path.write_bytes(path.read_bytes()[:-30])
    bank.fit(pictures)
    for path in (tmp_path / "learned").iterdir():
        np.savez(path, settings=np.frombuffer(b'{"type": "Popen", "version": 1}', dtype=np.uint8))
    bank.fit(pictures)
    assert learned == [9, 9, 9]


def test_unwritable_folder_and_unreadable_pictures(pictures, tmp_path, learned):
    (tmp_path / "learned").touch()
    garbage = tmp_path / "garbage.png"
    garbage.write_bytes(b"no picture")
    bank = FeatureBank({"bag": BAG}, folder=tmp_path, n_jobs=1)
    with pytest.warns(CacheWarning, match="the next run learns it again"):
        fitted = bank.fit([*pictures, garbage, tmp_path / "gone.png"])
    assert fitted.features["bag"].is_fitted
    assert learned == [9]


def test_what_must_learn_first_says_so(pictures, tmp_path):
    with pytest.raises(ValueError, match=r"bag, bands must learn .* fit\(pictures\)"):
        FeatureBank(FEATURES, folder=tmp_path).extract(pictures)


def test_workers_and_this_process_agree_to_the_last_bit(tmp_path):
    rng = np.random.default_rng(2)
    pictures = [
        np.kron(rng.integers(0, 255, (12, 16, 3)), np.ones((16, 16, 1))).astype(np.uint8) for _ in range(16)
    ]
    features = {"edges": PyramidEdges(), "lab": ColourHistogram("lab")}
    here, there = (FeatureBank(features, keep=False, n_jobs=n).extract(pictures) for n in (1, 2))
    for name in features:
        assert here.views[name].tobytes() == there.views[name].tobytes()


def test_progress_of_learning(pictures, tmp_path):
    calls = []
    bank = FeatureBank({"bag": BAG}, folder=tmp_path, n_jobs=1)
    bank.fit(pictures, progress=lambda *call: calls.append(call))
    assert calls[-1] == (9, 9, "learning vocabularies")


def test_pictures_none_of_which_can_be_read(tmp_path):
    bank = FeatureBank(FEATURES, keep=False, n_jobs=1)
    missing = [str(tmp_path / f"{i}.jpg") for i in range(3)]
    with pytest.raises(ValueError, match=r"0.jpg: No such file.* \(nor can any other of the 3 pictures be"):
        bank.fit(missing)
    (tmp_path / "0.jpg").write_text("no picture")
    with pytest.raises(ValueError, match=r"0.jpg: [^:]+$"):
        bank.fit(missing[:1])
    (tmp_path / "1.jpg").write_text("nor this")
    with pytest.raises(ValueError, match=r"0.jpg: [^:]+ \(nor can any other of the 2 pictures be read\)"):
        bank.fit(missing[:2])
