import numpy as np
import pytest

from tagrank.archive import Answer
from tagrank.archive.records import PictureFilter
from tagrank.desk.queues import make_queue
from tests.desk.conftest import N_PICTURES, TAGS, as_answers, wall


def pairs(page):
    return [(item["picture"]["id"], item["tag"]) for item in page["items"]]


def all_pages(desk, **asked):
    """Every page of a wall."""
    pages, cursor = [], ""
    while cursor is not None:
        pages.append(wall(desk, cursor=cursor, **asked))
        cursor = pages[-1]["cursor"]
    return pages


def all_pairs(desk, **asked):
    return [pair for page in all_pages(desk, **asked) for pair in pairs(page)]


def listed_tag(row):
    return row % 3 if row < 10 else None


def expected_missing(ids, probabilities, least=0.0):
    open_ = [
        (int(ids[i]), TAGS[j])
        for i in range(N_PICTURES)
        for j in range(len(TAGS))
        if j != listed_tag(i) and probabilities[i, j] >= least
    ]
    column = {tag: j for j, tag in enumerate(TAGS)}
    row = {int(number): i for i, number in enumerate(ids)}
    return sorted(open_, key=lambda pair: -probabilities[row[pair[0]], column[pair[1]]])


@pytest.fixture
def ids(archive):
    return archive.pictures().ids


def test_missing_shows_what_is_neither_listed_nor_decided_most_probable_first(make_desk, ids, probabilities):
    desk = make_desk()
    pages = all_pages(desk, queue="missing", limit=100)
    assert [pair for page in pages for pair in pairs(page)] == expected_missing(ids, probabilities, 0.02)
    assert desk.wall(who="anna", limit=1)["total"] == len(expected_missing(ids, probabilities, 0.2))
    assert all(item["state"] == "unknown" for page in pages for item in page["items"])


def test_a_page_accepts_only_what_is_more_probable_than_not_and_says_how_many_are_right(make_desk):
    for asked in ({"queue": "missing"}, {"queue": "tag", "tag": "boat"}, {"queue": "untagged"}):
        pages = all_pages(make_desk(), limit=7, **asked)
        assert [page["rule"] for page in pages] == sorted(page["rule"] for page in pages)
        assert {page["rule"] for page in pages} == {"accept"} | (
            {"mark"} if asked["queue"] != "untagged" else set()
        )
        for page in pages:
            shares = [item["probability"] for item in page["items"]]
            assert all((share >= 0.5) == (page["rule"] == "accept") for share in shares)
            assert page["right"] == pytest.approx(sum(shares), abs=0.01)


def test_where_likely_and_unlikely_tags_stand_beside_each_other_nothing_is_accepted_unmarked(make_desk):
    desk = make_desk()
    for asked in ({"queue": "informative"}, {"queue": "all"}, {"queue": "all", "tag": "sky"}):
        pages = all_pages(desk, limit=7, **asked)
        assert {page["rule"] for page in pages} == {"mark"}
        assert any(item["probability"] > 0.5 for page in pages for item in page["items"])


def test_tags_that_are_there_are_kept_unless_marked(make_desk):
    desk = make_desk()
    for asked in ({"queue": "wrong"}, {"queue": "tag", "tag": "sea", "state": "present"}):
        assert wall(desk, **asked)["rule"] == "keep"


def test_what_somebody_decided_is_not_changed_by_enter(make_desk, ids, probabilities):
    desk = make_desk()
    row = int(probabilities[:, 3].argmax())  # "tree", which is listed nowhere
    answers = [{"picture": int(ids[row]), "tag": "tree", "answer": "no"}]
    desk.decide(as_answers(answers), who="anna", request="r")
    page = desk.wall(make_queue("tag", tag="tree", state="absent"), who="anna")
    assert (pairs(page), page["rule"]) == ([(int(ids[row]), "tree")], "mark")


def test_what_no_model_knows_is_not_accepted_and_nothing_is_claimed(make_desk, ids):
    desk = make_desk()
    answers = [{"picture": int(ids[3]), "tag": "new", "answer": "yes"}]
    desk.decide(as_answers(answers), who="anna", request="r")
    page = desk.wall(make_queue("tag", tag="new"), who="anna")
    assert (page["rule"], page["right"]) == ("mark", None)


