"""Constraints for pip: the oldest version of every direct requirement that pyproject.toml allows.

`make test-lowest` installs them. Requirements of requirements stay as new as these allow.
"""

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
_BOUND = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^\]]*\])?>=([0-9][0-9.]*)")


def lowest_versions(project):
    """Lines such as ``numpy==2.0`` for what the distribution and its extras require, each name once."""
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    found = {}
    for requirement in (one for group in groups for one in group):
        if bound := _BOUND.match(requirement):
            found.setdefault(bound[1], bound[2])
    return [f"{name}=={version}" for name, version in sorted(found.items())]


if __name__ == "__main__":
    sys.stdout.writelines(
        f"{line}\n" for line in lowest_versions(tomllib.loads(PROJECT.read_text())["project"])
    )
