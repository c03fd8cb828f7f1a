"""Tags are listed, changed, taken back, and written to a table that says the same elsewhere."""

import pytest
from PIL import Image

import tagrank
from tagrank.archive import Archive
from tagrank.data.drawn_pictures import draw_pictures
from tagrank.data.vocabulary import fold, read_tag_table, tag_table_lines
from tagrank.errors import ArgumentError
from tagrank.files import FileError

LISTED = {"a.png": "automobile|road", "b.png": "car", "c.png": "automobile", "d.png": "jet"}


@pytest.fixture
def photos(tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    for name, pixels in zip(LISTED, draw_pictures(len(LISTED), size=32).view("pictures"), strict=True):
        Image.fromarray(pixels).save(folder / name)
    lines = "\n".join(f"{name},{tags}" for name, tags in LISTED.items())
    (folder / "tags.csv").write_text(f"image,tags\n{lines}\n")
    return folder


def rows(photos):
    return {one.tag: one for one in tagrank.list_tags(photos).tags}


def test_a_merge_says_what_happens_and_is_taken_back(photos):
    merge = [("merge", "automobile", "car")]
    expected = ["2 pictures tagged 'automobile' become 'car'"]
    assert tagrank.change_tags(photos, merge, who="anna") == expected
    assert rows(photos)["car"].present == 3
    assert rows(photos)["car"].synonyms == ("automobile",)
    (change,) = tagrank.undo_tags(photos, who="ben")
    assert (change.tag, change.other) == ("automobile", "car")
    assert rows(photos)["automobile"].present == 2
    assert set(rows(photos)) == {"automobile", "car", "jet", "road"}
    with pytest.raises(LookupError, match="no change of tags"):
        tagrank.undo_tags(photos, who="ben")


def test_a_dry_run_records_nothing(photos):
    tagrank.change_tags(photos, [("describe", "car", "four wheels")], who="anna")
    told = tagrank.change_tags(photos, [("parent", "jet", "plane")], who="anna", dry_run=True)
    assert told == ["1 picture tagged 'jet' gets 'plane', too"]
    assert "plane" not in rows(photos)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("rename", "jet", "car"), "the tag 'car' exists already; to combine the two, merge them"),
        (("rename", "jett", "plane"), "there is no tag 'jett'; did you mean 'jet'"),
        (("merge", "jet", "plane"), "there is no tag 'plane'"),
        (("synonym", "auto", "cra"), "there is no tag 'cra'"),
        (("no synonym", "car"), "is not a synonym"),
        (("no parent", "car", "vehicle"), "is not a parent"),
        (("paint", "car"), "the change must be one of rename"),
    ],
)
def test_what_cannot_be_meant_is_said(photos, change, message):
    with pytest.raises(ArgumentError, match=message):
        tagrank.change_tags(photos, [change], who="anna")


def test_a_table_goes_out_and_comes_in_unchanged(photos, tmp_path):
    changes = [
        ("merge", "automobile", "car"),
        ("parent", "car", "vehicle"),
        ("parent", "jet", "vehicle"),
        ("describe", "vehicle", '=moves, with "wheels" | wings'),
        ("rename", "road", "a|b"),
    ]
    tagrank.change_tags(photos, changes, who="anna")
    table = tmp_path / "tags.csv"
    before = [one for one in tagrank.list_tags(photos, table).tags]
    assert tagrank.change_tags(photos, table=table, who="ben") == []
    tagrank.undo_tags(photos, who="ben")
    tagrank.change_tags(photos, table=table, who="ben")
    assert sorted(tagrank.list_tags(photos).tags) == sorted(before)
    with Archive.open(photos, read_only=True) as archive:
        assert fold(read_tag_table(table)) == archive.vocabulary()


def test_a_hierarchy_of_two_columns_is_read(tmp_path):
    path = tmp_path / "hierarchy.csv"
    path.write_text("Tag,Parent\njet,plane\nplane,vehicle\n")
    assert fold(read_tag_table(path)).above["jet"] == {"plane", "vehicle"}
    assert list(tag_table_lines([("=1", ["b"], [], "")]))[1] == "'=1,b,,\n"


@pytest.mark.parametrize("text", ["name,parent\na,b\n", "tag,parent\na\n", "tag,parent\n,b\n"])
def test_a_table_that_is_none_says_so(tmp_path, text):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(FileError, match=r"bad\.csv, line 2"):
        read_tag_table(path)
