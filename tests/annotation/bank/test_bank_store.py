"""The folder of a bank: damaged, full, read-only, shared; large views in files; flat memory."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import psutil
import pytest

from tagrank.annotation.bank import row_store
from tagrank.annotation.bank.feature_bank import FeatureBank, bank_size, clear_bank
from tagrank.annotation.bank.row_store import CacheWarning, content_key, pack_row, unpack_row
from tagrank.data.picture_files import MAX_FILE_BYTES

sys.path.insert(0, str(Path(__file__).parent))
from bank_probes import FirstRow, Means, Wide

FEATURES = {"means": Means(), "wide": Wide()}


def draw_pictures(n_pictures, *, seed=0):
    return list(np.random.default_rng(seed).integers(1, 255, (n_pictures, 9, 8, 3), dtype=np.uint8))


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "cache"


@pytest.fixture
def large_views(monkeypatch):
    monkeypatch.setitem(FeatureBank.__init__.__kwdefaults__, "mapped_from", 0)


def refuse_writing(monkeypatch):
    def connect_read_only(path):
        address = path if path == ":memory:" else f"file:{path}?mode=ro"
        database = sqlite3.connect(address, uri=True)
        database.executescript(row_store._SCHEMA)
        return database

    monkeypatch.setattr(row_store, "_connect", connect_read_only)


def assert_right(described, pictures):
    for name, feature in FEATURES.items():
        np.testing.assert_array_equal(described.views[name], [feature(picture) for picture in pictures])


def test_packed_rows_come_back_and_damaged_ones_do_not():
    row = np.random.default_rng(0).random(100).astype(np.float32)
    packed = pack_row(row)
    np.testing.assert_array_equal(unpack_row(packed), row)
    for damaged in (packed[:-5], packed[:20] + b"xx" + packed[22:], b"", b"nonsense"):
        with pytest.raises(ValueError, match="row"):
            unpack_row(damaged)


def test_large_views_are_mapped_and_written_once(folder, large_views):
    pictures = draw_pictures(8)
    bank = FeatureBank(FEATURES, folder=folder)
    first = bank.extract(pictures)
    assert isinstance(first.views["wide"].base, np.memmap)
    assert_right(first, pictures)
    files = {path: path.stat().st_ino for path in (folder / "views").glob("*.npy")}
    assert_right(bank.extract(pictures), pictures)
    assert {path: path.stat().st_ino for path in (folder / "views").glob("*.npy")} == files
    assert len(files) == 2
    assert_right(bank.extract(pictures[::2]), pictures[::2])


@pytest.mark.parametrize("damage", [lambda data: data[:-7], lambda data: b"", lambda data: bytes(len(data))])
def test_damaged_views_are_put_together_again(folder, large_views, damage):
    pictures = draw_pictures(8)
    bank = FeatureBank(FEATURES, folder=folder)
    bank.extract(pictures)
    for path in (folder / "views").glob("*.npy"):
        path.write_bytes(damage(path.read_bytes()))
    again = bank.extract(pictures)
    assert again.n_computed == 0
    assert_right(again, pictures)


def test_views_are_never_unpickled(folder, large_views):
    pictures = draw_pictures(8)
    bank = FeatureBank(FEATURES, folder=folder)
    bank.extract(pictures)
    for path in (folder / "views").glob("*.npy"):
        np.save(path, np.array([print] * 8, dtype=object), allow_pickle=True)
    assert_right(bank.extract(pictures), pictures)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"garbage" * 999,
        lambda data: data[:5000],
        lambda data: data[:4096] + bytes(len(data) - 4096),
    ],
)
def test_damaged_store_is_started_anew(folder, damage):
    pictures = draw_pictures(8)
    bank = FeatureBank(FEATURES, folder=folder)
    bank.extract(pictures)
    database = folder / row_store.FILE_NAME
    database.write_bytes(damage(database.read_bytes()))
    with pytest.warns(CacheWarning, match="damaged"):
        assert_right(bank.extract(pictures), pictures)
    assert bank.extract(pictures).n_computed == 0


def change_rows(folder, change, where):
    """Rows of the store, each replaced by what `change` makes of it."""
    with closing(sqlite3.connect(folder / row_store.FILE_NAME)) as database, database:
        database.create_function("change", 1, change)
        database.execute(f"UPDATE rows SET packed = change(packed) WHERE {where}")


def with_nan(packed):
    row = unpack_row(packed).copy()
    row[1] = np.nan
    return pack_row(row)


@pytest.mark.parametrize(
    "damage",
    [
        lambda packed: packed[1:],
        lambda packed: "text",
        lambda packed: None,
        lambda packed: pack_row([]),
        lambda packed: pack_row(unpack_row(packed)[1:]),
        with_nan,
    ],
)
@pytest.mark.parametrize("where", ["rowid = 1", "rowid = 6", "rowid < 12"])
def test_damaged_rows_are_computed_again(folder, damage, where):
    pictures = draw_pictures(8)
    bank = FeatureBank(FEATURES, folder=folder, n_jobs=1)
    bank.extract(pictures)
    change_rows(folder, damage, where)
    with pytest.warns(CacheWarning, match="were damaged and are computed again"):
        repaired = bank.extract(pictures)
    assert repaired.n_computed > 0
    assert_right(repaired, pictures)
    assert bank.extract(pictures).n_computed == 0


def test_damaged_rows_of_a_file_that_cannot_be_written(folder, monkeypatch):
    pictures = draw_pictures(8)
    bank = FeatureBank(FEATURES, folder=folder, n_jobs=1)
    bank.extract(pictures)
    change_rows(folder, with_nan, "rowid < 4")
    refuse_writing(monkeypatch)
    with pytest.warns(CacheWarning) as caught:
        assert_right(bank.extract(pictures), pictures)
    assert ["damaged" in str(warning.message) for warning in caught].count(True) >= 1


def test_rows_that_are_never_of_one_length(folder):
    with (
        pytest.warns(CacheWarning),
        pytest.raises(OSError, match=r"odd: a row of .*: remove it.*--no-cache"),
    ):
        FeatureBank({"odd": FirstRow()}, folder=folder).extract(
            [np.zeros((8, 8 + n, 3), np.uint8) for n in range(3)]
        )


def test_a_view_with_numbers_that_are_not_finite_is_put_together_again(folder, large_views):
    pictures = draw_pictures(8)
    bank = FeatureBank(FEATURES, folder=folder)
    bank.extract(pictures)
    for path in (folder / "views").glob("*.npy"):
        view = np.load(path)
        view[-1, -1] = np.inf
        np.save(path, view)
    assert_right(bank.extract(pictures), pictures)


def test_full_disk(folder, monkeypatch, large_views):
    """A real refusal of the database, and a view that cannot be written."""
    pictures = draw_pictures(40)
    bank = FeatureBank(FEATURES, folder=folder, n_jobs=1)
    bank.extract(pictures[:10])
    connect = row_store._connect

    def connect_to_full_disk(path):
        database = connect(path)
        if path != ":memory:":
            database.execute("PRAGMA max_page_count = 1")
        return database

    def refuse(*_args):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(row_store, "_connect", connect_to_full_disk)
        patch.setattr("tagrank.annotation.bank.view_files.write_view", refuse)
        with pytest.warns(CacheWarning) as caught:
            described = bank.extract(pictures)
    assert len(caught) == 1
    assert_right(described, pictures)
    assert (described.n_computed, described.n_cached) == (30, 10)
    assert not list(folder.rglob("*.part"))
    assert bank.extract(pictures).n_computed == 30


def test_views_for_which_there_is_no_room(folder, monkeypatch, large_views):
    pictures = draw_pictures(10)
    bank = FeatureBank(FEATURES, folder=folder)

    def refuse(*_args):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("tagrank.annotation.bank.view_files.write_view", refuse)
        with pytest.warns(CacheWarning, match="No space left") as caught:
            assert_right(bank.extract(pictures), pictures)
    assert len(caught) == 1
    assert isinstance(bank.extract(pictures).views["wide"].base, np.memmap)


def test_folder_that_cannot_be(tmp_path):
    (tmp_path / "file").touch()
    pictures = draw_pictures(5)
    with pytest.warns(CacheWarning, match="kept in memory only"):
        described = FeatureBank(FEATURES, folder=tmp_path / "file" / "cache").extract(pictures)
    assert_right(described, pictures)


def test_read_only_store_is_still_read(folder, monkeypatch):
    pictures = draw_pictures(10)
    bank = FeatureBank(FEATURES, folder=folder)
    bank.extract(pictures[:6])

    refuse_writing(monkeypatch)
    with pytest.warns(CacheWarning, match="readonly"):
        described = bank.extract(pictures)
    assert described.n_computed == 4
    assert_right(described, pictures)
    # nothing new, nothing to warn of
    assert_right(bank.extract(pictures[:6]), pictures[:6])


def test_two_processes_at_once(folder):
    code = f"""
