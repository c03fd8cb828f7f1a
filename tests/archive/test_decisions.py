"""Answers are recorded once, taken back to any depth, and reach the labels."""

import threading

import numpy as np
import pytest

from tagrank.archive import Answer, Archive, TagState
from tagrank.archive.decisions import read_unmarked
from tagrank.errors import ArgumentError


def say(archive, picture, tag, answer, *, who="anna", request=None, **more):
    say.count = getattr(say, "count", 0) + 1
    word = request or f"request {say.count}"
    return archive.decide([Answer(picture, tag, answer)], who=who, request=word, **more)


def label(archive, picture, tag):
    collection, ids, _ = archive.collection()
    labels = collection.label_matrix.full().toarray()
    return labels[ids.tolist().index(picture), collection.tags.index(tag)]


def test_an_answer_is_a_state_and_a_label(archive, number):
    archive.decide(
        [
            Answer(number("b.png"), "sky", "yes"),
            Answer(number("b.png"), "sea", "no"),
            Answer(number("a.png"), "sky", "skip"),
        ],
        who="anna",
        request="1",
    )
    assert archive.states_of(number("b.png")) == {
        "sea": TagState("absent", "no", "anna", True),
        "sky": TagState("present", "yes", "anna", False),
    }
    assert label(archive, number("b.png"), "sky") == 1
    assert label(archive, number("b.png"), "sea") == 0
    assert label(archive, number("b.png"), "boat") == 0
    assert np.isnan(label(archive, number("a.png"), "sky"))


def test_a_no_about_an_untagged_picture_is_one_known_label(archive, number):
    say(archive, number("e.png"), "sky", "no")
    assert label(archive, number("e.png"), "sky") == 0
    assert np.isnan(label(archive, number("e.png"), "sea"))
    collection, ids, (rows, columns) = archive.collection(only_known=True)
    assert number("e.png") in ids
    assert number("sub/c.png") not in ids
    assert [(ids[i], collection.tags[j]) for i, j in zip(rows, columns, strict=True)] == [
        (number("e.png"), "sky")
    ]


def test_a_picture_whose_only_tag_is_rejected_is_untagged(archive, number):
    say(archive, number("b.png"), "sea", "no")
    assert not archive.picture(number("b.png")).is_tagged
    assert label(archive, number("b.png"), "sea") == 0
    assert np.isnan(label(archive, number("b.png"), "sky"))


def test_new_tags_are_appended(archive, number):
    before = archive.tags()
    say(archive, number("e.png"), "  lighthouse ", "yes")
    assert archive.tags() == [*before, "lighthouse"]
    assert archive.picture(number("e.png")).is_tagged


def test_the_same_request_changes_nothing(archive, number):
    first = say(archive, number("e.png"), "sky", "yes", request="word")
    second = say(archive, number("e.png"), "sky", "no", request="word")
    assert (first.batch, first.is_new) == (second.batch, True)
    assert not second.is_new
    assert archive.n_decisions() == 1
    with pytest.raises(ArgumentError, match="used before"):
        archive.undo(who="anna", request="word")


def test_undo_at_any_depth(archive, number):
    picture = number("b.png")
    states = [archive.states_of(picture)]
    for answer in ("yes", "no", "skip", "yes"):
        say(archive, picture, "sky", answer)
        states.append(archive.states_of(picture))
    for depth, expected in enumerate(states[-2::-1]):
        undone = archive.undo(who="anna", request=f"undo {depth}")
        assert archive.states_of(picture) == expected
        assert undone.restored[0].state == expected.get("sky", TagState("unknown", None, None, False)).state
    with pytest.raises(LookupError, match="anna has nothing to undo"):
        archive.undo(who="anna", request="one too many")
    assert [decision.is_undone for decision in archive.history()] == [True] * 4
    assert archive.n_decisions() == 0


def test_undo_twice_with_one_request_is_once(archive, number):
    say(archive, number("b.png"), "sky", "yes")
    say(archive, number("b.png"), "boat", "yes")
    first = archive.undo(who="anna", request="back")
    again = archive.undo(who="anna", request="back")
    assert (again.batch, again.restored) == (first.batch, first.restored)
    assert archive.states_of(number("b.png"))["sky"].state == "present"


def test_what_somebody_else_decided_later_is_kept(archive, number):
    picture = number("b.png")
    say(archive, picture, "sky", "yes", who="anna")
    say(archive, picture, "sky", "no", who="ben")
    undone = archive.undo(who="anna", request="a")
    assert undone.restored == ()
    assert [(cell.tag, cell.state) for cell in undone.kept] == [("sky", "absent")]
    # anna's answer was taken back: it does not return with ben's
    archive.undo(who="ben", request="b")
    assert "sky" not in archive.states_of(picture)


def test_reviewed_belongs_to_its_batch(archive, number):
    picture = number("b.png")
    archive.decide([], who="anna", request="1", reviewed=[picture])
    archive.decide([], who="ben", request="2", reviewed=[picture])
    archive.undo(who="anna", request="3")
    assert archive.picture(picture).is_reviewed
    assert archive.undo(who="ben", request="4").reviewed == (picture,)
    assert not archive.picture(picture).is_reviewed


