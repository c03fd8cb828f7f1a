"""Places that cannot be written are found before the work, and named as the user named them."""

import errno
import os
import sys

import numpy as np
import pytest

from tagrank.commands.demo import demo
from tagrank.commands.destinations import check_apart, check_distinct, check_file, check_folder, check_page
from tagrank.commands.missing.missing import missing
from tagrank.commands.train import train
from tagrank.data import list_datasets
from tagrank.errors import ArgumentError


@pytest.mark.skipif(sys.platform != "linux", reason="there is a folder that takes no files")
@pytest.mark.parametrize("check", [check_file, check_folder])
def test_a_folder_that_takes_no_files(check):
    with pytest.raises(OSError, match=r"/proc/deep/m cannot be written: .* choose another place"):
        check("/proc/deep/m")


@pytest.mark.parametrize(
    ("number", "words"),
    [(errno.EROFS, "no file can be created"), (errno.EACCES, "no permission to write to")],
)
def test_the_message_names_the_wanted_path(tmp_path, monkeypatch, number, words):
    def refuse(**_):
        raise OSError(number, os.strerror(number), str(tmp_path / ".tagrank-abc"))

    monkeypatch.setattr("tempfile.mkdtemp", refuse)
    with pytest.raises(OSError, match=words) as caught:
        check_file(tmp_path / "new" / "a.csv")
    assert str(caught.value).startswith(f"{tmp_path / 'new' / 'a.csv'} cannot be written")


def test_nothing_is_left_behind(tmp_path):
    check_file(tmp_path / "a.csv")
    check_folder(tmp_path / "deep" / "model")
    assert list(tmp_path.iterdir()) == []


def test_two_outputs_in_one_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check_distinct(output="a.csv", page=None)
    check_distinct(output="a.csv", page="b.html")
    with pytest.raises(ArgumentError, match=r"output=a.csv and page=./a.csv are the same file"):
        check_distinct(output="a.csv", page="./a.csv")
    with pytest.raises(ArgumentError, match="are the same file"):
        missing("nowhere.csv", "a.csv", page=tmp_path / "a.csv")


def spelled(kind, path):
    """Another spelling of a file that is there."""
    if kind == "dots":
        return path.parent / ".." / path.parent.name / path.name
    other = path.with_name(f"other{path.suffix}")
    if kind == "link":
        other.symlink_to(path)
    elif kind == "hard link":
        os.link(path, other)
    return other if "link" in kind else path


@pytest.mark.parametrize("kind", ["itself", "dots", "link", "hard link"])
def test_what_is_read_is_not_replaced(tmp_path, kind):
    table = tmp_path / "my.csv"
    table.write_text("a,tag:sky\n1,1\n")
    with pytest.raises(ArgumentError, match=r"output=.*\.csv would overwrite the input .*my\.csv"):
        check_apart("model", ["photos", table], output=spelled(kind, table))
    check_apart(table, 3, None, output=tmp_path / "new.csv", page=None)


def test_the_list_of_tags_in_a_folder_is_read(tmp_path):
    for name in ("tags.csv", "ranked.csv"):
        (tmp_path / name).write_text("image,tags\na.jpg,sky\n")
    check_apart(tmp_path, output=tmp_path / "ranked.csv")
    with pytest.raises(ArgumentError, match="would overwrite the input"):
        check_apart(tmp_path, output=tmp_path / "tags.csv")


def test_files_of_a_data_set_are_read(tmp_path, monkeypatch):
    """A set that is used by name lies in files as any other."""
    entry = next(entry for entry in list_datasets() if any(name.endswith(".csv") for name in entry.files))
    folder = tmp_path / entry.folder
    for name in entry.files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    monkeypatch.setenv("TAGRANK_DATA", str(tmp_path))
    output = folder / next(name for name in entry.files if name.endswith(".csv"))
    with pytest.raises(ArgumentError, match="would overwrite the input"):
        check_apart(entry.name, output=output)


def test_a_folder_around_what_is_read_is_not_replaced(tmp_path):
    (tmp_path / "model").mkdir()
    np.save(tmp_path / "model" / "prior.npy", np.eye(2))
    with pytest.raises(ArgumentError, match="would overwrite the input"):
        check_apart(tmp_path / "model" / "prior.npy", output=tmp_path / "model")
    check_apart(tmp_path, output=tmp_path / "model")


def test_only_pages_are_replaced_by_pages(tmp_path):
    """A page has no ending of its own, so it could be written over a picture or a model's file."""
    for name in ("a.jpg", "page.html"):
        (tmp_path / name).write_text("")
    check_page(tmp_path / "page.html")
    check_page(tmp_path / "new")
    with pytest.raises(ArgumentError, match=r"a\.jpg exists and is not an HTML page"):
        check_page(tmp_path / "a.jpg")


def test_the_top_of_the_file_system():
    with pytest.raises(ValueError, match=r"^/: exists and is not a model"):
        train("nowhere.csv", "/")


@pytest.mark.parametrize("name", ["model", "report.html"])
def test_demo_looks_into_its_folder_before_it_draws(tmp_path, monkeypatch, name):
    """What is in the way of the model or of the report is found at once."""
    (tmp_path / name).mkdir()
    (tmp_path / name / "mine.txt").write_text("mine")
    monkeypatch.setattr("tagrank.data.drawn_pictures.draw_pictures", lambda *_, **__: pytest.fail("worked"))
    with pytest.raises((OSError, ValueError), match=r"is not a model|is a folder"):
        demo(tmp_path)
