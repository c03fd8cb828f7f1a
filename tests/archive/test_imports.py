"""Decisions leave as lists and sidecars, and come back as they were."""

import csv
import os

import pytest
from PIL import Image

from tagrank.archive import Answer, Archive, decided_collection
from tagrank.archive.exports import export_lines, export_sidecars
from tagrank.archive.imports import import_answers
from tagrank.data import read_keywords, read_pictures, read_sidecar, write_sidecar
from tagrank.data.writers.sidecar_tags import add_machine_tags, new_run
from tagrank.files import FileError


@pytest.fixture
def decided(archive, number):
    archive.decide(
        [
            Answer(number("a.png"), "boat", "yes"),
            Answer(number("a.png"), "sky", "no"),
            Answer(number("e.png"), "=cmd|'/C calc'!A0", "yes"),
        ],
        who="anna",
        request="1",
        queue="missing",
    )
    archive.decide([Answer(number("b.png"), "sky", "skip")], who="ben", request="2")
    return archive


def answers(archive):
    return {
        (archive.picture(picture).name, tag): (state.answer, state.who)
        for picture in archive.pictures().ids.tolist()
        for tag, state in archive.states_of(picture).items()
        if state.answer
    }


@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_a_list_comes_back_as_it_was(decided, photos, tmp_path, format):
    expected = answers(decided)
    content = "".join(export_lines(decided, format)).encode()
    with Archive.open(photos, database=tmp_path / "other.sqlite") as other:
        other.scan()
        tried = import_answers(other, content, format=format, dry_run=True)
        assert answers(other) == {}
        assert len(tried.changes) == 4
        done = import_answers(other, content, format=format)
        assert answers(other) == expected
        assert (done.changes, done.problems) == (tried.changes, tried.problems)
        assert import_answers(other, content, format=format).changes == []
        other.undo(who="anna", request="all of hers in one step")
        assert answers(other) == {("b.png", "sky"): ("skip", "ben")}


def test_no_cell_is_a_formula(decided):
    rows = list(csv.reader(export_lines(decided, "csv")))
    assert rows[0] == ["name", "content", "tag", "state", "answer", "by", "at", "queue"]
    assert [row[2] for row in rows if row[0] == "e.png"] == ["'=cmd|'/C calc'!A0"]
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row)


def test_a_picture_is_found_by_its_content(decided, photos, tmp_path):
    content = "".join(export_lines(decided, "jsonl")).encode()
    os.rename(photos / "a.png", photos / "elsewhere.png")
    with Archive.open(photos, database=tmp_path / "other.sqlite") as other:
        other.scan()
        import_answers(other, content, format="jsonl")
        assert answers(other)["elsewhere.png", "boat"] == ("yes", "anna")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("tags.csv", "image,tags\na.png,sky|harbour\nb.png,\n"),
        ("tags.csv", "image,tag:sky,tag:harbour\na.png,1,1\nb.png,?,\n"),
        ("tags.jsonl", '{"image": "a.png", "tags": ["sky", "harbour"]}\n{"image": "b.png", "tags": []}\n'),
    ],
)
def test_a_list_of_tags_says_yes(archive, tmp_path, name, content):
    (tmp_path / name).write_text(content)
    done = import_answers(archive, tmp_path / name, who="carla")
    assert [(change.name, change.tag, change.before, change.after) for change in done.changes] == [
        ("a.png", "harbour", "unknown", "present")
    ]
    assert answers(archive) == {("a.png", "harbour"): ("yes", "carla")}


def test_lines_that_cannot_be_used_are_listed(archive):
    content = b"name,tag,answer\nnowhere.png,sky,yes\n../../a.png,sky,yes\na.png,a\x01b,yes\nb.png,sky,yes\n"
    done = import_answers(archive, content, format="csv")
    assert [change.name for change in done.changes] == ["b.png"]
    assert [problem.reason[:7] for problem in done.problems] == ["line 2:", "line 3:", "line 4:"]


@pytest.mark.parametrize(
    ("content", "format", "words"),
    [
        (b"name,tag,answer\na.png,sky,perhaps\n", "csv", "line 2: answer must be one of"),
        (b"name,tag,answer\na.png,sky\n", "csv", "another number of columns"),
        (b"one,two\n1,2\n", "csv", "expected name, tag and answer"),
        (b"\xff\xfe\x00", "csv", "UTF-8"),
        (b"name,tag,answer\na.png," + b"x" * 200_000 + b",yes\n", "csv", "is not CSV"),
        (b"[1, 2]\n", "jsonl", "expected name, tag and answer"),
        (b"{]\n", "jsonl", "line 1"),
        (b'{"name": "a.png", "tags": [1]}\n', "jsonl", "list of texts"),
        (b'{"name": {"a": 1}, "tag": "x", "answer": "yes"}\n', "jsonl", "as texts"),
    ],
)
def test_what_is_no_list_is_refused_whole(archive, content, format, words):
    with pytest.raises(FileError, match=words):
        import_answers(archive, b"" + content, format=format)
    assert archive.last_decision() == 0


