"""Passwords: only what scrypt makes of one is stored, which takes memory and time to try."""

import base64
import hashlib
import hmac
import os
import re
import secrets
from pathlib import Path
from typing import NamedTuple

from tagrank.errors import ArgumentError
from tagrank.files import FileError

SHORTEST, LONGEST = 8, 1000
# what a stored hash may ask for: an archive may come from elsewhere
_MOST_MEMORY = 2**28
_STORED = re.compile(r"scrypt(\$[1-9]\d{0,8}){3}(\$[A-Za-z0-9+/]+={0,2}){2}")


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


def check_password(password: str) -> str:
    """The password, if it is long enough to be one."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise ArgumentError(f"a password must have {SHORTEST} to {LONGEST:,} characters")
    return password


def hash_password(password: str, cost: Cost = USUAL) -> str:
    """What is stored of a password."""
    salt = secrets.token_bytes(16)
    key = _derive(check_password(password), salt, cost)
    return "$".join(["scrypt", *map(str, cost), _text(salt), _text(key)])


def is_password(password: str, stored: str) -> bool:
    """Whether `stored` was made of this password."""
    _, n, r, p, salt, key = stored.split("$")
    cost = Cost(int(n), int(r), int(p))
    if cost.memory * cost.p > _MOST_MEMORY:
        raise ValueError("the stored password takes too much memory to check; set a new one")
    if len(password) > LONGEST:
        return False
    return hmac.compare_digest(_derive(password, _bytes(salt), cost), _bytes(key))


def _derive(password: str, salt: bytes, cost: Cost) -> bytes:
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


class PasswordFile:
    """The hash of the password of an archive, in a file that only its owner may read."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> str | None:
        """What is stored, None where there is nothing."""
        try:
            text = self._path.read_text(encoding="ascii")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise FileError(self._path, f"cannot be read as a password ({error})") from None
        if not _STORED.fullmatch(text):
            raise FileError(self._path, "has no password; delete it and set a new one")
        return text

    def write(self, stored: str) -> None:
        """Keep a hash in the place of the one before."""
        temporary = self._path.with_name(f".{self._path.name}.{secrets.token_hex(6)}.part")
        try:
            with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(stored)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, self._path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
