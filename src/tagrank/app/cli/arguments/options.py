"""Options that several commands share: each is declared once, and made an argument of the library once."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args

import typer

from tagrank.app.cli.arguments.checks import (
    AUTO,
    dataset_names,
    feature_names,
    jobs,
    known_method,
    method_names,
    one_of,
    positive,
    share_or_all,
)
from tagrank.app.cli.arguments.config import load_config
from tagrank.formats import usual_endings

METHOD, NUMBERS, TAGS, ROWS, PICTURES = "Method", "Numbers", "Tags", "Rows", "Pictures"
DECISION = "Which tags are predicted"
USUAL_TOL = 1e-3
Command = TypeVar("Command", bound=Callable[..., Any])


def takes(shared: Callable[..., Any], *, after: str) -> Callable[[Command], Command]:
    """A decorator: the command's ``**shared`` are the options of the function `shared`.

    Parameters
    ----------
    shared : its parameters are options; what it returns are arguments of the library
    after : the option of the command behind which they are listed
    """

    def extend(command: Command) -> Command:
        own = list(inspect.signature(command).parameters.values())[:-1]
        place = [option.name for option in own].index(after) + 1
        options = [*own[:place], *inspect.signature(shared).parameters.values(), *own[place:]]
        keyword_only = [option.replace(kind=inspect.Parameter.KEYWORD_ONLY) for option in options]
        command.__signature__ = inspect.Signature(keyword_only)  # type: ignore[attr-defined]
        command.__annotations__ = {option.name: option.annotation for option in options}
        return command

    return extend


def option(
    panel: str | None, help: str, *names: str, usual: str | bool = True, words: Any = None, **more: Any
) -> Any:
    """An option in a panel of the help.

    Parameters
    ----------
    panel, help, names : where it is listed, what it does, and its names unless they are that of the argument
    usual : what it is if it is left out, in words
    words : a Literal with all that it may be
    more : of `typer.Option`
    """
    if words is not None:
        more = {"parser": one_of(words), "metavar": f"[{'|'.join(get_args(words))}]", **more}
    return typer.Option(*names, help=help, show_default=usual, rich_help_panel=panel, **more)


Data = Annotated[
    str,
    typer.Argument(
        help=f"A folder of pictures, a file ({', '.join(usual_endings())}) or a name from "
        "'tagrank datasets'.",
        autocompletion=dataset_names,
    ),
]
Model = Annotated[Path, typer.Argument(help="A folder that 'tagrank train' wrote.")]
KernelWord = Literal["rbf", "linear", "poly", "chi2", "intersection", "hellinger"]
Strict = Annotated[bool, option(PICTURES, "Stop at the first picture that cannot be read.", "--strict")]
CacheFolder = Annotated[
    Path | None,
    option(
        PICTURES,
        "Where features are kept for the next time.",
        metavar="FOLDER",
        usual="the user's cache folder",
    ),
]
NoCache = Annotated[bool, option(PICTURES, "Keep no features on disk.", "--no-cache")]
PictureJobs = Annotated[
    int | None, option(PICTURES, "Processes that look at pictures.", usual="all cores", callback=jobs)
]
Jobs = Annotated[int | None, option(NUMBERS, "Processes and threads.", usual="all cores", callback=jobs)]
Seed = Annotated[int, option(NUMBERS, "For everything random.", min=0, max=2**32 - 1)]
MachineTags = Annotated[
    bool,
    option(
        TAGS,
        "Take the tags that 'annotate --sidecars' wrote, and nobody accepted, for the truth.",
        "--machine-tags",
    ),
]
FollowLinks = Annotated[
    bool,
    option(PICTURES, "Follow links to folders; in a stranger's folder they lead anywhere.", "--follow-links"),
]
JoinSidecars = Annotated[
    bool,
    option(
        TAGS,
        "Add the keywords of XMP sidecars to the tags of a tags.csv, or leave them out.",
        "--join-sidecars/--no-join-sidecars",
    ),
]
Separator = Annotated[
    str | None,
    option(
        TAGS,
        "What stands between the tags in a cell of tags.csv: ';' for sky;sea, '\\t' for a tab.",
        "--separator",
        metavar="TEXT",
        usual="|, or what is certain to be one",
    ),
]
StyleWord = Literal["full", "stem"]
Style = Annotated[
    str,
    option(
        None,
        "What new sidecars are called: full, photo.jpg.xmp, as digiKam and darktable have it; or stem, "
        "photo.xmp, which darktable reads when it imports a picture, and digiKam if it is set to. Lightroom "
        "Classic reads photo.xmp of raw files only, and of JPEG none. A sidecar that is there is taken.",
        words=StyleWord,
    ),
]
Decisions = Annotated[
    Path | None,
    option(
        TAGS,
        "The file with what was decided at the desk.",
        "--decisions",
        metavar="FILE",
        usual=".tagrank/desk.sqlite in the folder, if there is one",
    ),
]
NoDecisions = Annotated[bool, option(TAGS, "Leave out what was decided at the desk.", "--no-decisions")]
MinProbability = Annotated[
    float | None,
    option(
        DECISION,
        "Predict tags that are at least so probable.",
        usual="the model decides",
        callback=share_or_all,
    ),
]
Precision = Annotated[
    float | None,
    option(
        DECISION, "Predict only what is right so often: 0.8 for four times of five.", callback=share_or_all
    ),
]
Features = Annotated[
    list[str] | None,
    option(
        PICTURES,
        "How to describe pictures: fast, papers, embedding, all, names of 'tagrank features', or an "
        ".onnx file; may be repeated.",
        "--features",
        "-f",
        metavar="NAME",
        usual="embedding if installed, dense_sift_v3h1, hsv_v3h1",
        autocompletion=feature_names,
    ),
]
LowerCase = Annotated[bool, option(TAGS, "Take 'Sky' for 'sky'.", "--lower-case")]
Hierarchy = Annotated[
    str,
    option(
        TAGS,
        "What places|europe|rome becomes: keep, leaf or ancestors. Or a table of tags and their parents.",
        metavar="WORD|FILE.csv",
    ),
]
Synonym = Annotated[
    list[str] | None,
    option(TAGS, "Another name, or a table of tags; may be repeated.", metavar="OLD=NEW|FILE.csv"),
]
MinCount = Annotated[int, option(TAGS, "Leave out tags of fewer pictures.", min=0)]
View = Annotated[str | None, option(ROWS, "View to learn from, of several.")]
Completeness = Annotated[
    float | None,
    option(
        METHOD,
        "Share of the true tags that are listed: 0.5 for half of them, 1 for tags that are complete.",
        usual="estimated",
        callback=share_or_all,
    ),
]
AllMetrics = Annotated[
    bool, option(None, "Show every metric, not only the three that matter most.", "--all-metrics")
]
Json = Annotated[bool, option(None, "Print one JSON document instead of tables.", "--json")]
Debug = Annotated[bool, option(None, "Show where an error came from.", "--debug")]
CONFIG_HELP = "YAML file whose keys are option names; flags override it."
Config = Annotated[
    Path | None, option(None, CONFIG_HELP, "--config", "-c", callback=load_config, is_eager=True)
]


def reading(
    strict: Strict = False,
    follow_links: FollowLinks = False,
    cache: CacheFolder = None,
    no_cache: NoCache = False,
    n_jobs: PictureJobs = None,
) -> dict[str, Any]:
    """How pictures are looked at by a model that is there."""
    place = _cache_place(cache, no_cache)
    return {"strict": strict, "follow_links": follow_links, "cache": place, "n_jobs": n_jobs}


def learning(
    method: Annotated[
        str,
        option(
            METHOD,
            "How to learn, see 'tagrank methods'; auto tries the best ones and takes what does best on "
            "pictures held out, or two together.",
            metavar="METHOD",
            parser=known_method,
            autocompletion=method_names,
        ),
    ] = AUTO,
    settings: Annotated[
        list[str] | None,
        option(
            METHOD,
            "A parameter that not all methods have; 'tagrank methods METHOD' lists them; may be repeated.",
            "--set",
            metavar="NAME=VALUE",
        ),
    ] = None,
    C: Annotated[
        float | None,
        option(METHOD, "Cost of a violation.", "--C", usual="by cross-validation", callback=positive),
    ] = None,
    kernel: Annotated[
        KernelWord | None,
        option(
            METHOD,
            "Similarity of rows: rbf, linear, poly, chi2, intersection or hellinger.",
            words=KernelWord,
            metavar="NAME",
            usual="rbf; the mean over all features for pictures",
        ),
    ] = None,
    features: Features = None,
    strict: Strict = False,
    cache: CacheFolder = None,
    no_cache: NoCache = False,
    tol: Annotated[
        float | None,
        option(NUMBERS, "Relative duality gap to reach.", usual=str(USUAL_TOL), callback=positive),
    ] = None,
    n_jobs: Jobs = None,
    seed: Seed = 0,
    lower_case: LowerCase = False,
    hierarchy: Hierarchy = "keep",
    synonym: Synonym = None,
    machine_tags: MachineTags = False,
    join_sidecars: JoinSidecars = True,
    separator: Separator = None,
    follow_links: FollowLinks = False,
    decisions: Decisions = None,
    no_decisions: NoDecisions = False,
    min_count: MinCount = 0,
    view: View = None,
) -> dict[str, Any]:
    """What 'train', 'missing' and 'tune' learn from, and how."""
    collected = collecting(
        features,
        strict,
        cache,
        no_cache,
        seed,
        lower_case,
        hierarchy,
        synonym,
        machine_tags,
        join_sidecars,
        separator,
        follow_links,
        decisions,
        no_decisions,
        min_count,
        view,
    )
    own = _method_settings(method, settings)
    return {"method": method, "C": C, "kernel": kernel, "tol": tol, "n_jobs": n_jobs, **collected, **own}


def collecting(
    features: Features = None,
    strict: Strict = False,
    cache: CacheFolder = None,
    no_cache: NoCache = False,
    seed: Seed = 0,
    lower_case: LowerCase = False,
    hierarchy: Hierarchy = "keep",
    synonym: Synonym = None,
    machine_tags: MachineTags = False,
    join_sidecars: JoinSidecars = True,
    separator: Separator = None,
    follow_links: FollowLinks = False,
    decisions: Decisions = None,
    no_decisions: NoDecisions = False,
    min_count: MinCount = 0,
    view: View = None,
) -> dict[str, Any]:
    """What is learned from, where several methods learn."""
    from tagrank.data.reading import Reading

    return {
        "features": features or None,
        "cache": _cache_place(cache, no_cache),
        "seed": seed,
        "view": view,
        "reading": Reading(
            strict=strict,
            follow_links=follow_links,
            machine_tags=machine_tags,
            join_sidecars=join_sidecars,
            separator=separator,
            decisions=decisions_place(decisions, no_decisions),
            lower_case=lower_case,
            hierarchy=hierarchy,
            synonyms=_read_synonyms(synonym),
            min_count=min_count,
        ),
    }


def _read_synonyms(texts: list[str] | None) -> dict[str, str] | list[dict[str, str] | str]:
    """Pairs of words and, between them, the tables that were named."""
    is_table = [text.endswith(".csv") and "=" not in text for text in texts or ()]
    if not any(is_table):
        return _read_pairs("--synonym", texts, "old=new")
    return [
        text if is_file else _read_pairs("--synonym", [text], "old=new")
        for text, is_file in zip(texts or (), is_table, strict=True)
    ]


def _cache_place(folder: Path | None, no_cache: bool) -> bool | Path:
    """What the library calls `cache`."""
    if folder is not None and no_cache:
        raise typer.BadParameter("--cache and --no-cache exclude each other")
    return not no_cache if folder is None else folder


def decisions_place(file: Path | None, no_decisions: bool) -> bool | Path:
    """What the library calls `decisions`."""
    if file is not None and no_decisions:
        raise typer.BadParameter("--decisions and --no-decisions exclude each other")
    return not no_decisions if file is None else file


def _read_pairs(option: str, texts: list[str] | None, example: str) -> dict[str, str]:
    """What was written as ``name=value``, once or several times."""
    pairs = {}
    for text in texts or ():
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise typer.BadParameter(f"expected {option} {example}, got {text!r}")
        pairs[name] = value
    return pairs


def _method_settings(method: str, texts: list[str] | None) -> dict[str, Any]:
    """The parameters of the method that --set names, as the library takes them."""
    from tagrank.estimators.methods import read_parameters

    pairs = _read_pairs("--set", texts, "name=value")
    if method == AUTO:
        for name in pairs:
            raise typer.BadParameter(
                f"method 'auto' has no parameter {name!r} of its own; name one that has with --method"
            )
        return {}
    try:
        return read_parameters(method, pairs)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
