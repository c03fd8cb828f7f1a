"""Sockets, connections and signals: how an application is served until Ctrl-C.

A client that keeps others waiting is left, and unknown clients leave when there are too many.
"""

import asyncio
import errno
import signal
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import HANDLED_SIGNALS

from tagrank.app.web.protection.limits import Waiting, is_among, neighbourhood
from tagrank.errors import ArgumentError

# for a handshake, for the headers of a request, and between two of them
IDLE_SECONDS = 15
HEADER_BYTES = 2**15
MOST_CONNECTIONS = 1000
# the kernel keeps so many for us; each time we take few, so that those who wait too long can leave in between
_QUEUE, _TAKEN_AT_ONCE = 2048, 64
PORTS_TRIED = 20


class TimedProtocol(H11Protocol):
    """HTTP for clients who may mean harm; uvicorn waits for ever for one that sends its headers slowly.

    A connection that waits for its client has a time limit. As long as nobody signed in on it, it is also
    one of few (see `Waiting`), from the moment that it is accepted: handshakes of encryption count, too.

    Parameters
    ----------
    waiting : the connections of the server that wait for clients who did not sign in
    encryption : how to encrypt, None for not at all
    proxies : addresses of web servers before this one, whose connections are not those of one client
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

    def waits_for_unknown(self) -> bool:
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
        if not self.waits_for_unknown():
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


class Server(uvicorn.Server):
    """A server that says when it is ready, and returns when it was asked to end."""

    def __init__(self, config: uvicorn.Config, waiting: Waiting, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._waiting, self._on_ready = waiting, on_ready

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Ctrl-C and SIGTERM end the server; uvicorn would send them once more to the whole process."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in HANDLED_SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(_QUEUE)
        if self.started:
            self._on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._waiting.close()
        await super().shutdown(sockets)


def serve(app: ASGIApp, listener: socket.socket, **options: Any) -> None:
    """Serve until Ctrl-C or SIGTERM; requests that are being answered are finished first."""
    make_server(app, **options).run([listener])


def make_server(
    app: ASGIApp,
    *,
    certificate: Path | None = None,
    key: Path | None = None,
    proxies: Sequence[str] = (),
    on_ready: Callable[[], None] = lambda: None,
) -> Server:
    """A server; `run` it with sockets that listen.

    Parameters
    ----------
    app : the application
    certificate, key : files for encryption
    proxies : addresses of web servers before this one, which are believed whom they pass on
    on_ready : called when it answers
    """
    config = uvicorn.Config(
        app,
        ws="none",
        lifespan="off",
        log_level="warning",
        access_log=False,
        proxy_headers=bool(proxies),
        forwarded_allow_ips=list(proxies),
        server_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        h11_max_incomplete_event_size=HEADER_BYTES,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=5,
        backlog=_TAKEN_AT_ONCE,
        ssl_certfile=certificate,
        ssl_keyfile=key,
    )
    try:
        config.load()
    except (ssl.SSLError, OSError) as error:
        raise ArgumentError(f"certificate and key cannot be used ({error})") from None
    waiting = Waiting()
    # connections encrypt by themselves: else one is not known of before its handshake is done
    encryption, config.ssl = config.ssl, None
    protocol: Any = partial(TimedProtocol, waiting=waiting, encryption=encryption, proxies=proxies)
    config.http_protocol_class = protocol
    return Server(config, waiting, on_ready)


def listen(host: str, port: int, *, may_move: bool = True) -> socket.socket:
    """A socket that listens on `port`, or on one of the next if that is taken and it may move; 0 is any."""
    for number in range(port, port + PORTS_TRIED if may_move and port else port + 1):
        try:
            return _bound(host, number)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise _cannot_listen(host, number, error) from None
    what = f"the ports {port} to {number} of {host} are" if number > port else f"port {port} of {host} is"
    raise OSError(f"{what} in use; choose another port with --port")


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends without delay only where it is told that this is TCP; else a short answer waits for 40 ms
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_QUEUE)
    except BaseException:
        listener.close()
        raise
    listener.setblocking(False)
    return listener


def _cannot_listen(host: str, port: int, error: OSError) -> OSError:
    if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
        return OSError(f"{host} is not an address of this machine; 0.0.0.0 stands for all of its addresses")
    if isinstance(error, PermissionError):
        return OSError(f"port {port} is not allowed for this user; choose a port above 1023 with --port")
    return OSError(f"cannot listen on {host} port {port} ({error.strerror or error})")


def address(listener: socket.socket, *, is_encrypted: bool = False) -> str:
    """Where a browser on this machine finds what listens there."""
    host, port = listener.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    name = f"[{host}]" if ":" in host else host
    return f"{'https' if is_encrypted else 'http'}://{name}:{port}"
