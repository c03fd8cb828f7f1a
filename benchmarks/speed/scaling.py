"""Seconds and memory beyond the Gram matrix as samples and labels double.

Each size runs in a process of its own, so that its peak memory is its own. --samples is the largest of four
numbers; labels double at half of it.
"""

import json
import subprocess
import sys

import numpy as np

import tagrank
from benchmarks.catalogue import HERE
from benchmarks.memory import PeakMemory
from benchmarks.speed.gram_training import warm_up
from tagrank_papers.measuring import best_time
from tagrank_papers.protocols.data import draw_problem
from tagrank_papers.text import show

MINUTES = 4
QUICK = {"samples": 200, "halvings": 0, "labels": ()}


def run(*, samples=8000, halvings=3, labels=(25, 50, 200, 400)):
    sizes = [(samples // 2**k, 100) for k in range(halvings, -1, -1)]
    sizes += [(samples // 2, n_labels) for n_labels in labels]
    lines = []
    for method in ("OneVsAllSVM", "LabelRanker"):
        for n_samples, n_labels in sizes:
            line = {"method": method, "n_samples": n_samples, "n_labels": n_labels}
            line |= measure_apart(**line)
            line["ratio_to_label_matrix"] = line["extra_bytes"] / line["label_matrix_bytes"]
            show(line, *line)
            lines.append(line)
    yield lines


def measure_apart(**size):
    """What `measure` answers in another process."""
    code = (
        f"import json; from benchmarks.speed.scaling import measure; print(json.dumps(measure(**{size!r})))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=HERE.parent, stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(ended.stdout.splitlines()[-1])


def measure(method, n_samples, n_labels):
    """Time and memory of one training."""
    warm_up()
    K, Y = draw_problem(n_samples, n_labels)
    K = K.astype(np.float32)
    model = getattr(tagrank, method)(kernel="precomputed", tol=1e-2, random_state=0)
    with PeakMemory() as memory:
        seconds = best_time(model.fit, K, Y, repeats=1).seconds
    return {
        "seconds": seconds,
        "passes": model.n_iter_,
        "gap": model.duality_gap_,
        "extra_bytes": memory.peak - memory.before,
        "gram_bytes": K.nbytes,
        "label_matrix_bytes": 8 * Y.size,
    }
