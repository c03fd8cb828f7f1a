"""A server in a thread of its own."""

import threading
from contextlib import contextmanager

from tagrank.app.web import serving


@contextmanager
def running(app):
    """The address of a server that ends with the block."""
    listener, ready = serving.listen("127.0.0.1", 0), threading.Event()
    server = serving.make_server(app, on_ready=ready.set)
    thread = threading.Thread(target=server.run, args=[[listener]])
    thread.start()
    ready.wait()
    try:
        yield listener.getsockname()
    finally:
        server.should_exit = True
        thread.join()
        listener.close()
