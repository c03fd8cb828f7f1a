"""Files that were changed come back byte for byte, if nobody else changed them; links are never changed."""

import os

import pytest
from PIL import Image

from tagrank.data import read_sidecar, write_sidecar
from tagrank.data.writers import originals
from tagrank.data.writers.originals import Record, change_file, earlier_contents, prune_originals, read_record
from tagrank.data.writers.sidecar_tags import add_machine_tags, settle_machine_tags
from tagrank.files import FileError
from tests.data.writers.foreign_sidecars import SIDECARS

RUN, LATER = "2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z"


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("TAGRANK_STATE", str(tmp_path / "state"))
    return tmp_path / "state" / "originals"


@pytest.fixture
def picture(tmp_path):
    (tmp_path / "photos").mkdir()
    Image.new("RGB", (16, 16)).save(tmp_path / "photos" / "photo.jpg")
    return tmp_path / "photos" / "photo.jpg"


@pytest.fixture
def sidecar(picture):
    return picture.with_name("photo.jpg.xmp")


def add(picture, *tags, run=RUN):
    return add_machine_tags(picture, dict.fromkeys(tags, 0.75), run=run, model="m")


def undo(sidecar, *runs, **options):
    return settle_machine_tags("photo.jpg", sidecar, runs or (RUN,), **options)


def kept_files(state):
    return sorted(path.suffix for path in state.glob("*/*"))


@pytest.mark.parametrize("name", SIDECARS)
def test_an_undone_sidecar_is_the_same_byte_for_byte(picture, sidecar, state, name):
    sidecar.write_bytes(SIDECARS[name])
    assert add(picture, "sky", "x|y").action == "change"
    assert {"sky", "y"} <= set(read_sidecar(sidecar, machine_tags=True).flat)
    assert undo(sidecar, dry_run=True).action == "change"
    assert sidecar.read_bytes() != SIDECARS[name]
    change = undo(sidecar)
    assert (change.action, set(change.tags)) == ("change", {"sky", "y"})
    assert sidecar.read_bytes() == SIDECARS[name]
    assert kept_files(state) == []


@pytest.mark.parametrize("name", SIDECARS)
def test_of_a_sidecar_that_others_changed_only_our_tags_go(picture, sidecar, name):
    sidecar.write_bytes(SIDECARS[name])
    before = read_sidecar(sidecar)
    add(picture, "sky")
    write_sidecar(picture, ["theirs"])
    assert undo(sidecar).tags == ("sky",)
    assert read_sidecar(sidecar, machine_tags=True).flat == (*before.flat, "theirs")
    assert sidecar.read_bytes() != SIDECARS[name]


@pytest.mark.parametrize("name", ["padding", "UTF-16 LE"])
def test_runs_are_put_back_one_by_one(picture, sidecar, name):
    sidecar.write_bytes(SIDECARS[name])
    add(picture, "sky")
    first = sidecar.read_bytes()
    add(picture, "sea", run=LATER)
    second = sidecar.read_bytes()
    undo(sidecar, LATER)
    assert sidecar.read_bytes() == first
    add(picture, "sea", run=LATER)
    assert sidecar.read_bytes() == second
    undo(sidecar, RUN)
    assert read_sidecar(sidecar, machine_tags=True).flat == ("old", "été", "sea")
    undo(sidecar, LATER)
    assert read_sidecar(sidecar, machine_tags=True).flat == ("old", "été")
    sidecar.write_bytes(SIDECARS[name])
    add(picture, "sky")
    add(picture, "sea", run=LATER)
    undo(sidecar, RUN, LATER)
    assert sidecar.read_bytes() == SIDECARS[name]


def test_a_sidecar_that_was_made_is_deleted(picture, sidecar, state):
    add(picture, "sky")
    assert undo(sidecar).action == "delete"
    assert not sidecar.exists()
    assert kept_files(state) == []


def test_what_is_kept_lies_in_the_state_of_the_user(picture, sidecar, state):
    sidecar.write_bytes(SIDECARS["digiKam"])
    add(picture, "sky")
    assert sorted(path.name for path in picture.parent.iterdir()) == ["photo.jpg", "photo.jpg.xmp"]
    assert kept_files(state) == [".json", ".xmp"]
    assert originals.kept_at(sidecar).read_bytes() == SIDECARS["digiKam"]
    assert (state.stat().st_mode & 0o777) == 0o700


