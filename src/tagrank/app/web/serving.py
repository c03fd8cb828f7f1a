"""Sockets, connections and signals: how an application is served until Ctrl-C."""

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
from uvicorn.server import HANDLED_SIGNALS

from tagrank.app.web.connections import IDLE_SECONDS, ImpatientProtocol
from tagrank.app.web.protection.limits import Waiting
from tagrank.errors import ArgumentError

HEADER_BYTES = 2**15
MOST_CONNECTIONS = 1000
# the kernel keeps so many for us; each time we take few, so that those who wait too long can leave in between
_QUEUE, _TAKEN_AT_ONCE = 2048, 64
PORTS_TRIED = 20


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
    protocol: Any = partial(ImpatientProtocol, waiting=waiting, encryption=encryption, proxies=proxies)
    config.http_protocol_class = protocol
    return Server(config, waiting, on_ready)


def listen(host: str, port: int, *, may_move: bool = True) -> socket.socket:
    """A socket that listens on `port`, or on one of the next if that is taken and it may move; 0 is any."""
    for wanted in range(port, port + PORTS_TRIED if may_move and port else port + 1):
        try:
            return _bound(host, wanted)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise _cannot_listen(host, wanted, error) from None
    what = f"the ports {port} to {wanted} of {host} are" if wanted > port else f"port {port} of {host} is"
    raise OSError(f"{what} in use by other programs; choose another with --port")


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
        return OSError(f"{host} is no address of this machine; 0.0.0.0 stands for all that it has")
    if isinstance(error, PermissionError):
        return OSError(f"port {port} may not be used by this user; choose one above 1023 with --port")
    return OSError(f"cannot listen on {host} port {port} ({error.strerror or error})")


def address(listener: socket.socket, *, is_encrypted: bool = False) -> str:
    """Where a browser on this machine finds what listens there."""
    host, port = listener.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    name = f"[{host}]" if ":" in host else host
    return f"{'https' if is_encrypted else 'http'}://{name}:{port}"
