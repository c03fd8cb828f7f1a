"""An archive whose process is killed at random moments: what was acknowledged must be there, once.

Run as a program, this is the process that is killed: several threads decide and print each step once it is
answered, or sidecars are written.
"""

import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

from tagrank.archive import Answer, Archive
from tagrank.archive.exports import export_sidecars
from tagrank.commands.demo import draw_archive
from tagrank.data import write_sidecar

N_THREADS = 8
ROOT = Path(__file__).resolve().parents[1]


def prepare(folder, n_pictures):
    """An archive of drawn pictures, each with an accepted tag."""
    draw_archive(folder, n_pictures=n_pictures, size=32)
    with Archive.open(folder) as archive:
        archive.scan()
        answers = [Answer(picture, "new", "yes") for picture in archive.select()]
        archive.decide(answers, who="anna", request="accepted")


def kill_while_deciding(folder, *, kills, seed=0):
    """Kill a process that decides, look what is there, ask again what was not answered; counts."""
    counts, rng = {"acknowledged": 0, "lost": 0, "doubled": 0, "unsound": 0}, random.Random(seed)
    for run in range(kills):
        last = dict.fromkeys(range(N_THREADS), -1) | _killed("decide", folder, run, rng)
        with Archive.open(folder) as archive:
            answered = {(thread, step) for thread in last for step in range(last[thread] + 1)}
            found = archive.read(lambda connection, run=run: _records(connection, run))
            pictures = archive.select()
            for thread in last:
                # a page that got no answer asks again
                _send(archive, pictures, run, thread, last[thread] + 1)
            expected = answered | {(thread, last[thread] + 1) for thread in last}
            again = archive.read(lambda connection, run=run: _records(connection, run))
            counts["acknowledged"] += len(answered)
            counts["lost"] += sum(found.get(step) != 1 for step in answered)
            counts["doubled"] += sum(n != 1 for n in again.values()) + len(again.keys() ^ expected)
            counts["unsound"] += not archive.read(_is_sound)
    return counts


def _records(connection, run):
    """How many records there are for each thread and step of a run."""
    rows = connection.execute(
        "SELECT request, count(decisions.id) FROM batches LEFT JOIN decisions ON batch = batches.id "
        "WHERE request LIKE ? GROUP BY batches.id",
        (f"{run} %",),
    )
    return {tuple(map(int, request.split()[1:])): n for request, n in rows}


def _is_sound(connection):
    """Whether the file is whole, and what it says of the present agrees with its history."""
    stands = "undoes IS NULL AND batch NOT IN (SELECT undoes FROM batches WHERE undoes IS NOT NULL)"
    history = connection.execute(
        "SELECT picture, tag, answer FROM decisions JOIN batches ON batches.id = batch "
        f"WHERE {stands} ORDER BY decisions.id"
    )
    expected = {(picture, tag): answer for picture, tag, answer in history}
    current = connection.execute("SELECT picture, tag, answer FROM cells WHERE answer IS NOT NULL")
    states = {(picture, tag): answer for picture, tag, answer in current}
    return connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)] and states == expected


def kill_while_exporting(folder, *, kills, seed=0):
    """Kill a process that writes sidecars; each must be the old one or the new one. Counts."""
    pictures = sorted(path for path in folder.iterdir() if path.suffix in (".jpg", ".png"))
    before = {path: path.read_bytes() for path in [write_sidecar(picture, ["old"]) for picture in pictures]}
    _export(folder)
    after = {path: path.read_bytes() for path in before}
    counts, rng = {"sidecars": len(before) * kills, "old": 0, "new": 0, "broken": 0}, random.Random(seed)
    for run in range(kills):
        for path, content in before.items():
            path.write_bytes(content)
        _killed("export", folder, run, rng)
        for path in before:
            found = path.read_bytes()
            counts["old" if found == before[path] else "new" if found == after[path] else "broken"] += 1
    _export(folder)
    counts["unfinished"] = sum(path.read_bytes() != content for path, content in after.items())
    return counts


def _killed(what, folder, run, rng):
    """Start this program and kill it within half a second of its first line; the last step of each thread."""
    arguments = [sys.executable, "-m", "benchmarks.faults", what, str(folder), str(run)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, cwd=ROOT) as process:
        first = process.stdout.readline()
        timer = threading.Timer(rng.uniform(0, 0.5), process.kill)
        timer.start()
        lines = [first, *process.stdout]
        timer.join()
    if process.returncode not in (0, -signal.SIGKILL):
        raise RuntimeError(f"the process ended by itself with {process.returncode}, before it was killed")
    # a line that was cut short is no answer
    return {int(thread): int(step) for thread, step in (line.split() for line in lines if line[-1:] == b"\n")}


def _decide(folder, run):
    """Several threads decide until they are killed."""

    def work(thread):
        step = 0
        while True:
            _send(archive, pictures, run, thread, step)
            os.write(1, f"{thread} {step}\n".encode())
            step += 1

    with Archive.open(folder) as archive:
        pictures = archive.select()
        threads = [threading.Thread(target=work, args=(thread,)) for thread in range(N_THREADS)]
        for thread in threads:
            thread.start()
        threads[0].join()


def _send(archive, pictures, run, thread, step):
    """One request, the same for the same run, thread and step; every fifth takes the one before back."""
    request, who = f"{run} {thread} {step}", f"person {thread}"
    if step % 5 == 4:
        archive.undo(who=who, request=request)
    else:
        picture, answer = pictures[(7 * thread + step) % len(pictures)], ("yes", "no", "skip")[step % 3]
        archive.decide([Answer(picture, f"tag {thread} {step % 7}", answer)], who=who, request=request)


def _export(folder, run=None):
    with Archive.open(folder, read_only=True) as archive:
        if run is not None:
            os.write(1, b"0 0\n")
        export_sidecars(archive)


if __name__ == "__main__":
    {"decide": _decide, "export": _export}[sys.argv[1]](Path(sys.argv[2]), sys.argv[3])
