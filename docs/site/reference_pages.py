"""A page for each public name, made from its docstring, in docs/reference/, a folder that git ignores."""

import inspect
import re
from pathlib import Path

import tagrank

FOLDER = Path(__file__).parents[1] / "reference"
# the room of a name to the heading that it stands below
GROUPS = {
    "commands": "Commands",
    "annotation": "Annotators",
    "data": "Data",
    "features": "Features",
    "estimators": "Methods",
    "kernels": "Kernels",
    "metrics": "Metrics",
}
OTHER_ROOMS = {"files": "data", "labels": "data", "reports": "commands"}
ENTRY = re.compile(r"(\*{0,2}\w+(?:, \*{0,2}\w+)*) : (.*)")
WIDTH = 110

CLASS_PAGE = """{name}
{line}

.. currentmodule:: tagrank
.. autoclass:: {name}
   :members:
   :inherited-members: Mapping, Sequence, tuple
"""
FUNCTION_PAGE = """{name}
{line}

.. currentmodule:: tagrank
.. autofunction:: {name}
"""


def grouped_names():
    """Heading to the public names below it."""
    found = {heading: [] for heading in GROUPS.values()}
    for name in tagrank.__all__:
        if name != "__version__":
            room = getattr(tagrank, name).__module__.split(".")[1]
            found[GROUPS[OTHER_ROOMS.get(room, room)]].append(name)
    return found


def write_pages(app):
    """Write what differs from what is there, so that Sphinx reads only that again."""
    FOLDER.mkdir(exist_ok=True)
    names = [name for group in grouped_names().values() for name in group]
    for name in names:
        page = CLASS_PAGE if inspect.isclass(getattr(tagrank, name)) else FUNCTION_PAGE
        path, text = FOLDER / f"{name}.rst", page.format(name=name, line="=" * len(name))
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    for path in FOLDER.glob("*.rst"):
        if path.stem not in names:
            path.unlink()


def add_tables(app, page, source):
    """The page of the reference lists every name with the first sentence of its docstring."""
    if page != "docs/reference":
        return
    for heading, names in grouped_names().items():
        lines = [f"\n## {heading}\n", "| name | |", "| --- | --- |"]
        lines += [f"| [`{name}`](reference/{name}.rst) | {first_line(name)} |" for name in names]
        lists = ["\n```{toctree}", ":hidden:", "", *(f"reference/{name}" for name in names), "```\n"]
        source[0] += "\n".join(lines + lists)


def first_line(name):
    return inspect.getdoc(getattr(tagrank, name)).partition("\n")[0].replace("|", "\\|")


def tidy_docstring(app, what, name, obj, options, lines):
    """Bring a docstring into the form that napoleon knows, before it is read."""
    text = re.sub(
        r"(?<=^Command line\n------------\n).*", _with_examples, "\n".join(lines), flags=re.M | re.S
    )
    # a plural, which reStructuredText would take for the middle of a word
    text = re.sub(r"(?<!`)(`\w+`)s\b", r"\1\\ s", text)
    lines[:] = [
        line if "``" in line or ">>>" in line else line.replace("|", "\\|") for line in _entries(text)
    ]


def _with_examples(section):
    """Sentences as they are, examples as code."""
    paragraphs = section[0].strip().split("\n\n")
    return "\n\n".join(
        "::\n\n" + re.sub("^", "    ", one, flags=re.M) if one.startswith("tagrank ") else one
        for one in paragraphs
    )


def _entries(text):
    """Entries whose sentence begins beside the name have it below, where a type has none."""
    lines = text.splitlines()
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        entry = ENTRY.fullmatch(line)
        # the next line goes on with this one, for its first word had no room
        goes_on = following.startswith("    ") and len(line) + len(following.split()[0]) + 5 > WIDTH - 4
        if entry and (goes_on or not following.startswith("    ")):
            yield from (entry[1], "    " + entry[2])
        else:
            yield line


def skip_inherited(app, what, name, obj, skip, options):
    """What scikit-learn documents is not ours."""
    return True if (getattr(obj, "__module__", None) or "").startswith("sklearn.") else None


def setup(app):
    app.connect("builder-inited", write_pages)
    app.connect("source-read", add_tables)
    app.connect("autodoc-skip-member", skip_inherited)
    # before napoleon
    app.connect("autodoc-process-docstring", tidy_docstring, priority=100)
