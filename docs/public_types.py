"""Writes src/tagrank/__init__.pyi: where each public name is defined, for type checkers and editors.

``import tagrank`` resolves names on first use, which a type checker cannot follow. --check compares the file.
"""

import inspect
import sys
from collections import defaultdict
from pathlib import Path

import tagrank

STUB = Path(tagrank.__file__).with_suffix(".pyi")
HEADER = '''"""The public names of tagrank and where they are defined; `make docs` writes this file."""

'''


def homes():
    """Module to the public names that it defines."""
    found = defaultdict(list)
    for name in tagrank.__all__:
        public = getattr(tagrank, name)
        is_defined = inspect.isclass(public) or inspect.isfunction(public)
        module = public.__module__ if is_defined else tagrank._HOME_OF.get(name, "tagrank._version")
        found[module].append(name)
    return found


def stub():
    """The text of the file."""
    known = {**homes(), "tagrank": tagrank._ROOMS}
    pairs = [(module, name) for module in sorted(known) for name in sorted(known[module])]
    return HEADER + "".join(f"from {module} import {name} as {name}\n" for module, name in pairs)


if __name__ == "__main__":
    if "--check" in sys.argv:
        is_fresh = STUB.exists() and STUB.read_text(encoding="utf-8") == stub()
        sys.exit(None if is_fresh else f"{STUB.name} is not what the public names are; run: make docs")
    STUB.write_text(stub(), encoding="utf-8")
