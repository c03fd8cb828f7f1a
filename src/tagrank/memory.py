"""How much memory there is."""

import os
from pathlib import Path

_KNOWN, _LIMIT = Path("/proc/meminfo"), Path("/sys/fs/cgroup/memory.max")


def available_memory() -> float:
    """Bytes that this process may still take, about; infinite where nothing tells."""
    return min(_free(), _allowed())


def gibibytes(n_bytes: float) -> str:
    """For people."""
    return f"{n_bytes / 2**30:,.1f} GiB"


def _free() -> float:
    try:
        lines = dict(line.split(":", 1) for line in _KNOWN.read_text().splitlines())
        return 1024.0 * int(lines["MemAvailable"].split()[0])
    except (OSError, KeyError, ValueError):
        if not hasattr(os, "sysconf"):
            return float("inf")
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))


def _allowed() -> float:
    """What a container may take in all, less what it has taken; files that it has read can be let go."""
    try:
        limit = float(_LIMIT.read_text())
        taken = int(_LIMIT.with_name("memory.current").read_text())
    except (OSError, ValueError):
        return float("inf")
    return max(0.0, limit - taken + _read_files())


def _read_files() -> int:
    """Bytes of files that the kernel holds for a container and no process uses."""
    try:
        lines = _LIMIT.with_name("memory.stat").read_text().splitlines()
        return int(dict(line.split() for line in lines)["inactive_file"])
    except (OSError, KeyError, ValueError):
        return 0
