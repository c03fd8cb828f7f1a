"""Who is looking at what: an item that was handed to one person is left out of the queues of the others.

An item is a pair of picture and tag (on a wall) or a whole picture (its tag is None). It is free again when
it is decided, when its person begins another wall, and after a while in any case.
"""

import time
from collections.abc import Callable, Iterable
from threading import Lock
from typing import NamedTuple

SECONDS = 300.0
MOST = 5_000  # items of one person; of more the oldest are free again

Item = tuple[int, str | None]


class Held(NamedTuple):
    """Items that are not handed out.

    Attributes
    ----------
    pictures : as a whole
    pairs : of picture and tag
    touched : pictures in which anything is held
    """

    pictures: frozenset[int] = frozenset()
    pairs: frozenset[Item] = frozenset()
    touched: frozenset[int] = frozenset()

    def holds(self, picture: int, tag: str | None) -> bool:
        """Whether an item, or a part of it, is held."""
        if tag is None:
            return picture in self.touched
        return picture in self.pictures or (picture, tag) in self.pairs

    def __or__(self, other: "Held") -> "Held":
        return Held(self.pictures | other.pictures, self.pairs | other.pairs, self.touched | other.touched)


def hold(items: Iterable[Item]) -> Held:
    """The items as they are looked up."""
    items = list(items)
    return Held(
        frozenset(picture for picture, tag in items if tag is None),
        frozenset(item for item in items if item[1] is not None),
        frozenset(picture for picture, _ in items),
    )


class Leases:
    """Items that people look at, each for some minutes."""

    def __init__(self, seconds: float = SECONDS, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._clock, self._lock = seconds, clock, Lock()
        self._ends: dict[str, dict[Item, float]] = {}

    def lend(self, who: str, items: Iterable[Item]) -> None:
        """Hand items to a person, and leave them what they have, for some minutes from now."""
        with self._lock:
            self._drop_ended()
            end = self._clock() + self._seconds
            own = dict.fromkeys([*self._ends.get(who, {}), *items], end)
            self._ends[who] = dict(list(own.items())[-MOST:])

    def free(self, who: str) -> None:
        """A person looks at something else."""
        with self._lock:
            self._ends.pop(who, None)

    def settle(self, items: Iterable[Item]) -> None:
        """Items were decided: nobody holds them any more."""
        with self._lock:
            gone = list(items)
            for own in self._ends.values():
                for item in gone:
                    own.pop(item, None)

    def held_by(self, who: str) -> Held:
        """What a person was handed and did not decide yet."""
        with self._lock:
            self._drop_ended()
            return hold(self._ends.get(who, ()))

    def held_by_others(self, who: str) -> Held:
        """What a person does not get."""
        with self._lock:
            self._drop_ended()
            return hold(item for other, own in self._ends.items() if other != who for item in own)

    def _drop_ended(self) -> None:
        now = self._clock()
        kept = {who: {item: end for item, end in own.items() if end > now} for who, own in self._ends.items()}
        self._ends = {who: own for who, own in kept.items() if own}
