"""Pictures that come, move, change and go are recognised, and keep what was decided about them."""

import os
import shutil
import tracemalloc

import numpy as np
import pytest
from PIL import Image

from tagrank.archive import Answer, Archive
from tagrank.archive.records import PictureFilter
from tagrank.archive.scan import _differing
from tagrank.data import read_pictures


def decide(archive, picture, tag="lighthouse"):
    archive.decide([Answer(picture, tag, "yes")], who="anna", request=f"{picture} {tag}")


def test_the_first_scan_is_what_the_reader_reads(archive, photos):
    expected = read_pictures(photos)
    collection, _, decided = archive.collection()
    order = [collection.names.index(name) for name in expected.names]
    np.testing.assert_array_equal(
        collection.label_matrix.full().toarray()[order], expected.label_matrix.full().toarray()
    )
    assert collection.tags == expected.tags
    assert len(decided[0]) == 0
    assert sorted(archive.pictures().names) == sorted(expected.names)


def test_a_second_scan_finds_nothing_new(archive):
    before = archive.pictures()
    found = archive.scan()
    assert [*found.added, *found.moved, *found.changed, *found.gone, *found.problems] == []
    assert found.n_pictures == 5
    assert archive.pictures().names == before.names


def test_a_moved_picture_keeps_its_decisions(archive, photos, number):
    decide(archive, number("a.png"))
    os.rename(photos / "a.png", photos / "sub" / "z.png")
    found = archive.scan()
    assert found.moved == [("a.png", "sub/z.png")]
    assert (found.added, found.gone) == ([], [])
    picture = archive.picture(number("a.png"))
    assert (picture.name, picture.folder) == ("sub/z.png", "sub")
    assert archive.states_of(picture.id)["lighthouse"].state == "present"


def test_two_pictures_that_change_places_are_two_moves(archive, photos, number):
    decide(archive, number("a.png"))
    os.rename(photos / "a.png", photos / "x")
    os.rename(photos / "b.png", photos / "a.png")
    os.rename(photos / "x", photos / "b.png")
    assert sorted(archive.scan().moved) == [("a.png", "b.png"), ("b.png", "a.png")]
    assert archive.picture(number("a.png")).name == "b.png"


def test_a_changed_picture_is_marked_and_keeps_its_decisions(archive, photos, number):
    decide(archive, number("a.png"))
    Image.new("RGB", (20, 30), "red").save(photos / "a.png")
    assert archive.scan().changed == ["a.png"]
    picture = archive.picture(number("a.png"))
    assert (picture.width, picture.height, picture.is_changed) == (20, 30, True)
    assert "lighthouse" in archive.states_of(picture.id)


def test_a_picture_that_went_comes_back_with_its_decisions(archive, photos, number, tmp_path):
    decide(archive, number("a.png"))
    shutil.move(photos / "a.png", tmp_path / "a.png")
    assert archive.scan().gone == ["a.png"]
    assert archive.picture(number("a.png")).is_gone
    assert "a.png" not in archive.pictures().names
    assert number("a.png") not in archive.states().pictures
    shutil.move(tmp_path / "a.png", photos / "sub" / "back.png")
    assert archive.scan().moved == [("a.png", "sub/back.png")]
    assert archive.states_of(number("a.png"))["lighthouse"].answer == "yes"


def test_another_picture_under_the_name_of_one_that_went_is_new(archive, photos, number):
    decide(archive, number("a.png"))
    os.remove(photos / "a.png")
    archive.scan()
    Image.new("RGB", (20, 30), "red").save(photos / "a.png")
    found = archive.scan()
    assert (found.added, found.changed) == (["a.png"], [])
    assert archive.picture(number("a.png")).is_gone


def test_copies_are_pictures_of_their_own(archive, photos):
    shutil.copy(photos / "a.png", photos / "copy.png")
    assert archive.scan().added == ["copy.png"]
    assert archive.pictures().names.count("copy.png") == 1


def test_tags_of_the_list_are_read_again(archive, photos, number):
    decide(archive, number("b.png"))
    (photos / "tags.csv").write_text("image,tags\nb.png,harbour\n")
    archive.scan()
    assert set(archive.states_of(number("b.png"))) == {"harbour", "lighthouse"}
    assert archive.states_of(number("a.png")) == {}
    assert not archive.picture(number("a.png")).is_tagged
    # no tag is ever removed
    assert archive.tags()[:3] == ["boat", "sea", "sky"]


def test_a_decision_outlives_the_list(archive, photos, number):
    archive.decide([Answer(number("b.png"), "sea", "no")], who="anna", request="1")
    (photos / "tags.csv").write_text("image,tags\nb.png,harbour\n")
    archive.scan()
    assert archive.states_of(number("b.png"))["sea"].state == "absent"
    archive.undo(who="anna", request="2")
    assert "sea" not in archive.states_of(number("b.png"))


