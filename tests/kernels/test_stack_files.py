"""Stacks of kernels on disk: whole or absent, checked when opened, harmless whoever wrote them."""

import errno
import gc
import json
import os
import shutil
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from tagrank.files import FileError
from tagrank.kernels import (
    ChiSquared,
    Gaussian,
    Kernel,
    KernelStack,
    Linear,
    open_stack,
    save_stack,
    stack_files,
    stack_of_kernels,
)


@pytest.fixture
def X():
    return np.random.default_rng(0).random((40, 6))


@pytest.fixture
def stack(X):
    return KernelStack([Gaussian()(X), Linear()(X), ChiSquared()(X)], names=["a", "b", "été"])


@pytest.fixture
def folder(stack, tmp_path):
    save_stack(stack, tmp_path / "kernels")
    return tmp_path / "kernels"


def test_what_is_opened_is_what_was_saved(stack, folder):
    opened = open_stack(folder)
    assert opened.names == stack.names
    assert opened.dtype == stack.dtype
    assert sorted(path.name for path in folder.iterdir()) == ["0.npy", "1.npy", "2.npy", "stack.json"]
    for j in range(3):
        np.testing.assert_array_equal(opened.kernel(j), stack.kernel(j))
        np.testing.assert_array_equal(np.load(folder / f"{j}.npy"), stack.kernel(j))
    T = np.random.default_rng(1).standard_normal((40, 3))
    np.testing.assert_array_equal(opened.quadratics(T), stack.quadratics(T))


def test_opening_reads_nothing_into_memory(tmp_path):
    save_stack(KernelStack(np.tile(np.eye(1000, dtype=np.float32), (4, 1, 1))), tmp_path / "kernels")
    tracemalloc.start()
    opened = open_stack(tmp_path / "kernels", check=False)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert opened.dtype == np.float32
    assert peak < 1000 * 1000 * 4 / 4


def test_parts_and_scaled_kernels_are_saved_as_they_are(stack, tmp_path):
    rows = np.arange(0, 40, 3)
    part = stack[np.ix_(rows, rows)].scaled([1, 2, 3])
    save_stack(part, tmp_path / "part")
    for j in range(3):
        np.testing.assert_array_equal(open_stack(tmp_path / "part").kernel(j), part.kernel(j))
    with pytest.raises(ValueError, match="need the same samples as rows and columns"):
        save_stack(stack[:5], tmp_path / "rows")
    assert os.listdir(tmp_path) == ["part"]


def test_an_empty_folder_is_filled_and_another_is_left_alone(stack, tmp_path):
    (tmp_path / "empty").mkdir()
    save_stack(stack, tmp_path / "empty")
    with pytest.raises(FileError, match="exists already; remove it"):
        save_stack(stack, tmp_path / "empty")
    (tmp_path / "file").write_text("mine")
    with pytest.raises(FileError, match="exists already; remove it"):
        save_stack(stack, tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"
    open_stack(tmp_path / "empty")


def test_a_changed_file_is_told(folder):
    with open(folder / "1.npy", "r+b") as file:
        file.seek(-100, os.SEEK_END)
        file.write(b"\1")
    with pytest.raises(FileError, match=r"1\.npy: has changed since it was written"):
        open_stack(folder)
    open_stack(folder, check=False)


@pytest.mark.parametrize("check", [True, False])
def test_a_truncated_or_missing_file_is_told(folder, check):
    size = (folder / "2.npy").stat().st_size
    os.truncate(folder / "2.npy", size - 8)
    with pytest.raises(
        FileError, match=r"2\.npy: shape \(40, 40\) of float64 needs 12,800 bytes, found 12,792"
    ):
        open_stack(folder, check=check)
    (folder / "2.npy").unlink()
    with pytest.raises(FileNotFoundError, match=r"2\.npy"):
        open_stack(folder, check=check)


def rewrite(folder, **changes):
    index = json.loads((folder / "stack.json").read_text())
    (folder / "stack.json").write_text(json.dumps({**index, **changes}))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 2}, "is not a stack of kernels of format 1"),
        ({"n_samples": 10**12}, r"expected float64 of shape \(1000000000000, 1000000000000\), found"),
        ({"n_samples": -1}, "n_samples must be a positive integer, got -1"),
        ({"n_samples": "40"}, "n_samples must be a positive integer, got '40'"),
        ({"dtype": "object"}, "has no names, checksums, n_samples or dtype"),
        ({"dtype": ["float64"]}, "has no names, checksums, n_samples or dtype"),
        ({"kernels": [{"name": "../../etc/passwd"}]}, "has no names"),
        ({"kernels": [{"name": ["a"], "blake2b": "0"}]}, "has changed|names must be"),
        ({"kernels": []}, "must hold at least one kernel"),
        ({"kernels": 5}, "has no names"),
    ],
)
def test_an_index_of_a_stranger(folder, changes, message):
    rewrite(folder, **changes)
    with pytest.raises(FileError, match=message):
        open_stack(folder)


