"""A bank that is killed at random points goes on where it was, and leaves no process behind."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import psutil
import pytest

from tagrank.annotation.bank.feature_bank import FeatureBank
from tagrank.annotation.bank.row_store import FILE_NAME, unpack_row

sys.path.insert(0, str(Path(__file__).parent))
from bank_probes import Means

N_PICTURES = 90
SCRIPT = """
import sys; sys.path[:0] = [{probes!r}]
import numpy as np
from bank_probes import Means
from tagrank.annotation.bank import row_maker as missing_rows
from tagrank.annotation.bank.feature_bank import FeatureBank
missing_rows._SAVE_PICTURES = 4
pictures = list(np.random.default_rng(0).integers(1, 255, ({n_pictures}, 9, 8, 3), dtype=np.uint8))
bank = FeatureBank({{"means": Means(delay=0.01, diary={diary!r})}}, folder={folder!r}, n_jobs=2)
try:
    print(bank.extract(pictures).n_computed)
except KeyboardInterrupt:
    print("interrupted")
"""


class Run:
    """The script in a process of its own, and the diary of what it computed."""

    def __init__(self, tmp_path):
        self.diary, self.folder = tmp_path / "diary", tmp_path / "cache"
        self.diary.touch()
        self.means = Means(delay=0.01, diary=str(self.diary))
        self.code = SCRIPT.format(
            probes=str(Path(__file__).parent),
            n_pictures=N_PICTURES,
            diary=str(self.diary),
            folder=str(self.folder),
        )

    def start(self):
        return subprocess.Popen(
            [sys.executable, "-W", "error", "-c", self.code], stdout=subprocess.PIPE, text=True
        )

    def computed(self):
        return self.diary.read_text().split()

    def wait_for(self, n_computed, process):
        while len(self.computed()) < n_computed and process.poll() is None:
            time.sleep(0.002)

    def saved(self):
        """The diary lines of the pictures that the store has."""
        if not self.folder.exists():
            return set()
        with closing(sqlite3.connect(self.folder / FILE_NAME)) as database:
            packed = database.execute("SELECT packed FROM rows").fetchall()
        return {f"{unpack_row(row).sum():.6f}" for (row,) in packed}


@pytest.fixture
def run(tmp_path):
    return Run(tmp_path)


@pytest.fixture
def pictures():
    return list(np.random.default_rng(0).integers(1, 255, (N_PICTURES, 9, 8, 3), dtype=np.uint8))


def assert_gone(workers):
    assert workers
    _, alive = psutil.wait_procs(workers, timeout=30)
    assert not alive


def test_killed_at_random_points(run, pictures):
    chance = random.Random(0)
    for _ in range(2):
        finished = run.saved()
        before = len(run.computed())
        process = run.start()
        run.wait_for(before + chance.randint(8, 30), process)
        workers = psutil.Process(process.pid).children()
        process.kill()
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        assert_gone(workers)
        assert not finished & set(run.computed()[before:])
    finished, before = run.saved(), len(run.computed())
    assert 0 < len(finished) < N_PICTURES
    answer, _ = run.start().communicate()
    assert not finished & set(run.computed()[before:])
    assert int(answer) == N_PICTURES - len(finished)
    again = FeatureBank({"means": run.means}, folder=run.folder).extract(pictures)
    assert again.n_computed == 0
    undisturbed = FeatureBank({"means": Means()}, keep=False, n_jobs=1).extract(pictures)
    assert again.views["means"].tobytes() == undisturbed.views["means"].tobytes()


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is no signal there")
def test_ctrl_c_keeps_what_is_finished(run):
    process = run.start()
    run.wait_for(20, process)
    workers = psutil.Process(process.pid).children()
    process.send_signal(signal.SIGINT)
    answer, _ = process.communicate()
    assert answer == "interrupted\n"
    assert_gone(workers)
    # all but what was on its way: two workers, each with one picture at work and one waiting
    assert len(run.saved()) >= len(run.computed()) - 4
