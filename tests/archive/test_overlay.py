"""What was decided reaches a folder that is read without the desk."""

import os
import shutil

import numpy as np
import pytest

from tagrank.archive import Answer, Archive, decided_collection
from tagrank.data import clean_tags, read_pictures
from tagrank.data.vocabulary import TagChange


@pytest.fixture
def decided(archive, number):
    """A folder about which something was decided; no desk is open."""
    answers = [
        ("b.png", "sky", "yes"),
        ("b.png", "sea", "no"),
        ("a.png", "sky", "skip"),
        ("sub/c.png", "Lighthouse", "yes"),
        ("e.png", "sky", "no"),
    ]
    archive.decide([Answer(number(name), *rest) for name, *rest in answers], who="anna", request="1")
    expected = archive.collection()
    archive.close()
    return archive.folder, expected


def cells(collection):
    labels = collection.label_matrix.full().toarray()
    return {
        (name, tag): "nan" if np.isnan(labels[i, j]) else labels[i, j]
        for i, name in enumerate(collection.names)
        for j, tag in enumerate(collection.tags)
    }


def test_the_labels_are_those_of_the_archive(decided):
    folder, (expected, *_) = decided
    laid = decided_collection(read_pictures(folder), folder)
    assert cells(laid) == cells(expected)
    assert laid.tags == ["boat", "sea", "sky", "Lighthouse"]
    assert {label[:2] for label in laid.decided} == {
        ("b.png", "sky"),
        ("b.png", "sea"),
        ("a.png", "sky"),
        ("sub/c.png", "Lighthouse"),
        ("e.png", "sky"),
    }
    assert laid.summary()["decisions"] == 5


def test_pictures_that_moved_since_are_found(decided):
    folder, (expected, *_) = decided
    os.rename(folder / "b.png", folder / "sub" / "moved.png")
    os.rename(folder / "a.png", folder / "b.png")
    laid, before = cells(decided_collection(read_pictures(folder), folder)), cells(expected)
    assert [laid["sub/moved.png", tag] for tag in ("sky", "sea")] == [
        before["b.png", t] for t in ("sky", "sea")
    ]
    assert laid["b.png", "sky"] == "nan"


def test_decisions_about_pictures_that_went_do_not_matter(decided):
    folder, _ = decided
    os.remove(folder / "b.png")
    laid = decided_collection(read_pictures(folder), folder)
    assert "b.png" not in {label.name for label in laid.decided}


def test_decided_tags_are_tidied_with_the_others(decided):
    folder, _ = decided
    laid = clean_tags(decided_collection(read_pictures(folder), folder), fold_case=True)
    assert ("sub/c.png", "lighthouse", False) in laid.decided
    assert len(laid.subset([0, 1]).decided) == sum(label.name in laid.names[:2] for label in laid.decided)


def test_what_only_confirms_the_list_is_told_apart(archive, number):
    archive.decide([Answer(number("b.png"), "sea", "yes")], who="anna", request="1")
    laid = decided_collection(read_pictures(archive.folder), archive.folder)
    assert list(laid.decided) == [("b.png", "sea", True)]
    assert (laid.decided_mask().sum(), laid.decided_mask(confirmed=False).sum()) == (1, 0)


def test_nothing_is_written(decided):
    folder, _ = decided

    def look():
        return {
            path: (path.read_bytes(), path.stat().st_mtime_ns) for path in (folder / ".tagrank").iterdir()
        }

    before = look()
    decided_collection(read_pictures(folder), folder)
    assert look() == before


def test_a_desk_that_is_open_is_read_too(decided):
    folder, _ = decided
    with Archive.open(folder) as archive:
        archive.decide([Answer(1, "sunset", "yes")], who="ben", request="2")
        assert "sunset" in decided_collection(read_pictures(folder), folder).tags


def test_a_file_elsewhere(decided, tmp_path):
    folder, (expected, *_) = decided
    shutil.move(folder / ".tagrank" / "desk.sqlite", tmp_path / "kept.sqlite")
    laid = decided_collection(read_pictures(folder), folder, tmp_path / "kept.sqlite")
    assert cells(laid) == cells(expected)


def test_parents_come_along(archive, number):
    archive.change_tags(
        [TagChange("parent", "boat", "vehicle"), TagChange("parent", "vehicle", "things")],
        who="anna",
        request="0",
    )
    archive.close()
    laid = decided_collection(read_pictures(archive.folder), archive.folder)
    assert set(laid.implies) == {("boat", "vehicle"), ("boat", "things"), ("vehicle", "things")}
    assert laid.subset([0, 1]).implies == laid.implies
    assert len(laid.implied_columns()) == 3
