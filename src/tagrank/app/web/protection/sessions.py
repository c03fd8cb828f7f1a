"""Sessions: a browser holds a random word, the server only a hash of it, a name and a date.

They are kept in memory, where they end with the server, or in a file of the user, never beside the pictures:
whoever wrote such a file would be signed in.
"""

import hashlib
import hmac
import json
import os
import secrets
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from tagrank.files import atomic_write

SECONDS = 14 * 24 * 3600
_REMEMBERED_SECONDS, _MOST_REMEMBERED = 60.0, 10_000
_LARGEST = 2**24


class SessionStore(Protocol):
    """Sessions by the hash of their word: a person, and when it ends, in seconds since 1970."""

    def add_session(self, digest: str, person: str, expires: float) -> None:
        """Keep one."""

    def session_person(self, digest: str) -> str | None:
        """Whose it is, None if there is none or it is over."""

    def end_session(self, digest: str) -> None:
        """Forget one."""


class SessionMemory:
    """Sessions that end with the server."""

    def __init__(self) -> None:
        self._sessions: dict[str, tuple[str, float]] = {}
        self._lock = threading.Lock()

    def add_session(self, digest: str, person: str, expires: float) -> None:
        """Keep one, and forget those that are over."""
        with self._lock:
            now = time.time()
            kept = {word: session for word, session in self._sessions.items() if session[1] > now}
            self._replace(kept | {digest: (person, expires)})

    def session_person(self, digest: str) -> str | None:
        """Whose it is, None if there is none or it is over."""
        person, expires = self._sessions.get(digest, (None, 0.0))
        return person if expires > time.time() else None

    def end_session(self, digest: str) -> None:
        """Forget one."""
        with self._lock:
            self._replace({word: session for word, session in self._sessions.items() if word != digest})

    def _replace(self, sessions: dict[str, tuple[str, float]]) -> None:
        self._sessions = sessions


class SessionFile(SessionMemory):
    """Sessions that outlive a restart, in a file of the user; a damaged one holds none."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        with suppress(OSError, ValueError, TypeError, RecursionError):
            with open(path, "rb") as file:
                found = json.loads(file.read(_LARGEST))
            self._sessions = {str(word): (str(person), float(end)) for word, (person, end) in found.items()}

    def _replace(self, sessions: dict[str, tuple[str, float]]) -> None:
        with atomic_write(self._path, text=True) as file:
            json.dump(sessions, file)
        super()._replace(sessions)


def read_secret(path: Path) -> str:
    """The random word in a file of the user, which is made the first time."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with suppress(FileExistsError), open(os.open(path, flags, 0o600), "w") as file:
        file.write(secrets.token_hex(32))
    return path.read_text(encoding="ascii")


class Sessions:
    """The sessions of one server.

    Parameters
    ----------
    store : where they are kept
    secret : goes into the hashes; with another one, as after a new password, all sessions are over. By
        default a random one, so that a session lasts no longer than this object
    seconds : how long a session lasts
    """

    def __init__(self, store: SessionStore, secret: str | None = None, *, seconds: float = SECONDS) -> None:
        secret = secrets.token_hex(32) if secret is None else secret
        self._store, self._secret, self._seconds = store, secret.encode(), seconds
        # every request asks, so the store is not asked each time
        self._remembered: dict[str, tuple[str, float]] = {}

    def begin(self, person: str) -> str:
        """A new session; the answer is for the cookie of that browser alone."""
        word = secrets.token_urlsafe(32)
        self._store.add_session(self._digest(word), person, time.time() + self._seconds)
        return word

    def person(self, word: str) -> str | None:
        """Whose session it is, None if there is none or it is over."""
        digest, now = self._digest(word), time.monotonic()
        person, until = self._remembered.get(digest, (None, 0.0))
        if until > now:
            return person
        person = self._store.session_person(digest)
        if person is None:
            self._remembered.pop(digest, None)
            return None
        if len(self._remembered) >= _MOST_REMEMBERED:
            self._remembered.clear()
        self._remembered[digest] = (person, now + min(_REMEMBERED_SECONDS, self._seconds))
        return person

    def end(self, word: str) -> None:
        """Sign out."""
        self._store.end_session(self._digest(word))
        self._remembered.pop(self._digest(word), None)

    def _digest(self, word: str) -> str:
        # a word is random and long, so a fast hash cannot be turned back
        return hmac.digest(self._secret, word.encode("utf-8", "surrogatepass"), hashlib.sha256).hex()
