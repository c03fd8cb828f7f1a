"""What benchmarks share: timing, peak memory, the machine, a JSON file of results, and a page of them."""

import json
import os
import platform
import threading
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil

from tagrank.parallel import count_threads

HERE = Path(__file__).resolve().parent
RESULTS = Path(os.environ.get("TAGRANK_RESULTS", HERE / "results"))
PAGES = RESULTS if "TAGRANK_RESULTS" in os.environ else HERE.parent / "docs"
PACKAGES = (
    *("tagrank", "numpy", "scipy", "scikit-learn", "numba"),
    *("opencv-contrib-python-headless", "onnxruntime", "pillow", "cleanlab"),
)


def best_time(function, *, repeats=3):
    """The smallest wall-clock time of `repeats` calls, in seconds, and the last answer."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        answer = function()
        seconds.append(time.perf_counter() - start)
    return min(seconds), answer


class PeakMemory:
    """The largest resident memory of this process inside the block, and that before it, in bytes."""

    def __enter__(self):
        self.before = self.peak = psutil.Process().memory_info().rss
        self.done = threading.Event()
        self.watcher = threading.Thread(target=self._watch)
        self.watcher.start()
        return self

    def _watch(self):
        process = psutil.Process()
        while not self.done.wait(0.002):
            self.peak = max(self.peak, process.memory_info().rss)

    def __exit__(self, *_):
        self.done.set()
        self.watcher.join()


def describe_machine():
    """Processor, number of cores, Python and package versions."""
    return {
        "processor": _processor(),
        "cores": count_threads(),
        "system": platform.system(),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
    }


def write_results(name, results):
    """Write `results` (plain lists, dictionaries, numbers) with the machine to results/`name`.json."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{name}.json"
    record = {"benchmark": name, "machine": describe_machine(), "results": results}
    path.write_text(json.dumps(record, indent=2) + "\n")
    print(f"written: {path}")
    return path


def write_page(name, text):
    """Write a page, or a drawing of one, to docs/`name`; beside the results if these go elsewhere."""
    PAGES.mkdir(parents=True, exist_ok=True)
    (PAGES / name).write_text(text, encoding="utf-8")
    print(f"written: {PAGES / name}")


def _processor():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown")


def _version(package):
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"
