"""What tags mean: changes are recorded as decisions are, and what follows from them is derived."""

import itertools
import sqlite3

import numpy as np
import pytest

from tagrank.archive import Answer, Archive, Conflict, PictureFilter, TagState, decided_collection
from tagrank.archive.decisions import read_unmarked
from tagrank.archive.exports import decided_rows
from tagrank.archive.imports import import_answers
from tagrank.archive.tag_columns import columns_of
from tagrank.archive.tag_states import NONE, find_conflicts, imply, join_synonyms
from tagrank.data import read_pictures
from tagrank.data.vocabulary import DELETE, DESCRIBE, NO_PARENT, PARENT, RESTORE, SYNONYM, TagChange, fold
from tagrank.errors import ArgumentError
from tagrank.files import FileError

words = itertools.count()


def change(archive, *changes, who="anna"):
    return archive.change_tags([TagChange(*one) for one in changes], who=who, request=f"change {next(words)}")


def say(archive, picture, tag, answer, who="anna"):
    return archive.decide([Answer(picture, tag, answer)], who=who, request=f"answer {next(words)}")


def undo(archive, who="anna", batch=None):
    return archive.undo(who=who, request=f"undo {next(words)}", batch=batch)


def states(archive):
    """Everything that can be read of states, by picture and tag."""
    tags, cells = archive.tags(), archive.states()
    return {
        (int(cells.pictures[j]), tags[cells.columns[j]]): (int(cells.states[j]), bool(cells.is_decided[j]))
        for j in range(len(cells.states))
    }


def present(archive, picture):
    return {tag for tag, found in archive.states_of(picture).items() if found.state == "present"}


def test_a_renamed_tag_keeps_its_pictures(archive, number):
    change(archive, (SYNONYM, "sea", "ocean"))
    assert archive.tags() == ["boat", "sky", "ocean"]
    assert present(archive, number("b.png")) == {"ocean"}
    assert archive.select(PictureFilter(tag="ocean")) == archive.select(PictureFilter(tag="sea"))
    assert len(archive.select(PictureFilter(tag="ocean"))) == 2
    counts = archive.tag_counts()
    assert counts.present[counts.tags.index("ocean")] == 2
    collection = archive.collection().collection
    assert list(collection.tags) == archive.tags()


def test_a_word_that_is_typed_becomes_its_tag(archive, number):
    change(archive, (SYNONYM, "ocean", "sea"))
    batch = say(archive, number("e.png"), "ocean", "yes")
    assert batch.cells[0].tag == "sea"
    assert present(archive, number("e.png")) == {"sea"}
    with pytest.raises(ArgumentError, match="one decision per tag"):
        archive.decide(
            [Answer(number("a.png"), "sea", "yes"), Answer(number("a.png"), "ocean", "no")],
            who="anna",
            request="both",
        )


def test_the_latest_answer_about_synonyms_counts(archive, number):
    picture = number("e.png")
    say(archive, picture, "ocean", "yes")
    say(archive, picture, "lake", "no")
    change(archive, (SYNONYM, "lake", "ocean"))
    assert archive.states_of(picture)["ocean"] == TagState("absent", "no", "anna", False)
    assert [row["tag"] for row in decided_rows(archive)] == ["ocean"]
    assert decided_rows(archive)[0]["answer"] == "no"


def test_a_deleted_tag_is_hidden_and_comes_back(archive, number):
    before = states(archive)
    change(archive, (DELETE, "sea"))
    assert "sea" not in archive.tags()
    assert not archive.picture(number("b.png")).is_tagged
    assert number("b.png") in archive.select(PictureFilter(state="untagged"))
    assert not archive.pictures().is_tagged[archive.pictures().names.index("b.png")]
    with pytest.raises(ArgumentError, match="'sea' was deleted"):
        say(archive, number("e.png"), "sea", "yes")
    change(archive, (RESTORE, "sea"))
    assert states(archive) == before


