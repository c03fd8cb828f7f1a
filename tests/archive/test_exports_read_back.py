"""What an export wrote is taken away again with the decision, and nothing that others wrote."""

import shutil

import pytest

from tagrank.archive import Answer, Archive, decided_collection
from tagrank.archive.exports import export_sidecars
from tagrank.data import read_keywords, read_pictures, read_sidecar, write_sidecar
from tagrank.data.vocabulary import TagChange
from tagrank.data.writers.sidecar_tags import add_machine_tags, new_run
from tests.data.writers.foreign_sidecars import SIDECARS


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("TAGRANK_STATE", str(tmp_path / "state"))


def present(archive):
    return {picture.name: set(picture.present) for picture in archive.picture_tags() if picture.present}


def of_collection(collection):
    states = zip(collection.names, collection.states(), strict=True)
    rows = {name: {collection.tags[j] for j in (row == 1).nonzero()[0]} for name, row in states}
    return {name: tags for name, tags in rows.items() if tags}


def decide(archive, picture, tag, answer, request):
    return archive.decide([Answer(picture, tag, answer)], who="anna", request=request)


def undo(archive, request):
    return archive.undo(who="anna", request=request)


def test_a_folder_with_a_list_is_read_as_the_union(archive, photos, number):
    """Warnings are errors here: none is given."""
    decide(archive, number("a.png"), "boat", "yes", "1")
    decide(archive, number("a.png"), "sky", "no", "2")
    decide(archive, number("e.png"), "harbour", "yes", "3")
    expected = present(archive)
    assert expected["a.png"] == {"sea", "boat"}
    export_sidecars(archive)
    assert of_collection(decided_collection(read_pictures(photos), photos)) == expected
    archive.scan()
    assert present(archive) == expected
    # without the decisions, the list still says sky
    assert of_collection(read_pictures(photos)) == expected | {"a.png": {"sea", "boat", "sky"}}


def test_cells_that_a_list_leaves_open_stay_open(photos):
    (photos / "tags.csv").write_text("image,tag:sky,tag:sea\na.png,1,?\nb.png,0,1\n")
    write_sidecar(photos / "a.png", ["boat"])
    collection = read_pictures(photos)
    states = dict(zip(collection.tags, collection.states()[0].tolist(), strict=True))
    assert states == {"sky": 1, "sea": 0, "boat": 1}


@pytest.mark.parametrize("is_scanned", [False, True])
def test_an_undone_decision_is_taken_out(archive, photos, number, is_scanned):
    decide(archive, number("b.png"), "boat", "yes", "1")
    export_sidecars(archive)
    assert read_keywords(photos / "b.png") == ["boat", "sea"]
    if is_scanned:
        archive.scan()
    undo(archive, "2")
    if is_scanned:
        archive.scan()
        assert of_collection(decided_collection(read_pictures(photos), photos)) == present(archive)
    assert present(archive)["b.png"] == {"sea"}
    tried = export_sidecars(archive, dry_run=True)
    assert [(change.tags, change.removed) for change in tried.changes] == [((), ("boat",))]
    assert export_sidecars(archive).changes == tried.changes
    # sea stays: nobody knows whether it still stands elsewhere
    assert read_keywords(photos / "b.png") == ["sea"]
    assert export_sidecars(archive).changes == []


@pytest.mark.parametrize("is_scanned", [False, True])
def test_a_sidecar_made_for_a_decision_goes_with_it(archive, photos, number, is_scanned):
    decide(archive, number("e.png"), "boat", "yes", "1")
    export_sidecars(archive)
    if is_scanned:
        archive.scan()
    undo(archive, "2")
    (change,) = export_sidecars(archive).changes
    assert (change.action, change.removed) == ("delete", ("boat",))
    assert not list(photos.rglob("*.xmp"))


@pytest.mark.parametrize("name", ["CRLF", "UTF-16 LE", "padding", "digiKam", "darktable"])
@pytest.mark.parametrize("answer", ["undo", "no", "skip"])
def test_a_foreign_sidecar_comes_back_byte_for_byte(archive, photos, number, name, answer):
    sidecar = photos / "e.png.xmp"
    sidecar.write_bytes(SIDECARS[name])
    before = read_sidecar(sidecar)
    archive.scan()
    decide(archive, number("e.png"), "boat", "yes", "1")
    decide(archive, number("e.png"), "harbour", "yes", "2")
    export_sidecars(archive)
    assert set(read_sidecar(sidecar).flat) == {*before.flat, "boat", "harbour"}
    archive.scan()
    for request, tag in (("3", "harbour"), ("4", "boat")):
        if answer == "undo":
            undo(archive, request)
        else:
            decide(archive, number("e.png"), tag, answer, request)
        (change,) = export_sidecars(archive).changes
        assert (change.tags, change.removed) == ((), (tag,))
    assert sidecar.read_bytes() == SIDECARS[name]


def test_what_others_wrote_is_never_taken_out(archive, photos, number):
    """Neither what stood there before, nor what came since; but ours goes out of a file that they changed."""
    sidecar = photos / "e.png.xmp"
    sidecar.write_bytes(SIDECARS["exiftool"])
    archive.scan()
    decide(archive, number("e.png"), "boat", "yes", "1")
    export_sidecars(archive)
    write_sidecar(photos / "e.png", ["theirs"])
    archive.scan()
    decide(archive, number("e.png"), "old", "no", "2")
    decide(archive, number("e.png"), "theirs", "no", "3")
    decide(archive, number("e.png"), "boat", "no", "4")
    (change,) = export_sidecars(archive).changes
    assert change.removed == ("boat",)
    assert set(read_sidecar(sidecar).flat) == {"old", "été", "theirs"}
    assert export_sidecars(archive).changes == []


