"""Stands before an application: what it refuses is not read, and every answer carries its headers.

A page of somebody else can make the browser send requests here, and with a name of its own that leads to this
machine (DNS rebinding) even read the answers. So Host must be one of our names, and what changes something
must come from a page of ours.
"""

import ipaddress
import re
import socket
from collections.abc import Iterable
from typing import Protocol

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tagrank.app.web.errors import Answering, Refused
from tagrank.app.web.protection.limits import BodyLimits, LimitedBody

LOOPBACK = ("localhost", "127.0.0.1", "::1")
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_HOST = re.compile(r"(\[(?P<address>[0-9a-f:.]+)\]|(?P<name>[a-z0-9._-]+))(:\d{1,5})?")
FOREIGN = "this request comes from a page of another site"
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}


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
                "this server does not answer to this host name; add it with --allowed-host NAME",
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


class Access(Protocol):
    """Who may come in."""

    async def admit(self, request: Request) -> Response | None:
        """Note who it is in `request.state`, or answer instead of the application, or raise `Refused`.

        With `is_known` the connection is that of somebody who signed in, and makes no room for others.
        """


class Guard:
    """An application behind checks of name, source, person, rate and size.

    Parameters
    ----------
    app : the application
    hosts : the names of the server
    access : who may come in
    bodies : how large bodies may be
    answer : how a refusal is answered
    """

    def __init__(
        self, app: ASGIApp, *, hosts: HostNames, access: Access, bodies: BodyLimits, answer: Answering
    ) -> None:
        self._app, self._hosts, self._access = app, hosts, access
        self._bodies, self._answer = bodies, answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request, send = Request(scope, receive), with_headers(send)
        try:
            self._hosts.check(request.headers.get("host"))
            response = await self._access.admit(request)
            limit = self._bodies.of(scope["path"])
            body = LimitedBody(receive, limit, request.headers.get("content-length"))
        except Refused as refused:
            response = self._answer(request, refused)
        if response is not None:
            await response(scope, receive, send)
        else:
            await self._app(scope, body, send)


def with_headers(send: Send, headers: dict[str, str] = HEADERS) -> Send:
    """A `send` that adds the headers that an answer does not have yet."""
    usual = [(name.encode(), text.encode()) for name, text in headers.items()]

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = {name.lower() for name, _ in message["headers"]}
            message["headers"] = [*message["headers"], *(pair for pair in usual if pair[0] not in own)]
        await send(message)

    return sending
