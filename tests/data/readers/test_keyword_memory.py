"""Keywords of files that did not change are remembered; whatever becomes of the memory, nothing is lost."""

import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tagrank.archive import Archive
from tagrank.data import read_pictures
from tagrank.data.readers.folders import keywords as keyword_folder
from tagrank.data.readers.keyword_memory import FILE_NAME, KeywordMemory

LONG_AGO = 1.7e9
SIDECAR = """<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:lr="http://ns.adobe.com/lightroom/1.0/">
<dc:subject><rdf:Bag><rdf:li>{0}</rdf:li><rdf:li>été</rdf:li></rdf:Bag></dc:subject>
<lr:hierarchicalSubject><rdf:Bag><rdf:li>places|{0}</rdf:li></rdf:Bag></lr:hierarchicalSubject>
</rdf:Description></rdf:RDF></x:xmpmeta>"""


def write_picture(folder, number, word, *, age=LONG_AGO):
    folder.mkdir(exist_ok=True)
    picture, sidecar = folder / f"{number}.png", folder / f"{number}.png.xmp"
    Image.fromarray(np.full((9, 9, 3), number, dtype=np.uint8)).save(picture)
    sidecar.write_text(SIDECAR.format(word), encoding="utf-8")
    for path in (picture, sidecar):
        os.utime(path, (age, age))


@pytest.fixture
def photographs(tmp_path):
    for number in range(6):
        write_picture(tmp_path / "photographs", number, f"word {number}")
    return tmp_path / "photographs"


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


@pytest.fixture
def opened(monkeypatch):
    """The names of files that are read for their keywords."""
    names = []
    for function in ("read_embedded", "read_marked"):
        read = getattr(keyword_folder, function)
        monkeypatch.setattr(
            keyword_folder, function, lambda path, read=read: (names.append(Path(path).name), read(path))[1]
        )
    return names


def look(folder, cache):
    with KeywordMemory(cache) as memory:
        return read_pictures(folder, keywords=memory)


def assert_same(first, second):
    assert (first.tags, first.names, first.trees) == (second.tags, second.names, second.trees)
    np.testing.assert_array_equal(first.states(), second.states())
    assert first.problems == second.problems


def test_a_second_look_opens_no_file_and_finds_the_same(photographs, cache, opened):
    first = look(photographs, cache)
    assert "word 3" in first.tags
    assert first.trees["3.png"] == ("places|word 3",)
    assert set(opened) == {path.name for path in photographs.iterdir()}
    opened.clear()
    assert_same(look(photographs, cache), first)
    assert opened == []


def test_new_and_changed_files_only_are_opened(photographs, cache, opened):
    look(photographs, cache)
    opened.clear()
    write_picture(photographs, 7, "new")
    (photographs / "2.png.xmp").write_text(SIDECAR.format("another word"), encoding="utf-8")
    again = look(photographs, cache)
    assert set(opened) == {"7.png", "7.png.xmp", "2.png.xmp"}
    assert {"new", "another word"} <= set(again.tags)
    assert "word 2" not in again.tags
    assert_same(again, read_pictures(photographs))


def test_a_file_of_just_now_is_not_remembered(tmp_path, cache, opened):
    folder = tmp_path / "fresh"
    write_picture(folder, 1, "one", age=time.time())
    look(folder, cache)
    opened.clear()
    look(folder, cache)
    assert set(opened) == {"1.png", "1.png.xmp"}


def test_what_a_machine_made_stays_marked(photographs, cache):
    plain = (photographs / "1.png.xmp").read_text(encoding="utf-8")
    marks = (
        '<t:MachineTags xmlns:t="urn:tagrank:xmp:1.0/"><rdf:Bag><rdf:li t:list="dc:subject" t:word="été" '
        't:run="2026"/></rdf:Bag></t:MachineTags></rdf:Description>'
    )
    marked = plain.replace("</rdf:Description>", marks)
    (photographs / "1.png.xmp").write_text(marked, encoding="utf-8")
    os.utime(photographs / "1.png.xmp", (LONG_AGO, LONG_AGO))
    with pytest.warns(UserWarning, match="ignoring machine-written tags: 1"):
        first = look(photographs, cache)
    with pytest.warns(UserWarning, match="ignoring machine-written tags: 1"):
        assert_same(look(photographs, cache), first)
    with KeywordMemory(cache) as memory:
        everything = read_pictures(photographs, keywords=memory, machine_tags=True)
    assert everything.tag_counts().sum() == first.tag_counts().sum() + 1


@pytest.mark.parametrize(
    "words", ["", "nonsense", "[]", "[[1], [], [], []]", '["ab", [], [], 7]', "null", "[" * 100_000]
)
def test_damaged_entries_are_read_again(photographs, cache, opened, words):
    first = look(photographs, cache)
    with closing(sqlite3.connect(cache / FILE_NAME)) as database, database:
        database.execute("UPDATE keywords SET words = ?", (words,))
    opened.clear()
    assert_same(look(photographs, cache), first)
    assert len(set(opened)) == 12
    opened.clear()
    look(photographs, cache)
    assert opened == []


@pytest.mark.parametrize(
    "damage", [lambda data: b"garbage" * 999, lambda data: data[:4096] + bytes(len(data) - 4096)]
)
def test_a_damaged_file_is_started_anew(photographs, cache, opened, damage):
    first = look(photographs, cache)
    path = cache / FILE_NAME
    path.write_bytes(damage(path.read_bytes()))
    assert_same(look(photographs, cache), first)
    assert_same(look(photographs, cache), first)
    opened.clear()
    assert_same(look(photographs, cache), first)
    assert opened == []


def test_a_folder_that_cannot_be_written_changes_nothing(photographs, tmp_path):
    (tmp_path / "file").touch()
    assert_same(look(photographs, tmp_path / "file" / "cache"), read_pictures(photographs))


def test_an_archive_remembers_in_its_cache_and_nowhere_else(photographs, cache, opened):
    with Archive.open(photographs) as archive:
        archive.scan(cache=cache)
        before = archive.picture_tags()
        opened.clear()
        archive.scan(cache=cache)
        assert opened == []
        assert archive.picture_tags() == before
        archive.scan(cache=False)
        assert len(set(opened)) == 12
    assert (cache / FILE_NAME).exists()
    assert not list(photographs.rglob(FILE_NAME))
