"""`tagrank missing`"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tagrank.app.cli.arguments.options import (
    METHOD,
    ROWS,
    Completeness,
    Config,
    Data,
    Debug,
    Json,
    learning,
    option,
    takes,
)
from tagrank.app.cli.terminal.console import count as number_of
from tagrank.app.cli.terminal.console import printable, report_problems, say, show, show_json
from tagrank.app.cli.terminal.interrupts import InterruptWatch
from tagrank.app.cli.terminal.progress import WorkProgress

if TYPE_CHECKING:
    from rich.table import Table

    from tagrank.commands.missing.result import MissingTags

CHOICE = "What to list"
Calibration = Literal["shared", "platt", "isotonic"]


@takes(learning, after="max_probability")
def missing(
    data: Data,
    output: Annotated[
        Path | None, option(None, "Write .csv or .jsonl, a line a suggestion.", "--output", "-o")
    ] = None,
    page: Annotated[Path | None, option(None, "Write an HTML page with the pictures, too.")] = None,
    wrong: Annotated[bool, option(CHOICE, "List tags that are probably wrong instead.", "--wrong")] = False,
    untagged: Annotated[
        bool,
        option(
            CHOICE,
            "Also propose tags for pictures without any; one model of all the others judges them.",
            "--untagged",
        ),
    ] = False,
    top: Annotated[int, option(CHOICE, "Suggestions at most.", min=1)] = 50,
    per_tag: Annotated[
        int | None, option(CHOICE, "Suggestions of the same tag at most.", usual="all", min=1)
    ] = None,
    min_probability: Annotated[float, option(CHOICE, "Leave out tags less probable.", min=0, max=1)] = 0.0,
    max_probability: Annotated[
        float | None,
        option(CHOICE, "Leave out tags more probable.", usual="1; with --wrong 0.5", min=0, max=1),
    ] = None,
    folds: Annotated[
        int, option(METHOD, "Models that share the pictures; each learns from all but its share.", min=2)
    ] = 5,
    calibration: Annotated[
        Calibration,
        option(
            METHOD,
            "How scores become probabilities: by one curve for all tags, or tag by tag.",
            words=Calibration,
        ),
    ] = "shared",
    completeness: Completeness = None,
    part: Annotated[str | None, option(ROWS, "Part to look at.", usual="all")] = None,
    config: Config = None,
    json: Json = False,
    debug: Debug = False,
    **shared: Any,
) -> None:
    """Find tags that pictures probably lack, or have by mistake.

    Every picture is judged by a model that saw neither it nor its tags.

    [bold]Examples[/bold]

    \b
    tagrank missing photos/ --page missing.html
    tagrank missing photos/ --wrong --max-probability 0.05
    tagrank missing photos/ --untagged --top 500 --per-tag 20 -o missing.csv
    tagrank missing photos/ --completeness 0.5
    tagrank missing scene --method one-vs-all --json
    tagrank missing scene --method joint-svm --set output_kernel=odds-ratio
    """
    from rich.text import Text

    import tagrank

    arguments = learning(**shared)
    with InterruptWatch(keeps=False) as interrupts, WorkProgress() as progress:

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
            folds=folds,
            calibration=calibration,
            completeness=completeness,
            part=part,
            page=page,
            progress=count,
            stop=interrupts.stop,
            **arguments,
        )
    if json:
        show_json(found.to_dict())
    elif output is None and found.suggestions:
        show(Text(found.quality, style="bold"), "", suggestion_table(found))
    if not found.suggestions:
        say(found.answer)
    if output is not None:
        say(f"{number_of(len(found.suggestions), 'suggestion')} written to {output}")
    if page is not None:
        say(f"page written to {page}")
    if n_decisions := found.facts["decisions"]:
        say(f"{number_of(n_decisions, 'decision')} of the desk used, and not proposed again")
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
