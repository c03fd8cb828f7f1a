"""A server in a thread of its own, and crowds of clients."""

import resource
import socket
import threading
from contextlib import ExitStack, contextmanager

import pytest

from tagrank.app.web import serving


@contextmanager
def running(app, **options):
    """The address of a server that ends with the block; options are those of `make_server`."""
    listener, ready = serving.listen("127.0.0.1", 0), threading.Event()
    server = serving.make_server(app, on_ready=ready.set, **options)
    thread = threading.Thread(target=server.run, args=[[listener]])
    thread.start()
    ready.wait()
    try:
        yield listener.getsockname()
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


N_CLIENTS = serving.MOST_CONNECTIONS + 200


@contextmanager
def crowd(place, said=b"", n=N_CLIENTS):
    """So many connections that say this and then nothing."""
    with more_open_files(3 * n), ExitStack() as stack:
        for _ in range(n):
            client = stack.enter_context(socket.create_connection(place))
            client.sendall(said)
        yield


@contextmanager
def more_open_files(needed):
    """Both ends of a connection are files of this process."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    soft, hard = (2**30 if limit == resource.RLIM_INFINITY else limit for limit in before)
    if hard < needed:
        pytest.skip(f"the limit of open files is {hard}, and {needed} are needed")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, needed), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
