"""The feature bank: rows as the features give them, each computed once, bad pictures listed."""

import os
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from PIL import Image

from tagrank.annotation.bank.feature_bank import FeatureBank, bank_folder, bank_size, clear_bank, prune_bank
from tagrank.data.picture_files import read_picture
from tagrank.features.feature import Feature
from tagrank.files import FileError

sys.path.insert(0, str(Path(__file__).parent))
from bank_probes import Fragile, Means, NeedsMissingLibrary, Wide


def draw_files(folder, n_pictures, *, seed=0):
    """Small pictures of noise in files whose names are no trouble."""
    rng = np.random.default_rng(seed)
    folder.mkdir(exist_ok=True)
    paths = [folder / f"été {number}.png" for number in range(n_pictures)]
    for path in paths:
        Image.fromarray(rng.integers(1, 255, (12, 16, 3), dtype=np.uint8)).save(path)
    return paths


def count_lines(path):
    return len(path.read_text().splitlines()) if path.exists() else 0


@pytest.fixture
def paths(tmp_path):
    return draw_files(tmp_path / "photos", 6)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "cache"


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_rows_are_what_the_features_say(tmp_path, folder, n_jobs):
    features = {"means": Means(), "wide": Wide()}
    paths = draw_files(tmp_path / "photos", 20)
    described = FeatureBank(features, folder=folder, n_jobs=n_jobs).extract(paths)
    for name, feature in features.items():
        expected = np.array([feature(read_picture(path)) for path in paths])
        np.testing.assert_array_equal(described.views[name], expected)
        assert described.views[name].dtype == np.float32
        assert not described.views[name].flags.writeable
        assert described.seconds[name] > 0
    np.testing.assert_array_equal(described.rows, np.arange(20))
    assert (described.n_computed, described.n_cached, described.problems) == (20, 0, ())


def test_second_run_only_looks_up(paths, folder):
    bank = FeatureBank({"means": Means()}, folder=folder)
    first, second = bank.extract(paths), bank.extract(paths)
    assert (second.n_computed, second.n_cached) == (0, 6)
    assert second.seconds == {"means": 0}
    assert second.seconds_a_picture == first.seconds_a_picture
    np.testing.assert_array_equal(second.views["means"], first.views["means"])


def test_only_what_is_missing_is_computed(paths, folder, tmp_path):
    diary = tmp_path / "diary"
    means = Means(diary=str(diary))
    FeatureBank({"means": means}, folder=folder).extract(paths[:4])
    grown = FeatureBank({"means": means, "wide": Wide()}, folder=folder).extract(paths[::-1])
    assert count_lines(diary) == 6
    assert grown.n_computed == 6
    np.testing.assert_array_equal(grown.views["means"], [means(read_picture(path)) for path in paths[::-1]])


def test_other_settings_and_sizes_are_other_rows(paths, folder):
    FeatureBank({"means": Means()}, folder=folder).extract(paths)
    assert FeatureBank({"means": Means(bands=3)}, folder=folder).extract(paths).n_computed == 6
    assert FeatureBank({"means": Means()}, folder=folder, max_side=10).extract(paths).n_computed == 6
    assert FeatureBank({"another name": Means()}, folder=folder).extract(paths).n_computed == 0


def test_content_counts_not_the_name(paths, folder, tmp_path):
    diary = tmp_path / "diary"
    bank = FeatureBank({"means": Means(diary=str(diary))}, folder=folder)
    twin = tmp_path / "twin.png"
    twin.write_bytes(paths[0].read_bytes())
    described = bank.extract([*paths, twin])
    assert count_lines(diary) == 6
    np.testing.assert_array_equal(described.views["means"][6], described.views["means"][0])
    # the same name, size and time, but other content in another file
    twin.write_bytes(paths[1].read_bytes())
    os.utime(paths[0], ns=(0, 0))
    os.utime(twin, ns=(0, 0))
    os.replace(twin, paths[0])
    changed = bank.extract(paths)
    np.testing.assert_array_equal(changed.views["means"][0], changed.views["means"][1])


