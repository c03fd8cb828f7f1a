"""What to look at next: a queue is a class, and an object of it is the queue with its filters.

The class says which pairs of picture and tag belong to the queue, in which order they come, when it is done,
what becomes of pairs that nobody marks, and what people read about it. To add a queue, write a class and put
it into `QUEUES`: the pages, the addresses for programs and the overview list what is there.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tagrank.archive.audits import AUDIT
from tagrank.data.readers.audit_list import audit_order
from tagrank.desk.probabilities import MOST, Order, Probabilities
from tagrank.desk.states import DECIDED, DOUBTED, OPEN, STATE_NAMES, StateTable, is_in_state
from tagrank.errors import ArgumentError
from tagrank.reports.audits import n_wanted, told_words, wanted_words

FLOOR = 0.02  # what is less probable is not asked for: of fifty such tags one would be true
LIKELY = 0.5  # from here on a tag is more probable than not: only such ones are accepted without a mark

# what becomes of the items of a page that nobody marks: they are accepted, stay undecided, or are kept
ACCEPT, MARK, KEEP = "accept", "mark", "keep"
PICTURE_STATES = ("tagged", "untagged", "reviewed", "unreviewed", "changed")


@dataclass(frozen=True)
class Queue:
    """Pairs of picture and tag, or whole pictures, and which of them.

    A subclass sets `name`, `title` and `about`, and overrides what differs: pairs that nobody knows anything
    about, the most probable first, are what it inherits.

    Parameters
    ----------
    tag : only this one
    folder, start, end, text : of the pictures, see `PictureFilter`
    state : "present", "absent" or "unknown", that of the pair; or that of the picture ("tagged", ...)

    Attributes
    ----------
    name, title, about : what programs and people call it, and a sentence for them
    by_picture : whether its items are whole pictures
    needs_tag : whether it is of one tag, which has to be named
    keeps_tags : whether its pairs have their tags already, and keep them unless they are marked
    wants_all : whether to be done with a picture says that it has all its tags and no others. It is asked
        about pictures, too, that somebody was done with in another queue
    accepts_likely : whether likely pairs that nobody decided are accepted unless they are marked. Only where
        the likeliest come first: elsewhere likely and unlikely ones stand beside each other, and a page asks
        for one thing, to mark what is right
    """

    name: ClassVar[str] = ""
    title: ClassVar[str] = ""
    about: ClassVar[str] = ""
    by_picture: ClassVar[bool] = False
    needs_tag: ClassVar[bool] = False
    keeps_tags: ClassVar[bool] = False
    wants_all: ClassVar[bool] = False
    accepts_likely: ClassVar[bool] = False

    tag: str = ""
    folder: str = ""
    state: str = ""
    start: str = ""
    end: str = ""
    text: str = ""

    def __post_init__(self) -> None:
        states = (*STATE_NAMES.values(), *PICTURE_STATES)
        if self.state and self.state not in states:
            raise ArgumentError(f"state must be one of {', '.join(states)}, got {self.state!r}")
        if self.needs_tag and not self.tag:
            raise ArgumentError("the queue 'tag' needs the name of a tag; pass tag")

    @property
    def pair_state(self) -> str:
        """The state that pairs must have, empty if it does not matter."""
        return self.state if self.state in STATE_NAMES.values() else ""

    @property
    def picture_state(self) -> str:
        """The state that pictures must have, empty if it does not matter."""
        return self.state if self.state in PICTURE_STATES else ""

    @classmethod
    def told(cls, table: StateTable, n_left: int) -> str:
        """What people read about it, as things are."""
        return cls.about

    # which items

    @property
    def is_of_pairs(self) -> bool:
        """Whether items are pairs of picture and tag."""
        return not self.by_picture

    def belongs(self, codes: np.ndarray) -> np.ndarray:
        """Whether pairs of these bytes belong to the queue, whatever state is asked for."""
        return codes == OPEN

    def is_open(self, codes: np.ndarray) -> np.ndarray:
        """Whether pairs of these bytes are items, however probable."""
        is_open = self.belongs(codes)
        return is_open & is_in_state(codes, self.pair_state) if self.pair_state else is_open

    def are_items(self, table: StateTable, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Whether what an order named is still an item."""
        return self.is_open(table.codes[rows, columns])

    # in which order

    def priorities(
        self, probabilities: np.ndarray, n_present: np.ndarray, n_tagged: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Numbers by which pairs are ordered, the highest first, and whether pairs are shown at all.

        Parameters
        ----------
        probabilities : of pictures and tags, shape (n, m)
        n_present : in how many pictures each tag is present, shape (m,)
        n_tagged : how many pictures have tags
        """
        return probabilities, probabilities >= 0

    def rank(
        self, probabilities: np.ndarray, codes: np.ndarray, n_present: np.ndarray, n_tagged: int
    ) -> np.ndarray:
        """Priorities of pairs with bytes `codes`; -inf for those that do not belong to the queue."""
        priorities, is_shown = self.priorities(probabilities, n_present, n_tagged)
        return np.where(self.is_open(codes) & is_shown, priorities, -np.inf)

    def order(self, probabilities: Probabilities, rows: np.ndarray | None, column: int | None) -> Order:
        """Its items: in the pictures of `rows`, None for all, and with the tag of `column`, None for any."""
        return probabilities.best_pairs(self.rank, rows=rows, column=column)

    def rank_in_picture(
        self, probabilities: np.ndarray, codes: np.ndarray, n_present: np.ndarray, n_tagged: int
    ) -> np.ndarray:
        """Priorities of the pairs of one picture that somebody looks at as a whole, as in `rank`."""
        return Missing().rank(probabilities, codes, n_present, n_tagged)

    # when it is done, and what becomes of a page

    @classmethod
    def n_wanted(cls, n_left: int, table: StateTable) -> int:
        """How many are worth doing of those that are left."""
        return n_left

    @property
    def counts_proposed(self) -> bool:
        """Whether only what is proposed is left to do; less probable pairs are shown, but not counted."""
        return False

    def is_accepted(self, probabilities: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Whether pairs are accepted unless they are marked."""
        if not self.accepts_likely or self.pair_state:
            return np.zeros(probabilities.shape, dtype=bool)
        return (probabilities >= LIKELY) & ((codes & DECIDED) == 0)

    @property
    def is_kept(self) -> bool:
        """Whether pairs have their tags already, and keep them unless they are marked."""
        return self.keeps_tags or self.pair_state == "present"


class Missing(Queue):
    """Tags that pictures seem to lack."""

    name = "missing"
    title = "Probably missing"
    about = "Tags that seem to be missing, with a probability of at least 20 %, most probable first."
    accepts_likely = True
    counts_proposed = True

    def priorities(
        self, probabilities: np.ndarray, n_present: np.ndarray, n_tagged: int
    ) -> tuple[np.ndarray, np.ndarray]:
        return probabilities, probabilities >= FLOOR


class Wrong(Queue):
    """Existing tags that look wrong."""

    name = "wrong"
    title = "Possibly wrong"
    about = "Existing tags that look wrong, least probable first. Most of them may still be right."
    keeps_tags = True

    def belongs(self, codes: np.ndarray) -> np.ndarray:
        return codes == DOUBTED

    def priorities(
        self, probabilities: np.ndarray, n_present: np.ndarray, n_tagged: int
    ) -> tuple[np.ndarray, np.ndarray]:
        return 1 - probabilities, is_doubtful(probabilities, n_present, n_tagged)


class Informative(Queue):
    """Tags of which the model is unsure."""

    name = "informative"
    title = "Most informative"
    about = "Tags that the model is unsure about, rare tags first. It learns most from these answers."

    def priorities(
        self, probabilities: np.ndarray, n_present: np.ndarray, n_tagged: int
    ) -> tuple[np.ndarray, np.ndarray]:
        return informative(probabilities, n_present), probabilities >= FLOOR

    def rank_in_picture(
        self, probabilities: np.ndarray, codes: np.ndarray, n_present: np.ndarray, n_tagged: int
    ) -> np.ndarray:
        return Informative().rank(probabilities, codes, n_present, n_tagged)


class Untagged(Queue):
    """Pictures without any tag."""

    name = "untagged"
    title = "Untagged"
    about = "Pictures without tags, those with the most probable proposals first."
    by_picture = True
    accepts_likely = True

    def are_items(self, table: StateTable, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return table.n_present[rows] == 0

    def order(self, probabilities: Probabilities, rows: np.ndarray | None, column: int | None) -> Order:
        table = probabilities.table
        rows = np.arange(len(table.ids)) if rows is None else rows
        rows = rows[table.n_present[rows] == 0]
        rows = rows[np.argsort(-probabilities.best_open(rows)[1], kind="stable")]
        return Order(rows, np.full(len(rows), -1 if column is None else column))


class OneTag(Queue):
    """All pictures that may have one tag."""

    name = "tag"
    title = "One tag"
    about = "All pictures that may have a tag that you choose, most probable first."
    needs_tag = True
    accepts_likely = True

    def belongs(self, codes: np.ndarray) -> np.ndarray:
        return np.ones(codes.shape, dtype=bool) if self.pair_state else codes == OPEN

    @property
    def counts_proposed(self) -> bool:
        return not self.pair_state

    def order(self, probabilities: Probabilities, rows: np.ndarray | None, column: int | None) -> Order:
        """The pictures that a model judged, and after them those of which none says anything."""
        judged = super().order(probabilities, rows, column)
        table = probabilities.table
        rows = np.arange(len(table.ids)) if rows is None else rows
        is_unjudged = np.isnan(probabilities.of_pairs(rows, np.full(len(rows), column)))
        unjudged = rows[is_unjudged & self.is_open(table.codes[rows, column])]
        added = unjudged[: max(0, MOST - len(judged.rows))]
        return Order(
            np.concatenate([judged.rows, added]),
            np.concatenate([judged.columns, np.full(len(added), column)]),
            judged.is_cut or len(added) < len(unjudged),
        )


class CompletePictures(Queue):
    """Random pictures, to be tagged completely."""

    name = AUDIT
    title = "Audit"
    about = "Random pictures. Give each of them all its tags."
    by_picture = True
    wants_all = True

    @classmethod
    def told(cls, table: StateTable, n_left: int) -> str:
        audit = table.audit()
        told = "" if audit is None else f" {told_words(audit)}"
        return f"{cls.about}{told} {wanted_words(audit, n_left)}".rstrip()

    @classmethod
    def n_wanted(cls, n_left: int, table: StateTable) -> int:
        return min(n_left, n_wanted(table.audit()))

    def are_items(self, table: StateTable, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return ~table.is_audited[rows]

    def order(self, probabilities: Probabilities, rows: np.ndarray | None, column: int | None) -> Order:
        table = probabilities.table
        # filters do not count: a sample of some pictures says nothing of the others
        order = audit_order(table.names)
        order = order[table.listing()[order]]
        return Order(order, np.full(len(order), -1))


class Everything(Queue):
    """All pictures that nobody reviewed."""

    name = "all"
    title = "Everything"
    about = "All pictures that nobody has reviewed yet, in folder order."
    by_picture = True

    @property
    def is_of_pairs(self) -> bool:
        return bool(self.tag)

    def belongs(self, codes: np.ndarray) -> np.ndarray:
        return np.ones(codes.shape, dtype=bool)

    def are_items(self, table: StateTable, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        if self.is_of_pairs:
            return super().are_items(table, rows, columns)
        return np.ones(len(rows), dtype=bool)

    def order(self, probabilities: Probabilities, rows: np.ndarray | None, column: int | None) -> Order:
        rows = np.arange(len(probabilities.table.ids)) if rows is None else rows
        return Order(rows, np.full(len(rows), -1 if column is None else column))


QUEUES: dict[str, type[Queue]] = {
    queue.name: queue
    for queue in (Missing, Wrong, Informative, Untagged, OneTag, CompletePictures, Everything)
}


USUAL = Missing.name


def make_queue(name: str = USUAL, **filters: str) -> Queue:
    """The queue of this name with its filters, as for `Queue`."""
    if name not in QUEUES:
        raise ArgumentError(f"queue must be one of {', '.join(QUEUES)}, got {name!r}")
    return QUEUES[name](**filters)


def is_doubtful(probabilities: np.ndarray, n_present: np.ndarray, n_tagged: int) -> np.ndarray:
    """Whether pictures speak against their tags: these are less probable than of any picture.

    That a person listed a tag speaks for it, however improbable the picture makes it; so what is less
    probable than not would be far too much to doubt.
    """
    return probabilities < n_present / max(1, n_tagged)


def informative(probabilities: np.ndarray, n_present: np.ndarray) -> np.ndarray:
    """How much answers would teach: p (1 - p), the variance of what is not known, over sqrt(1 + n_present).

    An answer about a rare tag changes its model more than one about a tag with many examples. How this rule
    was found is told in docs/desk-savings.md.
    """
    return probabilities * (1 - probabilities) / np.sqrt(1.0 + n_present)
