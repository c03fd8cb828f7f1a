"""Damaged, changed and hostile model folders: a ModelFileError each, nothing run, nothing large allocated."""

import contextlib
import json
import os
import pickle
import shutil
import tracemalloc
import zipfile

import numpy as np
import pytest

from tagrank.annotation import Annotator, ModelFileError

ROWS = "estimator.estimator.rows"
INNER = ("estimator", "state", "estimator_")


def refused(path, match):
    with pytest.raises(ModelFileError, match=match) as caught:
        Annotator.load(path)
    assert str(caught.value).startswith(os.fspath(path))
    assert caught.value.__cause__ is None


def edit(folder, change):
    """Load model.json, change it in place or replace it, write it back."""
    path = folder / "model.json"
    content = json.loads(path.read_text())
    path.write_text(json.dumps(change(content) or content))


def setter(*keys, value):
    def change(content):
        for key in keys[:-1]:
            content = content[key]
        content[keys[-1]] = value

    return change


def state_of(content):
    """What is stored of the estimator inside the calibration."""
    return content["estimator"]["state"]["estimator_"]["state"]


@pytest.mark.parametrize("version", [0, 1, 2, 10**6])
def test_unknown_versions_are_refused_with_a_sentence(model_folder, version):
    edit(model_folder, setter("version", value=version))
    refused(model_folder, rf"format version {version}; tagrank .* reads 3\. Open it with the tagrank")