def test_the_answer_to_a_step_tells_how_much_is_left(make_desk, ids):
    desk = make_desk()
    before = desk.wall(who="anna", limit=5)
    shown = make_queue("missing")
    answers = [{"picture": picture, "tag": tag, "answer": "yes"} for picture, tag in pairs(before)]
    told = desk.decide(as_answers(answers), who="anna", request="one", shown=shown)
    assert told["total"] == before["total"] - 5 == desk.wall(who="anna")["total"]
    told = desk.undo(who="anna", request="two", shown=shown)
    assert told["total"] == before["total"] == desk.wall(who="anna")["total"]
    n_left = desk.next(make_queue("all"), who="anna")["left"]
    told = desk.decide(who="anna", request="three", reviewed=[int(ids[0])], shown=make_queue("all"))
    assert told["left"] == n_left - 1
    assert "left" not in desk.decide(who="anna", request="four", reviewed=[int(ids[1])])


def test_the_suspect_tag_that_is_asked_for_comes_first(make_desk, ids, probabilities):
    desk = make_desk()
    page = desk.wall(make_queue("wrong"), who="anna")
    picture, tag = pairs(page)[0]
    assert desk.next(make_queue("wrong"), who="anna")["picture"]["id"] == picture
    assert desk.next(make_queue("wrong", tag=tag), who="anna")["doubtful"][0]["tag"] == tag


def test_a_wall_without_anything_says_why(make_desk, ids):
    desk = make_desk()
    assert desk.wall(who="anna")["nothing"] is None
    assert desk.wall(make_queue(folder="nowhere"), who="anna")["nothing"] == "filters"
    assert make_desk(n_models=0).wall(who="anna")["nothing"] == "model"
    answers = [{"picture": one, "tag": "tree", "answer": "no"} for one in ids.tolist()]
    desk.decide(as_answers(answers), who="anna", request="r")
    assert desk.wall(make_queue("tag", tag="tree"), who="anna")["nothing"] == "decided"


def test_an_archive_without_tags_has_no_proposals_yet(make_desk, archive):
    cells = archive.states()
    tags = archive.tags()
    answers = [
        Answer(int(picture), tags[column], "no")
        for picture, column in zip(cells.pictures, cells.columns, strict=True)
    ]
    archive.decide(answers, who="anna", request="none")
    desk = make_desk(n_models=0)
    assert [desk.wall(make_queue(queue), who="anna")["nothing"] for queue in ("missing", "all")] == [
        "tags"
    ] * 2
    assert desk.next(make_queue("untagged"), who="anna")["nothing"] is None


def test_an_unknown_tag_is_said_to_be_unknown(make_desk):
    desk = make_desk()
    for ask, chosen in (
        (desk.wall, make_queue(tag="tre")),
        (desk.next, make_queue(tag="tre")),
        (desk.pictures, PictureFilter(tag="tre")),
    ):
        with pytest.raises(
            LookupError, match="the tag 'tre' is unknown in this archive; did you mean 'tree'"
        ):
            ask(chosen)
    assert desk.complete("tre") == {"tags": ["tree"], "known": False, "near": ["tree"], "meant": None}
    assert desk.complete("Tree")["near"] == ["tree"]
    assert desk.complete("tree") == {"tags": ["tree"], "known": True, "near": [], "meant": None}


def test_pages_follow_each_other(make_desk, ids, probabilities):
    desk, found, cursor = make_desk(), [], ""
    while cursor is not None:
        page = desk.wall(make_queue("missing"), who="anna", limit=7, cursor=cursor)
        found, cursor = found + pairs(page), page["cursor"]
    assert found == expected_missing(ids, probabilities, 0.02)


def test_a_decision_leaves_the_queue_and_an_undone_one_comes_back(make_desk):
    desk = make_desk()
    before = pairs(desk.wall(who="anna", limit=5))
    picture, tag = before[0]
    answer = desk.decide([Answer(picture, tag, "yes")], who="anna", request="one")
    assert answer["decisions"] == 1
    assert answer["due_in"] == 49
    assert pairs(desk.wall(who="anna", limit=4)) == before[1:]
    undone = desk.undo(who="anna", request="two")
    assert [(cell["picture"], cell["tag"], cell["state"]) for cell in undone["restored"]] == [
        (picture, tag, "unknown")
    ]
    assert pairs(desk.wall(who="anna", limit=5)) == before


