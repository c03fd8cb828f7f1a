"""`tagrank backup`, `tagrank restore`, and `tagrank import` of the file of another copy."""

import itertools
import shutil
import sqlite3

import pytest
from PIL import Image

from tagrank.archive import Answer, Archive
from tagrank.data.drawn_pictures import draw_pictures

words = itertools.count()
FILE = ".tagrank/desk.sqlite"


@pytest.fixture
def photos(tmp_path, monkeypatch):
    """An archive about which one thing was decided."""
    folder = tmp_path / "photos"
    folder.mkdir()
    for name, pixels in zip("ab", draw_pictures(2, size=32).view("pictures"), strict=True):
        Image.fromarray(pixels).save(folder / f"{name}.png")
    (folder / "tags.csv").write_text("image,tags\na.png,sky\nb.png,sea\n")
    say(folder, "a.png", "boat", "yes")
    monkeypatch.chdir(tmp_path)
    return folder


def say(folder, name, tag, answer, who="anna"):
    with Archive.open(folder) as archive:
        archive.scan()
        table = archive.pictures()
        picture = int(table.ids[table.names.index(name)])
        archive.decide([Answer(picture, tag, answer)], who=who, request=f"say {next(words)}")


def answers(folder):
    """What the file with the decisions says, by picture and tag."""
    with sqlite3.connect(folder / FILE) as connection:
        rows = connection.execute(
            "SELECT pictures.name, tags.name, cells.answer FROM cells JOIN pictures ON pictures.id = picture "
            "JOIN tags ON tags.id = cells.tag WHERE cells.answer IS NOT NULL"
        ).fetchall()
    connection.close()
    return {(name, tag): answer for name, tag, answer in rows}


def test_backup_and_restore(tagrank, photos, tmp_path):
    done = tagrank("backup", photos, "-o", "safe/copy.sqlite")
    assert done.exit_code == 0, done.output
    assert "1 decision saved to safe/copy.sqlite; 'tagrank restore' restores them" in done.stderr
    say(photos, "b.png", "boat", "no")
    assert len(answers(photos)) == 2
    back = tagrank("restore", photos, "safe/copy.sqlite")
    assert back.exit_code == 0, back.output
    assert "1 decision restored; the replaced decisions are in" in " ".join(back.stderr.split())
    assert answers(photos) == {("a.png", "boat"): 1}
    (kept,) = (photos / ".tagrank").glob("desk-until-*.sqlite")
    assert kept.name in back.stderr.replace("\n", "")
    # what was put aside is a copy, too
    assert tagrank("restore", photos, kept).exit_code == 0
    assert len(answers(photos)) == 2


def test_a_copy_is_named_after_the_archive_and_the_day(tagrank, photos, tmp_path):
    assert tagrank("backup", photos).exit_code == 0
    (made,) = tmp_path.glob("*.sqlite")
    assert made.name.startswith("photos-decisions-2")


def test_restore_where_nothing_was_decided(tagrank, photos, tmp_path):
    tagrank("backup", photos, "-o", "copy.sqlite")
    shutil.rmtree(photos / ".tagrank")
    back = tagrank("restore", photos, "copy.sqlite")
    assert back.exit_code == 0, back.output
    assert "what was there" not in back.stderr
    assert answers(photos) == {("a.png", "boat"): 1}


def test_while_a_desk_is_open(tagrank, photos, tmp_path):
    """A copy is made then; nothing is put in its place."""
    other = tmp_path / "other.sqlite"
    tagrank("backup", photos, "-o", other)
    with Archive.open(photos, lock=True):
        assert tagrank("backup", photos, "-o", "open.sqlite").exit_code == 0
        for command in (("restore", photos, other), ("import", photos, other)):
            refused = tagrank(*command)
            assert refused.exit_code == 1
            assert "desk" in refused.stderr
            assert "Traceback" not in refused.output
    assert answers(photos) == {("a.png", "boat"): 1}
    assert list((photos / ".tagrank").glob("desk-until-*")) == []


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("backup", "photos", "-o", "copy.csv"), 2, "is a .sqlite file, got 'copy.csv'"),
        (("backup", "photos", "-o", f"photos/{FILE}"), 2, "is the file with the decisions itself"),
        (("backup", "empty"), 1, "empty"),
        (("restore", "photos", "nowhere.sqlite"), 1, "nowhere.sqlite"),
        (("restore", "photos", "notes.sqlite"), 1, "notes.sqlite"),
        (("restore", "photos", f"photos/{FILE}"), 1, "is the file to be replaced"),
        (("restore", "nowhere", "notes.sqlite"), 1, "is not a folder"),
        (("import", "photos", "notes.sqlite"), 1, "notes.sqlite"),
        (("import", "photos", "notes.sqlite", "--who", "ben"), 2, "already names the people who decided"),
    ],
)
def test_what_is_refused(tagrank, photos, tmp_path, arguments, code, told):
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.sqlite").write_text("my notes")
    done = tagrank(*arguments)
    assert done.exit_code == code, done.output
    assert told in " ".join(done.stderr.replace("│", " ").split())
    assert "Traceback" not in done.output
    assert answers(photos) == {("a.png", "boat"): 1}
    assert (tmp_path / "notes.sqlite").read_text() == "my notes"


def test_two_copies_become_one(tagrank, photos, tmp_path):
    other = shutil.copytree(photos, tmp_path / "other")
    say(photos, "a.png", "boat", "no")
    say(other, "b.png", "boat", "yes", who="ben")
    tagrank("backup", other, "-o", "ben.sqlite")
    tried = tagrank("import", photos, "ben.sqlite", "--dry-run")
    assert tried.exit_code == 0, tried.output
    line = "1 decision and 0 changes of tags imported in 1 step; by ben"
    assert tried.stderr.strip() == f"dry run, nothing was recorded: {line}"
    assert answers(photos) == {("a.png", "boat"): -1}
    done = tagrank("import", photos, "ben.sqlite")
    assert done.exit_code == 0, done.output
    assert done.stderr.strip() == line
    assert answers(photos) == {("a.png", "boat"): -1, ("b.png", "boat"): 1}
    again = tagrank("import", photos, "ben.sqlite")
    assert again.exit_code == 0
    assert again.stderr.strip() == "0 decisions and 0 changes of tags imported in 0 steps"
    assert len(answers(photos)) == 2
