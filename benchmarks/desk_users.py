"""People at a desk, for benchmarks: the command in a process of its own, and clients over HTTP."""

import asyncio
import json
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress

import psutil

from tagrank.data.drawn_pictures import draw_pictures
from tagrank.data.writers.tags import write_picture_folder

PASSWORD = "a password for all"


def draw_archive(folder, n_pictures, *, size=32, hidden=None):
    """A folder of drawn pictures, with half of their tags or with none."""
    drawn = draw_pictures(n_pictures, size=size)
    labels = drawn.labels.copy()
    labels[:, :] = 0 if hidden is None else hidden(labels)
    write_picture_folder(drawn.replaced(labels=labels), folder)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class DeskProcess:
    """`tagrank desk` for several people, until the block ends; `seconds` is how long it took to answer."""

    def __init__(self, folder, *, port, options=()):
        start = time.perf_counter()
        where = ["--host", "127.0.0.1", "--port", str(port), "--no-browser"]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tagrank", "desk", folder, *where, *options],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"TAGRANK_PASSWORD": PASSWORD},
        )
        line = self._process.stdout.readline()
        if not re.search(r"http://127\.0\.0\.1:\d+", line):
            self.kill()
            raise RuntimeError(f"the desk did not open: {line!r}")
        self.seconds = time.perf_counter() - start

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.stop() if error is None else self.kill()

    def processor_seconds(self):
        """What the server itself took so far."""
        times = psutil.Process(self._process.pid).cpu_times()
        return times.user + times.system

    def kill(self):
        """As a power cut would."""
        self._process.kill()
        self._close()

    def stop(self):
        """As Ctrl-C does."""
        self._process.send_signal(signal.SIGINT)
        self._close()

    def _close(self):
        self._process.wait()
        self._process.stdout.close()


class User:
    """Somebody with a browser: one connection, which is made again whenever it breaks."""

    def __init__(self, name, port):
        self.name, self._port = name, port
        self._cookie, self._streams = "", None

    async def sign_in(self):
        body = {"name": self.name, "password": PASSWORD}
        _, headers, answer = await self.insist("POST", "/api/sign-in", body)
        if "person" not in answer:
            raise RuntimeError(f"{self.name} could not sign in: {answer}")
        self._cookie = re.search(rb"set-cookie: ([^;]+)", headers, re.IGNORECASE)[1].decode()

    async def decide(self, cells, *, queue="missing"):
        """Answer about cells (picture, tag, answer) in one step, however often that has to be asked again."""
        answers = [{"picture": i, "tag": tag, "answer": answer} for i, tag, answer in cells]
        body = {"request": secrets.token_hex(8), "queue": queue, "answers": answers}
        status, _, answer = await self.insist("POST", "/api/decisions", body)
        if status != 200:
            raise RuntimeError(f"a decision was refused: {answer}")

    async def insist(self, method, path, body=None):
        """Ask until there is an answer."""
        while True:
            with suppress(OSError, asyncio.IncompleteReadError):
                return await self.ask(method, path, body)
            await self.leave()
            await asyncio.sleep(0.2)

    async def ask(self, method, path, body=None):
        """Status, headers and the answer."""
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        content = b"" if body is None else json.dumps(body).encode()
        writer.write(self._head(method, path, len(content)) + content)
        headers = await reader.readuntil(b"\r\n\r\n")
        length = int(re.search(rb"content-length: (\d+)", headers, re.IGNORECASE)[1])
        answer = json.loads(await reader.readexactly(length))
        if b"connection: close" in headers.lower():
            await self.leave()
        return int(headers[9:12]), headers, answer

    def _head(self, method, path, length):
        lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{self._port}", f"Content-Length: {length}"]
        lines += [f"Origin: http://127.0.0.1:{self._port}", "Content-Type: application/json"]
        lines += [f"Cookie: {self._cookie}"] if self._cookie else []
        return ("\r\n".join(lines) + "\r\n\r\n").encode()

    async def leave(self):
        """Close the connection."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


async def sign_in(n_users, port):
    """So many people who are signed in."""
    users = [User(f"user {k}", port) for k in range(n_users)]
    for user in users:
        await user.sign_in()
        await user.leave()
    return users
