"""Which benchmarks there are: every module of `speed` is one, and has

a docstring
    Its first line says what is measured.
MINUTES
    How long it takes on two idle cores.
QUICK
    Options of a run of seconds on drawn data, which shows that it works.
NEEDS_GPU
    True if it measures a GPU only; its figures may be absent.
run(*, ...)
    Yields its results (lists of dictionaries with a ratio), as often as they are worth keeping; the last are
    the figures. Its keywords are the options, with their usual values.
"""

from importlib import import_module
from pathlib import Path

from tagrank_papers.text import markdown_table

HERE = Path(__file__).resolve().parent


def names():
    """Names of all benchmarks."""
    return sorted(path.stem for path in (HERE / "speed").glob("*.py") if path.stem != "__init__")


def find(name):
    """The module of a benchmark."""
    if name not in names():
        raise SystemExit(f"no benchmark is called {name!r}; there are all, {', '.join(names())}")
    return import_module(f"benchmarks.speed.{name}")


def describe_all():
    """A table: what each measures, and how long it takes."""
    rows = []
    for name in names():
        module = find(name)
        rows.append([f"`{name}`", module.__doc__.splitlines()[0].rstrip("."), str(module.MINUTES)])
    return markdown_table(("name", "what it measures", "minutes"), rows)