@pytest.mark.parametrize("text", ["", "[" * 100_000, "[1]", '{"format": 1', "\x00"])
def test_an_index_that_is_none(folder, text):
    (folder / "stack.json").write_text(text)
    with pytest.raises(FileError, match=r"stack\.json: is (not JSON|not a stack)"):
        open_stack(folder)


def test_objects_in_a_matrix_are_refused(folder):
    np.save(folder / "0.npy", np.full((40, 40), None, object), allow_pickle=True)
    with pytest.raises(FileError, match="only plain numbers"):
        open_stack(folder)


def test_a_matrix_that_is_none_is_refused_though_its_checksum_is_right(folder):
    np.save(folder / "1.npy", np.full((40, 40), np.nan))
    index = json.loads((folder / "stack.json").read_text())
    index["kernels"][1]["blake2b"] = stack_files._checksum_of(folder / "1.npy")
    rewrite(folder, **index)
    with pytest.raises(FileError, match=r"kernels: kernel 1 \(b\) must be finite"):
        open_stack(folder)


def test_a_stack_of_an_older_version_is_opened(stack, folder):
    with open(folder / "1.npy", "wb") as file:
        np.lib.format.write_array(file, stack.kernel(1), version=(2, 0))
    index = json.loads((folder / "stack.json").read_text())
    index["kernels"][1]["blake2b"] = stack_files._checksum_of(folder / "1.npy")
    rewrite(folder, **index)
    np.testing.assert_array_equal(open_stack(folder).kernel(1), stack.kernel(1))


def test_no_disk_space_is_told_before_anything_is_written(stack, tmp_path, monkeypatch):
    usage = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    monkeypatch.setattr(stack_files, "_write_matrix", None)
    with pytest.raises(OSError, match=r"the kernels need 38,400 bytes on disk and 1,000 are free") as caught:
        save_stack(stack, tmp_path / "kernels")
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename == str(tmp_path / "kernels")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        (OSError(errno.ENOSPC, "full"), "the kernels need 38,400 bytes"),
        (OSError(errno.EIO, "broken"), "broken.*kernels"),
        (KeyboardInterrupt("stop"), "stop"),
    ],
)
def test_nothing_is_left_after_a_failure(stack, tmp_path, monkeypatch, failure, message):
    write = stack_files.write_npy
    shapes = []

    def fail(file, shape, *rest):
        shapes.append(shape)
        if len(shapes) == 2:
            file.write(b"half a matrix")
            raise failure
        write(file, shape, *rest)

    monkeypatch.setattr(stack_files, "write_npy", fail)
    with pytest.raises(type(failure), match=message):
        save_stack(stack, tmp_path / "kernels")
    assert os.listdir(tmp_path) == []


def test_a_stack_in_memory(X):
    said = []
    kernels = [Gaussian().on(slice(0, 3)), Linear(), ChiSquared() + Linear()]
    fitted, stack = stack_of_kernels(
        kernels, X, names=["a", "b", "c"], progress=lambda *told: said.append(told)
    )
    assert stack.names == ("a", "b", "c")
    assert said == [(0, 3, "comparing"), (1, 3, "comparing"), (2, 3, "comparing")]
    for j, (kernel, given) in enumerate(zip(fitted, kernels, strict=True)):
        assert kernel == given.fit(X)
        np.testing.assert_array_equal(stack.kernel(j), given(X))
    assert stack_of_kernels(kernels, X, dtype="float32")[1].dtype == np.float32


