"""A keeper of an archive who answers by the truth, whatever the queues of the desk show.

The archive is a matrix of true tags of which some are hidden. Queues and trainings are those of the desk;
only the file of decisions and the process of the trainings are left out.
"""

from dataclasses import dataclass, field

import numpy as np

from tagrank.archive import Cell, SparseStates
from tagrank.data.vocabulary import TagVocabulary
from tagrank.desk.learning.examples import Examples
from tagrank.desk.learning.learn import learn
from tagrank.desk.queues import ACCEPT, FLOOR, Everything, OneTag, make_queue
from tagrank.desk.review import Review
from tagrank.desk.states import OPEN, StateTable, is_in_state

PAGE = 50  # pairs that are answered before the next are asked for
A_PICTURE = 5  # proposals for each picture of those who go through pictures in order
FEWEST_RIGHT = 0.2  # of a page of one tag; with fewer the keeper goes on to the next tag


@dataclass(frozen=True)
class Told:
    """What a model says, in the shape of `Proposals`."""

    number: int
    ids: np.ndarray
    tags: list
    probabilities: np.ndarray
    facts: dict = field(default_factory=dict)
    alone: np.ndarray | None = None
    ties: object = None

    def companions(self):
        return self.ties

    def held_out(self):
        return self.alone


class Keeper:
    """Answers, and what they left known.

    Parameters
    ----------
    rows : Collection with features, and the labels that are listed
    truth : bool array (n, n_tags)
    features : what the views of `rows` came from
    """

    def __init__(self, rows, truth, features):
        self.rows, self.truth, self.features = rows, truth, features
        self.ids, self.tags = np.arange(1, len(rows) + 1), list(rows.tags)
        self.listed = rows.states() > 0
        pictures, columns = np.nonzero(self.listed)
        no, yes = np.zeros(len(pictures), dtype=bool), np.ones(len(pictures), dtype=bool)
        cells = SparseStates(self.ids[pictures], columns, yes.astype(np.int8), no, yes)
        self.table = StateTable(self.ids, self.tags, cells)
        self.n_hidden = int(np.count_nonzero(truth & ~self.listed))
        self.n_decisions = self.n_found = 0
        self.unmarked = np.zeros(truth.shape, dtype=bool)

    def answer(self, pairs):
        """Decide pairs of (row, column); the share of those that were true."""
        changes = [
            Cell(
                int(self.ids[row]),
                self.tags[column],
                "present" if self.truth[row, column] else "absent",
                True,
            )
            for row, column in pairs
        ]
        self.changed = self.table.apply(changes)
        n_right = sum(cell.state == "present" for cell in changes)
        self.n_decisions += len(pairs)
        self.n_found += n_right
        return n_right / max(1, len(pairs))

    def accept(self, pairs):
        """Say yes to pairs of (row, column) without a look; how many of them are true."""
        changes = [Cell(int(self.ids[row]), self.tags[column], "present", True) for row, column in pairs]
        self.table.apply(changes)
        self.unmarked[tuple(np.array(pairs).T)] = True
        self.n_decisions += len(pairs)
        return sum(bool(self.truth[row, column]) for row, column in pairs)

    def examples(self):
        """What a training reads now."""
        codes = self.table.codes[:, : len(self.tags)]
        labels = is_in_state(codes, "present").astype(float)
        is_decided = ~self.listed & (codes != OPEN)
        return Examples(
            self.rows.with_labels(labels, self.tags),
            self.ids,
            np.nonzero(is_decided),
            self.features,
            np.nonzero(self.unmarked),
        )

    def told(self, learned, number):
        """What a training found, as a desk would read it."""
        alone = np.where(learned.is_judged, learned.probabilities, 0).astype(np.float16)
        proposed = learned.proposed().astype(np.float16)
        return Told(number, self.ids, self.tags, proposed, alone=alone, ties=learned.companions)


class _NoFilters:
    def last_decision(self):
        return 0


@dataclass
class Strategy:
    """What the keeper is shown next: `next_pairs` gives pairs of row and column, none at the end.

    `share` of the last ones were true.
    """

    name: str
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    share: float = 1.0

    def start(self, keeper, told):
        """A model is there, or another one."""
        is_reviewed = np.zeros(len(keeper.ids), dtype=bool)
        self.keeper = keeper
        self.review = Review(_NoFilters(), None, keeper.table, is_reviewed, told, TagVocabulary())


class ByQueue(Strategy):
    """Page after page of a queue."""

    def next_pairs(self):
        return self.review.page(make_queue(self.name), limit=PAGE).items


