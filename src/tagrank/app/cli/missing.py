"""`tagrank missing`"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tagrank.app.cli.console import count as number_of
from tagrank.app.cli.console import printable, report_problems, say, show, show_json
from tagrank.app.cli.interrupts import InterruptWatch
from tagrank.app.cli.options import (
    METHOD,
    CacheFolder,
    Config,
    Data,
    Debug,
    Features,
    Hierarchy,
    Jobs,
    Json,
    KernelName,
    LowerCase,
    MethodName,
    MinCount,
    NoCache,
    Seed,
    Settings,
    Strict,
    Synonyms,
    Tolerance,
    View,
    cache_place,
    choice_option,
    cost_option,
    method_settings,
    part_option,
    read_synonyms,
)
from tagrank.app.cli.progress import WorkProgress

if TYPE_CHECKING:
    from rich.table import Table

    from tagrank.commands.missing.result import MissingTags

USUAL_TOL = 1e-3
CHOICE = "What to list"
Calibration = Literal["platt", "isotonic"]


def missing(
    data: Data,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write .csv or .jsonl, a line a suggestion."),
    ] = None,
    page: Annotated[Path | None, typer.Option(help="Write an HTML page with the pictures, too.")] = None,
    wrong: Annotated[
        bool,
        typer.Option("--wrong", help="List tags that are probably wrong instead.", rich_help_panel=CHOICE),
    ] = False,
    untagged: Annotated[
        bool,
        typer.Option(
            "--untagged",
            help="Also propose tags for pictures without any; one model of all the others judges them.",
            rich_help_panel=CHOICE,
        ),
    ] = False,
    top: Annotated[int, typer.Option(help="Suggestions at most.", min=1, rich_help_panel=CHOICE)] = 50,
    per_tag: Annotated[
        int | None,
        typer.Option(
            help="Suggestions of the same tag at most.", show_default="all", min=1, rich_help_panel=CHOICE
        ),
    ] = None,
    min_probability: Annotated[
        float, typer.Option(help="Leave out tags less probable.", min=0, max=1, rich_help_panel=CHOICE)
    ] = 0.0,
    max_probability: Annotated[
        float, typer.Option(help="Leave out tags more probable.", min=0, max=1, rich_help_panel=CHOICE)
    ] = 1.0,
    method: MethodName = "label-ranker",
    settings: Settings = None,
    C: Annotated[float | None, cost_option("by cross-validation")] = None,
    kernel: KernelName = None,
    folds: Annotated[
        int,
        typer.Option(
            help="Models that share the pictures; each learns from all but its share.",
            min=2,
            rich_help_panel=METHOD,
        ),
    ] = 5,
    calibration: Annotated[
        Calibration,
        choice_option(Calibration, "How scores become probabilities.", rich_help_panel=METHOD),
    ] = "platt",
    features: Features = None,
    strict: Strict = False,
    cache: CacheFolder = None,
    no_cache: NoCache = False,
    tol: Tolerance = None,
    n_jobs: Jobs = None,
    seed: Seed = 0,
    lower_case: LowerCase = False,
    hierarchy: Hierarchy = "keep",
    synonym: Synonyms = None,
    min_count: MinCount = 0,
    part: Annotated[str | None, part_option("Part to look at.", "all")] = None,
    view: View = None,
    config: Config = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Find tags that pictures probably lack, or have by mistake.

    Every picture is judged by a model that saw neither it nor its tags.

    [bold]Examples[/bold]

    \b
    tagrank missing photos/ --page missing.html
    tagrank missing photos/ --wrong --max-probability 0.05
    tagrank missing photos/ --untagged --top 500 --per-tag 20 -o missing.csv
    tagrank missing scene --method one-vs-all --json
    tagrank missing scene --method joint-svm --set output_kernel=odds-ratio
    """
    import tagrank

    synonyms = read_synonyms(synonym)
    parameters = method_settings(method, settings)
    with InterruptWatch(tol=USUAL_TOL if tol is None else tol) as interrupts, WorkProgress() as progress:

        def count(done: int, total: int, what: str) -> None:
            # a solver that is interrupted returns what it reached; here a part is worth nothing
            interrupts.insist()
            progress.count(done, total, what)

        found = tagrank.missing(
            data,
            output,
            wrong=wrong,
            untagged=untagged,
            top=top,
            per_tag=per_tag,
            min_probability=min_probability,
            max_probability=max_probability,
            method=method,
            C=C,
            kernel=kernel,
            folds=folds,
            calibration=calibration,
            tol=tol,
            n_jobs=n_jobs,
            seed=seed,
            view=view,
            features=features or None,
            cache=cache_place(cache, no_cache),
            strict=strict,
            part=part,
            lower_case=lower_case,
            hierarchy=hierarchy,
            synonyms=synonyms,
            min_count=min_count,
            page=page,
            progress=count,
            **parameters,
        )
    if json:
        show_json(found.to_dict())
    elif output is None and found.suggestions:
        show(suggestion_table(found))
    if not found.suggestions:
        say(f"no pair of {found.kind} and tag is {found.about}; {found.n_candidates:,} were looked at")
    if output is not None:
        say(f"{number_of(len(found.suggestions), 'suggestion')} written to {output}")
    if page is not None:
        say(f"page written to {page}")
    if found.n_untagged:
        advice = "" if wrong else "; --untagged proposes some"
        say(f"left out: {number_of(found.n_untagged, found.kind)} without tags{advice}")
    report_problems(found.problems)


def suggestion_table(found: "MissingTags") -> "Table":
    """A line a suggestion, the one to look at first on top."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in (found.kind, found.about, "now"):
        table.add_column(name)
    table.add_column("probability", justify="right")
    for suggestion in found.suggestions:
        words = (suggestion.name, suggestion.tag, suggestion.state)
        table.add_row(*(Text(printable(word)) for word in words), f"{suggestion.probability:.1%}")
    return table