import sys; sys.path[:0] = [{str(Path(__file__).parent)!r}]
import numpy as np
from bank_probes import FirstRow, Means, Wide
from tagrank.annotation.bank.feature_bank import FeatureBank
from tagrank.annotation.bank.feature_bank import bank_size, clear_bank
pictures = list(np.random.default_rng(0).integers(1, 255, (120, 9, 8, 3), dtype=np.uint8))
bank = FeatureBank({{"means": Means(delay=0.002), "wide": Wide()}}, folder={str(folder)!r}, n_jobs=1)
print(bank.extract(pictures).views["wide"].sum())
"""
    command = [sys.executable, "-W", "error", "-c", code]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    answers = [process.communicate()[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert answers[0] == answers[1]
    pictures = draw_pictures(120)
    again = FeatureBank(FEATURES, folder=folder).extract(pictures)
    np.testing.assert_array_equal(again.views["wide"], [Wide()(picture) for picture in pictures])


def test_clearing_touches_nothing_else(folder, large_views):
    views = folder / "views"
    views.mkdir(parents=True)
    own = [folder / "notes.txt", views / "mine.npy", views / ".mine.part"]
    leftover = views / f".{'0' * 32}.npy.abc.part"
    for path in (*own, leftover):
        path.touch()
        os.utime(path, (0, 0))
    FeatureBank(FEATURES, folder=folder).extract(draw_pictures(8))
    assert not leftover.exists()
    assert bank_size(folder) > 8 * 4000
    clear_bank(folder)
    assert bank_size(folder) == 0
    assert all(path.exists() for path in own)


def test_memory_stays_flat(folder):
    """Eight times the pictures, 64 MB of rows: less than 16 MB more in use."""
    process = psutil.Process()
    picture = np.zeros((8, 8, 3), dtype=np.uint8)
    bank = FeatureBank({"wide": Wide(20_000)}, folder=folder, n_jobs=1)

    def memory_of(n_pictures):
        pictures = []
        for number in range(n_pictures):
            picture[0, 0, :2] = divmod(number, 256)
            pictures.append(picture.copy())
        peak = 0

        def watch(*_call):
            nonlocal peak
            peak = max(peak, process.memory_info().rss)

        bank.extract(pictures, progress=watch)
        return max(peak, process.memory_info().rss)

    memory_of(110)
    few = memory_of(120)
    assert memory_of(880) - few < 16e6


def test_a_file_of_holes_is_not_read(tmp_path):
    (tmp_path / "a.png").touch()
    os.truncate(tmp_path / "a.png", MAX_FILE_BYTES + 1)
    with pytest.raises(OSError, match=f"at most {MAX_FILE_BYTES:,} are read"):
        content_key(tmp_path / "a.png")


def test_a_second_run_of_a_day_writes_nothing(folder):
    """Pictures are noted as used once a day, not at every look."""
    pictures = draw_pictures(40)
    bank = FeatureBank(FEATURES, folder=folder, n_jobs=1)
    bank.extract(pictures)
    with row_store.RowStore(folder) as store:
        database = store._databases[-1]
        n_changed = database.total_changes
        store.mark_used([], [content_key(picture) for picture in pictures])
        assert database.total_changes == n_changed
