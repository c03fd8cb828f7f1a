"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from tagrank.app.config import load_config

Data = Annotated[
    str,
    typer.Argument(
        help="A folder of pictures, a file (.csv, .jsonl, .json, .arff, .libsvm, .npz) or a name from "
        "'tagrank datasets'."
    ),
]
Model = Annotated[Path, typer.Argument(help="A folder that 'tagrank train' wrote.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show where an error came from.")]
PICTURES = "Pictures"
Strict = Annotated[
    bool,
    typer.Option("--strict", help="Stop at the first picture that cannot be read.", rich_help_panel=PICTURES),
]
CacheFolder = Annotated[
    Path | None,
    typer.Option(
        "--cache",
        metavar="FOLDER",
        help="Where features are kept for the next time.",
        show_default="the user's cache folder",
        rich_help_panel=PICTURES,
    ),
]
NoCache = Annotated[
    bool, typer.Option("--no-cache", help="Keep no features on disk.", rich_help_panel=PICTURES)
]
Jobs = Annotated[
    int | None,
    typer.Option(help="Processes that look at pictures.", show_default="all cores", rich_help_panel=PICTURES),
]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        "-c",
        callback=load_config,
        is_eager=True,
        help="YAML file whose keys are option names; flags override it.",
    ),
]


def cache_place(folder: Path | None, no_cache: bool) -> bool | Path:
    """What the library calls `cache`."""
    if folder is not None and no_cache:
        raise typer.BadParameter("--cache and --no-cache exclude each other")
    return not no_cache if folder is None else folder
