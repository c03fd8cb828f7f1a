"""Places that cannot be written are found before the work, and named as the user named them."""

import errno
import os
import sys

import pytest

from tagrank.commands.demo import demo
from tagrank.commands.destinations import check_distinct, check_file, check_folder
from tagrank.commands.missing.missing import missing
from tagrank.errors import ArgumentError


@pytest.mark.skipif(sys.platform != "linux", reason="there is a folder that takes no files")
@pytest.mark.parametrize("check", [check_file, check_folder])
def test_a_folder_that_takes_no_files(check):
    with pytest.raises(OSError, match=r"/proc/deep/m cannot be written: .* choose another place"):
        check("/proc/deep/m")


@pytest.mark.parametrize(
    ("number", "words"), [(errno.EROFS, "takes no files"), (errno.EACCES, "no permission to write into")]
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


@pytest.mark.parametrize("name", ["model", "report.html"])
def test_demo_looks_into_its_folder_before_it_draws(tmp_path, monkeypatch, name):
    """What is in the way of the model or of the report is found at once."""
    (tmp_path / name).mkdir()
    (tmp_path / name / "mine.txt").write_text("mine")
    monkeypatch.setattr("tagrank.commands.demo.draw_pictures", lambda *_, **__: pytest.fail("worked"))
    with pytest.raises((OSError, ValueError), match=r"is not a model|is a folder"):
        demo(tmp_path)
