"""Which benchmarks there are: every module of `speed` and of `experiments` is one, and has

a docstring
    Its first line says what is measured.
MINUTES
    How long it takes on two idle cores.
QUICK
    Options of a run of seconds on drawn data, which shows that it works.
run(*, ...)
    Yields its results (lists, dictionaries, numbers), as often as they are worth keeping; the last are the
    figures. Its keywords are the options, with their usual values.
PAGES and render(results, machine), where it writes some
    Names of pages and drawings in docs/, and their texts by name.
"""

from importlib import import_module
from pathlib import Path

from benchmarks.tables import markdown_table

HERE = Path(__file__).resolve().parent
GROUPS = ("speed", "experiments")


def names_of(group):
    """Names of the benchmarks of a group."""
    return sorted(path.stem for path in (HERE / group).glob("*.py") if path.stem != "__init__")


def find(name):
    """The module of a benchmark."""
    for group in GROUPS:
        if name in names_of(group):
            return import_module(f"benchmarks.{group}.{name}")
    known = [name for group in GROUPS for name in names_of(group)]
    raise SystemExit(f"no benchmark is called {name!r}; there are {', '.join([*GROUPS, *known])}")


def describe_all():
    """A table: what each measures, how long it takes, and the page that it writes."""
    rows = []
    for group in GROUPS:
        for name in names_of(group):
            module = find(name)
            pages = [f"[{page}]({page})" for page in getattr(module, "PAGES", ()) if page.endswith(".md")]
            measured = module.__doc__.splitlines()[0].rstrip(".")
            rows.append([f"`{name}`", group, measured, str(module.MINUTES), *(pages or [""])])
    return markdown_table(("name", "folder", "what it measures", "minutes", "page"), rows)
