"""Writes the texts of parameters and attributes that estimators share into their docstrings: make docs.

python docs/docstrings.py [--check]

The texts stand in parameter_texts.toml. What a class has for itself is written in its docstring by hand, and
kept.
"""

import ast
import inspect
import re
import sys
import textwrap
import tomllib
from pathlib import Path

from tagrank import estimators

TEXTS = tomllib.loads((Path(__file__).parent / "parameter_texts.toml").read_text())
WIDTH = 110
HEADING = re.compile(r"^    (\w[\w ]*)\n    -+\n", re.M)


def documented_classes() -> list[type]:
    """All public estimators."""
    public = (getattr(estimators, name) for name in estimators.__all__)
    return [one for one in public if inspect.isclass(one) and hasattr(one, "get_params")]


def shared_text(kind: type, section: str, name: str) -> str | None:
    """The text of a parameter or attribute; None if it is written by hand, or the class has none such."""
    for base in kind.__mro__:
        texts = TEXTS.get(base.__name__, {}).get(section, {})
        if name in texts:
            return texts[name] or None
    return None


def shared_attributes(kind: type) -> list[str]:
    """Names of the attributes with a shared text, the most special class first."""
    names = dict.fromkeys(
        name for base in kind.__mro__ for name in TEXTS.get(base.__name__, {}).get("attributes", {})
    )
    return [name for name in names if shared_text(kind, "attributes", name)]


def written_docstring(kind: type, docstring: str) -> str:
    """The docstring of a class, as it stands in the source, with all shared texts in it."""
    parameters = [
        parameter for name, parameter in inspect.signature(kind.__init__).parameters.items() if name != "self"
    ]
    shared = {
        parameter.name: _entry(parameter.name, text, _default(parameter))
        for parameter in parameters
        if (text := shared_text(kind, "parameters", parameter.name))
    }
    first = [parameter.name for parameter in parameters if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]
    docstring = _with_entries(docstring, "Parameters", shared, first, before=("Attributes", "Examples"))
    attributes = {
        name: _entry(name, shared_text(kind, "attributes", name) or "") for name in shared_attributes(kind)
    }
    return _with_entries(docstring, "Attributes", attributes, [], before=("Examples",))


def _default(parameter: inspect.Parameter) -> str:
    if parameter.default is inspect.Parameter.empty:
        return ""
    if parameter.default is None:
        return ", optional"
    return f", default {parameter.default!r}".replace("'", '"')


def _entry(name: str, text: str, default: str = "") -> str:
    """An entry of a section: name and type, then the text, wrapped."""
    type_of, _, about = text.partition("\n")
    if default == ", optional" and "None" in type_of:
        default = ", default None"
    first = textwrap.wrap(
        f"{name} : {type_of}{default}", WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 8
    )
    rest = textwrap.wrap(
        about, WIDTH, initial_indent=" " * 8, subsequent_indent=" " * 8, break_on_hyphens=False
    )
    return "\n".join([*first, *rest]) + "\n"


def _with_entries(
    docstring: str, section: str, shared: dict[str, str], first: list[str], before: tuple[str, ...]
) -> str:
    """The docstring with a section: the entries named by `first`, those written by hand, then other ones."""
    head, body, tail = _split(docstring, section, before)
    entries = {}
    for part in filter(str.strip, re.split(r"^(?=    \S)", body, flags=re.M)):
        if " : " not in part.partition("\n")[0]:
            raise ValueError(f"expected 'name : type' in the section {section}, found {part!r}")
        names, _, rest = part.partition(" : ")
        by_hand = [name for name in names.strip().split(", ") if name not in shared]
        if by_hand:
            entries[by_hand[0]] = f"    {', '.join(by_hand)} : {rest.rstrip()}\n"
    entries |= shared
    if not entries:
        return docstring
    written = "".join(entries[name] for name in sorted(entries, key=lambda name: name not in first))
    return f"{head}    {section}\n    {'-' * len(section)}\n{written}{tail}"


def _split(docstring: str, section: str, before: tuple[str, ...]) -> tuple[str, str, str]:
    """What stands before a section, in it, and after it; a section that is not there is put in its place."""
    headings = list(HEADING.finditer(docstring))
    for place, heading in enumerate(headings):
        if heading[1] == section:
            following = headings[place + 1].start() if place + 1 < len(headings) else None
            end = docstring.rindex("\n", 0, len(docstring)) + 1 if following is None else following
            blank = "" if following is None else "\n"
            return (
                docstring[: heading.start()],
                docstring[heading.end() : end].rstrip() + "\n",
                blank + docstring[end:],
            )
    for heading in headings:
        if heading[1] in before:
            return docstring[: heading.start()], "", "\n" + docstring[heading.start() :]
    end = docstring.rindex("\n") + 1 if "\n" in docstring else len(docstring)
    return docstring[:end].rstrip() + "\n\n", "", docstring[end:] or "    "


def written_source(path: Path, kinds: list[type]) -> str:
    """The text of a module with the docstrings of these classes written anew."""
    source = path.read_text()
    for kind in kinds:
        tree = ast.parse(source)
        node = next(one for one in tree.body if isinstance(one, ast.ClassDef) and one.name == kind.__name__)
        lines = source.splitlines(keepends=True)
        first, last = node.body[0].lineno - 1, node.body[0].end_lineno
        docstring = "".join(lines[first:last])
        opening, inside = docstring[:7], docstring[7 : docstring.rindex('"""')]
        fresh = opening + written_docstring(kind, inside) + '"""\n'
        source = "".join([*lines[:first], fresh, *lines[last:]])
    return source


def stale_modules() -> dict[Path, str]:
    """Modules whose docstrings differ from the shared texts, with their text as it should be."""
    by_module: dict[Path, list[type]] = {}
    for kind in documented_classes():
        by_module.setdefault(Path(inspect.getsourcefile(kind) or ""), []).append(kind)
    fresh = {path: written_source(path, kinds) for path, kinds in by_module.items()}
    return {path: text for path, text in fresh.items() if text != path.read_text()}


def main() -> None:
    stale = stale_modules()
    if "--check" in sys.argv and stale:
        sys.exit(f"{', '.join(map(str, stale))} differ from docs/parameter_texts.toml; run: make docs")
    for path, text in stale.items():
        path.write_text(text)


if __name__ == "__main__":
    main()
