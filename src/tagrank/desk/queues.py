"""What to look at next: the queues, and which pairs of picture and tag belong to each."""

from dataclasses import dataclass

import numpy as np

from tagrank.desk.states import DECIDED, LISTED, PRESENT, STATE_NAMES, is_in_state
from tagrank.errors import ArgumentError

PROPOSED = 0.2  # from here on a tag counts as proposed: one of five such tags is true, or more
FLOOR = 0.02  # what is less probable is not asked for: of fifty such tags one would be true
LIKELY = 0.5  # from here on a tag is more probable than not: only such ones are accepted without a mark
OPEN, DOUBTED = 0, PRESENT | LISTED

# what becomes of the items of a page that nobody marks: they are accepted, stay undecided, or are kept
ACCEPT, MARK, KEEP = "accept", "mark", "keep"
_BY_PROBABILITY = ("missing", "tag", "untagged")


@dataclass(frozen=True)
class Queue:
    """A queue, for people; `by_picture` says that its items are whole pictures and not pairs."""

    name: str
    title: str
    about: str
    by_picture: bool = False


QUEUES = {
    queue.name: queue
    for queue in (
        Queue(
            "missing",
            "Probably missing",
            "Tags that pictures seem to lack, the most probable first; counted from 20 % on.",
        ),
        Queue(
            "wrong",
            "Perhaps wrong",
            "Listed tags that their pictures speak against, the least probable first. Most may be right.",
        ),
        Queue(
            "informative",
            "Most informative",
            "Tags of which the model is unsure, rare ones first: it learns most from these answers.",
        ),
        Queue(
            "untagged",
            "Untagged",
            "Pictures without any tag, those with the most probable proposals first.",
            by_picture=True,
        ),
        Queue("tag", "One tag", "All pictures that may have one tag, the most probable first."),
        Queue("all", "Everything", "All pictures that nobody reviewed, in their order.", by_picture=True),
    )
}
PICTURE_STATES = ("tagged", "untagged", "reviewed", "unreviewed", "changed")


@dataclass(frozen=True)
class Wanted:
    """A queue and its filters; an empty text does not matter.

    Attributes
    ----------
    queue : its name
    tag : only pairs of this tag
    state : pairs in this state ("present", "absent", "unknown"), or pictures ("tagged", "reviewed", ...)
    folder, start, end, text : of the pictures, see `PictureFilter`
    """

    queue: str = "missing"
    tag: str = ""
    folder: str = ""
    state: str = ""
    start: str = ""
    end: str = ""
    text: str = ""

    def __post_init__(self) -> None:
        if self.queue not in QUEUES:
            raise ArgumentError(f"queue must be one of {', '.join(QUEUES)}, got {self.queue!r}")
        states = (*STATE_NAMES.values(), *PICTURE_STATES)
        if self.state and self.state not in states:
            raise ArgumentError(f"state must be one of {', '.join(states)}, got {self.state!r}")
        if self.queue == "tag" and not self.tag:
            raise ArgumentError("the queue of one tag needs its name: give tag")

    @property
    def pair_state(self) -> str:
        """The state that pairs must have, empty if it does not matter."""
        return self.state if self.state in STATE_NAMES.values() else ""

    @property
    def picture_state(self) -> str:
        """The state that pictures must have, empty if it does not matter."""
        return self.state if self.state in PICTURE_STATES else ""

    @property
    def is_of_pairs(self) -> bool:
        """Whether items are pairs of picture and tag."""
        return not QUEUES[self.queue].by_picture or (self.queue == "all" and bool(self.tag))

    def is_open(self, codes: np.ndarray) -> np.ndarray:
        """Whether pairs of these bytes belong to the queue, however probable."""
        if self.queue == "wrong":
            is_open = codes == DOUBTED
        elif self.queue == "all" or (self.queue == "tag" and self.pair_state):
            is_open = np.ones(codes.shape, dtype=bool)
        else:
            is_open = codes == OPEN
        return is_open & is_in_state(codes, self.pair_state) if self.pair_state else is_open

    def is_accepted(self, probabilities: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Whether pairs are accepted unless they are marked: those that nobody decided, if they are likely.

        Only where the likeliest come first. Elsewhere likely and unlikely ones stand beside each other, and a
        page asks for one thing: to mark what is right.
        """
        if self.queue not in _BY_PROBABILITY or self.pair_state:
            return np.zeros(probabilities.shape, dtype=bool)
        return (probabilities >= LIKELY) & ((codes & DECIDED) == 0)

    @property
    def is_kept(self) -> bool:
        """Whether pairs have their tags already, and keep them unless they are marked."""
        return self.queue == "wrong" or self.pair_state == "present"

    def rank(
        self, probabilities: np.ndarray, codes: np.ndarray, n_present: np.ndarray, n_tagged: int
    ) -> np.ndarray:
        """Priorities of pairs, the highest first; -inf for those that do not belong to the queue.

        Parameters
        ----------
        probabilities, codes : of pictures and tags, shape (n, m)
        n_present : in how many pictures each tag is present, shape (m,)
        n_tagged : how many pictures have tags
        """
        if self.queue == "wrong":
            priorities, is_wanted = 1 - probabilities, is_doubtful(probabilities, n_present, n_tagged)
        elif self.queue == "informative":
            priorities, is_wanted = informative(probabilities, n_present), probabilities >= FLOOR
        else:
            priorities, is_wanted = probabilities, probabilities >= (FLOOR if self.queue == "missing" else 0)
        return np.where(self.is_open(codes) & is_wanted, priorities, -np.inf)


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
