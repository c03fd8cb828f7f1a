"""Commands of the command line, made from functions: options from the signature, help from the docstring.

A parameter whose annotation carries an `Option` becomes an option, and so do the fields of a dataclass such
as `Reading`. Parameters that only Python has, such as `progress`, carry none.
"""

import builtins
import inspect
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import typer

import tagrank
from tagrank.errors import ArgumentError
from tagrank.options import Option, check_word

PLAIN = (bool, int, float, str, Path)
METAVARS: dict[Any, str] = {int: "INTEGER", float: "NUMBER", str: "TEXT", Path: "PATH"}
SECTION = re.compile(r"^(\w[\w ]*)\n-+\n", re.MULTILINE)
ENTRY = re.compile(r"^(\w+(?:,\s+\w+)*) : (.*(?:\n {4,}.*)*)", re.MULTILINE)
ELSEWHERE = re.compile(r"as in\s+`(\w+)`")
IN_PYTHON = re.compile(r"\.?\s+In Python.*", re.DOTALL)


@dataclass(frozen=True)
class Place:
    """Where the value of an option goes: to a parameter, or to a field of the dataclass that it takes."""

    parameter: str
    name: str
    option: Option
    annotation: Any
    default: Any
    help: str

    @property
    def key(self) -> str:
        """What the flag is called that passes False."""
        return f"no_{self.name}"


def find_places(function: Callable[..., Any]) -> list[Place]:
    """All options of a function, in the order of its signature."""
    texts = parameter_texts(inspect.getdoc(function))
    places: list[Place] = []
    for name, parameter in _parameters(function).items():
        option, annotation = _split(parameter.annotation)
        if (group := _group(option, annotation)) is not None:
            places += _fields(name, group, option.fields if option else ())
        elif option is not None:
            places.append(Place(name, name, option, annotation, parameter.default, texts.get(name, "")))
    return places


class _Names(dict[str, Any]):
    """Names in annotations; a class that is imported for type checkers alone may be anything."""

    def __missing__(self, name: str) -> Any:
        return Any


