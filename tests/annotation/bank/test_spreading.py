"""Pictures described on a cluster: the same numbers and the same problems as in one process."""

import os
import signal
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tagrank import choose_features, describe_pictures, draw_pictures
from tagrank.annotation.bank import row_maker, row_store, spreading
from tagrank.annotation.bank.feature_bank import FeatureBank
from tagrank.annotation.bank.row_maker import Describer, Job
from tagrank.annotation.bank.row_store import KeyedPicture
from tagrank.files import FileError

sys.path.insert(0, str(Path(__file__).parent))
from bank_probes import Fragile, Means, NeedsMissingLibrary

pytest.importorskip("distributed", reason="distributed is absent: pip install 'tagrank[dask]'")


def draw_files(folder, n_pictures):
    folder.mkdir()
    rng = np.random.default_rng(0)
    paths = [folder / f"é {number}.jpg" for number in range(n_pictures)]
    for path in paths:
        Image.fromarray(rng.integers(1, 255, (40, 60, 3), dtype=np.uint8)).save(path)
    return paths


@pytest.fixture
def paths(tmp_path):
    return draw_files(tmp_path / "photos", 40)


def hide(monkeypatch, hidden):
    """These files have another state on this machine than on the workers."""
    told = row_store.file_state

    def state(path):
        return f"{os.stat(path).st_size}:elsewhere" if path in hidden else told(path)

    for module in (row_maker, row_store, spreading):
        monkeypatch.setattr(module, "file_state", state)


@pytest.fixture
def unseen(monkeypatch, paths):
    """Workers see none of the files."""
    hide(monkeypatch, set(map(str, paths)))


@pytest.fixture
def sent(monkeypatch):
    """The files whose bytes were sent."""
    content, sent = spreading._content, []
    monkeypatch.setattr(spreading, "_content", lambda job: sent.append(job.source.picture) or content(job))
    return sent


def check_same(there, here):
    assert there.views.keys() == here.views.keys()
    for name, rows in here.views.items():
        np.testing.assert_array_equal(there.views[name], rows)
    assert there.problems == here.problems
    np.testing.assert_array_equal(there.rows, here.rows)
    assert there.n_computed == here.n_computed > 0


def test_features_are_those_of_one_process(two_workers, paths, tmp_path):
    features = choose_features(["hsv", "gist", "lbp"])
    folder = tmp_path / "cache"
    there = FeatureBank(features, folder=folder, scheduler=two_workers.scheduler.address).extract(paths)
    check_same(there, FeatureBank(features, keep=False, n_jobs=1).extract(paths))
    assert FeatureBank(features, folder=folder, n_jobs=1).extract(paths).n_computed == 0


def test_files_that_workers_do_not_see_are_sent(two_workers, paths, unseen, sent):
    features = {"means": Means()}
    there = FeatureBank(features, keep=False, scheduler=two_workers).extract(paths)
    check_same(there, FeatureBank(features, keep=False, n_jobs=1).extract(paths))
    assert sorted(sent) == sorted(map(str, paths))


def test_files_that_workers_see_are_not_sent(two_workers, paths, monkeypatch, sent):
    hide(monkeypatch, {str(paths[9])})
    features = {"means": Means()}
    there = FeatureBank(features, keep=False, scheduler=two_workers).extract(paths)
    check_same(there, FeatureBank(features, keep=False, n_jobs=1).extract(paths))
    assert sent == [str(paths[9])]


def test_arrays_are_sent(two_workers):
    pictures = draw_pictures(20, size=48)
    features = choose_features(["gist"])
    there = describe_pictures(pictures, features, scheduler=two_workers)
    check_same(there, describe_pictures(pictures, features, n_jobs=1))


@pytest.mark.parametrize("way", ["seen", "sent"])
def test_bad_pictures_are_problems_as_usual(two_workers, paths, way, request):
    if way == "sent":
        request.getfixturevalue("unseen")
    paths[1].write_bytes(b"no picture")
    paths[3].write_bytes(paths[3].read_bytes()[:600])
    paths[4].write_bytes(b"")
    Image.new("RGB", (30, 30)).save(paths[5])
    features = {"fragile": Fragile()}
    there = FeatureBank(features, keep=False, scheduler=two_workers).extract(paths)
    here = FeatureBank(features, keep=False, n_jobs=1).extract(paths)
    assert len(there.problems) >= 3
    check_same(there, here)


def test_a_strict_bank_stops(two_workers, paths):
    paths[7].write_bytes(b"no picture")
    with pytest.raises(FileError, match="é 7"):
        FeatureBank({"means": Means()}, keep=False, strict=True, scheduler=two_workers).extract(paths)


def test_a_picture_that_ends_its_worker(two_workers, paths, monkeypatch):
    monkeypatch.setattr(two_workers.cluster.scheduler, "allowed_failures", 0)
    Image.new("RGB", (30, 30), "white").save(paths[5].with_suffix(".png"))
    paths[5] = paths[5].with_suffix(".png")
    described = FeatureBank({"fragile": Fragile()}, keep=False, scheduler=two_workers).extract(paths[:18])
    assert [problem.path for problem in described.problems] == [str(paths[5])]
    assert "describing it crashed the process" in described.problems[0].reason
    assert len(described.rows) == 17


def test_a_worker_that_is_killed_loses_nothing(two_workers, paths):
    before = two_workers.run(os.getpid)
    killed = []

    def kill(done, total, what):
        if what == "describing pictures" and done > 3 and not killed:
            killed.append(next(iter(before.values())))
            os.kill(killed[0], signal.SIGKILL)

    features = {"means": Means(delay=0.05)}
    there = FeatureBank(features, keep=False, scheduler=two_workers).extract(paths, progress=kill)
    assert killed
    assert killed[0] not in two_workers.run(os.getpid).values()
    check_same(there, FeatureBank({"means": Means()}, keep=False, n_jobs=1).extract(paths))


@pytest.mark.parametrize("change", ["vanished", "written again"])
def test_a_file_that_is_not_as_it_was(two_workers, paths, change):
    source = KeyedPicture(str(paths[0]), b"key", row_store.file_state(str(paths[0])))
    if change == "vanished":
        paths[0].unlink()
    else:
        Image.new("RGB", (9, 9)).save(paths[0])
    describer, job = Describer({"means": Means()}, 512), Job(source, ("means",))
    answers = list(spreading.describe_on_cluster(two_workers, describer, [job]))
    assert answers[0][1].reason == describer(job).reason
    assert len(answers) == 1


def test_a_library_that_workers_lack_is_told(two_workers, paths):
    with pytest.raises(ImportError, match="a_library_that_is_missing"):
        FeatureBank({"needs": NeedsMissingLibrary()}, keep=False, scheduler=two_workers).extract(paths)


def test_features_that_workers_cannot_compute_are_told(two_workers, paths, monkeypatch):
    monkeypatch.setattr(spreading, "worker_here", lambda: "tcp://10.0.0.2:1")

    class Unready:
        def check_ready(self):
            raise FileError("model.onnx", "no such file")

    with pytest.raises(
        OSError, match=r"the worker tcp://10\.0\.0\.2:1 cannot describe pictures: model\.onnx"
    ):
        spreading._check_ready(Describer({"unready": Unready()}, 512))