def test_a_yes_to_a_tag_is_a_yes_to_its_parents(archive, number):
    change(archive, (PARENT, "boat", "vehicle"), (PARENT, "vehicle", "thing"))
    listed = archive.states_of(number("sub/d.png"))
    assert listed["thing"] == TagState("present", None, None, False, "boat")
    batch = say(archive, number("e.png"), "boat", "yes")
    assert {(cell.tag, cell.state, cell.is_decided, cell.is_implied) for cell in batch.cells} == {
        ("boat", "present", True, False),
        ("vehicle", "present", True, True),
        ("thing", "present", True, True),
    }
    assert set(archive.select(PictureFilter(tag="thing"))) == {number("e.png"), number("sub/d.png")}
    assert set(archive.select(PictureFilter(text="vehic"))) == {number("e.png"), number("sub/d.png")}
    assert archive.n_decisions() == 1


def test_a_no_to_a_parent_is_a_no_to_its_children(archive, number):
    change(archive, (PARENT, "boat", "vehicle"))
    say(archive, number("sub/d.png"), "vehicle", "no")
    assert archive.states_of(number("sub/d.png"))["boat"] == TagState("absent", None, None, True, "vehicle")
    collection, ids, (rows, columns) = archive.collection()
    decided = {(int(ids[i]), collection.tags[j]) for i, j in zip(rows, columns, strict=True)}
    assert {(number("sub/d.png"), "boat"), (number("sub/d.png"), "vehicle")} <= decided


def test_the_latest_wins_and_the_pair_is_listed(archive, number):
    picture = number("e.png")
    change(archive, (PARENT, "boat", "vehicle"))
    assert archive.conflicts() == ([], 0)
    say(archive, picture, "vehicle", "no", who="ben")
    say(archive, picture, "boat", "yes")
    assert present(archive, picture) == {"boat", "vehicle"}
    expected = Conflict(picture, "e.png", "boat", "anna", "vehicle", "ben", "present")
    assert archive.conflicts() == ([expected], 1)
    say(archive, picture, "vehicle", "no", who="ben")
    assert present(archive, picture) == set()
    assert archive.conflicts()[0][0].holds == "absent"
    say(archive, picture, "boat", "no")
    assert archive.conflicts() == ([], 0)


def test_a_skip_says_nothing_about_what_follows(archive, number):
    change(archive, (PARENT, "boat", "vehicle"))
    say(archive, number("e.png"), "boat", "yes")
    say(archive, number("e.png"), "vehicle", "skip")
    assert archive.states_of(number("e.png"))["vehicle"] == TagState("present", "skip", "anna", False, "boat")


def test_undo_restores_exactly(archive, number):
    say(archive, number("e.png"), "boat", "yes")
    before, tags = states(archive), archive.tags()
    done = [
        change(archive, (PARENT, "boat", "vehicle")),
        change(archive, (SYNONYM, "vehicle", "transport")),
        change(archive, (DELETE, "sky"), (DESCRIBE, "boat", "it swims")),
    ]
    undone = undo(archive)
    assert undone.batch == done[-1].batch
    assert undone.changes == (TagChange(DELETE, "sky"), TagChange(DESCRIBE, "boat", "it swims"))
    undo(archive)
    undo(archive)
    assert archive.vocabulary().is_plain
    assert states(archive) == before
    assert archive.tags()[: len(tags)] == tags
    assert [batch.undone_by for batch in archive.tag_history()] == ["anna"] * 3


def test_a_request_is_made_once(archive):
    first = archive.change_tags([TagChange(SYNONYM, "sea", "ocean")], who="anna", request="once")
    again = archive.change_tags([TagChange(SYNONYM, "sea", "ocean")], who="anna", request="once")
    assert (first.is_new, again.is_new, again.batch) == (True, False, first.batch)
    assert len(archive.tag_history()) == 1


def test_circles_are_refused_by_name(archive):
    change(archive, (PARENT, "boat", "vehicle"), (PARENT, "vehicle", "thing"))
    with pytest.raises(ArgumentError, match="'boat' implies 'vehicle' implies 'thing' implies 'boat'"):
        change(archive, (PARENT, "thing", "boat"))
    with pytest.raises(ArgumentError, match="must not form a circle"):
        change(archive, (SYNONYM, "thing", "boat"))
    change(archive, (SYNONYM, "vehicle", "boat"))
    assert archive.vocabulary().parents == {"boat": ("thing",)}