def test_wrong_shows_listed_tags_that_are_improbable_the_least_probable_first(make_desk, ids, probabilities):
    page = wall(make_desk(), queue="wrong")
    shares = [0.4, 0.3, 0.3]  # of the ten tagged pictures
    doubted = [(i, listed_tag(i)) for i in range(10) if probabilities[i, listed_tag(i)] < shares[i % 3]]
    assert doubted
    doubted.sort(key=lambda pair: probabilities[pair])
    assert pairs(page) == [(int(ids[i]), TAGS[j]) for i, j in doubted]
    assert page["total"] == len(doubted)


def test_untagged_pictures_come_with_their_most_probable_tag(make_desk, ids, probabilities):
    desk = make_desk()
    rows = sorted((10, 11), key=lambda i: -probabilities[i].max())
    page = desk.wall(make_queue("untagged"), who="anna")
    assert pairs(page) == [(int(ids[i]), TAGS[probabilities[i].argmax()]) for i in rows]
    first = pairs(page)[0]
    desk.decide(
        as_answers([{"picture": first[0], "tag": first[1], "answer": "yes"}]), who="anna", request="r"
    )
    assert [picture for picture, _ in pairs(wall(desk, queue="untagged"))] == [int(ids[rows[1]])]


def test_one_tag_goes_on_with_pictures_that_no_model_knows(make_desk, archive, ids, probabilities):
    desk = make_desk()
    expected = [pair for pair in expected_missing(ids, probabilities) if pair[1] == "boat"]
    assert all_pairs(desk, queue="tag", tag="boat") == expected
    desk.decide(
        as_answers([{"picture": int(ids[3]), "tag": "new", "answer": "yes"}]), who="anna", request="r"
    )
    unknown = desk.wall(make_queue("tag", tag="new"), who="anna", limit=50)
    assert pairs(unknown) == [(int(number), "new") for number in ids if number != ids[3]]
    assert {item["probability"] for item in unknown["items"]} == {None}


def test_one_tag_in_a_state(make_desk, ids):
    page = wall(make_desk(), queue="tag", tag="sea", state="present")
    assert {picture for picture, _ in pairs(page)} == {int(ids[i]) for i in range(10) if i % 3 == 1}
    assert {item["state"] for item in page["items"]} == {"present"}


@pytest.mark.parametrize(
    ("filters", "rows"),
    [
        ({"folder": "summer"}, range(8, 12)),
        ({"text": "summer/1"}, (10, 11)),
        ({"state": "untagged"}, (10, 11)),
        ({"end": "1990-01-01"}, ()),
    ],
)
def test_filters_combine_with_queues(make_desk, ids, filters, rows):
    desk = make_desk()
    for queue in ("missing", "informative", "all", "untagged"):
        found = {picture for picture, _ in all_pairs(desk, queue=queue, limit=100, **filters)}
        expected = {int(ids[i]) for i in rows}
        assert found == (expected & {int(ids[10]), int(ids[11])} if queue == "untagged" else expected)
        assert {item["id"] for item in desk.pictures(PictureFilter(**filters))["items"]} == expected


def test_everything_with_a_tag_shows_all_pictures_in_order(make_desk, ids):
    page = make_desk().wall(make_queue("all", tag="sky"), who="anna")
    assert pairs(page) == [(int(number), "sky") for number in ids]


def test_two_people_get_different_items(make_desk):
    desk = make_desk()
    anna = pairs(desk.wall(who="anna", limit=10))
    ben = pairs(desk.wall(who="ben", limit=10))
    assert not set(anna) & set(ben)
    assert pairs(desk.wall(who="anna", limit=10)) == anna
    desk.wall(make_queue("wrong"), who="anna", limit=1)
    assert set(anna) <= set(pairs(desk.wall(who="ben", limit=100))) | set(ben)


def test_two_people_get_different_pictures(make_desk):
    desk = make_desk()
    anna, ben = desk.next(who="anna"), desk.next(who="ben")
    assert anna["picture"]["id"] != ben["picture"]["id"]
    held = {anna["picture"]["id"]}
    assert not held & {picture for picture, _ in pairs(desk.wall(who="ben", limit=100))}