def test_files_seen_before_are_not_read_again(paths, folder):
    bank = FeatureBank({"means": Means()}, folder=folder)
    for path in paths:
        os.utime(path, (0, 0))
    before = bank.extract(paths)
    content = paths[0].read_bytes()
    with open(paths[0], "r+b") as file:
        file.write(bytes(len(content)))
    os.utime(paths[0], (0, 0))
    np.testing.assert_array_equal(bank.extract(paths).views["means"], before.views["means"])


@pytest.mark.skipif(sys.platform != "linux", reason="names are text there")
def test_names_of_any_bytes(paths, folder):
    odd = os.path.join(os.fsencode(paths[0].parent), b"\xff\xfe.png")
    os.link(paths[0], odd)
    for name in (odd, os.fsdecode(odd)):
        assert len(FeatureBank({"means": Means()}, folder=folder).extract([name]).rows) == 1


def test_arrays_are_pictures_too(folder):
    pictures = list(np.random.default_rng(1).integers(0, 255, (5, 9, 8, 3), dtype=np.uint8))
    bank = FeatureBank({"means": Means()}, folder=folder)
    described = bank.extract([*pictures, np.zeros((9, 8), dtype=np.uint8), np.array([None, "x"])])
    np.testing.assert_array_equal(described.views["means"], [Means()(picture) for picture in pictures])
    assert [problem.path for problem in described.problems] == ["picture 5", "picture 6"]
    assert bank.extract(pictures).n_computed == 0


def test_bad_pictures_are_listed_and_the_rest_is_kept(paths, folder, tmp_path):
    garbage, empty, gone = (tmp_path / name for name in ("garbage.jpg", "empty.png", "gone.png"))
    garbage.write_bytes(b"\xff\xd8 no picture")
    empty.touch()
    black = tmp_path / "black.png"
    Image.new("RGB", (20, 20)).save(black)
    mixed = [gone, paths[0], garbage, tmp_path, paths[1], empty, black]
    bank = FeatureBank({"fragile": Fragile(), "means": Means()}, folder=folder)
    described = bank.extract(mixed)
    np.testing.assert_array_equal(described.rows, [1, 4])
    reasons = {problem.path: problem.reason for problem in described.problems}
    assert set(reasons) == {str(path) for path in (gone, garbage, tmp_path, empty, black)}
    assert reasons[str(gone)] == "No such file or directory"
    assert reasons[str(black)] == "fragile: too dark"
    assert not any(reason.startswith(path) for path, reason in reasons.items())
    assert len(described.views["means"]) == 2


def test_no_picture_at_all(folder, tmp_path):
    bank = FeatureBank({"means": Means()}, folder=folder)
    nothing = bank.extract([tmp_path / "gone.png"])
    assert nothing.views["means"].shape == (0, 0)
    assert len(nothing.problems) == 1
    with pytest.raises(ValueError, match="no pictures"):
        bank.extract([])
    with pytest.raises(ValueError, match="at least one set"):
        FeatureBank({})


def test_strict_raises_the_first_problem_and_keeps_what_is_done(paths, folder, tmp_path):
    garbage = tmp_path / "garbage.jpg"
    garbage.write_bytes(b"no picture")
    strict = FeatureBank({"means": Means()}, folder=folder, strict=True)
    with pytest.raises(FileError, match=r"garbage\.jpg"):
        strict.extract([paths[0], garbage, *paths[1:]])
    with pytest.raises(FileError, match=r"gone\.jpg"):
        strict.extract([paths[1], tmp_path / "gone.jpg"])
    assert strict.extract(paths[:1]).n_computed == 0


def test_a_picture_that_kills_its_worker_is_a_problem(tmp_path, folder):
    paths = draw_files(tmp_path / "photos", 19)
    white = tmp_path / "white.png"
    Image.new("RGB", (20, 20), "white").save(white)
    described = FeatureBank({"fragile": Fragile()}, folder=folder, n_jobs=2).extract(
        [*paths[:9], white, *paths[9:]]
    )
    assert [problem.path for problem in described.problems] == [str(white)]
    assert "killed" in described.problems[0].reason
    assert described.n_computed == 19