@pytest.mark.parametrize(
    "bad",
    [
        (DELETE, "nothing"),
        (DESCRIBE, "seo", "a text"),
        (PARENT, "sea", "sea"),
        (NO_PARENT, "sea", "sky"),
        (SYNONYM, "sea", ""),
        (SYNONYM, "sea", "a\nb"),
        (DESCRIBE, "sea", "x" * 1001),
        ("rename", "sea", "ocean"),
    ],
)
def test_what_cannot_be_meant_is_refused_and_leaves_nothing(archive, bad):
    with pytest.raises((ArgumentError, LookupError)):
        change(archive, bad)
    assert archive.tags() == ["boat", "sea", "sky"]
    assert archive.tag_history() == []


def test_nothing_is_merged_into_a_deleted_tag(archive):
    change(archive, (DELETE, "sea"))
    with pytest.raises(ArgumentError, match="restore it first"):
        change(archive, (SYNONYM, "boat", "sea"))


def test_a_list_is_compared_with_what_follows(archive, number):
    change(archive, (PARENT, "boat", "vehicle"), (SYNONYM, "ocean", "sea"))
    listed = b"image,tags\nsub/d.png,vehicle|ocean\n"
    found = import_answers(archive, listed, format="csv")
    assert [(one.name, one.tag) for one in found.changes] == [("sub/d.png", "sea")]


def test_train_reads_the_same_from_the_folder(archive, photos, number):
    say(archive, number("e.png"), "boat", "yes")
    say(archive, number("a.png"), "vehicle", "no")
    change(archive, (PARENT, "boat", "vehicle"), (SYNONYM, "sky", "heaven"), (DELETE, "sea"))
    own = archive.collection().collection
    laid = decided_collection(read_pictures(photos), photos)
    assert set(laid.tags) == set(own.tags) == {"boat", "vehicle", "heaven"}
    order = [list(laid.tags).index(tag) for tag in own.tags]
    rows = [list(laid.names).index(name) for name in own.names]
    theirs = laid.label_matrix.full().toarray()[rows][:, order]
    np.testing.assert_array_equal(theirs, own.label_matrix.full().toarray())
    assert {(label.name, label.tag) for label in laid.decided} == {
        ("e.png", "boat"),
        ("e.png", "vehicle"),
        ("a.png", "vehicle"),
        ("a.png", "boat"),
    }


def slow_states(cells, above):
    """States by the definition, cell by cell."""
    said = {}
    for picture, tag, listed, answer, time in sorted(cells, key=lambda cell: cell[4]):
        own = said.setdefault((picture, tag), [None, None, 0])
        own[0] = max(own[0] or 0, listed) if listed != NONE else own[0]
        own[1:] = (answer, time) if answer != NONE else own[1:]
    yes = {
        key: time
        for key, (listed, answer, time) in said.items()
        if (listed if answer is None else answer) == 1
    }
    no = {key: time for key, (_, answer, time) in said.items() if answer == -1}
    states = {}
    for picture in {picture for picture, _ in said}:
        for tag in range(len(above)):
            latest_yes = max(
                (time for (p, t), time in yes.items() if p == picture and (t == tag or tag in above[t])),
                default=-1,
            )
            latest_no = max(
                (time for (p, t), time in no.items() if p == picture and (t == tag or t in above[tag])),
                default=-1,
            )
            if (picture, tag) in said or max(latest_yes, latest_no) >= 0:
                states[picture, tag] = int(np.sign(latest_yes - latest_no))
    conflicts = {(p, t, u) for p, t in yes for q, u in no if p == q and u in above[t]}
    return states, conflicts


