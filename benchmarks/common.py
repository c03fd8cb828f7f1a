"""What every benchmark shares: best-of-k timing, the machine it ran on, and a JSON file of results."""

import json
import os
import platform
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from tagrank.parallel import count_threads

RESULTS = Path(os.environ.get("TAGRANK_RESULTS", Path(__file__).parent / "results"))
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
