"""Pictures that are marked as complete in the audit: what they lack is surely absent."""

import shutil

import numpy as np
import pytest

from tagrank.archive import Answer, Archive, decided_collection
from tagrank.archive.audits import AUDIT, read_audited
from tagrank.archive.copies import merge_copy
from tagrank.data import read_pictures


@pytest.fixture
def audited(archive, number):
    """Three pictures marked as complete: one lacks a tag, one has a wrong one, one lists nothing."""
    answers = [Answer(number("b.png"), "boat", "yes"), Answer(number("sub/d.png"), "boat", "no")]
    marked = [number(name) for name in ("b.png", "sub/d.png", "e.png")]
    archive.decide(answers, who="anna", request="1", queue=AUDIT, reviewed=marked)
    # done with in another queue: nobody says that all its tags are there
    archive.decide([], who="anna", request="2", queue="missing", reviewed=[number("a.png")])
    return archive


def test_marks_are_those_of_the_audit_that_stand(audited, number):
    expected = sorted(number(name) for name in ("b.png", "sub/d.png", "e.png"))
    assert audited.read(read_audited).tolist() == expected
    table = audited.pictures()
    assert table.ids[table.is_audited].tolist() == expected
    audited.undo(who="anna", request="3", batch=audited.steps()[-1].batch)
    assert len(audited.read(read_audited)) == 0
    assert not audited.pictures().is_audited.any()


def test_an_audited_picture_is_known_throughout(audited):
    collection, _, _ = audited.collection()
    assert set(collection.audited) == {"b.png", "sub/d.png"}  # one without a listed tag tells nothing
    states = dict(zip(collection.names, collection.states().tolist(), strict=True))
    column = {tag: j for j, tag in enumerate(collection.tags)}
    assert [states["b.png"][column[tag]] for tag in ("sea", "boat", "sky")] == [1, 1, -1]
    assert [states["sub/d.png"][column[tag]] for tag in ("sky", "boat", "sea")] == [1, -1, -1]
    assert set(states["e.png"]) == {-1}  # looked at, and there is nothing
    assert set(states["sub/c.png"]) == {0}


def test_a_folder_that_is_read_without_the_desk_has_the_same(audited):
    expected, *_ = audited.collection()
    audited.close()
    laid = decided_collection(read_pictures(audited.folder), audited.folder)
    assert sorted(laid.audited) == sorted(expected.audited)
    order = [laid.names.index(name) for name in expected.names]
    columns = [laid.tags.index(tag) for tag in expected.tags]
    np.testing.assert_array_equal(laid.states()[np.ix_(order, columns)], expected.states())
    found = laid.decided_mask(confirmed=False)
    assert found[laid.names.index("b.png"), laid.tags.index("boat")]


def test_copies_bring_the_audit_along(audited, photos, tmp_path):
    other = shutil.copytree(photos, tmp_path / "other", ignore=shutil.ignore_patterns(".tagrank"))
    with Archive.open(other) as copy:
        copy.scan()
        merge_copy(copy, audited.database)
        assert set(copy.collection().collection.audited) == {"b.png", "sub/d.png"}