CHANGES = {
    "another format": (setter("format", value="other"), "not a tagrank model"),
    "version as text": (setter("version", value="1"), "'version' must be int, got str"),
    "a list": (lambda content: [1, 2], "must be an object, got list"),
    "an extra key": (setter("hook", value="os.system"), "unknown here: 'hook'"),
    "an extra parameter": (
        setter(*INNER, "params", "callback", value=1),
        "unknown here: 'callback'",
    ),
    "a missing key": (lambda content: content.pop("tags") and None, "lacks 'tags'"),
    "another class": (setter("estimator", "class", value="os.system"), "unknown class 'os.system'"),
    "a class of the language": (setter(*INNER, "class", value="eval"), "unknown class"),
    "another kernel": (
        setter(*INNER, "state", "kernel_", "kind", value="eval"),
        "kind must be one of",
    ),
    "a kernel without width": (
        setter(*INNER, "state", "kernel_", "params", "gamma", value=None),
        "has no width",
    ),
    "a kernel with a text width": (
        setter(*INNER, "state", "kernel_", "params", "gamma", value="wide"),
        "gamma must be a positive number",
    ),
    "a kernel that needs views": (
        lambda content: state_of(content).update(
            kernel_={"kind": "OnView", "params": {"kernel": state_of(content)["kernel_"], "view": "colour"}}
        ),
        "needs a mapping of views",
    ),
    "a tag too many": (setter("tags", value=["a", "b", "c", "d", "e"]), "must have the shape"),
    "tags that are numbers": (setter("tags", value=[1, 2, 3, 4]), "list of different strings"),
    "tags that repeat": (setter("tags", value=["a", "a", "b", "c"]), "list of different strings"),
    "unknown features": (
        setter("features", value=[{"name": "colour", "settings": {"type": "exec"}}]),
        "the type must be one of .*QuickColour.*, got 'exec'",
    ),
    "features of odd types": (setter("features", value=[["colour"]]), "features"),
    "features of other views": (
        setter("features", value=[{"name": "x", "settings": {"type": "QuickColour", "version": 1}}]),
        "the features are .*'x'.*, the views",
    ),
    "names of other rows": (setter("training_names", value=["a"]), "training_names must be"),
    "unknown scaling": (setter("scaling", value="eval"), "scaling must be one of"),
    "other columns": (setter("views", 0, "columns", value=8), "must have the shape"),
    "huge number": (setter(*INNER, "state", "n_iter_", value=10**40), "too large"),
    "a truth value as a number": (
        setter("estimator", "params", "n_tags", value=True),
        "n_tags must be a positive integer, got True",
    ),
    "a path as a name": (setter("arrays", "../x", value={}), "cannot be the name of an array"),
    "an absolute path": (setter("arrays", "/etc/passwd", value={}), "cannot be the name of an array"),
    "dots in a name": (setter("arrays", "..", value={}), "cannot be the name of an array"),
    "an array that is not there": (
        setter("arrays", "more", value={"shape": [1], "dtype": "<f8", "sha256": ""}),
        "more.npy is missing",
    ),
    "an array too few": (lambda content: content["arrays"].pop(ROWS) and None, "missing; copy or save"),
    "another shape": (setter("arrays", ROWS, "shape", value=[1, 1]), r"expected float64 of shape \(1, 1\)"),
    "a reshaped array": (
        lambda content: content["arrays"][ROWS]["shape"].reverse(),
        r"expected float64 of shape \(7, \d+\), found float64 of shape \(\d+, 7\)",
    ),
    "a negative shape": (setter("arrays", ROWS, "shape", value=[-1, 7]), "impossible shape"),
    "a huge shape": (setter("arrays", ROWS, "shape", value=[2**39, 7]), "more than max_bytes"),
    "an impossible shape": (setter("arrays", ROWS, "shape", value=[2**62, 2**62]), "impossible shape"),
    "a shape of text": (setter("arrays", ROWS, "shape", value=["36", 7]), "impossible shape"),
    "an object dtype": (setter("arrays", ROWS, "dtype", value="|O"), r"dtype '\|O'"),
    "another dtype": (setter("arrays", ROWS, "dtype", value="<i8"), "expected int64"),
    "another digest": (setter("arrays", ROWS, "sha256", value="0" * 64), "SHA-256 differs"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_changed_description(name, model_folder):
    change, match = CHANGES[name]
    edit(model_folder, change)
    refused(model_folder, match)


TEXTS = {
    "nothing": (b"", "is damaged"),
    "cut off": (b'{"format": "tagrank model", "version"', "is damaged"),
    "not text": (b"\xff\xfe\x00\x01", "is damaged"),
    "deep lists": (b"[" * 10**6, "nested too deeply"),
    "deep objects": (b'{"a":' * 500 + b"1" + b"}" * 500, "nested too deeply"),
    "long number": (b'{"version": ' + b"9" * 10**5 + b"}", "is damaged"),
    "infinite number": (b'{"version": 1e999}', "too large"),
    "not a number": (b'{"version": NaN}', "is damaged"),
    "the same key twice": (b'{"version": 1, "version": 2}', "same key twice"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_hostile_json(name, model_folder):
    text, match = TEXTS[name]
    (model_folder / "model.json").write_bytes(text)
    refused(model_folder, match)


def test_every_array_cut_short_or_missing(model_folder, tmp_path):
    for array in sorted(model_folder.glob("*.npy")):
        whole = array.read_bytes()
        for part in (whole[:-1], whole[: len(whole) // 2], b"", whole + b"\0" * 5000):
            array.write_bytes(part)
            refused(model_folder, r"\.npy")
        array.unlink()
        refused(model_folder, rf"{array.stem}\.npy is missing")
        array.write_bytes(whole)
    Annotator.load(model_folder)


def test_flipped_bits_never_pass_and_never_crash(model_folder):
    array = model_folder / f"{ROWS}.npy"
    whole = array.read_bytes()
    rng = np.random.default_rng(0)
    places = [*range(0, 128, 3), *rng.integers(128, len(whole), 20)]
    for place in places:
        broken = bytearray(whole)
        broken[place] ^= 1 << int(rng.integers(8))
        array.write_bytes(broken)
        try:
            Annotator.load(model_folder)
        except ModelFileError:
            continue
        # spaces that fill up the header carry no meaning
        assert place < 128


def test_flipped_bits_of_the_description_never_crash(model_folder):
    path = model_folder / "model.json"
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for place in rng.integers(0, len(whole), 150):
        broken = bytearray(whole)
        broken[place] ^= 1 << int(rng.integers(7))
        path.write_bytes(broken)
        with contextlib.suppress(ModelFileError):
            Annotator.load(model_folder)


def test_a_pickle_is_never_opened(model_folder, tmp_path):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "trapped"),)

    with open(model_folder / f"{ROWS}.npy", "wb") as file:
        np.lib.format.write_array(file, np.array([Trap()] * 40, dtype=object), allow_pickle=True)
    edit(
        model_folder,
        setter("arrays", ROWS, "shape", value=[(model_folder / f"{ROWS}.npy").stat().st_size // 8 - 16]),
    )
    refused(model_folder, "refused: only plain numbers")
    (model_folder / "model.json").write_bytes(pickle.dumps(Trap()))
    refused(model_folder, "is damaged")
    assert not (tmp_path / "trapped").exists()


def test_links_are_not_followed(model_folder, tmp_path):
    array = model_folder / f"{ROWS}.npy"
    shutil.move(array, tmp_path / "outside.npy")
    array.symlink_to(tmp_path / "outside.npy")
    refused(model_folder, "is a link or not a plain file")


def test_a_lying_header_takes_no_memory(model_folder):
    array = model_folder / f"{ROWS}.npy"
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (%d, 7), }" % 10**12
    array.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(1024))
    tracemalloc.start()
    refused(model_folder, r"\.npy")
    assert tracemalloc.get_traced_memory()[1] < 5e6
    tracemalloc.stop()


def test_a_header_that_numpy_warns_of_is_refused_without_a_warning(model_folder):
    array = model_folder / f"{ROWS}.npy"
    array.write_bytes(array.read_bytes().replace(b"<f8", b"<a8"))
    refused(model_folder, "expected float64")


def test_a_bomb_in_an_archive_takes_no_memory(model_folder, tmp_path):
    content = json.loads((model_folder / "model.json").read_text())
    n_rows = 2**22
    content["arrays"][ROWS]["shape"] = [n_rows, 7]
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.json", json.dumps(content))
        archive.writestr(f"{ROWS}.npy", bytes(10**7))
        for other in model_folder.glob("*.npy"):
            if other.stem != ROWS:
                archive.write(other, other.name)
    tracemalloc.start()
    refused(bomb, "truncated or was exchanged")
    with pytest.raises(ModelFileError, match="pass a larger max_bytes if you trust it"):
        Annotator.load(bomb, max_bytes=10**6)
    assert tracemalloc.get_traced_memory()[1] < 5e6
    tracemalloc.stop()


ARCHIVES = {
    "a path upwards": ({"../model.json": b"{}"}, "not a tagrank model"),
    "several folders": ({"a/model.json": b"{}", "b/x.npy": b""}, "several folders"),
    "the same name twice": ({"a/model.json": b"{}", "b/model.json": b"{}"}, "twice"),
    "nothing": ({}, "model.json is missing"),
}


@pytest.mark.parametrize("name", ARCHIVES)
def test_odd_archives(name, tmp_path):
    members, match = ARCHIVES[name]
    with zipfile.ZipFile(tmp_path / "odd.zip", "w") as archive:
        for member, data in members.items():
            archive.writestr(member, data)
    refused(tmp_path / "odd.zip", match)


def test_damaged_archives(model_folder, tmp_path):
    whole = (tmp_path / "model.zip", shutil.make_archive(str(tmp_path / "model"), "zip", model_folder))[0]
    data = whole.read_bytes()
    rng = np.random.default_rng(0)
    for cut in rng.integers(0, len(data), 20):
        whole.write_bytes(data[:cut])
        refused(whole, "damaged or truncated archive|is missing")
    for place in rng.integers(0, len(data), 60):
        broken = bytearray(data)
        broken[place] ^= 1 << int(rng.integers(8))
        whole.write_bytes(broken)
        with contextlib.suppress(ModelFileError):
            Annotator.load(whole)


def test_nothing_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        Annotator.load(tmp_path / "none")
    (tmp_path / "empty").mkdir()
    refused(tmp_path / "empty", "model.json is missing")
    (tmp_path / "notes.txt").write_text("hello")
    refused(tmp_path / "notes.txt", "damaged or truncated archive")


ODD_VALUES = [None, True, -1, 2**62, 1e300, "../x", [], {"kind": "eval"}]


def places(value, path=()):
    """Where every value inside a JSON value stands."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from places(item, (*path, key))


@pytest.mark.parametrize("odd", ODD_VALUES, ids=lambda value: repr(value)[:12])
def test_any_value_may_be_odd(odd, model_folder, collection):
    """Each value of model.json in turn; what still loads also annotates."""
    path = model_folder / "model.json"
    whole = path.read_text()
    n_refused = 0
    for place in places(json.loads(whole)):
        if place[:2] == ("training", "names") and len(place) > 2 and place[2] > 1:
            continue
        edit(model_folder, setter(*place, value=odd))
        try:
            loaded = Annotator.load(model_folder)
        except ModelFileError:
            n_refused += 1
        else:
            assert len(loaded.annotate(collection, n_tags=1)) == len(collection)
        path.write_text(whole)
    assert n_refused > 100