@pytest.mark.parametrize("n_pictures", [3, 16])
def test_a_missing_library_is_no_picture_s_fault(tmp_path, folder, n_pictures):
    paths = draw_files(tmp_path / "photos", n_pictures)
    with pytest.raises((ImportError, RuntimeError), match="a_library_that_is_missing"):
        FeatureBank({"missing": NeedsMissingLibrary()}, folder=folder, n_jobs=2).extract(paths)


def test_features_that_workers_cannot_import(tmp_path, folder, monkeypatch):
    @dataclass(frozen=True)
    class Local(Feature):
        unsendable: ClassVar = threading.Lock()

    bank = FeatureBank({"local": Local()}, folder=folder, n_jobs=2)
    paths = draw_files(tmp_path / "photos", 16)
    with pytest.raises(RuntimeError, match="can be imported, or pass n_jobs=1"):
        bank.extract(paths)
    # here it looks as if it could be imported, there it is not found
    Local.__qualname__, Local.__module__ = "Local", Means.__module__
    monkeypatch.setattr(sys.modules[Means.__module__], "Local", Local, raising=False)
    with pytest.raises(RuntimeError, match="can be imported, or pass n_jobs=1"):
        bank.extract(paths)


def test_features_from_no_module_travel_to_workers(tmp_path, folder):
    @dataclass(frozen=True)
    class Local(Feature):
        def describe(self, picture):
            return picture.pixels.mean(axis=(0, 1))

    paths = draw_files(tmp_path / "photos", 16)
    described = FeatureBank({"local": Local()}, folder=folder, n_jobs=2).extract(paths)
    assert described.problems == ()
    expected = [Local()(read_picture(path)) for path in paths]
    np.testing.assert_array_equal(described.views["local"], np.float32(expected))


def test_when_every_picture_kills_its_worker(tmp_path, folder, monkeypatch):
    monkeypatch.setattr("tagrank.annotation.bank.row_maker._MAX_DEATHS", 2)
    white = [np.full((9, 9 + number, 3), 255, dtype=np.uint8) for number in range(16)]
    with pytest.raises(RuntimeError, match=r"2 pictures in a row .* smaller n_jobs"):
        FeatureBank({"fragile": Fragile()}, folder=folder, n_jobs=2).extract(white)


def test_progress_reaches_the_end(paths, folder):
    calls = []
    FeatureBank({"means": Means()}, folder=folder).extract(paths, progress=lambda *call: calls.append(call))
    described = [call for call in calls if call[2] == "describing pictures"]
    assert [done for done, _, _ in described] == list(range(1, 7))
    assert all(total == 6 for _, total, _ in calls)


def test_folder_of_the_user(monkeypatch, tmp_path, paths):
    monkeypatch.setenv("TAGRANK_CACHE", str(tmp_path / "mine"))
    assert bank_folder() == tmp_path / "mine" / "features"
    FeatureBank({"means": Means()}, keep=False).extract(paths)
    assert not bank_folder().exists()
    assert bank_size() == 0
    FeatureBank({"means": Means()}).extract(paths)
    assert bank_size() > 0
    clear_bank()
    assert bank_size() == 0


def test_pruning_spares_what_was_used(paths, folder, monkeypatch):
    bank = FeatureBank({"means": Means()}, folder=folder)
    bank.extract(paths)
    prune_bank(folder, days=30)
    assert bank.extract(paths).n_computed == 0
    later = time.time() + 60 * 86_400
    with monkeypatch.context() as patch:
        patch.setattr("tagrank.annotation.bank.row_store.time.time", lambda: later)
        bank.extract(paths[:2])
        prune_bank(folder, days=30)
    assert bank.extract(paths).n_computed == 4
