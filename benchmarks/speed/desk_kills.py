"""kill -9 of the desk under load: decisions that are lost, and decisions that are there twice.

People decide without pause over HTTP, each decision about a cell of its own, and send again, with the same
request word, what was not acknowledged. The server is killed at random moments and started again; browsers
keep their sessions. In the end each cell that was acknowledged has to be decided exactly once, no other
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
from tagrank.reproduction.text import show

MINUTES = 15
QUICK = {"pictures": 20, "users": 3, "kills": 2}


def run(*, pictures=500, users=20, kills=100, longest=1.5):
    with tempfile.TemporaryDirectory(prefix="tagrank-") as folder:
        photos = Path(folder) / "photos"
        draw_archive(photos, pictures)
        acknowledged = asyncio.run(_kill_again_and_again(photos, pictures, users, kills, longest))
        with Archive.open(photos, read_only=True) as archive:
            recorded = Counter((one.picture, one.tag) for one in archive.history(2**31))
            database = archive.database
        connection = sqlite3.connect(database)
        is_whole = connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        connection.close()
    line = {
        "users": users,
        "kills": kills,
        "acknowledged": len(acknowledged),
        "recorded": sum(recorded.values()),
        "lost": sum(cell not in recorded for cell in acknowledged),
        "doubled": sum(count > 1 for count in recorded.values()),
        "database_is_whole": is_whole,
    }
    line["ratio_lost_or_doubled"] = (line["lost"] + line["doubled"]) / max(1, len(acknowledged))
    show(line, "kills", "acknowledged", "recorded", "lost", "doubled", "database_is_whole")
    yield [line]


async def _kill_again_and_again(photos, n_pictures, n_users, n_kills, longest):
    """The cells that were acknowledged."""
    rng, port, acknowledged = np.random.default_rng(0), free_port(), set()
    cells = ((1 + number % n_pictures, f"tag {number // n_pictures}") for number in itertools.count())
    options = ["--train-after", "0", "--features", "hsv"]
    desk = await asyncio.to_thread(DeskProcess, photos, port=port, options=options)
    people = await sign_in(n_users, port)
    is_over = asyncio.Event()
    work = [asyncio.create_task(_decide(person, cells, acknowledged, is_over)) for person in people]
    for _ in range(n_kills):
        await asyncio.sleep(rng.uniform(0.05, longest))
        desk.kill()
        desk = await asyncio.to_thread(DeskProcess, photos, port=port, options=options)
    await asyncio.sleep(longest)
    is_over.set()
    await asyncio.gather(*work)
    desk.stop()
    return acknowledged


async def _decide(person, cells, acknowledged, is_over):
    while not is_over.is_set():
        cell = next(cells)
        # known absent: with a present tag every start would train a model
        await person.decide([(*cell, "no")])
        acknowledged.add(cell)
    await person.leave()
