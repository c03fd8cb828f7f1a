"""The desk under load: seconds until it is ready, and how fast decisions of many people are answered.

A desk of drawn pictures with half of their tags is opened by its command, once to train a first model and
once to be measured. All people sign in and decide over HTTP on the same machine, each on one connection:
without pause, and with the short pauses of somebody who looks. Every decision is on disk when it is answered;
in the end all that were acknowledged are looked for. The goals: ready within 10 s, 95 % of the decisions
within 50 ms.
"""

import asyncio
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.desk_users import DeskProcess, User, draw_archive, free_port, sign_in
from tagrank.archive import Archive
from tagrank.data.splits import hide_labels
from tagrank_papers.text import show

MINUTES = 5
QUICK = {"pictures": 20, "users": 2, "decisions": 5, "pauses": (0.0,), "model": False}
READY_SECONDS, ANSWER_MS = 10.0, 50.0


def run(*, pictures=5000, users=50, decisions=100, pauses=(0.0, 0.2, 1.0), features="hsv", model=True):
    with tempfile.TemporaryDirectory(prefix="tagrank-") as folder:
        photos = Path(folder) / "photos"
        draw_archive(photos, pictures, hidden=_half if model else None)
        options = ["--train-after", "0", "--features", features, "--cache", str(Path(folder) / "cache")]
        port, lines, n_acknowledged = free_port(), [], 0
        if model:
            with DeskProcess(photos, port=port, options=options):
                asyncio.run(_wait_for_model(port))
        with DeskProcess(photos, port=port, options=options) as desk:
            lines.append(_ready_line(desk, pictures, model))
            yield lines
            people = asyncio.run(sign_in(users, port))
            for pause in pauses:
                asked = n_acknowledged + np.arange(users * decisions).reshape(users, decisions)
                before = desk.processor_seconds()
                seconds, answered = asyncio.run(_decide_all(people, asked, pictures, pause))
                n_acknowledged += asked.size
                processor_ms = (desk.processor_seconds() - before) / asked.size * 1000
                lines.append(_line(pause, users, seconds, answered) | {"processor_ms": processor_ms})
                show(lines[-1], "what", "pause_seconds", "p50_ms", "p95_ms", "processor_ms", "a_second")
        with Archive.open(photos, read_only=True) as archive:
            lost = n_acknowledged - archive.n_decisions()
        yield [line | {"lost": lost} for line in lines]


def _ready_line(desk, pictures, model):
    line = {
        "what": "ready with a model" if model else "ready without a model",
        "pictures": pictures,
        "seconds": desk.seconds,
        "ratio_to_goal": desk.seconds / READY_SECONDS,
    }
    show(line, "what", "pictures", "seconds", "ratio_to_goal")
    return line


def _half(labels):
    return hide_labels(labels, 0.5, random_state=0)


def _line(pause, users, seconds, answered):
    p50, p95, worst = np.percentile(np.concatenate(answered), [50, 95, 100]) * 1000
    return {
        "what": "decisions",
        "users": users,
        "pause_seconds": pause,
        "decisions": sum(map(len, answered)),
        "a_second": sum(map(len, answered)) / seconds,
        "p50_ms": p50,
        "p95_ms": p95,
        "worst_ms": worst,
        "ratio_to_goal": p95 / ANSWER_MS,
    }


async def _wait_for_model(port):
    user = User("somebody", port)
    await user.sign_in()
    while (await user.ask("GET", "/api/overview"))[2]["model"] is None:
        training = (await user.ask("GET", "/api/training"))[2]
        if training["state"] == "failed":
            raise RuntimeError(f"the first model failed: {training['error']}")
        await asyncio.sleep(0.2)
    await user.leave()


async def _decide_all(people, asked, n_pictures, pause):
    start = time.perf_counter()
    work = [
        _decide(person, numbers, n_pictures, pause) for person, numbers in zip(people, asked, strict=True)
    ]
    answered = await asyncio.gather(*work)
    seconds = time.perf_counter() - start
    for person in people:
        await person.leave()
    return seconds, answered


async def _decide(person, numbers, n_pictures, pause):
    """The seconds of each answer; every number stands for a cell of its own."""
    rng, seconds = np.random.default_rng(int(numbers[0])), []
    for number in numbers.tolist():
        if pause:
            await asyncio.sleep(rng.uniform(0, 2 * pause))
        start = time.perf_counter()
        await person.decide([(1 + number % n_pictures, f"tag {number // n_pictures}", "yes")])
        seconds.append(time.perf_counter() - start)
    return seconds
