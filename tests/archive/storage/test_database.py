"""The file: made once, refused where it is not ours, locked, and never half written."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing

import pytest

from tagrank.archive import Answer, Archive, ArchiveInUse, database_path
from tagrank.archive.storage import database, schema
from tagrank.archive.storage.schema import APPLICATION_ID, VERSION
from tagrank.files import FileError


def change(path, *statements):
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


@pytest.fixture
def closed(archive):
    archive.close()
    return archive


def test_the_file_says_what_it_is(closed):
    with closing(sqlite3.connect(closed.database)) as connection:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
    assert (application, version, mode) == (APPLICATION_ID, VERSION, "wal")


def test_a_newer_version_is_refused(closed):
    change(closed.database, "PRAGMA user_version = 99")
    for read_only in (False, True):
        with pytest.raises(FileError, match=r"newer tagrank \(version 99, this one knows \d+\); update"):
            Archive.open(closed.folder, read_only=read_only)


def test_an_older_version_is_brought_to_todays(closed, monkeypatch):
    newer = (*schema.MIGRATIONS, "CREATE TABLE notes (picture INTEGER, note TEXT) STRICT;")
    for module in (schema, database):
        monkeypatch.setattr(module, "VERSION", VERSION + 1)
    monkeypatch.setattr(schema, "MIGRATIONS", newer)
    before = closed.database.read_bytes()
    with Archive.open(closed.folder, read_only=True) as archive:
        assert archive.count() == 5
        assert archive.read(lambda connection: connection.execute("SELECT * FROM notes").fetchall()) == []
    assert [path.name for path in closed.home.iterdir()] == ["desk.sqlite"]
    assert closed.database.read_bytes() == before
    with Archive.open(closed.folder) as archive:
        assert archive.count() == 5
        assert archive.read(lambda connection: connection.execute("SELECT * FROM notes").fetchall()) == []


def test_the_first_version_still_opens(closed, monkeypatch):
    """With its table of sessions, which is gone afterwards."""
    old = closed.folder / "old.sqlite"
    with closing(sqlite3.connect(old, isolation_level=None)) as connection:
        schema.migrate(connection, 1)
        connection.execute("INSERT INTO sessions VALUES ('hash', 'mallory', 99999999999)")
        connection.execute("INSERT INTO tags VALUES (1, 'sea')")
    for read_only in (True, False):
        with Archive.open(closed.folder, database=old, read_only=read_only) as archive:
            assert archive.tags() == ["sea"]
    with closing(sqlite3.connect(old)) as connection:
        assert connection.execute("SELECT name FROM sqlite_schema WHERE name = 'sessions'").fetchall() == []


def test_the_database_of_another_program_is_refused(photos, tmp_path):
    other = tmp_path / "other.sqlite"
    change(other, "CREATE TABLE pictures (id)")
    with pytest.raises(FileError, match="another program"):
        Archive.open(photos, database=other)
    other.write_bytes(b"this is no database at all" * 100)
    with pytest.raises(FileError, match="is damaged"):
        Archive.open(photos, database=other)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON decisions BEGIN DELETE FROM decisions; END",
        "CREATE VIEW v AS SELECT 1",
        "DROP INDEX cell_tags",
        "ALTER TABLE pictures ADD COLUMN more TEXT",
    ],
)
def test_other_tables_than_ours_are_refused(closed, statement):
    change(closed.database, statement)
    for read_only in (False, True):
        with pytest.raises(FileError, match="does not have the tables of a tagrank archive"):
            Archive.open(closed.folder, read_only=read_only)


@pytest.mark.parametrize("name", ["../secret.png", "/etc/passwd", "sub/../../secret.png"])
def test_a_name_outside_the_folder_is_refused(closed, name):
    change(closed.database, f"UPDATE pictures SET name = '{name}' WHERE id = 1")
    with Archive.open(closed.folder, read_only=True) as archive:
        with pytest.raises(FileError, match="outside the folder"):
            archive.picture(1)
        with pytest.raises(FileError, match="outside the folder"):
            archive.pictures()


def test_reading_writes_nothing(closed):
    before = sorted(closed.home.iterdir())
    with Archive.open(closed.folder, read_only=True) as archive:
        assert archive.count() == 5
        assert sorted(closed.home.iterdir()) == before


def test_reading_what_is_not_there(photos):
    with pytest.raises(FileNotFoundError, match="no decisions found"):
        Archive.open(photos, read_only=True)
    assert not database_path(photos).parent.exists()
    with pytest.raises(FileError, match="not a folder"):
        Archive.open(photos / "nowhere")


def test_a_place_that_cannot_be_written_names_the_way_out(photos):
    (photos / ".tagrank").write_text("a file where the folder would be")
    with pytest.raises(OSError, match="--decisions FILE"):
        Archive.open(photos)


def test_the_file_may_lie_elsewhere(photos, tmp_path):
    with Archive.open(photos, database=tmp_path / "kept" / "mine.sqlite") as archive:
        archive.scan()
        assert archive.home == tmp_path / "kept"
    assert not (photos / ".tagrank").exists()


def test_the_second_desk_hears_of_the_first(photos):
    with Archive.open(photos, lock=True) as first:
        first.own.write_address("http://127.0.0.1:8765/")
        with pytest.raises(ArchiveInUse, match=r"open at http://127\.0\.0\.1:8765/"):
            Archive.open(photos, lock=True)
    with (
        Archive.open(photos, lock=True),
        pytest.raises(ArchiveInUse, match="open in another process"),  # nothing is told of a desk that ended
    ):
        Archive.open(photos, lock=True)


HOLD = """
import sys, time
from tagrank.archive import Archive
archive = Archive.open(sys.argv[1], lock=True)
print(flush=True)
time.sleep(60)
"""


def test_a_killed_desk_leaves_no_lock(photos):
    with subprocess.Popen([sys.executable, "-c", HOLD, photos], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        with pytest.raises(ArchiveInUse, match="in another process"):
            Archive.open(photos, lock=True)
        process.send_signal(signal.SIGKILL)
        process.wait()
    with Archive.open(photos, lock=True):
        pass


FILL = """
import resource, sys
from tagrank.archive import Answer, Archive
archive = Archive.open(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
n_recorded = 0
try:
    for step in range(10_000):
        archive.decide([Answer(1, f"{step} {n}", "yes") for n in range(100)], who="anna", request=str(step))
        n_recorded += 100
except OSError as error:
    print(error)
print(n_recorded, archive.n_decisions())
"""


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="needs limits on the size of files")
def test_a_full_disk_refuses_the_decision(closed):
    signal_off = f"import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n{FILL}"
    answer = subprocess.run(
        [sys.executable, "-c", signal_off, closed.folder], capture_output=True, text=True, check=True
    )
    message, counts = answer.stdout.splitlines()
    n_recorded, n_there = map(int, counts.split())
    assert "nothing was recorded; free" in message
    assert n_there == n_recorded > 0
    with Archive.open(closed.folder) as archive:
        assert archive.n_decisions() == n_recorded
        archive.decide([Answer(1, "after", "yes")], who="anna", request="after")


def test_settings_are_kept(closed):
    with Archive.open(closed.folder) as archive:
        archive.settings.set("layout", "by hand")
    with Archive.open(closed.folder) as archive:
        assert archive.settings.get("layout") == "by hand"
        archive.settings.set("layout", None)
        assert archive.settings.get("layout") is None


def test_an_archive_that_is_closed_says_so(closed):
    with pytest.raises(OSError, match="closed"):
        closed.count()
    with pytest.raises(OSError, match="closed"):
        closed.decide([], who="anna", request="1")


def test_a_damaged_file_says_so(closed):
    size = os.path.getsize(closed.database)
    with open(closed.database, "r+b") as file:
        file.seek(4096)
        file.write(os.urandom(size - 4096))
    with (
        pytest.raises((OSError, FileError), match=r"desk\.sqlite"),
        Archive.open(closed.folder, read_only=True) as archive,
    ):
        archive.pictures()


def test_a_closed_archive_is_one_file(closed):
    assert [path.name for path in closed.home.iterdir()] == ["desk.sqlite"]


READ_ONLY = """
import os, sys
from tagrank.archive import Archive
if os.geteuid() == 0:
    os.setuid(65534)
for options in ({}, {"lock": True}, {"read_only": True}):
    try:
        with Archive.open(sys.argv[1], **options) as archive:
            print("read", archive.count())
    except OSError as error:
        print(type(error).__name__, error)
"""


@pytest.mark.skipif(not hasattr(os, "setuid"), reason="needs permissions of files")
def test_a_folder_that_cannot_be_written_to(closed):
    with tempfile.TemporaryDirectory() as place:
        folder = shutil.copytree(closed.folder, f"{place}/photos")
        for above in (place, folder, f"{folder}/.tagrank"):
            os.chmod(above, 0o555)
        answer = subprocess.run(
            [sys.executable, "-c", READ_ONLY, folder], capture_output=True, text=True, check=True
        )
        for above in (place, folder, f"{folder}/.tagrank"):
            os.chmod(above, 0o755)
    first, locked, read = answer.stdout.splitlines()
    assert read == "read 5"
    assert first == locked
    assert first.endswith(
        "cannot be written (Permission denied); name another file with --decisions FILE.sqlite"
    )
