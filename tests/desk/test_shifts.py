"""A decision speaks for and against the other tags of its picture at once, and is taken back as a whole."""

import numpy as np
import pytest
from scipy.special import expit, logit

from tagrank.archive import Answer, Cell, SparseStates
from tagrank.data.vocabulary import TagVocabulary
from tagrank.desk.desk import Desk
from tagrank.desk.probabilities import Probabilities
from tagrank.desk.queues import Missing, OneTag
from tagrank.desk.review import Review
from tagrank.desk.states import StateTable
from tagrank.estimators.calibration.companions import Companions
from tests.desk.conftest import TAGS
from tests.desk.fakes import FakeModels, FakeProposals, FakeTrainer

IDS = np.arange(40) * 2 + 5
NAMES = ["jet", "plane", "sky", "snow", "coral"]


class NoArchive:
    def last_decision(self):
        return 0


@pytest.fixture
def companions():
    """Jet and plane attract each other, snow and coral repel; the more tags, the fewer others."""
    ties, votes = np.zeros((2, 5, 5))
    ties[0, 1] = ties[1, 0] = 2.0
    ties[3, 4] = ties[4, 3] = -2.0
    votes[0, 2] = 0.5
    return Companions(ties, votes, 0.9, -0.1, 0.2)


@pytest.fixture
def table():
    none = np.zeros(0, dtype=np.int64)
    cells = SparseStates(none, none, none.astype(np.int8), none.astype(bool), none.astype(bool))
    return StateTable(IDS, NAMES, cells)


@pytest.fixture
def values():
    return np.random.default_rng(2).uniform(0.05, 0.8, size=(40, 5)).astype(np.float16)


@pytest.fixture
def review(table, values, companions):
    proposals = FakeProposals(1, IDS, NAMES, values, companions)
    return Review(NoArchive(), None, table, np.zeros(40, dtype=bool), proposals, TagVocabulary())


def decide(review, row, tag, state, *, is_decided=True):
    changes = review.table.apply([Cell(int(IDS[row]), tag, state, is_decided)])
    review.estimate.follow(changes)
    review.hear(changes)


def test_an_accepted_tag_raises_its_companion_and_no_other_picture(review, values):
    before = review.probabilities.of_rows(np.arange(40))
    decide(review, 7, "jet", "present")
    now = review.probabilities.of_rows(np.arange(40))
    assert now[7, 1] > before[7, 1] + 0.05
    assert now[7, 0] == before[7, 0]
    np.testing.assert_array_equal(np.delete(now, 7, axis=0), np.delete(before, 7, axis=0))
    p = values[7].astype(float)
    expected = 0.9 * logit(p[1]) + 0.2 - 0.1 + 2 * (1 - p[0])
    assert now[7, 1] == pytest.approx(expit(expected), abs=1e-3)


def test_a_rejected_tag_lowers_its_companion(review):
    before = review.probabilities.of_rows(np.array([3]))[0]
    decide(review, 3, "jet", "absent")
    now = review.probabilities.of_rows(np.array([3]))[0]
    assert now[1] < before[1]
    np.testing.assert_allclose(now[[0, 3, 4]], before[[0, 3, 4]], atol=1e-6)


def test_a_decision_that_is_taken_back_leaves_nothing(review):
    before = review.probabilities.of_rows(np.arange(40))
    estimate = review.estimate.interval()
    for tag in ("jet", "snow"):
        decide(review, 7, tag, "present")
    for tag in ("jet", "snow"):
        decide(review, 7, tag, "unknown", is_decided=False)
    np.testing.assert_allclose(review.probabilities.of_rows(np.arange(40)), before, atol=1e-6)
    assert review.estimate.interval() == estimate


