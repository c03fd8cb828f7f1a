"""A server in a thread of its own."""

import threading
from contextlib import contextmanager

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