def test_a_large_stack_goes_to_disk_and_with_its_last_part(X, tmp_path, monkeypatch):
    monkeypatch.setattr(stack_files, "LARGEST_IN_MEMORY", 2 * 40 * 40 * 8 - 1)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    fitted, stack = stack_of_kernels([Gaussian(), Linear()], X)
    assert stack.dtype == np.float32
    assert len(fitted) == 2
    np.testing.assert_allclose(stack.kernel(0), Gaussian()(X), atol=1e-6)
    (place,) = tmp_path.iterdir()
    assert sorted(path.name for path in (place / "stack").iterdir()) == ["0.npy", "1.npy", "stack.json"]
    part = stack[:3].scaled([1, 2])
    del stack
    gc.collect()
    assert place.exists()
    part.combined([1, 1])
    del part
    gc.collect()
    assert not place.exists()


def test_a_temporary_folder_does_not_outlive_an_error(X, tmp_path, monkeypatch):
    monkeypatch.setattr(stack_files, "LARGEST_IN_MEMORY", 0)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(ValueError, match="kernel 0 must be positive semidefinite") as caught:
        stack_of_kernels([Negative()], X)
    assert caught.value is not None  # and with it all that the call held
    assert os.listdir(tmp_path) == []


def test_sums_over_a_stack_on_disk_hold_one_matrix(tmp_path):
    X, n_samples = np.random.default_rng(0).random((2000, 4), dtype=np.float32), 2000
    _, stack = stack_of_kernels([Linear(), Gaussian(gamma=1.0)] * 4, X, folder=tmp_path / "stack")
    T = np.random.default_rng(1).standard_normal((n_samples, 20))
    small = stack[:10, :10]
    small.combined(np.ones(8))
    small.quadratics(T[:10])
    tracemalloc.start()
    stack.combined(np.ones(8))
    stack.quadratics(T)
    stack.quadratics_by_label(T)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * 4 * n_samples**2


def test_a_folder_of_the_user_is_kept(X, tmp_path):
    _, stack = stack_of_kernels([Gaussian(), Linear()], X, names=["a", "b"], folder=tmp_path / "mine")
    expected = np.array(stack.kernel(0))
    del stack
    gc.collect()
    assert open_stack(tmp_path / "mine").names == ("a", "b")
    np.testing.assert_array_equal(open_stack(tmp_path / "mine").kernel(0), expected)
    assert stack_of_kernels([Linear()], X, dtype="float64", folder=tmp_path / "wide")[1].dtype == np.float64


def test_building_on_disk_holds_one_matrix(tmp_path):
    X = np.random.default_rng(0).random((1000, 4))
    stack_of_kernels([Linear()], X[:20], folder=tmp_path / "warm")
    tracemalloc.start()
    stack_of_kernels([Linear(), Gaussian(), Linear(), Linear()], X, folder=tmp_path / "stack", n_jobs=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    matrix = 1000 * 1000 * 4
    assert peak < matrix + 10 * 512 * 512 * 4


class Negative(Kernel):
    """No kernel."""

    def compute(self, X, Z):
        return -(X @ Z.T)


def test_a_bad_kernel_is_named_and_leaves_nothing(X, tmp_path):
    with pytest.raises(ValueError, match=r"kernel 1 \(bad\) must be positive semidefinite"):
        stack_of_kernels([Linear(), Negative()], X, names=["good", "bad"], folder=tmp_path / "kernels")
    assert os.listdir(tmp_path) == []
    with pytest.raises(TypeError, match="one or more Kernel objects, got"):
        stack_of_kernels([], X)
    with pytest.raises(TypeError, match="one or more Kernel objects, got"):
        stack_of_kernels(["gaussian"], X)


def test_a_folder_named_by_a_text(stack, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_stack(stack, "kernels")
    assert open_stack("kernels").n_kernels == 3
    assert Path("kernels").is_dir()


@pytest.mark.parametrize("in_files", [False, True])
def test_every_kernel_is_raised(monkeypatch, in_files):
    rows = np.random.default_rng(0).normal(size=(20, 3))
    grams = [Gaussian(gamma)(rows, rows) for gamma in (0.1, 0.5)]
    if in_files:
        monkeypatch.setattr(stack_files, "LARGEST_IN_MEMORY", 1)
    raised = stack_files.raise_stack(KernelStack(grams, ["wide", "narrow"]), 3)
    assert raised.names == ("wide", "narrow")
    np.testing.assert_allclose(raised.combined([0.3, 0.7]), 0.3 * grams[0] ** 3 + 0.7 * grams[1] ** 3)
    assert (raised._folder is not None) == in_files
