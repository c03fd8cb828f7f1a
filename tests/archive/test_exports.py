"""The complete tags of an archive as a list: read back the same, in the form that the list had."""

import os
from pathlib import Path

import pytest

from tagrank.archive import Answer, Archive, decided_collection
from tagrank.archive.exports import export_sidecars, export_tags, list_path, tag_list_bytes
from tagrank.data import read_collection, read_pictures
from tagrank.data.writers.originals import kept_at
from tagrank.errors import ArgumentError
from tagrank.files import FileError

LISTS = {
    "tags.csv": "image,tags\na.png,sky|sea\nb.png,sea\nsub/c.png,\nsub/d.png,boat|sky\ne.png,\n",
    "quoted tags.csv": '"image","tags"\n"a.png","sky|sea"\n"b.png","sea"\n"sub/d.png","boat|sky"\n',
    "captions tags.csv": "tags;caption;image\nsky|sea;A, b;a.png\nsea;;b.png\nboat|sky;d;sub/d.png\n",
    "windows tags.csv": "\ufeffimage,tags\r\na.png,sky|sea\r\nb.png,sea\r\nsub\\d.png,boat|sky\r\n",
    "long tags.csv": "image,tags\na.png,sky\na.png,sea\nb.png,sea\nsub/d.png,boat\nsub/d.png,sky\n",
    "wide tags.csv": "image,part,tag:sky,tag:sea,tag:boat\na.png,train,1,1,0\nb.png,train,0,1,0\n"
    "sub/d.png,test,1,0,1\n",
    "tags.jsonl": '{"image": "a.png", "tags": ["sky", "sea"], "by": "x"}\n{"image": "b.png","tags":["sea"]}\n'
    '\n{"image": "sub/d.png", "tags": ["boat", "sky"]}',
}


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("TAGRANK_STATE", str(tmp_path / "state"))


def present(archive):
    return {picture.name: set(picture.present) for picture in archive.picture_tags() if picture.present}


def of_collection(collection):
    states = zip(collection.names, collection.states(), strict=True)
    rows = {name: {collection.tags[j] for j in (row == 1).nonzero()[0]} for name, row in states}
    return {name: tags for name, tags in rows.items() if tags}


@pytest.fixture
def decided(archive, number):
    answers = [
        Answer(number("a.png"), "boat", "yes"),
        Answer(number("a.png"), "sky", "no"),
        Answer(number("e.png"), 'a|b, "c"', "yes"),
    ]
    archive.decide(answers, who="anna", request="1")
    return archive


@pytest.mark.parametrize("name", ["all.csv", "all.jsonl", "deep/er/all.csv"])
def test_a_new_list_reads_back(decided, photos, tmp_path, name):
    path = tmp_path / "lists" / name
    tried = export_tags(decided, path, dry_run=True)
    assert not path.exists()
    done = export_tags(decided, path)
    assert (done.action, done.changes, done.kept) == ("create", tried.changes, None)
    collection = read_collection(path)
    assert [os.path.relpath(picture, photos) for picture in collection.view("pictures")] == [
        picture.name for picture in decided.picture_tags()
    ]
    expected = {str(photos / name): tags for name, tags in present(decided).items()}
    states = zip(collection.view("pictures"), collection.states(), strict=True)
    rows = {picture: {collection.tags[j] for j in (row == 1).nonzero()[0]} for picture, row in states}
    assert {picture: tags for picture, tags in rows.items() if tags} == expected
    assert export_tags(decided, path).action == "keep"


@pytest.mark.parametrize("kind", LISTS)
def test_the_list_of_the_folder_is_completed_in_its_form(photos, kind):
    name = kind.rpartition(" ")[2]
    (photos / "tags.csv").unlink()
    path = photos / name
    before = LISTS[kind].encode()
    path.write_bytes(before)
    with Archive.open(photos) as archive:
        archive.scan()
        assert export_tags(archive, path).action == "keep"
        assert path.read_bytes() == before
        ids = {picture.name: picture.id for picture in archive.picture_tags()}
        answers = [Answer(ids["a.png"], "boat", "yes"), Answer(ids["a.png"], "sky", "no")]
        archive.decide([*answers, Answer(ids["e.png"], "harbour", "yes")], who="anna", request="1")
        expected = present(archive)
        done = export_tags(archive, path)
        assert [(one.name, one.added, one.removed) for one in done.changes] == [
            ("a.png", ("boat",), ("sky",)),
            ("e.png", ("harbour",), ()),
        ]
        assert of_collection(read_pictures(photos)) == expected
        assert of_collection(decided_collection(read_pictures(photos), photos)) == expected
        archive.scan()
        assert present(archive) == expected
        assert Path(done.kept).read_bytes() == before == kept_at(path).read_bytes()
        # what was taken back goes out of the list, too
        archive.undo(who="anna", request="2")
        archive.scan()
        assert present(archive) == {"a.png": {"sky", "sea"}, "b.png": {"sea"}, "sub/d.png": {"boat", "sky"}}
        done = export_tags(archive, path)
        assert [(one.name, one.added, one.removed) for one in done.changes] == [
            ("a.png", ("sky",), ("boat",)),
            ("e.png", (), ("harbour",)),
        ]
        archive.scan()
        assert export_tags(archive, path).action == "keep"
    new = path.read_bytes()
    old_lines, new_lines = before.split(b"\n"), new.split(b"\n")
    if "wide" not in kind:
        # lines that say the same are the same
        assert "jsonl" in kind or old_lines[0] == new_lines[0]
        assert [line for line in old_lines if b"b.png" in line] == [
            line for line in new_lines if b"b.png" in line
        ]
    assert (b"\r\n" in new) == (b"\r\n" in before)
    assert new.startswith(b"\xef\xbb\xbf") == before.startswith(b"\xef\xbb\xbf")