def test_a_picture_stays_lent_while_its_person_asks_ahead(make_desk):
    desk = make_desk()
    first = desk.next(who="anna")["picture"]["id"]
    second = desk.next(who="anna", after=first)["picture"]["id"]
    assert desk.next(who="ben")["picture"]["id"] not in (first, second)


def test_the_next_picture_has_its_tags_proposals_and_doubts(make_desk, ids, probabilities):
    desk = make_desk()
    found = desk.next(make_queue("missing"), who="anna")
    row = int(np.flatnonzero(ids == found["picture"]["id"])[0])
    own = listed_tag(row)
    is_doubted = own is not None and probabilities[row, own] < 0.5
    assert [pair["tag"] for pair in found["doubtful"]] == ([TAGS[own]] if is_doubted else [])
    assert [pair["tag"] for pair in found["tags"]] == ([] if own is None or is_doubted else [TAGS[own]])
    others = [j for j in np.argsort(-probabilities[row]) if j != own]
    assert [pair["tag"] for pair in found["proposed"]] == [
        TAGS[j] for j in others if probabilities[row, j] >= 0.02
    ]
    assert found["left"] >= 1


def test_next_passes_over_what_was_left_and_what_is_reviewed(make_desk, ids):
    desk = make_desk()
    first = desk.next(who="anna")["picture"]["id"]
    second = desk.next(who="anna", after=first)["picture"]["id"]
    assert second != first
    assert desk.next(who="anna")["picture"]["id"] == first
    desk.decide(who="anna", request="r", reviewed=[first])
    assert desk.next(who="anna")["picture"]["id"] == second
    desk.undo(who="anna", request="u")
    assert desk.next(who="anna")["picture"]["id"] == first
    desk.decide(who="anna", request="all", reviewed=ids.tolist())
    assert desk.next(make_queue("all"), who="anna") == {
        "picture": None,
        **{name: [] for name in ("tags", "proposed", "doubtful", "rejected")},
        "left": 0,
        "nothing": "decided",
    }


def test_a_rejected_tag_is_told(make_desk, ids):
    desk = make_desk()
    picture = int(ids[11])
    answers = [
        {"picture": picture, "tag": "boat", "answer": "no"},
        {"picture": picture, "tag": "sea", "answer": "yes"},
    ]
    desk.decide(as_answers(answers), who="anna", request="r")
    found = desk.picture(picture)
    assert [(pair["tag"], pair["state"], pair["answer"], pair["by"]) for pair in found["rejected"]] == [
        ("boat", "absent", "no", "anna")
    ]
    assert [(pair["tag"], pair["state"], pair["by"]) for pair in found["tags"]] == [
        ("sea", "present", "anna")
    ]


def test_pictures_are_listed_page_by_page(make_desk, ids):
    desk = make_desk()
    first = desk.pictures(limit=7)
    second = desk.pictures(limit=7, cursor=first["cursor"])
    assert [item["id"] for item in first["items"] + second["items"]] == ids.tolist()
    assert (first["total"], second["cursor"]) == (N_PICTURES, None)
    assert first["items"][0]["tags"] == ["boat"]


def test_without_a_model_pictures_are_shown_all_the_same(make_desk, ids):
    desk = make_desk(n_models=0)
    page = desk.wall(make_queue("missing"), who="anna")
    assert (page["items"], page["cursor"], page["total"]) == ([], None, 0)
    found = desk.next(make_queue("untagged"), who="anna")
    assert found["picture"]["id"] == ids[10]
    assert found["proposed"] == []
    assert desk.overview()["model"] is None


@pytest.mark.parametrize(
    "asked",
    [
        {"queue": "nonsense"},
        {"queue": "tag"},
        {"state": "nonsense"},
        {"cursor": "'; DROP TABLE"},
        {"limit": 0},
        {"limit": 10**6},
    ],
)
def test_what_cannot_be_meant_is_refused(make_desk, asked):
    with pytest.raises(ValueError, match=r"must be|needs|cursor"):
        wall(make_desk(), **asked)


def test_what_is_not_there_is_refused(make_desk):
    desk = make_desk()
    for call in (
        lambda: desk.wall(make_queue("tag", tag="nothing"), who="anna"),
        lambda: desk.picture(10**6),
        lambda: desk.thumbnail(10**6),
        lambda: desk.learning.use(7),
        lambda: desk.why(1, "nothing"),
    ):
        with pytest.raises(LookupError):
            call()
