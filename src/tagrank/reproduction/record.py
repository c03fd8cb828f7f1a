"""Figures on disk, with the machine they were measured on."""

import json
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from tagrank.parallel import count_threads

KEPT = Path(__file__).resolve().parent / "results"
PACKAGES = (
    *("tagrank", "numpy", "scipy", "scikit-learn", "numba"),
    *("opencv-contrib-python-headless", "onnxruntime", "pillow", "cleanlab", "himalaya", "MKLpy"),
)


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
    """Figures by name: "results", and the "machine" they were measured on; None where there are none."""
    path = folder / f"{name}.json"
    if not path.is_file():
        return None
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return record


def write_record(name: str, results: Any, machine: dict[str, Any], folder: Path) -> None:
    """Write figures by name."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"name": name, "machine": machine, "results": results}, indent=1)
    (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")


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
