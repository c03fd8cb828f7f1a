"""Hierarchical keywords in files say what tags imply, and follow what the tags of the archive imply."""

import pytest

from tagrank.archive import Answer, tag_columns
from tagrank.archive.exports import export_sidecars
from tagrank.archive.tag_columns import parents_in, read_listed_parents
from tagrank.data import read_sidecar, write_sidecar
from tagrank.data.vocabulary import NO_PARENT, PARENT, TagChange
from tagrank.data.writers.sidecar_tags import add_machine_tags, new_run
from tests.data.writers.foreign_sidecars import SIDECARS


def listed(archive):
    return archive.read(read_listed_parents)


def present(archive, picture):
    return {tag for tag, found in archive.states_of(picture).items() if found.state == "present"}


def say_yes(archive, picture, tag, request="1"):
    archive.decide([Answer(picture, tag, "yes")], who="anna", request=request)


@pytest.mark.parametrize(
    ("trees", "expected"),
    [
        (["places|europe|rome"], (("europe", "places"), ("rome", "europe"))),
        (["places|rome", "games|rome"], ()),
        (["places|rome", "rome"], (("rome", "places"),)),
        (["_Digikam_Internal_Tags_|Color Label Red", "_Digikam_root_tag_|rome"], ()),
        (["Places|places|rome"], (("rome", "places"),)),
        (["places||rome", "| boat "], (("rome", "places"),)),
        (["ro\u200bme|sea", "x" * 300 + "|sky", "a\n|b"], (("b", "a"),)),
        (["plain"], ()),
    ],
)
def test_what_levels_say(trees, expected):
    assert parents_in(trees) == expected


def test_levels_are_bounded(monkeypatch):
    assert parents_in(["|".join(map(str, range(tag_columns.MOST_LEVELS + 1)))]) == ()
    assert (
        len(parents_in(["|".join(map(str, range(tag_columns.MOST_LEVELS)))])) == tag_columns.MOST_LEVELS - 1
    )
    monkeypatch.setattr(tag_columns, "MOST_PARENTS", 3)
    assert parents_in([f"a|{j}" for j in range(9)]) == (("0", "a"), ("1", "a"), ("2", "a"))


def test_a_scan_notes_levels_anew(archive, photos, number):
    (photos / "e.png.xmp").write_bytes(SIDECARS["digiKam"])
    archive.scan()
    assert listed(archive) == (("rome", "places"),)
    assert present(archive, number("e.png")) == {"rome", "places"}
    # what somebody says of parents is newer than any file
    archive.change_tags([TagChange(NO_PARENT, "rome", "places")], who="anna", request="1")
    archive.scan()
    assert present(archive, number("e.png")) == {"rome"}
    (photos / "e.png.xmp").unlink()
    archive.scan()
    assert listed(archive) == ()


def test_machine_made_levels_say_nothing(archive, photos):
    add_machine_tags(photos / "e.png", {"places|rome": 0.9}, run=new_run())
    with pytest.warns(UserWarning, match="machine-written"):
        archive.scan()
    assert listed(archive) == ()


def test_levels_without_end_are_left_out(archive, photos):
    chain = [f"{j}|{j + 1}" for j in range(1500)]
    write_sidecar(photos / "e.png", chain)
    found = archive.scan()
    assert listed(archive) == ()
    assert ["hierarchical keywords are ignored" in problem.reason for problem in found.problems] == [True]


def test_accepted_tags_stand_below_their_parents(archive, photos, number):
    archive.change_tags(
        [TagChange(PARENT, "boat", "vehicle"), TagChange(PARENT, "vehicle", "things")],
        who="anna",
        request="0",
    )
    (photos / "b.png.xmp").write_bytes(SIDECARS["digiKam"])
    archive.scan()
    say_yes(archive, number("b.png"), "boat")
    export_sidecars(archive)
    written = read_sidecar(photos / "b.png.xmp")
    assert set(written.flat) == {"rome", "sea", "boat", "vehicle", "things"}
    assert set(written.trees) == {"places|rome", "sea", "things|vehicle|boat", "things|vehicle", "things"}
    # a tag that its tree holds is not written again
    assert present(archive, number("b.png")) == {"places", *written.flat}
    assert "<rdf:li>things/vehicle/boat</rdf:li>" in (photos / "b.png.xmp").read_text()
    assert export_sidecars(archive).changes == []


def test_what_was_exported_is_not_listed(archive, photos, number):
    """A parent that is taken back would be there for ever by the files that it came into."""
    archive.change_tags([TagChange(PARENT, "boat", "vehicle")], who="anna", request="0")
    (photos / "e.png.xmp").write_bytes(SIDECARS["digiKam"])
    archive.scan()
    say_yes(archive, number("e.png"), "boat")
    export_sidecars(archive)
    archive.scan()
    assert listed(archive) == (("rome", "places"),)
    archive.undo(who="anna", request="2")
    export_sidecars(archive)
    assert (photos / "e.png.xmp").read_bytes() == SIDECARS["digiKam"]


def test_a_tag_below_several_stands_alone(archive, photos, number):
    changes = [TagChange(PARENT, "boat", "vehicle"), TagChange(PARENT, "boat", "toy")]
    archive.change_tags(changes, who="anna", request="0")
    say_yes(archive, number("e.png"), "boat")
    export_sidecars(archive)
    written = read_sidecar(photos / "e.png.xmp")
    assert (set(written.flat), written.trees) == ({"boat", "toy", "vehicle"}, ())