def _parameters(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    """The parameters by name, their annotations evaluated without loading what the function works with."""
    names = _Names(vars(builtins) | inspect.unwrap(function).__globals__)
    return inspect.signature(function, locals=names, eval_str=True).parameters


def _group(option: Option | None, annotation: Any) -> Any:
    """The dataclass whose fields are options, if there is one."""
    group = option.group if option is not None and option.group is not None else annotation
    return group if is_dataclass(group) else None


def _fields(parameter: str, group: Any, names: Any) -> Iterator[Place]:
    """The options that are fields of a dataclass; what a field is stands in the class that declares it."""
    texts: dict[str, str] = {}
    for base in reversed(group.__mro__):
        texts |= parameter_texts(inspect.cleandoc(base.__doc__ or ""))
    for field in fields(group):
        option, annotation = _split(field.type)
        if option is not None and (not names or field.name in names):
            yield Place(parameter, field.name, option, annotation, field.default, texts.get(field.name, ""))


def _split(annotation: Any) -> tuple[Option | None, Any]:
    """The option in an annotation, and the type without it."""
    if get_origin(annotation) is not Annotated:
        return None, annotation
    option = next((extra for extra in annotation.__metadata__ if isinstance(extra, Option)), None)
    return option, get_args(annotation)[0]


def parameter_texts(docstring: str | None) -> dict[str, str]:
    """What a numpydoc docstring says about each parameter, as a sentence for the command line.

    Parameters that are described "as in" another function of tagrank have the text that they have there.
    """
    texts: dict[str, str] = {}
    for listed, text in ENTRY.findall(sections(docstring).get("Parameters", "")):
        names = re.split(r",\s+", listed)
        if elsewhere := ELSEWHERE.fullmatch(text):
            other = parameter_texts(inspect.getdoc(getattr(tagrank, elsewhere[1])))
            texts |= {name: other[name] for name in names}
            continue
        sentence = IN_PYTHON.sub("", " ".join(text.split())).replace("`", "")
        sentence = sentence[:1].upper() + sentence[1:]
        texts |= dict.fromkeys(names, sentence if sentence.endswith(".") else f"{sentence}.")
    return texts


def sections(docstring: str | None) -> dict[str, str]:
    """The parts of a numpydoc docstring by their headings; what stands before the first has none."""
    first, *others = SECTION.split(docstring or "")
    return {"": first, **dict(zip(others[::2], others[1::2], strict=True))}


def help_text(function: Callable[..., Any]) -> str:
    """The help of a command: what its function does, what only the command line does, and examples."""
    parts = sections(inspect.getdoc(function))
    about = [IN_PYTHON.sub(".", text).replace("`", "") for text in parts[""].strip().split("\n\n")]
    *more, examples = parts["Command line"].strip().split("\n\n")
    return "\n\n".join([*about, *more, "[bold]Examples[/bold]", f"\b\n{examples}"])


def typer_parameters(place: Place) -> Iterator[inspect.Parameter]:
    """The parameters of typer for an option: one, or two where a flag passes False."""
    option, kind = place.option, _kind(place)
    default = place.default
    if option.no is not None or (option.is_many and not option.is_argument):
        default = None
    if option.is_required:
        default = inspect.Parameter.empty
    is_required = default is inspect.Parameter.empty
    annotation = list[kind] if option.is_many else kind  # type: ignore[valid-type]
    annotation = annotation if is_required or default is not None else annotation | None
    keywords: dict[str, Any] = {
        "help": _help(place),
        "metavar": option.metavar or (place.name.upper() if option.is_argument else METAVARS.get(kind)),
        "rich_help_panel": option.panel,
    }
    keywords |= {"show_default": option.usual or default is not None, "min": option.low, "max": option.high}
    if option.words:
        keywords["parser"] = _checked_by(check_word(option.words))
        keywords["metavar"] = option.metavar or f"[{'|'.join(option.words)}]"
    elif kind in (int, float):
        keywords["parser"] = _read_number(kind, option.low, option.high)
    if option.check is not None:
        keywords["callback"] = _checked_by(option.check)
    if option.complete is not None:
        keywords["autocompletion"] = option.complete
    info = (typer.Argument if option.is_argument else typer.Option)(*_flags(place, kind), **keywords)
    yield option_of(place.name, Annotated[annotation, info], default)
    if option.no is not None:
        flag, text = option.no
        about = typer.Option(flag, help=text, rich_help_panel=option.panel)
        yield option_of(place.key, Annotated[bool, about], False)


def option_of(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    """A parameter of a command, as typer takes it."""
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _help(place: Place) -> str:
    if place.option.is_many and not place.option.is_argument:
        return f"{place.help.removesuffix('.')}; can be repeated."
    return place.help


def _flags(place: Place, kind: type) -> tuple[str, ...]:
    if place.option.is_argument:
        return ()
    flag = f"--{place.name.rstrip('_').replace('_', '-')}"
    if kind is not bool:
        return tuple(place.option.names or [flag])
    return tuple(place.option.names or [f"{flag}/--no{flag[1:]}" if place.default is not False else flag])


def _kind(place: Place) -> Any:
    """The type of one value: as the option says, else the plain type of the annotation."""
    if place.option.kind is not None:
        return place.option.kind
    is_union = get_origin(place.annotation) in (Union, UnionType)
    kinds = get_args(place.annotation) if is_union else (place.annotation,)
    if os.PathLike in kinds:
        return Path
    return next((kind for kind in kinds if kind in PLAIN), str)


def _checked_by(check: Callable[[Any], None]) -> Callable[[Any], Any]:
    """A function that gives a value back, if it may be one; typer says of which option it was."""

    def checked(value: Any) -> Any:
        if value is not None:
            try:
                check(value)
            except ArgumentError as error:
                raise typer.BadParameter(str(error)) from None
        return value

    return checked


def _read_number(kind: type, low: float | None, high: float | None) -> Callable[[Any], Any]:
    """A function that reads a number, whole if `kind` is int; it says what was expected and what came."""
    named = "a whole number" if kind is int else "a number"
    bounds = [
        f"{word} {bound}" for word, bound in (("at least", low), ("at most", high)) if bound is not None
    ]
    expected = f"{named} of {' and '.join(bounds)}" if bounds else named

    def read(value: Any) -> Any:
        try:
            number = kind(value)
            is_meant = not isinstance(value, bool) and (isinstance(value, str) or number == value)
        except (TypeError, ValueError, OverflowError):
            is_meant = False
        if not is_meant or not (low is None or number >= low) or not (high is None or number <= high):
            raise typer.BadParameter(f"expected {expected}, got {value!r}")
        return number

    return read


def make_arguments(function: Callable[..., Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a function from the values of its options."""
    by_parameter: dict[str, dict[str, Any]] = {}
    for place in find_places(function):
        by_parameter.setdefault(place.parameter, {})[place.name] = _value(place, values)
    arguments: dict[str, Any] = {}
    for name, content in by_parameter.items():
        parameter = _parameters(function)[name]
        group = _group(*_split(parameter.annotation))
        if group is None:
            arguments |= content
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            arguments |= group(**content).for_method(arguments["method"])
        else:
            arguments[name] = group(**content)
    return arguments


def _value(place: Place, values: Mapping[str, Any]) -> Any:
    value, option = values[place.name], place.option
    if option.no is not None:
        is_no = values[place.key]
        if is_no and value is not None:
            raise ArgumentError(
                f"--{place.name} and {option.no[0]} cannot be combined; leave one of them out"
            )
        return not is_no if value is None else value
    if option.is_many and not value:
        return place.default
    return option.read(value) if option.read is not None else value