def test_columns_and_other_cells_stay(photos):
    (photos / "tags.csv").write_text(LISTS["captions tags.csv"])
    with Archive.open(photos) as archive:
        archive.scan()
        number = next(picture.id for picture in archive.picture_tags() if picture.name == "a.png")
        archive.decide([Answer(number, "boat", "yes")], who="anna", request="1")
        export_tags(archive, photos / "tags.csv")
    assert (photos / "tags.csv").read_text() == LISTS["captions tags.csv"].replace(
        "sky|sea;", "sky|sea|boat;"
    )


def test_a_new_tag_is_a_new_column(photos):
    (photos / "tags.csv").write_text(LISTS["wide tags.csv"])
    with Archive.open(photos) as archive:
        archive.scan()
        number = next(picture.id for picture in archive.picture_tags() if picture.name == "b.png")
        archive.decide([Answer(number, "dog", "yes"), Answer(number, "sea", "skip")], who="anna", request="1")
        export_tags(archive, photos / "tags.csv")
    assert (photos / "tags.csv").read_text().splitlines() == [
        "image,part,tag:sky,tag:sea,tag:boat,tag:dog",
        "a.png,train,1,1,0,0",
        "b.png,train,0,,0,1",
        "sub/d.png,test,1,0,1,0",
    ]


def test_a_list_and_sidecars_together(decided, photos):
    expected = present(decided)
    export_sidecars(decided)
    export_tags(decided, photos / "tags.csv")
    assert of_collection(decided_collection(read_pictures(photos), photos)) == expected
    decided.scan()
    assert present(decided) == expected
    decided.undo(who="anna", request="2")
    assert "e.png" not in present(decided)
    assert export_tags(decided, photos / "tags.csv").n_removed == 2
    export_sidecars(decided)
    decided.scan()
    assert present(decided)["a.png"] == {"sea", "sky"}


def test_what_cannot_be_written(decided, photos, tmp_path):
    with pytest.raises(FileError, match=r"written as \.csv or \.jsonl"):
        export_tags(decided, tmp_path / "tags.txt")
    (tmp_path / "linked.csv").symlink_to(photos / "tags.csv")
    with pytest.raises(FileError, match="is a link"):
        export_tags(decided, tmp_path / "linked.csv")


def test_lists_that_are_read_together_are_not_contradicted(decided, photos):
    (photos / "tags.csv").rename(photos / "train_tags.csv")
    (photos / "test_tags.csv").write_text("image,tags\n")
    for name in ("tags.csv", "train_tags.csv"):
        with pytest.raises(ArgumentError, match="has another list"):
            export_tags(decided, photos / name)
    assert not (photos / "tags.csv").exists()


def test_the_list_of_a_folder(archive, photos):
    assert list_path(archive) == photos / "tags.csv"
    (photos / "tags.csv").rename(photos / "our_tags.csv")
    assert list_path(archive) == photos / "our_tags.csv"
    (photos / "our_tags.csv").unlink()
    assert list_path(archive) == photos / "tags.csv"
    assert tag_list_bytes(archive).startswith(b"image,tags\n")


@pytest.mark.parametrize(
    "content", [b"\xff\xfe", b"", b"one,two\n1,2\n", b"image,tags\na.png\n", b'image,tags\n"a.png,sky\n']
)
def test_a_file_that_is_no_list_is_left_alone(decided, tmp_path, content):
    path = tmp_path / "x.csv"
    path.write_bytes(content)
    with pytest.raises(FileError, match=r"x\.csv"):
        export_tags(decided, path)
    assert path.read_bytes() == content
