"""Stands before an application: what it refuses is not read, and every answer carries its headers."""

from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tagrank.app.web.errors import Answering, Refused
from tagrank.app.web.protection.hosts import HostNames
from tagrank.app.web.protection.limits import BodyLimits, LimitedBody

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


class Access(Protocol):
    """Who may come in."""

    async def admit(self, request: Request) -> Response | None:
        """Note who it is in `request.state`, or answer instead of the application, or raise `Refused`.

        With `is_known` the connection is that of somebody who signed in, and makes no room for strangers.
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
