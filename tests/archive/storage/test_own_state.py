"""A folder of pictures with all that anybody may have put into its `.tagrank`."""

import os
import random
import shutil
import sqlite3
import stat
import struct
import warnings
from contextlib import closing, suppress

import pytest

from tagrank.archive import Answer, Archive, PictureFilter, database_path, decided_collection
from tagrank.archive.copies import copy_database, restore_database
from tagrank.archive.exports import decided_rows, export_sidecars
from tagrank.archive.storage import database as databases
from tagrank.data import read_pictures
from tagrank.files import FileError


@pytest.fixture
def notes(tmp_path):
    """A file of the user that must stay as it is."""
    path = tmp_path / "notes.txt"
    path.write_text("my notes")
    return path


@pytest.fixture
def gift(archive):
    archive.decide([Answer(1, "boat", "yes"), Answer(2, "sky", "no")], who="mallory", request="1")
    archive.close()
    return archive.folder


def open_all(folder):
    """All ways in which an archive is opened, each of which must refuse it."""
    for options in ({"lock": True}, {}, {"read_only": True}):
        with pytest.raises(FileError), Archive.open(folder, **options):
            pass


PLACES = ("desk.sqlite", "desk.sqlite-wal", "desk.sqlite-shm", "desk.sqlite-journal")


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("kind", ["link", "hard link", "dangling link", "pipe", "folder"])
def test_files_must_be_plain(gift, notes, tmp_path, name, kind):
    path = gift / ".tagrank" / name
    path.unlink(missing_ok=True)
    made = {
        "link": lambda: path.symlink_to(notes),
        "hard link": lambda: os.link(notes, path),
        "dangling link": lambda: path.symlink_to(tmp_path / "new"),
        "pipe": lambda: os.mkfifo(path),
        "folder": path.mkdir,
    }
    made[kind]()
    open_all(gift)
    assert notes.read_text() == "my notes"
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("kind", ["link", "hard link", "dangling link", "pipe"])
def test_the_lock_must_be_plain_and_is_never_written(gift, notes, tmp_path, kind):
    lock = gift / ".tagrank" / "desk.lock"
    if kind == "pipe":
        os.mkfifo(lock)
    elif kind == "hard link":
        os.link(notes, lock)
    else:
        lock.symlink_to(notes if kind == "link" else tmp_path / "new")
    with pytest.raises(FileError, match=r"desk\.lock"):
        Archive.open(gift, lock=True)
    assert notes.read_text() == "my notes"
    assert not (tmp_path / "new").exists()


def test_what_a_lock_says_is_not_believed(gift):
    (gift / ".tagrank" / "desk.lock").write_text("https://evil.example/")
    with Archive.open(gift, lock=True), pytest.raises(OSError, match="is open in another process") as caught:
        Archive.open(gift, lock=True)
    assert "evil" not in str(caught.value)
    assert (gift / ".tagrank" / "desk.lock").read_text() == "https://evil.example/"


@pytest.mark.parametrize("target", ["elsewhere", "missing"])
def test_a_linked_home_is_refused(photos, tmp_path, target):
    (tmp_path / "elsewhere").mkdir()
    (photos / ".tagrank").symlink_to(tmp_path / target)
    open_all(photos)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["elsewhere", "photos"]
    assert not list((tmp_path / "elsewhere").iterdir())


