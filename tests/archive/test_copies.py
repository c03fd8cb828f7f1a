"""Copies of decisions: made while others write, put back, and merged whichever way round."""

import itertools
import shutil
import sqlite3
import threading

import pytest

from tagrank.archive import Answer, Archive, ArchiveInUse
from tagrank.archive.copies import copy_database, merge_copy, restore_database
from tagrank.commands.decisions import backup_decisions, import_decisions, restore_decisions
from tagrank.data.vocabulary import DELETE, PARENT, SYNONYM, TagChange
from tagrank.errors import ArgumentError
from tagrank.files import FileError

words = itertools.count()


def say(archive, name, tag, answer, who="anna", **more):
    table = archive.pictures()
    picture = int(table.ids[table.names.index(name)])
    return archive.decide([Answer(picture, tag, answer)], who=who, request=f"say {next(words)}", **more)


def change(archive, *changes, who="anna"):
    return archive.change_tags([TagChange(*one) for one in changes], who=who, request=f"change {next(words)}")


def undo(archive, who, batch=None):
    return archive.undo(who=who, request=f"undo {next(words)}", batch=batch)


def everything(archive):
    """All states by names, reviews and meanings: what two copies can have in common."""
    table, tags, cells, vocabulary = archive.contents()
    names = dict(zip(table.ids.tolist(), table.names, strict=True))
    states = {
        (names[int(cells.pictures[j])], tags[cells.columns[j]]): (
            int(cells.states[j]),
            bool(cells.is_decided[j]),
        )
        for j in range(len(cells.states))
    }
    reviewed = {name for name, done in zip(table.names, table.is_reviewed, strict=True) if done}
    return states, reviewed, vocabulary


@pytest.fixture
def copies(photos, tmp_path):
    """Two copies of one archive with a common history."""
    with Archive.open(photos) as archive:
        archive.scan()
        say(archive, "a.png", "boat", "yes")
        say(archive, "b.png", "sea", "no", who="ben")
    other = shutil.copytree(photos, tmp_path / "other")
    with Archive.open(photos) as first, Archive.open(other) as second:
        second.scan()
        yield first, second


def test_the_latest_wins_whichever_way_round_copies_are_merged(copies, tmp_path):
    first, second = copies
    say(first, "e.png", "boat", "yes")
    say(second, "e.png", "boat", "no", who="ben", reviewed=[])
    say(second, "a.png", "night", "yes", who="ben")
    change(second, (PARENT, "boat", "vehicle"), who="ben")
    change(first, (SYNONYM, "sky", "heaven"))
    say(first, "sub/c.png", "vehicle", "no")
    say(second, "sub/c.png", "boat", "yes", who="ben")
    undo(first, "anna", first.history(who="anna")[-1].batch)
    undo(second, "ben", second.history(who="ben")[-1].batch)
    copy_database(first.database, tmp_path / "first.sqlite")
    copy_database(second.database, tmp_path / "second.sqlite")
    merged = merge_copy(first, tmp_path / "second.sqlite")
    assert (merged.n_steps, merged.n_answers, merged.n_tag_changes, merged.n_undone) == (4, 3, 1, 1)
    assert list(merged.people) == ["ben"]
    merge_copy(second, tmp_path / "first.sqlite")
    assert everything(first) == everything(second)
    states = everything(first)[0]
    assert states["e.png", "boat"] == (-1, True)
    assert states["sub/c.png", "vehicle"] == (1, True)
    assert ("a.png", "boat") not in states
    assert states["b.png", "sea"] == (1, False)


def test_a_second_merge_changes_nothing(copies, tmp_path):
    first, second = copies
    say(second, "e.png", "boat", "yes", who="ben", reviewed=[])
    undo(second, "ben")
    change(second, (DELETE, "sky"))
    copy_database(second.database, tmp_path / "second.sqlite")
    merge_copy(first, tmp_path / "second.sqlite")
    before = everything(first)
    again = merge_copy(first, tmp_path / "second.sqlite")
    assert (again.n_steps, again.n_answers, again.n_undone, again.problems) == (0, 0, 0, ())
    assert everything(first) == before


def test_a_dry_run_leaves_everything(copies, tmp_path):
    first, second = copies
    say(second, "e.png", "boat", "yes", who="ben")
    before = everything(first)
    copy_database(second.database, tmp_path / "second.sqlite")
    told = merge_copy(first, tmp_path / "second.sqlite", dry_run=True)
    assert (told.n_steps, told.dry_run) == (1, True)
    assert everything(first) == before
    assert merge_copy(first, tmp_path / "second.sqlite").n_steps == 1


