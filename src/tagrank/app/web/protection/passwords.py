"""Passwords: only what scrypt makes of one is stored, which takes memory and time to try."""

import base64
import hashlib
import hmac
import secrets
import threading
from typing import NamedTuple

from tagrank.errors import ArgumentError

SHORTEST, LONGEST = 8, 1000
# what a stored hash may ask for: an archive may come from elsewhere
_MOST_MEMORY = 2**28


class Cost(NamedTuple):
    """What trying a password takes: 128 * n * r bytes of memory, p times."""

    n: int = 2**16
    r: int = 8
    p: int = 2

    @property
    def memory(self) -> int:
        """Bytes."""
        return 128 * self.r * (self.n + self.p + 2)


USUAL = Cost()
# one at a time, so that many who sign in at once do not take the memory of many
_one_at_a_time = threading.Lock()


def check_password(password: str) -> str:
    """The password, if it is long enough to be one."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise ArgumentError(f"a password of {SHORTEST} to {LONGEST:,} characters was expected")
    return password


def hash_password(password: str, cost: Cost = USUAL) -> str:
    """What is stored of a password."""
    salt = secrets.token_bytes(16)
    key = _derive(check_password(password), salt, cost)
    return "$".join(["scrypt", *map(str, cost), _text(salt), _text(key)])


def is_password(password: str, stored: str) -> bool:
    """Whether `stored` was made of this password."""
    word, n, r, p, salt, key = stored.split("$")
    cost = Cost(int(n), int(r), int(p))
    if word != "scrypt" or cost.memory * cost.p > _MOST_MEMORY:
        raise ValueError("the stored password is of a kind that is not known; set a new one")
    if len(password) > LONGEST:
        return False
    return hmac.compare_digest(_derive(password, _bytes(salt), cost), _bytes(key))


def _derive(password: str, salt: bytes, cost: Cost) -> bytes:
    with _one_at_a_time:
        return hashlib.scrypt(
            password.encode("utf-8", "surrogatepass"),
            salt=salt,
            n=cost.n,
            r=cost.r,
            p=cost.p,
            maxmem=2 * cost.memory,
            dklen=32,
        )


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
