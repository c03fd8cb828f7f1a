"""Options that several commands share."""

from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer

from tagrank.app.cli.checks import jobs, one_of, positive
from tagrank.app.cli.config import load_config

METHOD, NUMBERS, TAGS, ROWS, PICTURES = "Method", "Numbers", "Tags", "Rows", "Pictures"


def choice_option(words: Any, help: str, **more: Any) -> Any:
    """An option that is one of the words of a Literal."""
    return typer.Option(parser=one_of(words), metavar=f"[{'|'.join(get_args(words))}]", help=help, **more)


Data = Annotated[
    str,
    typer.Argument(
        help="A folder of pictures, a file (.csv, .jsonl, .json, .arff, .libsvm, .npz) or a name from "
        "'tagrank datasets'."
    ),
]
Model = Annotated[Path, typer.Argument(help="A folder that 'tagrank train' wrote.")]
MethodWord = Literal[
    "label-ranker",
    "incomplete-label-ranker",
    "pairwise-ranker",
    "online-ranker",
    "one-vs-all",
    "prior-margin",
    "joint-svm",
    "online-joint-svm",
    "label-frequency",
]
KernelWord = Literal["rbf", "linear", "poly", "chi2", "intersection", "hellinger"]
MethodName = Annotated[
    MethodWord,
    typer.Option(
        "--method",
        metavar="METHOD",
        parser=one_of(MethodWord),
        help="How to learn; see 'tagrank methods'.",
        rich_help_panel=METHOD,
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A parameter that not all methods have; 'tagrank methods METHOD' lists them; may be repeated.",
        show_default=False,
        rich_help_panel=METHOD,
    ),
]
KernelName = Annotated[
    KernelWord | None,
    typer.Option(
        "--kernel",
        metavar="NAME",
        parser=one_of(KernelWord),
        help="Similarity of rows: rbf, linear, poly, chi2, intersection or hellinger.",
        show_default="rbf; the mean over all features for pictures",
        rich_help_panel=METHOD,
    ),
]
Features = Annotated[
    list[str] | None,
    typer.Option(
        "--features",
        "-f",
        help="How to describe pictures: fast, papers, embedding, all, names of 'tagrank features', or an "
        ".onnx file; may be repeated.",
        show_default="embedding if installed, dense_sift_v3h1, hsv_v3h1",
        rich_help_panel=PICTURES,
    ),
]
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
PictureJobs = Annotated[
    int | None,
    typer.Option(
        help="Processes that look at pictures.",
        show_default="all cores",
        callback=jobs,
        rich_help_panel=PICTURES,
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        help="Processes and threads.", show_default="all cores", callback=jobs, rich_help_panel=NUMBERS
    ),
]
Tolerance = Annotated[
    float | None,
    typer.Option(
        "--tol",
        help="Relative duality gap to reach.",
        show_default="0.001",
        callback=positive,
        rich_help_panel=NUMBERS,
    ),
]
Seed = Annotated[int, typer.Option(help="For everything random.", min=0, rich_help_panel=NUMBERS)]
HierarchyWord = Literal["keep", "leaf", "ancestors"]
Hierarchy = Annotated[
    HierarchyWord,
    choice_option(HierarchyWord, "What places|europe|rome becomes.", rich_help_panel=TAGS),
]
Synonyms = Annotated[
    list[str] | None,
    typer.Option(metavar="OLD=NEW", help="Another name; may be repeated.", rich_help_panel=TAGS),
]
LowerCase = Annotated[bool, typer.Option("--lower-case", help="Take 'Sky' for 'sky'.", rich_help_panel=TAGS)]
MinCount = Annotated[int, typer.Option(help="Leave out tags of fewer pictures.", min=0, rich_help_panel=TAGS)]
View = Annotated[str | None, typer.Option(help="View to learn from, of several.", rich_help_panel=ROWS)]
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


def cost_option(usual: str) -> Any:
    """The option --C; `usual` says what it is if it is left out."""
    return typer.Option(
        "--C", help="Cost of a violation.", show_default=usual, callback=positive, rich_help_panel=METHOD
    )


def part_option(help: str, usual: str) -> Any:
    """The option --part; `usual` says which part it is if it is left out."""
    return typer.Option(help=help, show_default=usual, rich_help_panel=ROWS)


def cache_place(folder: Path | None, no_cache: bool) -> bool | Path:
    """What the library calls `cache`."""
    if folder is not None and no_cache:
        raise typer.BadParameter("--cache and --no-cache exclude each other")
    return not no_cache if folder is None else folder


def read_pairs(option: str, texts: list[str] | None, example: str) -> dict[str, str]:
    """What was written as ``name=value``, once or several times."""
    pairs = {}
    for text in texts or ():
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise typer.BadParameter(f"expected {option} {example}, got {text!r}")
        pairs[name] = value
    return pairs


def read_synonyms(texts: list[str] | None) -> dict[str, str]:
    """What --synonym says, as the library takes it."""
    return read_pairs("--synonym", texts, "old=new")


def method_settings(method: str, texts: list[str] | None) -> dict[str, Any]:
    """The parameters of the method that --set names, as the library takes them."""
    from tagrank.estimators.methods import read_parameters

    pairs = read_pairs("--set", texts, "name=value")
    try:
        return read_parameters(method, pairs)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