def super_journal(victim):
    """A journal as a crash would leave it, which says that `victim` may be removed once it is played back."""
    name = os.fsencode(victim)
    magic = bytes.fromhex("d9d505f920a163d7")
    header = magic + struct.pack(">5I", 0, 0, 1, 512, 4096)
    rest = struct.pack(">I", 2**30 // 4096 + 1) + name + struct.pack(">II", len(name), sum(name)) + magic
    return header.ljust(512, b"\0") + rest


def test_a_journal_cannot_remove_other_files(gift, notes):
    path = database_path(gift)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    journal = path.with_name("desk.sqlite-journal")
    journal.write_bytes(super_journal(notes))
    open_all(gift)
    assert notes.exists()
    # SQLite itself does remove it
    with closing(sqlite3.connect(path)) as connection, suppress(sqlite3.Error):
        connection.execute("SELECT count(*) FROM tags").fetchone()
    assert not notes.exists()


def test_a_restored_copy_removes_no_other_files(gift, notes, tmp_path):
    path, copy = database_path(gift), tmp_path / "copy.sqlite"
    copy_database(path, copy)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    path.chmod(0o664)
    path.with_name("desk.sqlite-journal").write_bytes(super_journal(notes))
    assert restore_database(copy, path)[0] == 2
    assert notes.exists()
    assert stat.S_IMODE(path.stat().st_mode) == 0o664
    with Archive.open(gift, read_only=True) as archive:
        assert archive.n_decisions() == 2


def test_tables_are_checked_before_an_old_version_is_brought_to_todays(gift):
    path = database_path(gift)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TRIGGER t AFTER INSERT ON settings BEGIN DELETE FROM decisions; END")
        connection.execute("PRAGMA user_version = 1")
        connection.commit()
    before = path.read_bytes()
    open_all(gift)
    assert path.read_bytes() == before


def test_a_text_that_fills_memory_is_not_read(gift):
    with closing(sqlite3.connect(database_path(gift))) as connection:
        connection.execute("UPDATE tags SET name = hex(zeroblob(8000000)) WHERE id = 1")
        connection.commit()
    with Archive.open(gift, read_only=True) as archive, pytest.raises(FileError, match="too big"):
        archive.tags()


class TestIdentity:
    """Whose archive it is: found by place and word together, and asked about when it moved."""

    def test_an_archive_is_known_where_it_was_made(self, gift):
        with Archive.open(gift) as archive:
            assert archive.own.is_known
            assert archive.own.moved_from() is None
            assert gift not in archive.own.folder.parents

    def test_a_copy_is_not_known_and_not_taken_for_moved(self, gift, tmp_path):
        copy = shutil.copytree(gift, tmp_path / "copy")
        with Archive.open(gift) as archive:
            mine = archive.own.folder
        with Archive.open(copy) as archive:
            assert not archive.own.is_known
            assert archive.own.moved_from() is None
            assert archive.people() == {"mallory": 2}
            told = archive.told_of_others()
            assert told.endswith("it has 2 decisions by mallory (2)")
            with pytest.warns(UserWarning, match=r"mallory \(2\); they are used; no_decisions ignores"):
                decided_collection(read_pictures(copy), copy)
            assert archive.own.folder != mine
            assert archive.own.is_known
            assert archive.told_of_others() == ""

    def test_another_database_in_the_same_place_is_not_known(self, gift, tmp_path):
        """As on a drive that is plugged in where another was."""
        with Archive.open(gift) as archive:
            mine = archive.own.folder
        other = shutil.copytree(gift, tmp_path / "other", ignore=shutil.ignore_patterns(".tagrank"))
        with Archive.open(other) as archive:
            archive.scan()
        shutil.rmtree(gift / ".tagrank")
        shutil.move(other / ".tagrank", gift / ".tagrank")
        with Archive.open(gift) as archive:
            assert not archive.own.is_known
            assert archive.own.folder != mine

    def test_a_folder_that_moved_is_asked_about(self, gift, tmp_path):
        with Archive.open(gift) as archive:
            mine, before = archive.own.folder, archive.database
        moved = gift.rename(tmp_path / "moved")
        with Archive.open(moved) as archive:
            assert not archive.own.is_known
            assert archive.own.moved_from() == before
            archive.own.move()
            assert archive.own.is_known
            assert archive.own.folder == mine
        with Archive.open(moved) as archive:
            assert archive.own.folder == mine
            assert archive.own.moved_from() is None

    def test_without_an_answer_a_moved_folder_is_another_one(self, gift, tmp_path):
        with Archive.open(gift) as archive:
            mine = archive.own.folder
        with Archive.open(gift.rename(tmp_path / "moved")) as archive:
            assert archive.own.folder != mine

    def test_without_a_state_decisions_are_read_all_the_same(self, gift, tmp_path, monkeypatch):
        (tmp_path / "file").write_text("no folder")
        monkeypatch.setenv("TAGRANK_STATE", str(tmp_path / "file" / "state"))
        with pytest.warns(UserWarning, match="made by somebody else"):
            decided_collection(read_pictures(gift), gift)
        with Archive.open(gift) as archive, pytest.raises(PermissionError, match="TAGRANK_STATE"):
            archive.own.remember()

    def test_damaged_notes_about_an_archive_are_passed_over(self, gift):
        with Archive.open(gift) as archive:
            (archive.own.folder / "archive.json").write_text("[1, 2")
        with Archive.open(gift) as archive:
            assert not archive.own.is_known


def test_no_sidecar_is_written_behind_a_link(gift, tmp_path):
    """Also where a planted database says that a picture behind it is there, and has its content."""
    private = tmp_path / "private"
    (gift / "sub").rename(private)
    (gift / "sub").symlink_to(private)
    with Archive.open(gift) as archive:
        archive.scan(follow_links=True)
        (number,) = archive.select(PictureFilter(text="d.png"))
        archive.decide([Answer(number, "snow", "yes")], who="mallory", request="2")
    with Archive.open(gift, read_only=True) as archive:
        written = export_sidecars(archive)
        assert [problem.reason for problem in written.problems] == [
            "is behind a link to a folder, where nothing is written; see follow_links"
        ]
        assert not list(private.glob("*.xmp"))
        export_sidecars(archive, follow_links=True)
        assert [path.name for path in private.glob("*.xmp")] == ["d.png.xmp"]


@pytest.fixture
def on_network(monkeypatch):
    """Every folder lies on a network drive."""
    mount = type("Mount", (), {"mountpoint": "/", "fstype": "nfs4", "opts": "rw"})
    monkeypatch.setattr(databases.psutil, "disk_partitions", lambda all: [mount])


def test_a_network_drive_has_a_rollback_journal(on_network, photos, monkeypatch):
    with Archive.open(photos) as archive:
        assert archive.network_kind == "nfs4"
        archive.scan()
        archive.decide([Answer(1, "boat", "yes")], who="anna", request="1")
        with closing(sqlite3.connect(archive.database)) as connection:
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        # somebody who only reads sees what is written meanwhile
        with Archive.open(photos, read_only=True) as reader:
            assert reader.n_decisions() == 1
            archive.decide([Answer(2, "boat", "yes")], who="anna", request="2")
            assert reader.n_decisions() == 2
    monkeypatch.undo()
    with Archive.open(photos) as archive:
        assert archive.network_kind is None
        with closing(sqlite3.connect(archive.database)) as connection:
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def use(folder, path):
    """All that reads a database."""
    with Archive.open(folder, database=path, read_only=True) as archive:
        table = archive.pictures()
        archive.tags(), archive.tag_counts(), archive.states(), archive.collection()
        archive.history(), archive.people(), decided_rows(archive), archive.select()
        for number in table.ids[:3].tolist():
            archive.states_of(number), archive.picture(number)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the file was not made by this user
        decided_collection(read_pictures(folder), folder, path)


def change(folder, path):
    with Archive.open(folder, database=path) as archive:
        archive.scan(cache=False)
        archive.decide([Answer(1, "boat", "no"), Answer(2, "new", "yes")], who="anna", request="x")
        archive.undo(who="anna", request="y")


@pytest.mark.parametrize("seed", range(40))
def test_damaged_pages_say_so(gift, tmp_path, seed):
    """Whatever is wrong with the bytes of a file, the error names the file."""
    draw = random.Random(seed)
    content = bytearray(database_path(gift).read_bytes())
    for _ in range(draw.choice([1, 5, 50])):
        start = draw.randrange(100, len(content))
        length = draw.choice([1, 1, 4, 64])
        content[start : start + length] = draw.randbytes(len(content[start : start + length]))
    path = tmp_path / "damaged.sqlite"
    for work in (use, change):
        path.write_bytes(content)
        try:
            work(gift, path)
        except (FileError, OSError) as error:
            assert "damaged.sqlite" in str(error) or "outside the folder" in str(error)  # noqa: PT017
        except LookupError as error:
            assert type(error) is LookupError  # noqa: PT017


def test_wrong_types_in_a_whole_file_say_so(gift):
    """Pages that SQLite reads without a word, but whose values are not of their kinds."""
    path = database_path(gift)

    def redefine(connection, texts):
        connection.execute("PRAGMA writable_schema = ON")
        for name, text in texts.items():
            connection.execute("UPDATE sqlite_schema SET sql = ? WHERE name = ?", (text, name))
        connection.commit()

    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT name, sql FROM sqlite_schema WHERE name IN ('pictures', 'tags')"
        texts = dict(connection.execute(query))
        redefine(connection, {name: text.removesuffix(" STRICT") for name, text in texts.items()})
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE pictures SET name = x'07', key = 7 WHERE id = 1")
        connection.execute("UPDATE tags SET name = x'00ff' WHERE id = 1")
        redefine(connection, texts)
    with Archive.open(gift, read_only=True) as archive:
        for work in (archive.pictures, archive.collection, lambda: archive.picture(1)):
            with pytest.raises(FileError, match="damaged"):
                work()


def test_a_fault_is_told_only_where_there_is_one(gift):
    with Archive.open(gift) as archive:

        def fail(_connection):
            raise TypeError("a mistake of ours")

        with pytest.raises(TypeError, match="of ours"):
            archive.read(fail)
        with pytest.raises(TypeError, match="of ours"):
            archive._write(fail)
        assert databases._fault(archive._database.writer()) is None
