"""Limits: how often, how large, how slowly, how many at once."""

import asyncio
import ipaddress
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from starlette.types import Message, Receive

from tagrank.app.web.errors import Refused

_MOST_KEYS = 10_000
WAIT = "too many requests; wait a moment"


class RateLimit:
    """So many a second for each key, and more at once after a rest.

    Parameters
    ----------
    per_second : in the long run
    burst : at once
    """

    def __init__(self, per_second: float, burst: float) -> None:
        self._per_second, self._burst = per_second, burst
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str, n: float = 1.0) -> None:
        """Count a request; it is refused if there were too many."""
        now = time.monotonic()
        left, before = self._left.pop(key, (self._burst, now))
        left = min(self._burst, left + (now - before) * self._per_second)
        is_refused = left < n
        self._left[key] = (left if is_refused else left - n, now)
        if len(self._left) > _MOST_KEYS:
            self._left.popitem(last=False)
        if is_refused:
            seconds = max(1, round((n - left) / self._per_second))
            raise Refused(429, WAIT, Retry_After=str(seconds))


class Attempts:
    """Wrong passwords: after the third from one address each makes it wait twice as long."""

    FREE, LONGEST_WAIT = 3, 900.0

    def __init__(self) -> None:
        self._failed: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def check(self, address: str) -> None:
        """Refuse an address that has to wait."""
        _, until = self._failed.get(neighbourhood(address), (0, 0.0))
        seconds = until - time.monotonic()
        if seconds > 0:
            sentence = f"too many wrong passwords; try again in {seconds:.0f} seconds"
            raise Refused(429, sentence, Retry_After=f"{seconds:.0f}")

    def count(self, address: str, *, is_right: bool) -> None:
        """Take note of a password; a right one makes up for the wrong ones before."""
        key = neighbourhood(address)
        n = self._failed.pop(key, (0, 0.0))[0] + 1
        if is_right:
            return
        wait = min(2.0 ** (n - self.FREE), self.LONGEST_WAIT) if n >= self.FREE else 0.0
        self._failed[key] = (n, time.monotonic() + wait)
        if len(self._failed) > _MOST_KEYS:
            self._failed.popitem(last=False)


def neighbourhood(address: str) -> str:
    """An address; of version 6 the network, since each machine has as many addresses as it likes."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if parsed.version == 4 or parsed.ipv4_mapped is not None:
        return address
    return str(ipaddress.ip_network((address, 64), strict=False))


def is_among(address: str, networks: Sequence[str]) -> bool:
    """Whether an address is one of these, or in one of these networks."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(parsed in ipaddress.ip_network(network) for network in networks)


class Connection(Protocol):
    """What is known of a connection here."""

    def waits_for_unknown(self) -> bool: ...

    def leave(self) -> None: ...


class Waiting:
    """Connections that wait for a client whom nobody knows yet; anybody can open as many as he likes.

    When there are too many, the address that holds most of them loses its oldest: so they push out each
    other, and whoever comes and asks at once is answered.

    Parameters
    ----------
    most : so many are kept
    """

    def __init__(self, most: int = 200) -> None:
        self._most, self._n = most, 0
        self._by_address: OrderedDict[str, OrderedDict[Connection, None]] = OrderedDict()

    def add(self, connection: Connection, address: str) -> None:
        """Keep one more, which keeps its place if it is here already; another one may have to leave."""
        held = self._by_address.setdefault(address, OrderedDict())
        if connection not in held:
            held[connection] = None
            self._n += 1
        while self._n > self._most:
            most = max(self._by_address, key=lambda one: len(self._by_address[one]))
            oldest = next(iter(self._by_address[most]))
            self.remove(oldest, most)
            # somebody may have signed in on it since
            if oldest.waits_for_unknown():
                oldest.leave()

    def remove(self, connection: Connection, address: str) -> None:
        """Let it go, if it is here."""
        held = self._by_address.get(address, OrderedDict())
        if connection in held:
            del held[connection]
            self._n -= 1
        if not held:
            self._by_address.pop(address, None)

    def close(self) -> None:
        """Let all of them leave."""
        for held in list(self._by_address.values()):
            for connection in list(held):
                connection.leave()


@dataclass(frozen=True)
class BodyLimit:
    """How many bytes a body may have, and how many seconds it may take to arrive."""

    n_bytes: int = 2**20
    seconds: float = 30.0


@dataclass(frozen=True)
class BodyLimits:
    """The usual limit, and others by path."""

    usual: BodyLimit = BodyLimit()
    by_path: dict[str, BodyLimit] = field(default_factory=dict)

    def of(self, path: str) -> BodyLimit:
        """The limit for this path."""
        return self.by_path.get(path, self.usual)


class LimitedBody:
    """The `receive` of a request, with the bytes counted as they come: a Content-Length is only a promise."""

    def __init__(self, receive: Receive, limit: BodyLimit, promised: str | None) -> None:
        self._receive, self._limit = receive, limit
        self._left, self._is_complete = limit.n_bytes, False
        self._deadline: float | None = None
        if promised is not None and (not promised.isdecimal() or int(promised[:20]) > limit.n_bytes):
            raise self._too_large()

    async def __call__(self) -> Message:
        if self._is_complete:
            return await self._receive()
        loop = asyncio.get_running_loop()
        if self._deadline is None:
            self._deadline = loop.time() + self._limit.seconds
        try:
            async with asyncio.timeout_at(self._deadline):
                message: Any = await self._receive()
        except TimeoutError:
            sentence = f"the body took longer than {self._limit.seconds:g} seconds"
            raise Refused(408, sentence, Connection="close") from None
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            raise self._too_large()
        self._is_complete = not message.get("more_body", False)
        return message

    def _too_large(self) -> Refused:
        sentence = f"at most {self._limit.n_bytes:,} bytes are accepted here"
        return Refused(413, sentence, Connection="close")