@pytest.mark.parametrize("seed", range(40))
def test_what_follows_is_what_the_definition_says(seed):
    generator = np.random.default_rng(seed)
    n_tags = 8
    names = [f"t{j}" for j in range(n_tags)]
    edges = [(i, j) for i in range(n_tags) for j in range(i) if generator.random() < 0.3]
    vocabulary = fold(
        [TagChange(PARENT, names[i], names[j]) for i, j in edges]
        + [TagChange(SYNONYM, "other", names[0]), TagChange(SYNONYM, "more", names[3])]
    )
    columns = columns_of([*names, "other", "more"], vocabulary)
    assert columns.names == names
    cells, time = [], 0
    for picture in (3, 5, 8):
        for number in generator.permutation(np.arange(1, n_tags + 3))[:6]:
            listed = int(generator.choice([1, 0, NONE]))
            answer = int(generator.choice([1, 0, -1, NONE]))
            time += answer != NONE
            if (listed, answer) != (NONE, NONE):
                cells.append(
                    [picture, int(columns.column_of[number]), listed, answer, time if answer != NONE else 0]
                )
    array = np.array(cells, dtype=np.int64).reshape(-1, 5)
    array[:, 4] = np.where(array[:, 3] != NONE, generator.permutation(len(array)) + 1, 0)
    above = [{int(name[1:]) for name in vocabulary.above.get(tag, ())} for tag in names]
    expected, conflicts = slow_states(array.tolist(), above)
    said = join_synonyms(array)
    found = imply(said, columns)
    pairs = zip(found.pictures.tolist(), found.columns.tolist(), strict=True)
    assert dict(zip(pairs, found.states.tolist(), strict=True)) == expected
    yes, no = find_conflicts(said, columns)
    assert {
        (int(said.pictures[i]), int(said.columns[i]), int(said.columns[j]))
        for i, j in zip(yes, no, strict=True)
    } == conflicts
    for (picture, tag), state in expected.items():
        if state == 1:
            assert all(expected[picture, other] == 1 for other in above[tag])


def planted(photos, rows):
    """An archive into which somebody else wrote changes."""
    with Archive.open(photos) as archive:
        archive.scan()
        path = archive.database
    with sqlite3.connect(path) as connection:
        connection.execute(
            "INSERT INTO batches (id, request, who, at, queue) VALUES (1, 'x', 'mallory', 'zzz', '')"
        )
        connection.executemany("INSERT INTO tag_changes (batch, kind, tag, other) VALUES (1, ?, ?, ?)", rows)
    connection.close()


def test_a_planted_circle_and_loop_do_no_harm(photos):
    planted(
        photos,
        [(PARENT, "sea", "sky"), (PARENT, "sky", "sea"), (SYNONYM, "boat", "x"), (SYNONYM, "x", "boat")],
    )
    with Archive.open(photos) as archive:
        assert archive.vocabulary().circles == (("sea", "sky"),)
        assert archive.tags() == ["boat", "sea", "sky"]
        assert len(archive.select(PictureFilter(tag="sea"))) == 2
        say(archive, archive.select()[0], "sea", "no")


@pytest.mark.parametrize(
    "rows",
    [
        [(PARENT, f"t{j}", f"t{j + 1}") for j in range(100_000)],
        [(DESCRIBE, "sea", str(j)) for j in range(100_001)],
        [("explode", "sea", "sky")],
    ],
    ids=["deep", "many", "unknown"],
)
def test_planted_changes_that_nobody_could_have_made_are_named(photos, rows):
    planted(photos, rows)
    with Archive.open(photos) as archive, pytest.raises(FileError, match="its tags cannot be used"):
        archive.tags()


def test_a_clock_that_is_set_back_changes_no_order(archive, number):
    say(archive, number("e.png"), "boat", "yes")
    archive._write(lambda connection: connection.execute("UPDATE batches SET at = '2999-01-01T00:00:00Z'"))
    change(archive, (PARENT, "boat", "vehicle"))
    say(archive, number("e.png"), "vehicle", "no")
    assert archive.states_of(number("e.png"))["boat"].state == "absent"
    undo(archive)
    assert archive.states_of(number("e.png"))["boat"].state == "present"


def test_what_was_accepted_unmarked_has_the_names_of_today(archive, number):
    answers = [Answer(number("e.png"), tag, "yes") for tag in ("boat", "night")]
    archive.decide(answers, who="anna", request="whole page", is_unmarked=True)
    change(archive, (SYNONYM, "boat", "ship"), (DELETE, "night"))
    assert archive.read(read_unmarked) == [(number("e.png"), "ship")]