def test_what_was_said_of_a_picture_that_is_not_here_waits_for_it(copies, photos, tmp_path):
    first, second = copies
    say(second, "e.png", "boat", "yes", who="ben")
    (photos / "e.png").rename(tmp_path / "e.png")
    first._write(lambda connection: connection.execute("DELETE FROM pictures WHERE name = 'e.png'"))
    assert merge_copy(first, second.database).n_unknown == 1
    shutil.move(tmp_path / "e.png", photos / "moved.png")
    first.scan()
    assert everything(first)[0]["moved.png", "boat"] == (1, True)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE batches SET at = '2999-01-01T00:00:00Z'", "in the future"),
        ("UPDATE batches SET at = 'zzz'", "did not record"),
        ("UPDATE batches SET who = '' WHERE id = 1", "did not record"),
        ("CREATE TABLE more (x)", "does not have the tables of a tagrank archive"),
    ],
)
def test_a_copy_that_no_tagrank_wrote_is_refused(copies, tmp_path, statement, message):
    first, second = copies
    path = tmp_path / "bad.sqlite"
    copy_database(second.database, path)
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
    connection.close()
    before = everything(first)
    with pytest.raises(FileError, match=message):
        merge_copy(first, path)
    assert everything(first) == before


def test_names_that_lead_outside_and_bad_tags_are_left_out(copies, tmp_path):
    first, second = copies
    say(second, "e.png", "boat", "yes", who="ben")
    say(second, "a.png", "night", "yes", who="ben")
    path = tmp_path / "bad.sqlite"
    copy_database(second.database, path)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE pictures SET name = '../../x', key = zeroblob(16) WHERE name = 'e.png'")
        connection.execute("UPDATE tags SET name = 'x' || char(10) || 'y' WHERE name = 'night'")
    connection.close()
    merged = merge_copy(first, path)
    assert (merged.n_answers, len(merged.problems)) == (0, 2)


def test_a_copy_is_of_one_moment_while_others_write(archive, number, tmp_path):
    stop = threading.Event()

    def write():
        while not stop.is_set():
            archive.decide(
                [Answer(number("a.png"), tag, "yes") for tag in ("one", "two")],
                who="anna",
                request=f"say {next(words)}",
            )

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for turn in range(5):
            path, n_decisions = backup_decisions(archive.folder, tmp_path / f"{turn}.sqlite")
            assert n_decisions % 2 == 0
            with Archive.open(archive.folder, database=path, read_only=True) as copy:
                assert copy.n_decisions() == n_decisions
    finally:
        stop.set()
        thread.join()
    assert {one.suffix for one in tmp_path.iterdir()} == {".sqlite", ""}


def test_a_copy_is_put_back_and_the_old_one_kept(photos, tmp_path):
    with Archive.open(photos) as archive:
        archive.scan()
        say(archive, "a.png", "boat", "yes")
        before = everything(archive)
        backup_decisions(photos, tmp_path / "copy.sqlite")
        say(archive, "b.png", "boat", "yes")
        after = everything(archive)
    n_decisions, kept = restore_decisions(photos, tmp_path / "copy.sqlite")
    assert n_decisions == 1
    with Archive.open(photos, read_only=True) as archive:
        assert everything(archive) == before
    with Archive.open(photos, database=kept, read_only=True) as archive:
        assert everything(archive) == after


def test_a_damaged_archive_can_be_restored(photos, tmp_path):
    with Archive.open(photos) as archive:
        archive.scan()
        say(archive, "a.png", "boat", "yes")
        path = archive.database
    backup_decisions(photos, tmp_path / "copy.sqlite")
    path.write_bytes(b"not a database" * 100)
    assert restore_database(tmp_path / "copy.sqlite", path)[0] == 1
    with Archive.open(photos, read_only=True) as archive:
        assert archive.n_decisions() == 1


def test_nothing_is_restored_over_an_open_desk_or_from_a_foreign_file(photos, tmp_path):
    (tmp_path / "text.sqlite").write_text("not a database")
    with Archive.open(photos, lock=True) as archive:
        archive.scan()
        backup_decisions(photos, tmp_path / "copy.sqlite")
        with pytest.raises(ArchiveInUse):
            restore_decisions(photos, tmp_path / "copy.sqlite")
    with pytest.raises((FileError, OSError)):
        restore_decisions(photos, tmp_path / "text.sqlite")
    with Archive.open(photos, read_only=True) as archive:
        assert archive.tags()
    assert not [one for one in photos.joinpath(".tagrank").iterdir() if ".restored" in one.name]


def test_import_takes_the_file_of_another_copy(photos, copies, tmp_path):
    first, second = copies
    say(second, "e.png", "boat", "yes", who="ben")
    copy_database(second.database, tmp_path / "second.sqlite")
    first.close()
    assert import_decisions(photos, tmp_path / "second.sqlite", dry_run=True).n_steps == 1
    assert import_decisions(photos, tmp_path / "second.sqlite").n_steps == 1
    assert import_decisions(photos, tmp_path / "second.sqlite").n_steps == 0
    with pytest.raises(ArgumentError, match="already names the people"):
        import_decisions(photos, tmp_path / "second.sqlite", who="anna")
    with pytest.raises(ArgumentError, match=r"a \.sqlite file"):
        backup_decisions(photos, tmp_path / "copy.csv")
