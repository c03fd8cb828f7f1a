"""Connections: a client that keeps others waiting is left, and strangers leave when there are too many."""

import asyncio
import ssl
from collections.abc import Sequence
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from tagrank.app.web.protection.limits import Waiting, is_among, neighbourhood

# for a handshake, for the headers of a request, and between two of them
IDLE_SECONDS = 15


class ImpatientProtocol(H11Protocol):
    """HTTP for clients who may mean harm; uvicorn waits for ever for one that sends its headers slowly.

    A connection that waits for its client has a time limit. As long as nobody signed in on it, it is also
    one of few (see `Waiting`), from the moment that it is accepted: handshakes of encryption count, too.

    Parameters
    ----------
    waiting : the connections of the server that wait for strangers
    encryption : how to encrypt, None for not at all
    proxies : addresses of web servers before this one, whose connections are not those of one stranger
    options : those of uvicorn
    """

    def __init__(
        self,
        *,
        waiting: Waiting,
        encryption: ssl.SSLContext | None = None,
        proxies: Sequence[str] = (),
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self._waiting, self._encryption, self._proxies = waiting, encryption, proxies
        self._deadline: asyncio.TimerHandle | None = None
        self._line: Any = None
        self._is_made = False
        self._came_early: list[bytes] = []

    def connection_made(self, transport: Any) -> None:
        if self._line is None:
            peer = transport.get_extra_info("peername") or ("",)
            self._address = neighbourhood(str(peer[0]))
            self._is_of_proxy = is_among(str(peer[0]), self._proxies)
        self._line = transport
        if self._encryption is not None and transport.get_extra_info("sslcontext") is None:
            transport.pause_reading()
            self._handshake = self.loop.create_task(self._encrypt(transport, self._encryption))
            self._watch()
            return
        super().connection_made(transport)
        self._is_made = True
        self._watch()
        for data in self._came_early:
            self.data_received(data)

    async def _encrypt(self, line: Any, encryption: ssl.SSLContext) -> None:
        try:
            encrypted: Any = await self.loop.start_tls(
                line,
                self,
                encryption,
                server_side=True,
                ssl_handshake_timeout=IDLE_SECONDS,
                ssl_shutdown_timeout=IDLE_SECONDS,
            )
        except OSError:
            encrypted = None
        if encrypted is None:
            self._rest()
            line.abort()
        else:
            self.connection_made(encrypted)

    def data_received(self, data: bytes) -> None:
        if not self._is_made:
            # with the last bytes of the handshake
            self._came_early.append(data)
            return
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def connection_lost(self, error: Exception | None) -> None:
        self._rest()
        if self._is_made:
            super().connection_lost(error)

    def waits_for_stranger(self) -> bool:
        """Whether the next step is the client's, and nobody knows who that is."""
        is_known = self.scope is not None and self.scope["state"].get("is_known", False)
        return not is_known and (self._is_idle() or self.cycle.more_body)

    def leave(self) -> None:
        """Close the connection at once, whatever is on its way."""
        self._rest()
        self._line.abort()

    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _watch(self) -> None:
        if self._line.is_closing():
            return
        # a body has a time limit of its own
        if not self._is_idle():
            self._keep_time(None)
        elif self._deadline is None:
            self._keep_time(IDLE_SECONDS)
        if not self.waits_for_stranger():
            self._waiting.remove(self, self._address)
        elif not self._is_of_proxy:
            self._waiting.add(self, self._address)

    def _rest(self) -> None:
        self._waiting.remove(self, self._address)
        self._keep_time(None)

    def _keep_time(self, seconds: float | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None if seconds is None else self.loop.call_later(seconds, self._give_up)

    def _give_up(self) -> None:
        self._deadline = None
        # a request may have come and be at work since
        if not self._is_idle():
            return
        # what it does not read keeps it open
        if self._line.is_closing() or not self._is_made:
            self._line.abort()
        else:
            self._line.close()
            self._keep_time(IDLE_SECONDS)
