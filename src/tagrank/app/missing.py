"""`tagrank missing`"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tagrank.app.console import printable, report_problems, say, show, show_json
from tagrank.app.interrupts import InterruptWatch
from tagrank.app.options import PICTURES, CacheFolder, Config, Data, Debug, Json, NoCache, Strict, cache_place
from tagrank.app.progress import WorkProgress

if TYPE_CHECKING:
    from rich.table import Table

    from tagrank.study import MissingTags

USUAL_TOL = 1e-3
CHOICE, METHOD = "What to list", "Method"


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
    part: Annotated[
        str | None, typer.Option(help="Part to look at.", show_default="all", rich_help_panel=CHOICE)
    ] = None,
    lower_case: Annotated[
        bool, typer.Option("--lower-case", help="Take 'Sky' for 'sky'.", rich_help_panel=CHOICE)
    ] = False,
    min_count: Annotated[
        int, typer.Option(help="Leave out tags of fewer pictures.", min=0, rich_help_panel=CHOICE)
    ] = 0,
    method: Annotated[
        str, typer.Option(help="How to learn; see 'tagrank methods'.", rich_help_panel=METHOD)
    ] = "label-ranker",
    C: Annotated[
        float | None,
        typer.Option(
            "--C",
            help="Cost of a violation.",
            show_default="by cross-validation",
            rich_help_panel=METHOD,
        ),
    ] = None,
    kernel: Annotated[
        Literal["rbf", "linear", "poly", "chi2", "intersection", "hellinger"] | None,
        typer.Option(
            help="Similarity of rows.",
            show_default="rbf; the mean over all features for pictures",
            rich_help_panel=METHOD,
        ),
    ] = None,
    folds: Annotated[
        int,
        typer.Option(
            help="Models that share the pictures; each learns from all but its share.",
            min=2,
            rich_help_panel=METHOD,
        ),
    ] = 5,
    calibration: Annotated[
        Literal["platt", "isotonic"],
        typer.Option(help="How scores become probabilities.", rich_help_panel=METHOD),
    ] = "platt",
    tol: Annotated[
        float | None,
        typer.Option(help="Relative duality gap to reach.", show_default="0.001", rich_help_panel=METHOD),
    ] = None,
    n_jobs: Annotated[
        int | None,
        typer.Option(help="Processes and threads.", show_default="all cores", rich_help_panel=METHOD),
    ] = None,
    seed: Annotated[int, typer.Option(help="For everything random.", rich_help_panel=METHOD)] = 0,
    view: Annotated[
        str | None, typer.Option(help="View to learn from, of several.", rich_help_panel=METHOD)
    ] = None,
    features: Annotated[
        list[str] | None,
        typer.Option(
            "--features",
            "-f",
            help="How to describe pictures: fast, papers, embedding, all, names of 'tagrank features', or an "
            ".onnx file; may be repeated.",
            show_default="embedding if installed, else fast",
            rich_help_panel=PICTURES,
        ),
    ] = None,
    strict: Strict = False,
    cache: CacheFolder = None,
    no_cache: NoCache = False,
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
    """
    from tagrank import study

    with InterruptWatch(tol=USUAL_TOL if tol is None else tol) as interrupts, WorkProgress() as progress:

        def count(done: int, total: int, what: str) -> None:
            # a solver that is interrupted returns what it reached; here a part is worth nothing
            if interrupts.seen:
                raise KeyboardInterrupt
            progress.count(done, total, what)

        found = study.missing(
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
            min_count=min_count,
            page=page,
            progress=count,
        )
    if json:
        show_json(found.to_dict())
    elif output is None:
        show(suggestion_table(found))
    if output is not None:
        say(f"{len(found.suggestions):,} suggestions written to {output}")
    if page is not None:
        say(f"page written to {page}")
    report_problems(found.problems)


def suggestion_table(found: "MissingTags") -> "Table":
    """A line a suggestion, the one to look at first on top."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("picture", found.about, "now"):
        table.add_column(name)
    table.add_column("probability", justify="right")
    for suggestion in found.suggestions:
        words = (suggestion.name, suggestion.tag, suggestion.state)
        table.add_row(*(Text(printable(word)) for word in words), f"{suggestion.probability:.1%}")
    return table
