"""What training costs as samples and labels double, in seconds and in memory beyond the Gram matrix.

Each size runs in a process of its own, so that its peak memory is its own.

    python benchmarks/scaling.py [--samples 8000]
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

from common import write_results

CHILD = """
import json, sys, time
import numpy as np
sys.path.insert(0, {folder!r})
from common import PeakMemory
from gram_training import draw_problem, warm_up
import tagrank
warm_up()
K, Y = draw_problem({n_samples}, {n_labels})
K = K.astype(np.float32)
with PeakMemory() as memory:
    start = time.perf_counter()
    model = getattr(tagrank, {method!r})(kernel="precomputed", tol=1e-2, random_state=0).fit(K, Y)
    seconds = time.perf_counter() - start
extra = memory.peak - memory.before
print(json.dumps(dict(seconds=seconds, passes=model.n_iter_, gap=model.duality_gap_, extra_bytes=extra,
                      gram_bytes=K.nbytes, label_matrix_bytes=8 * Y.size)))
"""


def measure(method, n_samples, n_labels):
    code = CHILD.format(
        method=method, n_samples=n_samples, n_labels=n_labels, folder=str(Path(__file__).parent)
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    line = json.loads(answer.stdout.splitlines()[-1])
    return {"method": method, "n_samples": n_samples, "n_labels": n_labels, **line}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=8000, help="the largest of four numbers")
    n_samples = parser.parse_args().samples
    by_samples = [(n_samples // part, 100) for part in (8, 4, 2, 1)]
    by_labels = [(n_samples // 2, n_labels) for n_labels in (25, 50, 200, 400)]
    lines = []
    print("method          samples  labels  seconds  passes  beyond K (MB)  in label matrices  K (MB)")
    for method in ("OneVsAllSVM", "LabelRanker"):
        for n_samples, n_labels in by_samples + by_labels:
            line = measure(method, n_samples, n_labels)
            lines.append(line)
            extra, whole = line["extra_bytes"], line["label_matrix_bytes"]
            print(
                f"{method:14} {n_samples:8d} {n_labels:7d} {line['seconds']:8.3f} {line['passes']:7d} "
                f"{extra / 2**20:14.1f} {extra / whole:18.1f} {line['gram_bytes'] / 2**20:7.0f}",
                flush=True,
            )
    write_results("scaling", lines)


if __name__ == "__main__":
    main()
