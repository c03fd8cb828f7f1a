"""`tagrank desk` in a process of its own, which a test may kill and start again."""

import os
import shutil
import socket
import subprocess
import sys

PASSWORD = "correct horse battery"


def find_browser():
    """Chromium or Chrome: what CHROMIUM names, else what is installed; None without one."""
    names = (os.environ.get("CHROMIUM"), "chromium", "chromium-browser", "google-chrome", "chrome")
    return next(filter(None, (shutil.which(name) for name in names if name)), None)


class LiveDesk:
    """A desk for several people on one port."""

    def __init__(self, folder):
        self.folder = folder
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self._port = listener.getsockname()[1]
        self.address = f"http://127.0.0.1:{self._port}"
        self._said = (folder.parent / "said.txt").open("w")
        self.start()

    def start(self):
        """Return as soon as it answers."""
        options = (
            f"--no-browser --host 127.0.0.1 --port {self._port} --features hsv --n-jobs 1 --train-after 0"
        )
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tagrank", "desk", str(self.folder), *options.split()],
            env=os.environ | {"TAGRANK_PASSWORD": PASSWORD},
            stdout=subprocess.PIPE,
            stderr=self._said,
            text=True,
        )
        line = self._process.stdout.readline()
        if self.address not in line:
            self.close()
            raise RuntimeError((self.folder.parent / "said.txt").read_text())

    def kill(self):
        """As a power cut would end it."""
        self._process.kill()
        self._end()

    def close(self):
        """End it as Ctrl-C does."""
        self._process.terminate()
        self._end()
        self._said.close()

    def _end(self):
        self._process.wait()
        self._process.stdout.close()