def test_history_tells_who_when_and_what_it_was(archive, number):
    say(archive, number("b.png"), "sea", "no", queue="wrong", model=3)
    say(archive, number("a.png"), "boat", "yes", who="ben")
    latest, first = archive.history()
    assert (first.name, first.tag, first.answer, first.before) == ("b.png", "sea", "no", "present")
    assert (first.who, first.queue, first.model, first.at[:2]) == ("anna", "wrong", 3, "20")
    assert archive.history(before=latest.id) == [first]
    assert archive.history(who="ben") == [latest]
    assert archive.n_decisions(since=first.id) == 1


@pytest.mark.parametrize(
    ("answer", "options", "error", "words"),
    [
        (Answer(99, "sky", "yes"), {}, LookupError, "no picture 99"),
        (Answer(1, "sky", "perhaps"), {}, ArgumentError, "yes, no, skip"),
        (Answer(1, "", "yes"), {}, ArgumentError, "1 to 200 characters"),
        (Answer(1, "x" * 201, "yes"), {}, ArgumentError, "1 to 200 characters, got 201"),
        (Answer(1, "a\nb", "yes"), {}, ArgumentError, r"cannot be seen, got U\+000A"),
        (Answer(1, "\u202eyks", "yes"), {}, ArgumentError, r"cannot be seen, got U\+202E"),
        (Answer(1, "sky", "yes"), {"who": "anna\u200b"}, ArgumentError, r"person may not hold .* U\+200B"),
        (Answer("1; DROP TABLE", "sky", "yes"), {}, ArgumentError, "by its number"),
        (Answer(2**70, "sky", "yes"), {}, ArgumentError, "by its number"),
        (Answer(1, "sky", "yes"), {"who": "n" * 101}, ArgumentError, "name of a person"),
        (Answer(1, "sky", "yes"), {"request": ""}, ArgumentError, "request must have 1 to 100"),
        (Answer(1, "sky", "yes"), {"reviewed": [77]}, LookupError, "no picture 77"),
    ],
)
def test_what_cannot_be_meant_is_refused_whole(archive, answer, options, error, words):
    tags = archive.tags()
    with pytest.raises(error, match=words):
        archive.decide([Answer(1, "quite new", "yes"), answer], **({"who": "anna", "request": "1"} | options))
    assert archive.last_decision() == 0
    assert archive.tags() == tags


def test_a_batch_has_bounds(archive):
    with pytest.raises(ArgumentError, match=r"at most 1,000 decisions .* got 1,001"):
        archive.decide([Answer(1, f"tag {i}", "yes") for i in range(1001)], who="anna", request="1")
    with pytest.raises(ArgumentError, match="expected one decision per tag of a picture"):
        archive.decide([Answer(1, "sky", "yes"), Answer(1, "sky", "no")], who="anna", request="1")


def test_many_threads_decide_at_once(archive, number):
    heard = []
    archive.add_listener(heard.extend)
    picture = number("e.png")

    def work(thread):
        for step in range(20):
            say_once = [Answer(picture, f"tag {thread} {step}", "yes")]
            archive.decide(say_once, who=f"person {thread}", request=f"{thread} {step}")

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert archive.n_decisions() == 160
    assert len(archive.states_of(picture)) == 160
    assert sorted(cell.tag for cell in heard) == sorted(archive.states_of(picture))


def test_a_listener_that_fails_loses_no_decision(archive, number):
    archive.add_listener(lambda cells: 1 / 0)
    with pytest.warns(UserWarning, match="listener"):
        say(archive, number("b.png"), "sky", "yes")
    assert archive.n_decisions() == 1


def test_a_reader_sees_what_is_decided_while_it_is_open(archive, number):
    with Archive.open(archive.folder, read_only=True) as reader:
        say(archive, number("b.png"), "sky", "yes")
        assert reader.n_decisions() == 1
        with pytest.raises(OSError, match="reading only"):
            say(reader, number("b.png"), "sky", "no")


def test_what_was_accepted_unmarked_is_told_until_somebody_says_more(archive, number):
    pairs = [(number("b.png"), "lighthouse"), (number("e.png"), "lighthouse"), (number("e.png"), "harbour")]
    answers = [Answer(*pair, "yes") for pair in pairs]
    archive.decide(answers, who="anna", request="1", is_unmarked=True)
    assert sorted(archive.read(read_unmarked)) == sorted(pairs)
    archive.decide(answers[:1], who="anna", request="2")
    archive.decide([Answer(*pairs[1], "no")], who="anna", request="3")
    assert archive.read(read_unmarked) == pairs[2:]
    archive.undo(who="anna", request="4")
    archive.undo(who="anna", request="5")
    archive.undo(who="anna", request="6")
    assert archive.read(read_unmarked) == []
