"""Models that ask for too much memory, time or range of numbers are refused, and the limit is named."""

import hashlib
import json
import os
import socket
import tracemalloc
import zipfile

import numpy as np
import pytest

from tagrank.annotation import Annotator, ModelFileError
from tagrank.data import Collection
from tagrank.estimators import LabelFrequency, LabelRanker, OneVsAllSVM

ROWS = "estimator.estimator.rows"
KERNEL = ("estimator", "state", "estimator_", "state", "kernel_")


def refused(path, match, **options):
    with pytest.raises(ModelFileError, match=match) as caught:
        Annotator.load(path, **options)
    assert str(caught.value).startswith(os.fspath(path))
    assert len(str(caught.value)) < 1500


def edit(folder, change):
    path = folder / "model.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def put_array(folder, name, array):
    """Exchange an array of a model, or add one, as someone who knows the format would."""
    np.save(folder / f"{name}.npy", array)
    listed = {
        "shape": list(array.shape),
        "dtype": array.dtype.str,
        "sha256": hashlib.sha256(array).hexdigest(),
    }
    edit(folder, lambda content: content["arrays"].update({name: listed}))


def put_kernel(folder, make):
    def change(content):
        place = content["estimator"]["state"]["estimator_"]["state"]
        place["kernel_"] = make(place["kernel_"])

    edit(folder, change)


def on_columns(columns):
    return lambda kernel: {"kind": "OnView", "params": {"kernel": kernel, "view": columns}}


def nested(depth):
    """A product of products, doubled at each level."""

    def make(kernel):
        for _ in range(depth):
            kernel = {"kind": "Product", "params": {"kernels": [kernel, kernel]}}
        return kernel

    return make


KERNELS = {
    "a long product": (
        lambda kernel: {"kind": "Product", "params": {"kernels": [kernel] * 100_000}},
        "more than 4,096 kernels",
    ),
    "a long sum": (
        lambda kernel: {"kind": "Sum", "params": {"kernels": [kernel] * 5000, "weights": [1.0] * 5000}},
        "more than 4,096 kernels",
    ),
    "a deep product": (nested(13), "more than 4,096 kernels"),
    "one column many times": (on_columns([0] * 400_000), "the same column twice"),
    "columns that are not there": (on_columns(list(range(400_000))), "out of bounds"),
    "columns within columns": (on_columns([[0, 1], [1, 2]]), "."),
    "a huge polynomial": (
        lambda _: {"kind": "Polynomial", "params": {"gamma": 1e200, "coef0": 1e200, "degree": 9}},
        "numbers are too large",
    ),
}


@pytest.mark.parametrize("name", KERNELS)
def test_kernels(name, model_folder):
    make, match = KERNELS[name]
    put_kernel(model_folder, make)
    refused(model_folder, match)


def test_many_kernels_and_columns_of_honest_models_open(model_folder, collection):
    put_kernel(model_folder, lambda kernel: {"kind": "Product", "params": {"kernels": [kernel] * 1000}})
    Annotator.load(model_folder)
    put_kernel(model_folder, on_columns([6, 0, 3]))
    assert np.isfinite(Annotator.load(model_folder).scores(collection)).all()


def frequencies(folder, n_tags):
    """A model of `n_tags` tags that is a few bytes a tag."""
    rng = np.random.default_rng(0)
    put_array(folder, "estimator.frequencies", rng.random(n_tags))
    put_array(folder, "never_positive", np.zeros(n_tags, bool))
    edit(folder, lambda content: content.update(tags=[f"t{i}" for i in range(n_tags)]))


def test_tags(tmp_path, collection):
    Annotator(LabelFrequency()).fit(collection).save(tmp_path / "model")
    frequencies(tmp_path / "model", 300_000)
    refused(tmp_path / "model", r"300,000 tags, more than 262,144; .* max_bytes=4915200000\)")
    assert len(Annotator.load(tmp_path / "model", max_bytes=4915200000).tags) == 300_000
    frequencies(tmp_path / "model", 5000)
    assert len(Annotator.load(tmp_path / "model").tags) == 5000


def test_values_of_the_description_are_counted_before_they_are_made(model_folder):
    (model_folder / "model.json").write_bytes(b'{"a":[' + b"[]," * 3_000_000 + b"0]}")
    tracemalloc.start()
    refused(model_folder, "more than 2,097,152 values")
    assert tracemalloc.get_traced_memory()[1] < 3e7
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("name", "number"),
    [(ROWS, 1e308), (ROWS, 2e154), ("estimator.estimator.dual_coef", 1e307), ("views.0.offset", -1e308)],
)
def test_huge_numbers(name, number, model_folder):
    array = np.load(model_folder / f"{name}.npy")
    array.reshape(-1)[-1] = number
    put_array(model_folder, name, array)
    refused(model_folder, rf"'{name}' holds .* numbers beyond 1e\+100")