def test_rows_pairs_and_pieces_say_the_same(review):
    decide(review, 7, "jet", "present")
    decide(review, 9, "coral", "absent")
    whole = review.probabilities.of_rows(np.arange(40))
    rows, columns = np.divmod(np.arange(200), 5)
    np.testing.assert_array_equal(review.probabilities.of_pairs(rows, columns), whole.ravel())
    np.testing.assert_array_equal(np.concatenate([one[2] for one in review.probabilities.pieces()]), whole)
    (column,) = [values for _, _, values in review.probabilities.pieces(column=1)]
    np.testing.assert_array_equal(column[:, 0], whole[:, 1])


@pytest.mark.parametrize("queue", [Missing(), OneTag("plane")])
def test_queues_follow_without_being_sorted_anew(review, queue, table):
    review.page(queue, limit=200)
    decide(review, 7, "jet", "present")
    decide(review, 12, "jet", "absent")
    decide(review, 7, "sky", "present")
    found = review.page(queue, limit=200).items
    fresh = Review(NoArchive(), None, table, np.zeros(40, dtype=bool), review.proposals, TagVocabulary())
    fresh.probabilities = review.probabilities
    assert found == fresh.page(queue, limit=200).items
    assert found


def test_what_is_proposed_follows(review):
    decide(review, 7, "jet", "present")
    rows, columns = review.proposed()
    values = review.probabilities.of_rows(np.arange(40))
    expected = {(i, j) for i, j in np.argwhere(values >= 0.2).tolist() if (i, j) != (7, 0)}
    assert set(zip(rows.tolist(), columns.tolist(), strict=True)) == expected


def test_the_number_of_missing_tags_follows(review, table):
    decide(review, 7, "jet", "present")
    fresh = review.probabilities
    is_open = table.codes[:, :5] == 0
    assert review.estimate._mean == pytest.approx(
        float(fresh.of_rows(np.arange(40))[is_open].sum()), rel=1e-4
    )


def test_pages_go_on_after_an_order_has_changed(review):
    first = review.page(Missing(), limit=10)
    decide(review, first.items[0][0], "jet", "present")
    second = review.page(Missing(), cursor=first.cursor, limit=200)
    assert second.items


def test_a_model_that_knows_no_companions_moves_nothing(table, values):
    silent = Probabilities(FakeProposals(1, IDS, NAMES, values), table)
    changes = table.apply([Cell(int(IDS[7]), "jet", "present", True)])
    assert not len(silent.hear(changes))


@pytest.fixture
def desk(archive, probabilities):
    ties = np.zeros((4, 4))
    ties[0, 3] = ties[3, 0] = 3.0  # boat and tree
    companions = Companions(ties, np.zeros((4, 4)), 1.0, 0.0, 0.0)
    models = FakeModels(FakeProposals(1, archive.pictures().ids, TAGS, probabilities, companions))
    with Desk(archive, models, FakeTrainer(), cache=False) as opened:
        yield opened


def shown_of(desk, picture, tag):
    found = desk.picture(picture)
    pairs = [pair for name in ("proposed", "tags", "doubtful", "rejected") for pair in found[name]]
    return next((pair["probability"] for pair in pairs if pair["tag"] == tag), None)


def test_the_answer_of_the_desk_tells_what_moved(desk, archive):
    picture = int(archive.pictures().ids[11])
    before = shown_of(desk, picture, "tree")
    told = desk.decide([Answer(picture, "boat", "yes")], who="anna", request="1", shown=Missing())
    after = {pair["tag"]: pair["probability"] for pair in told["proposed"]}["tree"]
    assert after > before
    assert shown_of(desk, picture, "tree") == after
    desk.undo(who="anna", request="2")
    assert shown_of(desk, picture, "tree") == pytest.approx(before, abs=1e-4)


def test_a_page_that_nobody_marked_does_not_speak_for_other_tags(desk, archive):
    picture = int(archive.pictures().ids[11])
    before = shown_of(desk, picture, "tree")
    desk.decide([Answer(picture, "boat", "yes")], who="anna", request="1", is_unmarked=True)
    assert shown_of(desk, picture, "tree") == before
    desk.decide([Answer(picture, "boat", "yes")], who="anna", request="2")
    assert shown_of(desk, picture, "tree") > before
