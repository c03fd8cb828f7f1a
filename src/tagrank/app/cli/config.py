"""Options from a YAML file: its keys are the option names, and flags override it."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from tagrank.visible_text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_CONFIG_BYTES = 2**16
MAX_DEPTH = 2


def load_config(context: typer.Context, path: Path | None) -> Path | None:
    """Make the values of the file the defaults of the command; runs before all other options are read."""
    if path is not None and not context.resilient_parsing:
        try:
            context.default_map = check_keys(context, read_config(path), path)
        except typer.BadParameter as error:
            raise typer.BadParameter(printable(error.message)) from None
    return path


def read_config(path: Path) -> "dict[str, Any]":
    """The mapping in a small YAML file of plain values, or of lists of them."""
    import yaml

    from tagrank.files import open_text

    try:
        with open_text(path, max_bytes=MAX_CONFIG_BYTES) as stream:
            text = stream.read()
        _refuse_depth(text, path)
        content = _load(text, path)
    except OSError as error:
        raise typer.BadParameter(f"{path}: {error.strerror}") from None
    except yaml.YAMLError as error:
        raise typer.BadParameter(f"{path}: not valid YAML: {' '.join(str(error).split())}") from None
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise typer.BadParameter(
            f"{path}: expected lines such as 'method: one-vs-all', got {type(content).__name__}"
        )
    return content


def _load(text: str, path: Path) -> Any:
    """What the text says, as `yaml.safe_load` gives it; a key that is there twice is an error."""
    import yaml

    from tagrank.files import FileError

    class Loader(yaml.SafeLoader):
        def construct_mapping(self, node: Any, deep: bool = False) -> "dict[Any, Any]":
            seen: list[Any] = []
            for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
                if key.value in seen:
                    line = key.start_mark.line + 1
                    raise FileError(path, f"{key.value} appears twice; keep one of them", line=line)
                seen.append(key.value)
            return super().construct_mapping(node, deep)

    return yaml.load(text, Loader)


def _refuse_depth(text: str, path: Path) -> None:
    """An error where values are nested or repeated by alias: both can cost far more than the file's size."""
    import yaml

    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH or isinstance(event, yaml.AliasEvent):
            raise typer.BadParameter(f"{path}: expected plain values, without nesting or aliases")


def check_keys(context: typer.Context, content: "Mapping[Any, Any]", path: Path) -> "dict[str, Any]":
    """The content by parameter name; a key that is no option, or a value that is not plain, is an error."""
    from tagrank.errors import did_you_mean

    known = {name: option for option in context.command.params for name in _names(option)}
    values = {}
    for key, value in content.items():
        name = str(key).removeprefix("--").replace("-", "_")
        if name not in known:
            options = sorted(option.replace("_", "-") for option in known)
            hint = did_you_mean(str(key).replace("_", "-"), options)
            raise typer.BadParameter(f"{path}: no option {str(key)!r}{hint or '; --help lists them'}")
        option = known[name]
        if str(option.name) in values:
            raise typer.BadParameter(f"{path}: {key} appears twice, in different spellings; keep one of them")
        values[str(option.name)] = _plain(option, value, f"{path}: {key}")
    return values


def _plain(option: Any, value: Any, where: str) -> Any:
    """The value as the option takes it: a list of plain ones if it may be repeated, else a plain one."""
    if isinstance(value, dict) and "=" in (option.metavar or ""):
        value = [f"{left}={right}" for left, right in value.items()]
    is_repeatable = getattr(option, "multiple", False)
    if is_repeatable and value is not None and not isinstance(value, list | dict):
        value = [value]
    entries = value if isinstance(value, list) and is_repeatable else [value]
    if any(isinstance(entry, dict | list) for entry in entries):
        raise typer.BadParameter(f"{where} must be a plain value, got a {type(value).__name__}")
    return value


def _names(option: Any) -> list[str]:
    """What a key of the file may call an option: as on the command line, with - or _; not the file itself."""
    if option.name in ("config", "help"):
        return []
    return [
        name.removeprefix("--").replace("-", "_") for name in option.opts if len(name) > 2 or name[0] != "-"
    ]
