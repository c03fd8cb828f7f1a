"""Sessions: a browser holds a random word, the server only the hash of it, a name and a date."""

import hashlib
import secrets
import threading
import time
from typing import NamedTuple, Protocol

SECONDS = 14 * 24 * 3600
MOST = 10_000


class Session(NamedTuple):
    """Who it is, until when (seconds since 1970)."""

    person: str
    expires: float


class SessionStore(Protocol):
    """Where sessions outlive a restart; hashes are text."""

    def all(self) -> dict[str, Session]: ...

    def add(self, hash: str, session: Session) -> None: ...

    def remove(self, hash: str) -> None: ...

    def clear(self) -> None: ...


class MemoryStore:
    """Sessions that end with the process."""

    def __init__(self) -> None:
        self._kept: dict[str, Session] = {}

    def all(self) -> dict[str, Session]:
        return dict(self._kept)

    def add(self, hash: str, session: Session) -> None:
        self._kept[hash] = session

    def remove(self, hash: str) -> None:
        self._kept.pop(hash, None)

    def clear(self) -> None:
        self._kept.clear()


class Sessions:
    """The sessions of one server, which alone writes the store; what every request asks is in memory."""

    def __init__(self, store: SessionStore | None = None, *, seconds: float = SECONDS) -> None:
        self._store = MemoryStore() if store is None else store
        self._seconds, self._lock = seconds, threading.Lock()
        self._open = self._store.all()

    def begin(self, person: str) -> str:
        """A new session; the answer is for the cookie of that browser alone."""
        word, now = secrets.token_urlsafe(32), time.time()
        session = Session(person, now + self._seconds)
        with self._lock:
            self._sweep(now)
            self._store.add(hash_of(word), session)
            self._open[hash_of(word)] = session
        return word

    def person(self, word: str) -> str | None:
        """Whose session it is, None if there is none or it is over."""
        session = self._open.get(hash_of(word))
        return session.person if session is not None and session.expires > time.time() else None

    def end(self, word: str) -> None:
        """Sign out."""
        with self._lock:
            self._forget(hash_of(word))

    def end_all(self) -> None:
        """Sign everybody out, as a new password does."""
        with self._lock:
            self._store.clear()
            self._open.clear()

    def _sweep(self, now: float) -> None:
        over = [hash for hash, session in self._open.items() if session.expires <= now]
        oldest = sorted(self._open, key=lambda hash: self._open[hash].expires)
        for hash in {*over, *oldest[: max(0, len(oldest) + 1 - MOST)]}:
            self._forget(hash)

    def _forget(self, hash: str) -> None:
        self._store.remove(hash)
        self._open.pop(hash, None)


def hash_of(word: str) -> str:
    """What is known of a word; it is random and long, so a plain hash cannot be turned back."""
    return hashlib.sha256(word.encode("utf-8", "surrogatepass")).hexdigest()
