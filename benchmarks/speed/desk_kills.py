"""kill -9 of the desk under load: decisions that are lost, and decisions that are there twice.

People decide without pause over HTTP, each decision about a cell of its own, and send again, with the same
request word, what was not acknowledged. The server is killed at random moments and started again; browsers
keep their sessions. After every kill each cell that was acknowledged has to be decided exactly once, no other
twice, and the database is checked as a whole.
"""

import asyncio
import itertools
import sqlite3
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

from benchmarks.desk_users import DeskProcess, draw_archive, free_port, sign_in
from tagrank.archive import Archive
from tagrank_papers.text import show

MINUTES = 15
QUICK = {"pictures": 20, "users": 3, "kills": 1}


def run(*, pictures=500, users=20, kills=100, longest=1.5):
    with tempfile.TemporaryDirectory(prefix="tagrank-") as folder:
        photos = Path(folder) / "photos"
        draw_archive(photos, pictures)
        people = _People(photos, pictures, users)
        with asyncio.Runner() as runner, people:
            runner.run(people.begin())
            for kill in range(1, kills + 1):
                acknowledged = runner.run(people.work_and_kill(longest))
                yield [{"users": users, "kills": kill} | _compare(photos, acknowledged)]
            runner.run(people.end())


def _compare(photos, acknowledged):
    """What was acknowledged beside what is on disk, while no desk is open."""
    with Archive.open(photos, read_only=True) as archive:
        recorded, database = (
            Counter((one.picture, one.tag) for one in archive.history(2**31)),
            archive.database,
        )
    connection = sqlite3.connect(database)
    is_whole = connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()
    line = {
        "acknowledged": len(acknowledged),
        "recorded": sum(recorded.values()),
        "lost": sum(cell not in recorded for cell in acknowledged),
        "doubled": sum(count > 1 for count in recorded.values()),
        "database_is_whole": is_whole,
    }
    line["ratio_lost_or_doubled"] = (line["lost"] + line["doubled"]) / max(1, len(acknowledged))
    show(line, "acknowledged", "recorded", "lost", "doubled", "database_is_whole")
    return line


class _People:
    """Somebody who decides on each of several connections, and the desk that is killed under their hands."""

    def __init__(self, photos, n_pictures, n_users):
        self._photos, self._n_users, self._port = photos, n_users, free_port()
        self._cells = (
            (1 + number % n_pictures, f"tag {number // n_pictures}") for number in itertools.count()
        )
        self._rng, self._acknowledged = np.random.default_rng(0), set()
        self._desk = None

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._kill()

    async def begin(self):
        await self._open()
        self._work = [
            asyncio.create_task(self._decide(one)) for one in await sign_in(self._n_users, self._port)
        ]

    async def work_and_kill(self, longest):
        """The cells that were acknowledged when the desk was killed; it is closed until the next call."""
        if self._desk is None:
            await self._open()
        await asyncio.sleep(self._rng.uniform(0.05, longest))
        self._kill()
        return set(self._acknowledged)

    async def end(self):
        for task in self._work:
            task.cancel()
        await asyncio.gather(*self._work, return_exceptions=True)

    def _kill(self):
        if self._desk is not None:
            self._desk.kill()
            self._desk = None

    async def _open(self):
        options = ["--train-after", "0", "--features", "hsv"]
        self._desk = await asyncio.to_thread(DeskProcess, self._photos, port=self._port, options=options)

    async def _decide(self, person):
        for cell in self._cells:
            # known absent: with a present tag every start would train a model
            await person.decide([(*cell, "no")])
            self._acknowledged.add(cell)