class ByTag(Strategy):
    """One tag after another: always the one with most proposals, until few of a page are right."""

    def start(self, keeper, told):
        super().start(keeper, told)
        self.tag, self.done = None, set()

    def next_pairs(self):
        if self.tag is not None and self.share < FEWEST_RIGHT:
            self.done.add(self.tag)
            self.tag = None
        if self.tag is None:
            counts = np.bincount(self.review.proposed()[1], minlength=len(self.keeper.tags))
            left = [j for j in np.argsort(-counts, kind="stable") if self.keeper.tags[j] not in self.done]
            if not left:
                return []
            self.tag = self.keeper.tags[left[0]]
        return self.review.page(OneTag(self.tag), limit=PAGE // 2).items


class Random(Strategy):
    """Pairs at random: of all that are open, or of those that the queues would show."""

    def next_pairs(self):
        codes = self.keeper.table.codes[:, : len(self.keeper.tags)]
        is_open = codes == OPEN
        if self.name == "random proposals":
            is_open &= self.review.probabilities.of_rows(np.arange(len(codes))) >= FLOOR
        places = np.flatnonzero(is_open)
        chosen = self.rng.choice(places, min(PAGE, len(places)), replace=False)
        return [tuple(map(int, divmod(place, codes.shape[1]))) for place in chosen]


class InOrder(Strategy):
    """Picture after picture, each with a few proposals: of the model, or the most frequent tags."""

    row = 0

    def next_pairs(self):
        if self.row == len(self.keeper.ids):
            return []
        row, codes = self.row, self.keeper.table.codes[self.row, : len(self.keeper.tags)]
        self.row += 1
        if self.name == "in order, frequent tags":
            frequent = np.argsort(-self.keeper.listed.sum(axis=0), kind="stable")
            columns = [j for j in frequent if codes[j] == OPEN][:A_PICTURE]
        else:
            columns = self.review.proposed_columns(Everything(), row)
        return [(row, int(column)) for column in columns] or self.next_pairs()


class OnlyEnter(Strategy):
    """Enter on every page of every wall, and nothing else."""

    def pages(self):
        """(pairs, how many of them are right by the model), page after page."""
        for queue in self.walls():
            cursor = ""
            while cursor is not None:
                page = self.review.page(queue, cursor=cursor, limit=PAGE)
                if page.rule == ACCEPT and page.items:
                    yield page.items, page.right
                cursor = page.cursor

    def walls(self):
        """Every queue whose pages may accept anything, then the wall of every tag."""
        yield from (make_queue(name) for name in ("missing", "informative", "untagged", "all"))
        yield from (OneTag(tag) for tag in self.keeper.tags)


def press_enter(keeper, learned, *, retrain, seed=0):
    """Let a keeper press Enter until no page accepts anything any more.

    Parameters
    ----------
    keeper : with nothing decided
    learned : the first model
    retrain : train again after so many decisions, and once more at the end; 0 for never

    Yields
    ------
    dict of the tags "accepted" while a model answered, how many were "claimed" to be right, and how many are
    """
    n_models = 1
    while True:
        strategy = OnlyEnter("enter")
        strategy.start(keeper, keeper.told(learned, n_models))
        accepted = claimed = right = 0
        for pairs, expected in strategy.pages():
            accepted, claimed = accepted + len(pairs), claimed + expected
            right += keeper.accept(pairs)
            if retrain and accepted >= retrain:
                break
        if not accepted:
            return
        yield {"model": n_models, "accepted": accepted, "claimed": claimed, "right": right}
        if not retrain:
            return
        learned, n_models = learn(keeper.examples(), learned, seed=seed), n_models + 1


STRATEGIES = {
    "missing": ByQueue,
    "informative": ByQueue,
    "tag": ByTag,
    "in order, proposals": InOrder,
    "in order, frequent tags": InOrder,
    "random": Random,
    "random proposals": Random,
}


def work_through(keeper, name, learned, *, until, retrain, on_model):
    """Let a keeper decide so many pairs.

    Parameters
    ----------
    keeper : with nothing decided
    name : of `STRATEGIES`
    learned : the first model
    until : ascending numbers of decisions; the state at each is yielded as (decisions, found)
    retrain : train again after so many decisions; 0 for never
    on_model : function of the decisions and the model, called with every new one
    """
    strategy, n_models, since = STRATEGIES[name](name), 1, 0
    strategy.start(keeper, keeper.told(learned, n_models))
    for end in until:
        while keeper.n_decisions < end:
            room = min(end - keeper.n_decisions, retrain - since if retrain else end)
            pairs = strategy.next_pairs()[:room]
            if not pairs:
                break
            strategy.share = keeper.answer(pairs)
            strategy.review.hear(keeper.changed)
            since += len(pairs)
            if retrain and since >= retrain:
                learned, n_models, since = learn(keeper.examples(), learned), n_models + 1, 0
                on_model(keeper.n_decisions, learned)
                strategy.start(keeper, keeper.told(learned, n_models))
        yield keeper.n_decisions, keeper.n_found
