"""Where results go, with the machine they were measured on."""

from pathlib import Path
from typing import NamedTuple

from tagrank_papers.measuring import read_record, write_record

HERE = Path(__file__).resolve().parent


class Places(NamedTuple):
    """Folders of figures: those that are kept, and those of any other run."""

    kept: Path
    local: Path


PLACES = Places(HERE / "results", HERE / "results" / "local")


def write_results(name, results, machine, folder):
    """Write results and machine as JSON."""
    write_record(name, results, machine, folder)
    print(f"written: {folder / name}.json")


def read_results(name):
    """The kept figures of a benchmark: "results", and the "machine" they were measured on."""
    return read_record(name, PLACES.kept)
