"""A model is saved whole or not at all, and never over anything but a model."""

import errno
import os

import numpy as np
import pytest

from tagrank.annotation import Annotator, ModelFileError
from tagrank.annotation.model_files import atomic_folder
from tagrank.estimators import LabelFrequency


@pytest.fixture
def other(make_collection):
    return Annotator(LabelFrequency()).fit(make_collection(seed=5))


def full_disk(*_, **__):
    raise OSError(errno.ENOSPC, "no space left on device")


def test_a_new_model_replaces_an_older_one(model_folder, other, collection):
    other.save(model_folder)
    assert Annotator.load(model_folder).annotate(collection) == other.annotate(collection)
    assert [path.name for path in model_folder.parent.iterdir()] == ["model"]
    assert not list(model_folder.glob("estimator.estimator*"))


def no_exchange(*_):
    raise OSError(errno.EINVAL, "names cannot be exchanged here")


@pytest.mark.parametrize("place", ["array", "text", "sync", "exchange", "second rename"])
def test_a_full_disk_leaves_the_older_model(place, model_folder, fitted, other, collection, monkeypatch):
    calls = []

    def fail_second(function):
        def wrapped(*arguments, **options):
            calls.append(arguments)
            return full_disk() if len(calls) == 2 else function(*arguments, **options)

        return wrapped

    if place == "array":
        write_header = np.lib.format.write_array_header_1_0
        monkeypatch.setattr(np.lib.format, "write_array_header_1_0", fail_second(write_header))
    elif place == "text":
        monkeypatch.setattr("pathlib.Path.write_bytes", full_disk)
    elif place == "exchange":
        monkeypatch.setattr(atomic_folder, "_exchange", full_disk)
    elif place == "sync":
        monkeypatch.setattr(os, "fsync", fail_second(os.fsync))
    else:
        monkeypatch.setattr(atomic_folder, "_exchange", no_exchange)
        monkeypatch.setattr(os, "rename", fail_second(os.rename))
    with pytest.raises(OSError, match="no space left") as caught:
        other.save(model_folder)
    assert caught.value.filename == str(model_folder)
    monkeypatch.undo()
    assert [path.name for path in model_folder.parent.iterdir()] == ["model"]
    assert Annotator.load(model_folder).annotate(collection) == fitted.annotate(collection)


def test_a_full_disk_leaves_no_debris(tmp_path, other, monkeypatch):
    monkeypatch.setattr(np.lib.format, "write_array_header_1_0", full_disk)
    with pytest.raises(OSError, match="no space left"):
        other.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_permission_is_named_as_it_was_given(tmp_path, other, monkeypatch):
    def forbidden(path, *_, **__):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr("pathlib.Path.mkdir", forbidden)
    monkeypatch.setattr(os, "mkdir", forbidden)
    with pytest.raises(PermissionError) as caught:
        other.save(tmp_path / "model")
    assert caught.value.filename in (str(tmp_path), str(tmp_path / "model"))


def test_something_that_came_while_the_model_was_written_is_left_alone(tmp_path, other, monkeypatch):
    write = type(tmp_path).write_bytes

    def write_slowly(path, data):
        (tmp_path / "model").mkdir()
        write(tmp_path / "model" / "letter.txt", b"mine")
        return write(path, data)

    monkeypatch.setattr("pathlib.Path.write_bytes", write_slowly)
    with pytest.raises(ModelFileError, match="exists and is not a model"):
        other.save(tmp_path / "model")
    assert [path.name for path in tmp_path.rglob("*")] == ["model", "letter.txt"]


def test_only_strays_of_this_model_are_swept(tmp_path, other):
    token = "0123456789ab"
    for name in (f".model.{token}.part", f".model.{token}.old", f".other.{token}.part", ".model.mine.part"):
        (tmp_path / name).mkdir()
    (tmp_path / f".model.{token}0.part").write_text("a file")
    other.save(tmp_path / "model")
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == [f".model.{token}0.part", ".model.mine.part", f".other.{token}.part", "model"]


def test_the_folder_of_a_living_saver_is_not_swept(tmp_path, other):
    with atomic_folder.atomic_folder(tmp_path / "model") as folder:
        other.save(tmp_path / "model")
        assert folder.is_dir()
        (folder / "model.json").write_text("the later one")
    assert [path.name for path in tmp_path.rglob("*")] == ["model", "model.json"]


def test_a_model_set_aside_by_a_killed_saver_opens(model_folder, fitted, collection):
    model_folder.rename(model_folder.with_name(".model.0123456789ab.old"))
    assert Annotator.load(model_folder).annotate(collection) == fitted.annotate(collection)


def test_strangers_are_left_alone(tmp_path, other):
    holiday = tmp_path / "holiday"
    holiday.mkdir()
    (holiday / "beach.jpg").write_bytes(b"picture")
    with pytest.raises(ModelFileError, match="exists and is not a model; choose another name"):
        other.save(holiday)
    (holiday / "model.json").write_text('{"format": "something else"}')
    with pytest.raises(ModelFileError, match="exists and is not a model"):
        other.save(holiday)
    with pytest.raises(ModelFileError, match="is a file"):
        other.save(holiday / "beach.jpg")
    assert (holiday / "beach.jpg").read_bytes() == b"picture"


def test_a_model_with_other_files_is_left_alone(model_folder, other):
    (model_folder / "notes.txt").write_text("mine")
    with pytest.raises(ModelFileError, match=r"no part of the model \(notes.txt\)"):
        other.save(model_folder)
    assert (model_folder / "notes.txt").read_text() == "mine"


def test_new_folders_empty_folders_and_links(tmp_path, other, collection):
    (tmp_path / "empty").mkdir()
    other.save(tmp_path / "empty")
    other.save(tmp_path / "deep" / "er" / "model")
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    other.save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    for folder in ("empty", "deep/er/model", "link"):
        assert Annotator.load(tmp_path / folder).annotate(collection) == other.annotate(collection)


def test_what_cannot_be_stored_leaves_nothing(tmp_path, collection):
    annotator = Annotator(LabelFrequency()).fit(collection)
    annotator.metadata["trouble"] = object()
    with pytest.raises(TypeError, match="cannot be written as JSON"):
        annotator.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []
