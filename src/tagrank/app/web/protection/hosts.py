"""Which names the server answers to, and from which pages it takes requests.

A page of a stranger can make the browser send requests here, and with a name of his own that leads to this
machine (DNS rebinding) even read the answers. So Host must be one of our names, and what changes something
must come from a page of ours.
"""

import ipaddress
import re
import socket
from collections.abc import Iterable

from starlette.datastructures import Headers

from tagrank.app.web.errors import Refused

LOOPBACK = ("localhost", "127.0.0.1", "::1")
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_HOST = re.compile(r"(\[(?P<address>[0-9a-f:.]+)\]|(?P<name>[a-z0-9._-]+))(:\d{1,5})?")
FOREIGN = "this request comes from a page of another site"


class HostNames:
    """The names of the server.

    Parameters
    ----------
    listens : the address it listens on; with all addresses ("0.0.0.0", "::") it is called by any address,
        which no one can point elsewhere, and by the name of the machine
    allowed : more names, such as that of a proxy
    """

    def __init__(self, listens: str = "127.0.0.1", allowed: Iterable[str] = ()) -> None:
        self._takes_addresses = listens in ("0.0.0.0", "::")
        names = {*LOOPBACK, listens, *allowed}
        if self._takes_addresses:
            machine = socket.gethostname()
            names |= {machine, f"{machine}.local"}
        self._names = {name.lower().rstrip(".") for name in names}

    def check(self, host: str | None) -> None:
        """Refuse a request that calls the server by another name."""
        found = _HOST.fullmatch((host or "").lower())
        name = "" if found is None else (found["address"] or found["name"]).rstrip(".")
        if not name or (name not in self._names and not (self._takes_addresses and _is_address(name))):
            raise Refused(
                421,
                "this server does not answer to that name; --allowed-host NAME adds one",
                Connection="close",
            )


def check_source(method: str, scheme: str, headers: Headers, *, has_cookie: bool) -> None:
    """Refuse what a page of another site sends: whatever changes something, and parts of its pages.

    Following a link from there is allowed. What changes something with a cookie must say where it comes from.
    """
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    is_link = method == "GET" and headers.get("sec-fetch-mode") == "navigate"
    if site not in (None, "same-origin", "none") and not is_link:
        raise Refused(403, FOREIGN)
    if method in SAFE_METHODS:
        return
    if origin is not None and origin.lower() not in _origins(scheme, headers.get("host", "").lower()):
        raise Refused(403, FOREIGN)
    if has_cookie and site is None and origin is None:
        raise Refused(403, "a request that changes something needs the header Origin")


def _origins(scheme: str, host: str) -> set[str]:
    # before a server without encryption there may be a proxy with
    schemes = {"http", "https"} if scheme == "http" else {"https"}
    return {f"{one}://{host}" for one in schemes}


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
