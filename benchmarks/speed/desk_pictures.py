"""The desk on 100,000 pictures: the first wall of thumbnails, further pages, the next picture, its memory.

Rows in the database and probabilities of 200 tags are generated; a few drawn pictures stand for all. Every
time is that of the desk itself, without HTTP. A page is 60 pairs of picture and tag; their thumbnails are
drawn when they are first asked for, and kept. Of what is repeated the 95th percentile counts, by the clock
and in processor seconds, which an idle machine would take. `ratio` is the limit that was set over the
processor seconds: above 1 it holds.
"""

import os
import sqlite3
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.memory import PeakMemory
from tagrank.archive import Answer, Archive
from tagrank.data.drawn_pictures import draw_pictures
from tagrank.data.picture_files import thumbnail
from tagrank.desk.desk import Desk
from tagrank.desk.learning.models import Models
from tagrank.desk.queues import make_queue
from tagrank_papers.text import show

MINUTES = 1
QUICK = {"pictures": 300, "tags": 12, "pages": 3}
LISTED = 3  # tags of a picture
# seconds, and bytes for the memory
LIMITS = {
    "desk ready": 10.0,
    "first wall": 1.0,
    "page": 0.2,
    "next picture": 0.2,
    "overview": 1.0,
    "memory": 2**30,
}


def run(*, pictures=100_000, tags=200, pages=50):
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "photographs"
        draw_files(folder, pictures)
        write_rows(folder, pictures, tags)
        write_model(folder, pictures, tags)
        with PeakMemory() as memory:
            times = serve(folder, Path(place) / "cache", pages)
    lines = [
        {
            "case": name,
            "seconds": clock,
            "processor_seconds": processor,
            "ratio": LIMITS.get(name, processor) / processor,
        }
        for name, (clock, processor) in times.items()
    ]
    lines.append(
        {"case": "memory", "mebibytes": memory.peak / 2**20, "ratio": LIMITS["memory"] / memory.peak}
    )
    for line in lines:
        show(line, *line)
    yield lines


def serve(folder, cache, pages):
    """Seconds and processor seconds of each thing."""
    times = {}

    def clock(name, work, *arguments, **named):
        started = time.perf_counter(), time.process_time()
        answer = work(*arguments, **named)
        times.setdefault(name, []).append(
            (time.perf_counter() - started[0], time.process_time() - started[1])
        )
        return answer

    def wall(queue="missing", cursor="", **filters):
        return desk.wall(make_queue(queue, **filters), who="anna", cursor=cursor)

    def draw(page):
        for item in page["items"]:
            desk.thumbnail(item["picture"]["id"], 256)

    archive = clock("archive open", Archive.open, folder)
    desk = clock("desk ready", Desk, archive, Models(archive.home), NoTrainer(), cache=cache)
    page = clock("first wall", wall)
    clock("thumbnails of a wall, drawn", draw, page)
    clock("thumbnails of a wall, kept", draw, page)
    for _ in range(pages):
        page = clock("page", wall, cursor=page["cursor"])
    for number in range(pages):
        answers = [Answer(item["picture"]["id"], item["tag"], "no") for item in page["items"]]
        clock("decision", desk.decide, answers, who="anna", request=f"r{number}")
        page = clock("page after a decision", wall)
        shown = clock("next picture", desk.next, who="anna")
        desk.decide(who="anna", request=f"p{number}", reviewed=[shown["picture"]["id"]])
    clock("wall of another queue", wall, queue="wrong")
    clock("wall of one tag", wall, queue="tag", tag="tag 3")
    clock("wall of a folder", wall, folder="07")
    clock("wall of a text", wall, text="07/0000")
    clock("overview", desk.overview)
    desk.close()
    return {name: np.percentile(values, 95, axis=0).tolist() for name, values in times.items()}


class NoTrainer:
    """Never trains."""

    on_finished = None

    def status(self):
        return {"state": "idle"}

    def start(self, fresh=False):
        pass

    def close(self):
        pass


def draw_files(folder, n_pictures):
    """Many names of a few drawn pictures."""
    folder.mkdir()
    drawn = [thumbnail(image, longest=512) for image in draw_pictures(20, size=256).view("pictures")]
    for number in range(n_pictures):
        path = folder / name_of(number)
        path.parent.mkdir(exist_ok=True)
        if number < len(drawn):
            path.write_bytes(drawn[number])
        else:
            os.link(folder / name_of(number % len(drawn)), path)


def name_of(number):
    return f"{number % 50:02d}/{number:06d}.jpg"


def write_rows(folder, n_pictures, n_tags):
    """Pictures with a few listed tags each, as a scan would leave them."""
    rng = np.random.default_rng(0)
    Archive.open(folder).close()
    connection = sqlite3.connect(folder / ".tagrank" / "desk.sqlite")
    connection.executemany("INSERT INTO tags (name) VALUES (?)", [(f"tag {j}",) for j in range(n_tags)])
    connection.executemany(
        "INSERT INTO pictures (id, name, folder, key, file_state, date, width, height, is_known, n_present) "
        "VALUES (?, ?, ?, ?, '', ?, 256, 256, 1, ?)",
        (
            (k + 1, name_of(k), name_of(k)[:2], k.to_bytes(16), f"20{k % 24:02d}-05-01", LISTED)
            for k in range(n_pictures)
        ),
    )
    columns = rng.permuted(np.tile(np.arange(1, n_tags + 1, dtype=np.int32), (n_pictures, 1)), axis=1)[
        :, :LISTED
    ]
    connection.executemany(
        "INSERT INTO cells (picture, tag, listed) VALUES (?, ?, 1)",
        ((k + 1, int(tag)) for k, row in enumerate(columns) for tag in row),
    )
    connection.commit()
    connection.close()


def write_model(folder, n_pictures, n_tags):
    """Probabilities of which few are high, as of a model."""
    probabilities = np.random.default_rng(1).beta(0.15, 6, (n_pictures, n_tags)).astype(np.float32)
    facts = {"made": "2024-05-01T12:00:00", "method": "generated", "metrics": {}}
    facts |= {"decisions": 0, "last_decision": 0, "seconds": 0.0, "gap": None}
    tags = [f"tag {j}" for j in range(n_tags)]
    models = Models(folder / ".tagrank")
    models.write(np.arange(1, n_pictures + 1), tags, probabilities, probabilities, facts)
