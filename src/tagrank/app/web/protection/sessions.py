"""Sessions: a browser holds a random word, the server only a hash of it, a name and a date."""

import hashlib
import hmac
import secrets
import time
from typing import Protocol

SECONDS = 14 * 24 * 3600
_REMEMBERED_SECONDS, _MOST_REMEMBERED = 60.0, 10_000


class SessionStore(Protocol):
    """Where sessions outlive a restart, such as the `sessions` of an archive."""

    def add_session(self, digest: str, person: str, expires: float) -> None: ...

    def session_person(self, digest: str) -> str | None: ...

    def end_session(self, digest: str) -> None: ...


class Sessions:
    """The sessions of one server.

    Parameters
    ----------
    store : where they are kept
    secret : goes into the hashes; with another one, as after a new password, all sessions are over
    seconds : how long a session lasts
    """

    def __init__(self, store: SessionStore, secret: str = "", *, seconds: float = SECONDS) -> None:
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
