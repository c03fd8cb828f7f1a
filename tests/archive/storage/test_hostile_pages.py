"""Databases whose pages lead to each other again and again: small files that would be read for ever."""

import sqlite3
import struct
from contextlib import closing

import pytest

from tagrank.archive import Archive
from tagrank.files import FileError

FAN = 200


@pytest.fixture
def gift(archive, photos):
    """The file of an archive that somebody else made, in one piece."""
    archive.close()
    path = archive.database
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("UPDATE settings SET value = 'of somebody else' WHERE key = 'identity'")
    return path


def root(path, table):
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT rootpage FROM sqlite_schema WHERE name = ?"
        (number,) = connection.execute(query, (table,)).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    return number, size


def branch(child, size):
    """A page of a tree that leads to one page again and again."""
    page, cell = bytearray(size), struct.pack(">IB", child, 1)
    start = size - FAN * len(cell)
    page[:12] = struct.pack(">BHHHBI", 5, 0, FAN, start, 0, child)
    page[12 : 12 + 2 * FAN] = struct.pack(f">{FAN}H", *range(start, size, len(cell)))
    page[start:] = cell * FAN
    return bytes(page)


def repeat(path, table, levels=1):
    """Let the rows of a table come FAN ** (levels + 1) times."""
    number, size = root(path, table)
    data = bytearray(path.read_bytes())
    place = slice((number - 1) * size, number * size)
    pages = [bytes(data[place])]
    for _ in range(levels):
        pages.append(branch(len(data) // size + len(pages), size))
    data[place] = branch(len(data) // size + len(pages), size)
    data += b"".join(pages)
    # how many pages there are
    data[28:32] = struct.pack(">I", len(data) // size)
    path.write_bytes(data)


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("table", ["pictures", "tags", "batches", "decisions"])
def test_pages_that_come_again_are_refused(gift, photos, table, read_only):
    repeat(gift, table)
    before = gift.read_bytes()
    with pytest.raises(FileError, match=r"is damaged or not a database .*restore it"):
        Archive.open(photos, read_only=read_only)
    assert gift.read_bytes() == before


def test_pages_without_end_are_refused(gift, photos):
    repeat(gift, "tags", levels=15)
    with pytest.raises(FileError, match="is damaged"):
        Archive.open(photos)


def test_what_this_user_knows_is_not_looked_through_again(gift, photos, monkeypatch):
    with Archive.open(photos) as archive:
        archive.own.remember()
    monkeypatch.setattr("tagrank.archive.storage.database._fault", lambda connection: "looked through")
    Archive.open(photos).close()
    with closing(sqlite3.connect(gift, isolation_level=None)) as connection:
        connection.execute("UPDATE settings SET value = 'of another' WHERE key = 'identity'")
    with pytest.raises(FileError, match="looked through"):
        Archive.open(photos)


def test_a_list_of_tables_without_end_is_refused(gift, photos):
    """Definitions that come twice are refused by SQLite, but not those of indexes that it makes itself."""
    data = bytearray(gift.read_bytes())
    size = struct.unpack(">H", data[16:18])[0]
    (row,) = _automatic_index(gift)
    leaf = len(data) // size + 1
    data += _leaf(row, size)
    inner = leaf + 1
    data += branch(leaf, size)
    for _ in range(6):
        data += branch(inner, size)
        inner += 1
    # the first page: its rows, then those without end
    rows = inner + 1
    first = bytearray(data[:size])
    data += _moved(first, size)
    cell = struct.pack(">IB", rows, 127)
    first[100:112] = struct.pack(">BHHHBI", 5, 0, 1, size - len(cell), 0, inner)
    first[112:114] = struct.pack(">H", size - len(cell))
    first[size - len(cell) :] = cell
    data[:size] = first
    data[28:32] = struct.pack(">I", len(data) // size)
    gift.write_bytes(data)
    with pytest.raises(FileError, match="list of tables has no end"):
        Archive.open(photos)


def _automatic_index(path):
    query = "SELECT type, name, tbl_name, rootpage FROM sqlite_schema WHERE sql IS NULL LIMIT 1"
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


def _leaf(row, size):
    """A page with one row of texts and a number."""
    *texts, number = row
    texts = [text.encode() for text in texts]
    kinds = bytes([13 + 2 * len(text) for text in texts]) + b"\x01\x00"
    record = bytes([1 + len(kinds)]) + kinds + b"".join(texts) + bytes([number])
    cell = bytes([len(record), 1]) + record
    page = bytearray(size)
    page[:10] = struct.pack(">BHHHBH", 13, 0, 1, size - len(cell), 0, size - len(cell))
    page[size - len(cell) :] = cell
    return bytes(page)


def _moved(first, size):
    """The first page as another one: without the header of the file before its own."""
    page, head = bytearray(first), first[100:108]
    count = struct.unpack(">H", head[3:5])[0]
    page[:8] = head
    page[8 : 8 + 2 * count] = first[108 : 108 + 2 * count]
    return bytes(page)


def test_a_word_that_is_too_long_to_be_kept_is_replaced(gift, photos):
    with closing(sqlite3.connect(gift, isolation_level=None)) as connection:
        connection.execute("UPDATE settings SET value = ? WHERE key = 'identity'", ("x" * 2**20,))
    with Archive.open(photos) as archive:
        own = archive.own.folder
        assert len(archive.settings.get("identity")) < 100
    with Archive.open(photos) as archive:
        assert archive.own.folder == own
