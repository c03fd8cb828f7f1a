"""What every measurement needs: the time of a call, the machine, and figures on disk."""

import json
import platform
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from tagrank.resources import count_threads

KEPT = Path(__file__).resolve().parent / "results"
PACKAGES = (
    *("tagrank", "numpy", "scipy", "scikit-learn", "numba"),
    *("opencv-contrib-python-headless", "onnxruntime", "pillow", "cleanlab", "himalaya", "MKLpy"),
)


class Timing(NamedTuple):
    """The smallest wall-clock and processor times of some calls, and the last answer."""

    seconds: float
    processor_seconds: float
    answer: Any


def best_time(
    function: Callable[..., Any],
    *arguments: Any,
    repeats: int = 3,
    enough: float | None = None,
    **options: Any,
) -> Timing:
    """Time calls of `function`; if the first takes at least `enough` seconds, it stays the only one."""
    times = []
    for _ in range(repeats):
        wall, processor = time.perf_counter(), time.process_time()
        answer = function(*arguments, **options)
        times.append((time.perf_counter() - wall, time.process_time() - processor))
        if enough is not None and times[0][0] >= enough:
            break
    seconds, processor_seconds = map(min, zip(*times, strict=True))
    return Timing(seconds, processor_seconds, answer)


def describe_machine() -> dict[str, Any]:
    """Processor, number of cores, Python and package versions."""
    return {
        "processor": _processor(),
        "cores": count_threads(),
        "system": platform.system(),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
    }


def read_record(name: str, folder: Path = KEPT) -> dict[str, Any] | None:
    """Figures by name, "results", with their "machine" and "origin"; None if there are none."""
    path = folder / f"{name}.json"
    if not path.is_file():
        return None
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return record


def write_record(
    name: str,
    results: Any,
    machine: dict[str, Any],
    folder: Path,
    *,
    origin: dict[str, Any] | None = None,
    is_complete: bool = True,
) -> None:
    """Write figures by name; those of a part of a run into a file beside the last complete ones."""
    folder.mkdir(parents=True, exist_ok=True)
    record = {"name": name, **({"origin": origin} if origin else {}), "machine": machine, "results": results}
    path, part = folder / f"{name}.json", folder / f"{name}.part.json"
    part.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    if is_complete:
        part.replace(path)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"
