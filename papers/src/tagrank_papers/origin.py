"""Where figures come from: the day, the commit, and the code that measured them."""

import hashlib
import subprocess
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import tagrank

HOME = Path(__file__).resolve().parent
LIBRARY = Path(tagrank.__file__).resolve().parent
# rooms that figures do not come from; the others, and the ground floor, may change them
SILENT = ("app", "archive", "commands", "desk", "reports")


def describe_origin(experiment: str) -> dict[str, Any]:
    """The day, the commit of the checkout (None outside of one), and digests of what measures."""
    return {"date": datetime.now(UTC).date().isoformat(), "commit": _commit(), **digests(experiment)}


def digests(experiment: str) -> dict[str, str]:
    """What tells code that measures from other code: of the experiment with its protocols, and of tagrank."""
    module = HOME / "experiments" / f"{experiment}.py"
    library = (path for path in LIBRARY.rglob("*.py") if path.relative_to(LIBRARY).parts[0] not in SILENT)
    return {
        "experiment": _digest(HOME, [module, *(HOME / "protocols").glob("*.py")]),
        "library": _digest(LIBRARY, library),
    }


def is_current(record: dict[str, Any] | None, experiment: str) -> bool:
    """Whether a record is there, and measured by the code of today."""
    origin = (record or {}).get("origin", {})
    return all(origin.get(part) == digest for part, digest in digests(experiment).items())


def tell_origin(record: dict[str, Any]) -> str:
    """When, by which commit, and on which machine figures were measured, in a sentence."""
    origin, machine = record.get("origin", {}), record["machine"]
    versions = machine["packages"]
    commit = f"commit {origin['commit']}" if origin.get("commit") else f"tagrank {versions['tagrank']}"
    began = "Measured" if "library" in origin else "Kept since"
    day = f"{began} {origin['date']}, {commit}" if "date" in origin else "Measured on a day that was not kept"
    some = ", ".join(f"{name} {versions[name]}" for name in ("numpy", "scikit-learn") if name in versions)
    return f"{day}; {machine['processor']}, {machine['cores']} cores; Python {machine['python']}, {some}."


def tell_age(record: dict[str, Any], experiment: str) -> str:
    """That code changed since figures were measured, in a sentence; empty if it did not."""
    origin = record.get("origin", {})
    changed = {part for part, digest in digests(experiment).items() if origin.get(part) != digest}
    if not changed:
        return ""
    if "library" not in origin:
        return "These figures were measured before figures carried the code that they come from."
    what = "The experiment has" if "experiment" in changed else "tagrank has"
    return f"{what} changed since; `make results` measures again."


def _digest(root: Path, paths: Iterable[Path]) -> str:
    found = hashlib.sha256()
    for path in sorted(paths):
        found.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()[:16]


def _commit() -> str | None:
    """Of the checkout that this file lies in; "+" if files in it were changed."""
    try:
        commit, changes = (
            subprocess.run(
                ["git", "-C", str(HOME), *arguments], capture_output=True, text=True, check=True, timeout=30
            ).stdout.strip()
            for arguments in (
                ["rev-parse", "--short=10", "HEAD"],
                ["status", "--porcelain", "--untracked-files=no", "--", str(HOME), str(LIBRARY)],
            )
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return commit + ("+" if _touches_code(changes) else "")


def _touches_code(changes: str) -> bool:
    """Whether `git status` names more than kept figures, which a run of all tables writes as it goes."""
    return any("/results/" not in line for line in changes.splitlines())
