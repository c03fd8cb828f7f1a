"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from tagrank.app.config import load_config

Data = Annotated[
    str,
    typer.Argument(help="A file (.arff, .csv, .libsvm, .npz, a picture) or a name from 'tagrank datasets'."),
]
Model = Annotated[Path, typer.Argument(help="A folder that 'tagrank train' wrote.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show where an error came from.")]
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