def test_a_rejected_tag_of_the_list_goes_from_the_sidecar_that_got_it(archive, photos, number):
    decide(archive, number("a.png"), "boat", "yes", "1")
    export_sidecars(archive)
    archive.scan()
    decide(archive, number("a.png"), "sky", "no", "2")
    (change,) = export_sidecars(archive).changes
    assert change.removed == ("sky",)
    assert read_keywords(photos / "a.png") == ["boat", "sea"]


def test_the_sidecars_hold_all_when_the_list_is_gone(archive, photos, number):
    decide(archive, number("a.png"), "boat", "yes", "1")
    export_sidecars(archive)
    (photos / "tags.csv").unlink()
    archive.scan()
    assert present(archive)["a.png"] == {"sky", "sea", "boat"}
    undo(archive, "2")
    assert export_sidecars(archive).changes[0].removed == ("boat",)
    assert set(read_keywords(photos / "a.png")) == {"sky", "sea"}


def test_tags_of_an_archive_whose_decisions_are_lost_stay(archive, photos, number):
    decide(archive, number("e.png"), "boat", "yes", "1")
    export_sidecars(archive)
    archive.close()
    shutil.rmtree(photos / ".tagrank")
    with Archive.open(photos) as other:
        other.scan()
        assert present(other)["e.png"] == {"boat"}
        decide(other, number("e.png"), "sky", "yes", "1")
        export_sidecars(other)
        assert set(read_keywords(photos / "e.png")) == {"boat", "sky"}


def test_an_accepted_machine_tag_is_one_again(archive, photos, number):
    picture = photos / "e.png"
    add_machine_tags(picture, {"boat": 0.9}, run=new_run())
    before = (photos / "e.png.xmp").read_bytes()
    decide(archive, number("e.png"), "boat", "yes", "1")
    export_sidecars(archive)
    assert read_keywords(picture) == ["boat"]
    undo(archive, "2")
    export_sidecars(archive)
    assert (read_keywords(picture), read_keywords(picture, machine_tags=True)) == ([], ["boat"])
    assert (photos / "e.png.xmp").read_bytes() == before


def test_levels_go_with_their_tag(archive, photos, number):
    decide(archive, number("e.png"), "places|rome", "yes", "1")
    decide(archive, number("e.png"), "boat", "yes", "2")
    export_sidecars(archive)
    assert read_sidecar(photos / "e.png.xmp") == (("boat", "rome"), ("boat", "places|rome"))
    decide(archive, number("e.png"), "places|rome", "no", "3")
    (change,) = export_sidecars(archive).changes
    assert change.removed == ("places|rome",)
    assert read_sidecar(photos / "e.png.xmp") == (("boat",), ("boat",))


def test_links_are_left_out_and_listed(archive, photos, number, tmp_path):
    notes = tmp_path / "notes.xmp"
    notes.write_bytes(SIDECARS["digiKam"])
    (photos / "e.png.xmp").symlink_to(notes)
    decide(archive, number("e.png"), "boat", "yes", "1")
    decide(archive, number("b.png"), "boat", "yes", "2")
    done = export_sidecars(archive)
    assert ["is a link" in problem.reason for problem in done.problems] == [True]
    assert [change.action for change in done.changes] == ["create"]
    assert notes.read_bytes() == SIDECARS["digiKam"]


def test_by_stem(archive, photos, number):
    (photos / "b.cr2").write_bytes(b"raw")
    for i, name in enumerate(("b.png", "e.png")):
        decide(archive, number(name), "boat", "yes", str(i))
    export_sidecars(archive, style="stem")
    assert sorted(path.name for path in photos.rglob("*.xmp")) == ["b.png.xmp", "e.xmp"]
    assert export_sidecars(archive).changes == []


def test_what_follows_from_a_decision_goes_out_and_back_with_it(archive, photos, number):
    """A parent that nobody gave is written, and is not listed for ever because it was."""
    archive.change_tags([TagChange("parent", "boat", "vehicle")], who="anna", request="0")
    decide(archive, number("e.png"), "boat", "yes", "1")
    export_sidecars(archive)
    assert set(read_keywords(photos / "e.png")) == {"boat", "vehicle"}
    archive.scan()
    assert present(archive)["e.png"] == {"boat", "vehicle"}
    undo(archive, "2")
    archive.scan()
    assert "e.png" not in present(archive)
    (change,) = export_sidecars(archive).changes
    assert (set(change.removed), change.action) == ({"boat", "vehicle"}, "delete")
    assert not (photos / "e.png.xmp").exists()


def test_a_renamed_tag_is_renamed_in_the_sidecar(archive, photos, number):
    decide(archive, number("e.png"), "boat", "yes", "1")
    export_sidecars(archive)
    archive.scan()
    archive.change_tags([TagChange("synonym", "boat", "ship")], who="anna", request="2")
    (change,) = export_sidecars(archive).changes
    assert (change.tags, change.removed) == (("ship",), ("boat",))
    assert read_keywords(photos / "e.png") == ["ship"]
