"""The number of missing tags as a keeper accepts them, with trainings between."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.simulated_keeper import ByQueue, Keeper
from tagrank.annotation.choosing import ChosenModel
from tagrank.archive import Cell
from tagrank.data import Collection, hide_labels
from tagrank.desk.estimate import Estimate
from tagrank.desk.learning import learn as learning
from tagrank.desk.learning.learn import learn, prepare_again
from tagrank.desk.learning.missing import Total, missing_facts
from tagrank.desk.probabilities import Probabilities
from tagrank.estimators import OneVsAllSVM

HIDDEN = 0.4
TRAININGS = 6
PAGES = 2  # of 50 decisions between two trainings
NOISE = 0.2  # of the first estimate, by which a training may raise it: so much may the first be too low


@pytest.fixture(autouse=True)
def one_model(monkeypatch):
    """The choice of a model is not looked at here."""

    def choose_model(examples, states, **asked):
        # trained so far that every processor comes to the same proposals
        chosen = ChosenModel(
            OneVsAllSVM(kernel="rbf", fit_intercept=True, tol=1e-6, random_state=0), words="one-vs-all"
        )
        return chosen, prepare_again(examples, chosen)

    monkeypatch.setattr(learning, "choose_model", choose_model)


def draw_archive(seed, n=400, m=20, hidden=HIDDEN):
    """Rows of which some of the tags are hidden, and all true tags."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 12))
    strength = X @ rng.normal(size=(12, m)) / 2 + 0.7 * rng.normal(size=(n, m))
    truth = strength > np.quantile(strength, 0.85)
    truth[np.arange(n), strength.argmax(axis=1)] = True
    listed = hide_labels(truth.astype(float), hidden, random_state=seed)
    return Collection({"rows": X}, listed, [f"tag {j}" for j in range(m)]), truth


def model_of(learned, facts):
    return SimpleNamespace(ids=learned.ids, tags=learned.tags, facts={"missing": facts})


def review(keeper, *, only_yes=False):
    """(estimate, low, high, truly missing, of the last training alone) after each training and page."""
    learned = before = None
    for number in range(TRAININGS):
        learned = learn(keeper.examples(), learned)
        facts = missing_facts(learned, before)
        before, told = model_of(learned, facts), keeper.told(learned, number)
        estimate, queue = Estimate(Probabilities(told, keeper.table), facts), ByQueue("missing")
        queue.start(keeper, told)
        for page in range(PAGES + 1):
            shown = estimate.interval()
            left = keeper.n_hidden - keeper.n_found
            yield shown["estimate"], shown["low"], shown["high"], left, facts["own"], page
            if page < PAGES:
                pairs = [one for one in queue.next_pairs() if not only_yes or keeper.truth[one[0], one[1]]]
                states = {True: "present", False: "absent"}
                changes = [
                    Cell(
                        int(keeper.ids[i]), keeper.tags[j], states[bool(keeper.truth[i, j])], is_decided=True
                    )
                    for i, j in pairs
                ]
                estimate.follow(keeper.table.apply(changes))
                keeper.n_found += sum(cell.state == "present" for cell in changes)


TOO_LOW_AT_FIRST = pytest.mark.xfail(
    reason="a first estimate that is too low is raised by what is rejected: 282, 302, 307, 289, ..."
)


@pytest.mark.parametrize(
    ("only_yes", "seed"),
    [
        pytest.param(False, 0, marks=TOO_LOW_AT_FIRST),
        *[(False, 1), (False, 2), (True, 0), (True, 1), (True, 2)],
    ],
)
def test_the_estimate_falls_as_tags_are_accepted(seed, only_yes):
    rows, truth = draw_archive(seed)
    keeper = Keeper(rows, truth, None)
    steps = np.array(list(review(keeper, only_yes=only_yes)), dtype=float)
    shown, low, high, left, own, page = steps.T
    assert np.all((low <= left) & (left <= high))
    # between trainings it falls by what was accepted, from training to training it falls
    for before, after in pairwise(steps):
        if after[-1] > 0:
            assert before[0] - after[0] == pytest.approx(before[3] - after[3], abs=1)
        else:
            assert after[0] <= before[0] + (0 if only_yes else NOISE) * shown[0]
    at_trainings = shown[page == 0]
    assert np.all(np.diff(at_trainings) < 0)
    if only_yes:
        # each training alone says that as many are missing as before
        assert shown[0] - shown[-1] == pytest.approx(keeper.n_found, abs=1)
        assert own[-1] > shown[0] - keeper.n_found + NOISE * shown[0]


def test_what_is_decided_is_not_missing():
    """With nothing left to decide nothing is missing, however many were expected."""
    rows, truth = draw_archive(0, n=60, m=5, hidden=0.1)
    keeper = Keeper(rows, truth, None)
    learned = learn(keeper.examples())
    told = keeper.told(learned, 1)
    estimate = Estimate(Probabilities(told, keeper.table), missing_facts(learned, None))
    everything = [
        Cell(int(keeper.ids[i]), keeper.tags[j], "absent", is_decided=True)
        for i, j in np.argwhere(rows.states() < 0).tolist()
    ]
    changes = keeper.table.apply(everything)
    estimate.follow(changes)
    found = estimate.interval()
    assert [found[name] for name in ("estimate", "low", "high", "proposed")] == [0, 0, 0, 0]


def test_pictures_and_tags_that_came_since_are_added():
    rows, truth = draw_archive(0)
    keeper, first = Keeper(rows, truth, None), slice(0, 300)
    learned = learn(Keeper(rows.subset(first), truth[first], None).examples())
    earlier = model_of(
        learned, missing_facts(learned, None) | {"is_told": True, "total": 1000.0, "weight": 1e9}
    )
    whole = learn(keeper.examples())
    told = missing_facts(whole, earlier)
    added = float(whole.open_probabilities(alone=True)[300:].sum())
    assert told["total"] == pytest.approx(1000 + added, rel=1e-3)
    # pictures that are gone say nothing any more
    assert missing_facts(learned, model_of(whole, told))["total"] == pytest.approx(
        missing_facts(learned, None)["total"]
    )


@pytest.mark.parametrize(
    "facts", [None, {}, {"estimate": 3, "low": 1, "high": 5}, {"total": "x", "weight": 1}]
)
def test_models_of_older_versions_tell_nothing(facts):
    rows, truth = draw_archive(0, n=60, m=5, hidden=0.1)
    learned = learn(Keeper(rows, truth, None).examples())
    assert missing_facts(learned, model_of(learned, facts)) == missing_facts(learned, None)


def test_trainings_count_as_they_are_sure():
    joined = Total(10.0, 3.0).joined(Total(20.0, 1.0))
    assert (joined.number, joined.weight) == (12.5, 4.0)