def test_size_and_date_come_from_the_header(photos):
    notes = Image.Exif()
    notes[0x0112] = 6
    notes.get_ifd(0x8769)[0x9003] = "2019:07:14 12:00:00"
    Image.new("RGB", (40, 20), "blue").save(photos / "turned.jpg", exif=notes)
    os.utime(photos / "a.png", (1.6e9, 1.6e9))
    with Archive.open(photos) as archive:
        archive.scan()
        table = archive.pictures()
        turned, plain = (
            archive.picture(int(table.ids[table.names.index(n)])) for n in ("turned.jpg", "a.png")
        )
    assert (turned.width, turned.height, turned.date) == (20, 40, "2019-07-14")
    # when the file was written is no date of the picture
    assert (plain.width, plain.date) == (32, "")


def test_dates_of_files_in_archives_of_before_are_read_again(archive, photos, number):
    archive._write(lambda connection: connection.execute("UPDATE pictures SET date = '2020-09-13'"))
    archive.scan()
    assert archive.picture(number("a.png")).date == "2020-09-13"  # known to be the camera's: not read again
    archive.settings.set("dates", None)
    archive.scan()
    assert archive.picture(number("a.png")).date == ""


def test_a_picture_without_a_date_is_on_neither_side_of_one(archive, number):
    everything = archive.select(PictureFilter())
    assert everything
    for limits in ({"start": "1900-01-01"}, {"end": "2100-01-01"}):
        assert archive.select(PictureFilter(**limits)) == []
    change = "UPDATE pictures SET date = '2019-07-14' WHERE id = ?"
    archive._write(lambda connection: connection.execute(change, (number("a.png"),)))
    for limits in ({"start": "2019-07-14"}, {"end": "2019-07-14"}):
        assert archive.select(PictureFilter(**limits)) == [number("a.png")]
    assert archive.select(PictureFilter(end="2019-07-13")) == []


def test_what_cannot_be_read_is_a_problem(photos):
    (photos / "broken.jpg").write_bytes(b"no picture")
    with Archive.open(photos) as archive:
        found = archive.scan()
        assert [problem.path for problem in found.problems] == [str(photos / "broken.jpg")]
        assert "broken.jpg" in archive.pictures().names


def test_a_name_that_is_no_text_is_a_problem(photos):
    shutil.copy(photos / "a.png", os.fsencode(photos) + b"/\xff.png")
    with Archive.open(photos) as archive:
        (problem,) = archive.scan().problems
        assert "rename it" in problem.reason
        assert archive.count() == 5


def test_tags_that_are_no_text_are_made_text(photos):
    """They come from names of folders and from damaged JSON, and the database cannot hold them."""
    for list_file in photos.glob("tags.*"):
        list_file.unlink()
    (photos / "tags.jsonl").write_text('{"image": "a.png", "tags": ["sea\\ud800", "sky"]}\n')
    with Archive.open(photos) as archive:
        archive.scan()
        present = {tag for picture in archive.picture_tags() for tag in picture.present}
    assert {"sea\N{REPLACEMENT CHARACTER}", "sky"} <= present


def test_a_folder_without_pictures_says_so(tmp_path):
    with Archive.open(tmp_path) as archive, pytest.raises(ValueError, match="has no pictures"):
        archive.scan()


def test_a_separator_that_is_named_is_taken(photos):
    (photos / "tags.csv").write_text("image,tags\na.png,sky/sea\nb.png,sea\nsub/d.png,boat/sky\n")
    with Archive.open(photos) as archive:
        archive.scan(separator="/")
        assert sorted(archive.tags()) == ["boat", "sea", "sky"]


def test_cells_that_differ_are_found_without_a_tuple_each():
    rng = np.random.default_rng(0)
    drawn = np.unique(rng.integers(0, 60, (4_000, 3)), axis=0)
    old, new = drawn[rng.random(len(drawn)) < 0.7], drawn[rng.random(len(drawn)) < 0.7]
    only_old, only_new = _differing(rng.permutation(old), new)
    as_sets = [set(map(tuple, rows.tolist())) for rows in (old, new, only_old, only_new)]
    assert as_sets[2:] == [as_sets[0] - as_sets[1], as_sets[1] - as_sets[0]]
    np.testing.assert_array_equal(only_new, np.unique(only_new, axis=0))
    for rows in _differing(old[:0], new[:0]):
        assert rows.shape == (0, 3)
    many = np.column_stack([np.arange(200_000), np.full(200_000, 7), np.ones(200_000, dtype=np.int64)])
    tracemalloc.start()
    try:
        _differing(many, many.copy())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # a cell is 24 bytes, and in two sets of tuples about 400
    assert peak < 8 * many.nbytes