def test_huge_numbers_in_single_precision(tmp_path, make_collection):
    """They are finite, their squares are not: scores tell."""
    rows = "estimator.rows"
    Annotator(LabelRanker(kernel="rbf")).fit(make_collection(kind="float32")).save(tmp_path / "model")
    array = np.load(tmp_path / "model" / f"{rows}.npy")
    assert array.dtype == np.float32
    array[-1, -1] = 3e38
    put_array(tmp_path / "model", rows, array)
    refused(tmp_path / "model", "scores are not finite")


def test_columns_so_narrow_that_rows_overflow(model_folder):
    put_array(model_folder, "views.0.width", np.full(7, 1e-300))
    refused(model_folder, "width is less than 1e-100")


def test_columns_of_sparse_rows(tmp_path, make_collection):
    """A kernel that walks over all columns would never end."""
    Annotator(OneVsAllSVM(kernel="chi2")).fit(make_collection(kind="sparse")).save(tmp_path / "model")
    n_columns = 2**31 - 1

    def widen(content):
        content["views"][0]["columns"] = n_columns
        content["estimator"]["state"]["n_features_in_"] = n_columns

    n_rows = len(np.load(tmp_path / "model" / "estimator.rows.indptr.npy")) - 1
    put_array(tmp_path / "model", "estimator.rows.shape", np.array([n_rows, n_columns]))
    edit(tmp_path / "model", widen)
    refused(tmp_path / "model", "2,147,483,647 columns, more than 16,777,216")


def test_an_archive_that_grows_a_thousandfold(model_folder, tmp_path):
    bomb = tmp_path / "bomb.zip"
    put_array(model_folder, "bomb", np.zeros((5, 2**23)))
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for file in model_folder.iterdir():
            archive.write(file, file.name)
    assert bomb.stat().st_size < 2e6
    tracemalloc.start()
    refused(bomb, r"more than max_bytes=268,435,456; .* Annotator\.load\(path, max_bytes=\.\.\.\)")
    assert tracemalloc.get_traced_memory()[1] < 5e6
    tracemalloc.stop()
    (model_folder / "bomb.npy").unlink()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_pipes_sockets_and_devices(model_folder, tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    refused(tmp_path / "pipe", "neither a folder nor a plain file")
    refused("/dev/zero", "neither a folder nor a plain file")
    monkeypatch.chdir(model_folder)
    for name in ("model.json", f"{ROWS}.npy"):
        whole = (model_folder / name).read_bytes()
        (model_folder / name).unlink()
        os.mkfifo(model_folder / name)
        refused(model_folder, "is a link or not a plain file")
        (model_folder / name).unlink()
        # the path of a socket is short
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(name)
            refused(model_folder, "is a link or not a plain file")
        (model_folder / name).unlink()
        (model_folder / name).write_bytes(whole)
    Annotator.load(model_folder)


def test_what_could_not_be_opened_is_not_saved(model_folder, collection):
    """The older model stays."""
    before = (model_folder / "model.json").read_bytes()
    annotator = Annotator(OneVsAllSVM(kernel="rbf")).fit(collection)
    annotator.metadata["seed"] = 2**63
    with pytest.raises(ModelFileError, match=r"not saved, .* number that is too large"):
        annotator.save(model_folder)
    del annotator.metadata["seed"]
    annotator.estimator_.dual_coef_[0, 0] = np.nan
    with pytest.raises(ModelFileError, match=r"not saved, .* holds nan"):
        annotator.save(model_folder)
    assert (model_folder / "model.json").read_bytes() == before


def test_counts_that_no_model_can_hold_are_refused_before_training(collection):
    with pytest.raises(ValueError, match="max_iter must be at most"):
        Annotator(OneVsAllSVM(max_iter=2**63)).fit(collection)


def test_columns_that_hardly_vary_are_constant(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.random((30, 3)) * [1, 1e-250, 1]
    narrow = Collection({"features": X}, (X[:, :1] > 0.5).astype(float), ["tag"])
    Annotator(OneVsAllSVM(kernel="rbf")).fit(narrow).save(tmp_path / "model")
    wide = Collection({"features": X + 1}, np.ones((30, 1)), ["tag"])
    assert np.isfinite(Annotator.load(tmp_path / "model").scores(wide)).all()