def test_a_list_is_bounded(archive):
    with pytest.raises(FileError, match="bytes of memory"):
        import_answers(
            archive, b"name,tag,answer\n" + b"a.png,sky,yes\n" * 100, format="csv", max_bytes=10_000
        )


def test_new_sidecars_hold_all_present_tags(decided, photos):
    tried = export_sidecars(decided, dry_run=True)
    assert not list(photos.rglob("*.xmp"))
    done = export_sidecars(decided)
    assert done.changes == tried.changes
    assert [(os.path.basename(change.sidecar), change.tags, change.action) for change in done.changes] == [
        ("a.png.xmp", ("boat", "sea"), "create"),
        ("e.png.xmp", ("=cmd|'/C calc'!A0",), "create"),
    ]
    assert read_keywords(photos / "a.png") == ["boat", "sea"]
    assert export_sidecars(decided).changes == []


def test_sidecars_are_merged(decided, photos, number):
    write_sidecar(photos / "a.png", ["holiday"])
    add_machine_tags(photos / "a.png", {"boat": 0.9, "sky": 0.8}, run=new_run())
    before = {path: path.read_bytes() for path in photos.rglob("*.png")}
    (change, _) = export_sidecars(decided).changes
    assert (change.tags, change.removed, change.action) == (("sea", "boat"), ("sky",), "change")
    # boat is a person's now; sky, which a machine made, was rejected
    assert read_sidecar(photos / "a.png.xmp").flat == ("holiday", "boat", "sea")
    assert read_sidecar(photos / "a.png.xmp", machine_tags=True).flat == ("holiday", "boat", "sea")
    assert {path: path.read_bytes() for path in photos.rglob("*.png")} == before


def test_keywords_inside_a_picture_count(photos, tmp_path):
    packet = write_sidecar(photos / "a.png", ["boat", "harbour"]).read_bytes()
    (photos / "a.png.xmp").unlink()
    for name, colour in (("f.jpg", "red"), ("g.jpg", "blue")):
        Image.new("RGB", (20, 20), colour).save(photos / name, xmp=packet)
    with Archive.open(photos) as archive:
        archive.scan()
        table = archive.pictures()
        f, g = (int(table.ids[table.names.index(name)]) for name in ("f.jpg", "g.jpg"))
        answers = [Answer(f, "boat", "yes"), Answer(g, "boat", "yes"), Answer(g, "sky", "yes")]
        archive.decide(answers, who="anna", request="1")
        (change,) = export_sidecars(archive).changes
    assert (os.path.basename(change.picture), change.tags, change.present) == ("g.jpg", ("sky",), ("boat",))
    # programs that find a sidecar look no further: it takes over what stands inside
    assert read_sidecar(photos / "g.jpg.xmp").flat == ("boat", "harbour", "sky")


def test_sidecars_do_not_hide_that_folders_are_tags(photos):
    (photos / "tags.csv").unlink()
    (photos / "beach").mkdir()
    for path in photos.glob("*.png"):
        path.rename(photos / "beach" / path.name)
    with Archive.open(photos) as archive:
        archive.scan()
        archive.decide([Answer(1, "boat", "yes")], who="anna", request="1")
        expected = archive.tag_counts().present.tolist()
        export_sidecars(archive)
        archive.scan()
        assert archive.tags() == ["beach", "sub", "boat"]
        assert archive.tag_counts().present.tolist() == expected == [3, 2, 1]
    assert decided_collection(read_pictures(photos), photos).tag_counts().tolist() == expected


def test_a_damaged_sidecar_is_left_alone(decided, photos):
    (photos / "a.png.xmp").write_text("<not xml")
    done = export_sidecars(decided)
    assert [os.path.basename(change.picture) for change in done.changes] == ["e.png"]
    assert [os.path.basename(problem.path) for problem in done.problems] == ["a.png"]
    assert (photos / "a.png.xmp").read_text() == "<not xml"


def test_no_sidecar_for_another_picture_of_that_name(decided, photos):
    os.replace(photos / "b.png", photos / "a.png")
    os.remove(photos / "e.png")
    done = export_sidecars(decided)
    assert done.changes == []
    assert ["has changed" in done.problems[0].reason, "no longer exists" in done.problems[1].reason] == [
        True,
        True,
    ]
