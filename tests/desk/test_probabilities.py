import numpy as np
import pytest

from tagrank.archive import Cell, SparseStates
from tagrank.data.vocabulary import TagVocabulary
from tagrank.desk.probabilities import Probabilities
from tagrank.desk.queues import Missing, OneTag
from tagrank.desk.review import Review
from tagrank.desk.states import StateTable
from tests.desk.fakes import FakeProposals


class NoArchive:
    def last_decision(self):
        return 0


def cells(pictures=(), columns=(), states=(), is_decided=(), is_listed=()):
    return SparseStates(
        np.array(pictures, dtype=np.int64),
        np.array(columns, dtype=np.int64),
        np.array(states, dtype=np.int8),
        np.array(is_decided, dtype=bool),
        np.array(is_listed, dtype=bool),
    )


@pytest.fixture
def ids():
    return np.arange(300) * 3 + 7


@pytest.fixture
def probabilities():
    return np.random.default_rng(1).random((300, 9)).astype(np.float16)


@pytest.fixture
def table(ids):
    return StateTable(ids, [f"t{j}" for j in range(9)], cells())


@pytest.fixture
def proposals(ids, table, probabilities):
    return FakeProposals(1, ids, table.tags, probabilities)


@pytest.mark.parametrize("most", [1, 50, 400, 10**6])
@pytest.mark.parametrize("piece", [1, 1000, 2**20])
def test_the_best_pairs_are_those_of_a_plain_sort(proposals, table, probabilities, monkeypatch, most, piece):
    monkeypatch.setattr("tagrank.desk.probabilities._PIECE", piece)
    found = Probabilities(proposals, table).best_pairs(OneTag("t0").rank, most=most)
    expected = np.argsort(-probabilities.ravel().astype(float), kind="stable")[:most]
    np.testing.assert_array_equal(found.rows * 9 + found.columns, expected)
    assert found.is_cut == (most < probabilities.size)


def test_models_of_other_pictures_and_tags_are_aligned(ids, table, probabilities):
    known, tags = ids[50:250], ["gone", "t4", "t1", "t8"]
    probabilities[3, 2] = 0  # not judged
    aligned = Probabilities(FakeProposals(1, np.append(known, 10**6), tags, probabilities[:201, :4]), table)
    whole = aligned.of_rows(np.arange(300))
    expected = np.full((300, 9), np.nan)
    expected[50:250, [4, 1, 8]] = probabilities[:200, 1:4]
    expected[53, 1] = np.nan
    np.testing.assert_array_equal(whole, expected)
    rows, columns = np.divmod(np.arange(2700), 9)
    np.testing.assert_array_equal(aligned.of_pairs(rows, columns), expected.ravel())
    pieces = list(aligned.pieces())
    together = np.concatenate([values for _, _, values in pieces])
    np.testing.assert_array_equal(together, expected[50:250][:, [4, 1, 8]])
    assert [len(values) for _, _, values in aligned.pieces(np.arange(60), 4)] == [10]


def test_an_order_that_is_used_up_is_followed_by_the_next_best(table, proposals, monkeypatch, probabilities):
    whole = Probabilities.best_pairs
    monkeypatch.setattr(Probabilities, "best_pairs", lambda *a, **k: whole(*a, **{"most": 100} | k))
    review = Review(NoArchive(), None, table, np.zeros(300, dtype=bool), proposals, TagVocabulary())
    found = []
    for _ in range(10):
        items = review.page(Missing(), limit=60).items
        found += items
        table.apply([Cell(int(table.ids[row]), table.tags[column], "absent", True) for row, column in items])
    values = [float(probabilities[pair]) for pair in found]
    assert len(set(found)) == 600
    assert values == sorted(probabilities.ravel().astype(float), reverse=True)[:600]


def test_states_follow_decisions_and_new_tags(table, ids):
    counts = table.counts.copy()
    listed = cells([7, 10], [0, 1], [1, 1], [False, False], [True, True])
    table = StateTable(ids, ["a", "b"], listed)
    for number in range(40):  # more than there is room for
        table.apply([Cell(7, f"new {number}", "present", True)])
    table.apply([Cell(7, "a", "absent", True), Cell(10, "b", "unknown", True), Cell(8, "a", "present", True)])
    assert table.tally(0) == {"present": 0, "yes": 0, "no": 1, "skip": 0}
    assert table.tally(1) == {"present": 0, "yes": 0, "no": 0, "skip": 1}
    assert table.tally(table.column("new 39")) == {"present": 1, "yes": 1, "no": 0, "skip": 0}
    assert (table.n_present[0], table.n_present[1], table.n_decided) == (40, 0, 42)
    table.apply([Cell(7, "a", "present", False)])
    assert table.tally(0) == {"present": 1, "yes": 0, "no": 0, "skip": 0}
    assert counts[:, 0].tolist() == [300] * len(counts)
    for column in range(len(table.tags)):
        np.testing.assert_array_equal(table.counts[column], np.bincount(table.codes[:, column], minlength=32))