@pytest.mark.parametrize("damage", ["gone", "other bytes", "no record", "record of another file"])
def test_without_the_original_only_our_tags_go(picture, sidecar, state, damage):
    sidecar.write_bytes(SIDECARS["padding"])
    add(picture, "sky")
    record, original = sorted(state.glob("*/*"), key=lambda path: path.suffix)
    if damage == "gone":
        original.unlink()
    elif damage == "other bytes":
        original.write_bytes(b"<planted/>")
    elif damage == "no record":
        record.write_text('{"steps": 3')
    else:
        record.write_text(record.read_text().replace("photo.jpg.xmp", "other.jpg.xmp"))
    assert undo(sidecar).action == "change"
    assert read_sidecar(sidecar, machine_tags=True).flat == ("old", "été")


@pytest.mark.parametrize("kind", ["link", "hard link", "broken link", "folder", "pipe"])
def test_what_is_no_plain_file_is_refused(picture, sidecar, tmp_path, kind):
    elsewhere = tmp_path / "notes.xmp"
    elsewhere.write_bytes(SIDECARS["digiKam"])
    if kind == "link":
        sidecar.symlink_to(elsewhere)
    elif kind == "hard link":
        os.link(elsewhere, sidecar)
    elif kind == "broken link":
        sidecar.symlink_to(tmp_path / "nowhere.xmp")
    elif kind == "folder":
        sidecar.mkdir()
    else:
        os.mkfifo(sidecar)
    for write in (
        lambda: add(picture, "sky"),
        lambda: undo(sidecar),
        lambda: write_sidecar(picture, ["sky"]),
    ):
        with pytest.raises(FileError, match=r"is a link|hard link|pipe or device"):
            write()
    assert elsewhere.read_bytes() == SIDECARS["digiKam"]
    assert not (tmp_path / "nowhere.xmp").exists()


def test_a_file_that_changes_meanwhile_is_left_alone(tmp_path):
    path = tmp_path / "tags.csv"
    path.write_bytes(b"theirs")
    with pytest.raises(FileError, match="changed by another program"):
        change_file(path, b"ours", Record(), before=b"old", run="export")
    assert path.read_bytes() == b"theirs"


def test_a_crash_between_note_and_change_is_harmless(tmp_path, monkeypatch):
    path = tmp_path / "tags.csv"
    path.write_bytes(b"old")

    def fail(*_):
        raise OSError("full")

    with monkeypatch.context() as patch:
        patch.setattr(originals, "_write", fail)
        with pytest.raises(OSError, match="full"):
            change_file(path, b"ours", Record(), before=b"old", run="export")
    assert path.read_bytes() == b"old"
    record = read_record(path)
    assert list(earlier_contents(path, record, b"old", ("export",))) == []
    change_file(path, b"ours", record, before=b"old", run="export")
    ((content, _),) = earlier_contents(path, read_record(path), b"ours", ("export",))
    assert content == b"old"


def test_what_is_kept_is_bounded(tmp_path, state):
    for i in range(6):
        path = tmp_path / f"{i}.csv"
        path.write_bytes(b"x" * 1000)
        change_file(path, b"ours", Record(), before=b"x" * 1000, run="export")
        for place in state.glob("*/*"):
            os.utime(place, ns=(place.stat().st_mtime_ns - 10**9,) * 2)
    prune_originals(most_files=100, most_bytes=3_500)
    left = [i for i in range(6) if originals.kept_at(tmp_path / f"{i}.csv") is not None]
    assert left
    assert left == list(range(6 - len(left), 6))
    assert sum(place.stat().st_size for place in state.glob("*/*")) <= 3_500
    prune_originals(most_files=2)
    assert len(list(state.glob("*/*"))) == 2


def test_the_same_folder_by_another_name_is_the_same(picture, sidecar, tmp_path):
    sidecar.write_bytes(SIDECARS["CRLF"])
    (tmp_path / "other").symlink_to(picture.parent)
    add(tmp_path / "other" / "photo.jpg", "sky")
    undo(sidecar)
    assert sidecar.read_bytes() == SIDECARS["CRLF"]
