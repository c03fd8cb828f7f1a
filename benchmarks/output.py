"""Where results go, with the machine they were measured on, and the pages that show them."""

import json
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from tagrank.parallel import count_threads

HERE = Path(__file__).resolve().parent
PACKAGES = (
    *("tagrank", "numpy", "scipy", "scikit-learn", "numba"),
    *("opencv-contrib-python-headless", "onnxruntime", "pillow", "cleanlab", "himalaya", "MKLpy"),
)


class Place(NamedTuple):
    """Folders for figures and for pages."""

    results: Path
    pages: Path


KEPT = Place(HERE / "results", HERE.parent / "docs")
LOCAL = Place(HERE / "results" / "local", HERE / "results" / "local")


def describe_machine():
    """Processor, number of cores, Python and package versions."""
    return {
        "processor": _processor(),
        "cores": count_threads(),
        "system": platform.system(),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
    }


def write_results(name, results, machine, place):
    """Write results and machine as JSON."""
    record = {"benchmark": name, "machine": machine, "results": results}
    _write(place.results / f"{name}.json", json.dumps(record, indent=2) + "\n")


def read_results(name):
    """The kept figures of a benchmark: "results", and the "machine" they were measured on."""
    return json.loads((KEPT.results / f"{name}.json").read_text())


def write_pages(module, results, machine, place):
    """Write the pages and drawings of a benchmark, if it has some."""
    if hasattr(module, "PAGES"):
        for name, text in module.render(results, machine).items():
            _write(place.pages / name, text)


def _write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    print(f"written: {path}")


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
