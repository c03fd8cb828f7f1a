"""`tagrank tune`"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tagrank.app.cli.arguments.checks import metric_names, positive
from tagrank.app.cli.arguments.options import (
    NUMBERS,
    ROWS,
    Config,
    Data,
    Debug,
    Json,
    learning,
    option,
    takes,
)
from tagrank.app.cli.terminal.console import report_problems, say, show, show_json
from tagrank.app.cli.terminal.interrupts import InterruptWatch
from tagrank.app.cli.terminal.progress import WorkProgress

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tagrank.commands.tune import Tuned

SearchWord = Literal["halving", "grid"]
Metric = Annotated[
    str | None,
    option(
        None,
        "What to choose by: a metric as 'tagrank evaluate' shows it, such as Micro-F1.",
        usual="the mean of Image-MAP and Image-AUC",
        autocompletion=metric_names,
    ),
]
SearchOption = Annotated[
    SearchWord,
    option(
        NUMBERS,
        "halving: all on few rows, the better third on more; grid: all on all folds.",
        words=SearchWord,
    ),
]


@takes(learning, after="metric")
def tune(
    data: Data,
    output: Annotated[
        Path | None, option(None, "Write a .yml file that 'tagrank train -c' takes.", "--output", "-o")
    ] = None,
    metric: Metric = None,
    search: SearchOption = "halving",
    folds: Annotated[int, option(NUMBERS, "Of the cross-validation.", min=2)] = 3,
    max_seconds: Annotated[
        float | None, option(NUMBERS, "Stop then, with the best so far.", callback=positive)
    ] = None,
    part: Annotated[
        str | None, option(ROWS, "Part to search on, or 'all'.", usual="train if there is one")
    ] = None,
    config: Config = None,
    json: Json = False,
    debug: Debug = False,
    **shared: Any,
) -> None:
    """Find the best parameters of one method by cross-validation.

    What is worth trying stands in the method's entry ('tagrank methods METHOD'); of methods with a kernel,
    kernels are tried, too. What is given, as by --C or --set, is not searched.

    [bold]Examples[/bold]

    \b
    tagrank tune emotions --method label-ranker
    tagrank tune emotions --method one-vs-all --metric Micro-F1 --search grid
    tagrank tune photos/ --method label-ranker -o best.yml
    tagrank train photos/ -o model -c best.yml
    """
    import tagrank

    arguments = learning(**shared)
    with InterruptWatch(keeps=False) as interrupts, WorkProgress() as progress:

        def count(done: int, total: int, what: str) -> None:
            interrupts.insist()
            progress.count(done, total, what)

        tuned = tagrank.tune(
            data,
            output,
            metric=metric,
            search=search,
            folds=folds,
            max_seconds=max_seconds,
            part=part,
            progress=count,
            stop=interrupts.stop,
            **arguments,
        )
        interrupts.insist()
    if json:
        show_json(tuned.to_dict())
    else:
        show(*search_tables(tuned))
    if not tuned.search.is_complete:
        say("the search ended early; this is the best so far")
    if output is not None:
        say(f"parameters written to {output}")
    report_problems(tuned.problems)


def search_tables(tuned: "Tuned") -> "list[RenderableType]":
    """What to train with, and a line for each configuration that was tried, the best first."""
    from rich.table import Table
    from rich.text import Text

    found = tuned.search
    table = Table("parameters", box=None, pad_edge=False, header_style="bold")
    for name in (found.criterion, "folds", "rows", "seconds"):
        table.add_column(name, justify="right")
    for place, trial in enumerate(found.trials):
        words = ", ".join(f"{name}={_short(value)}" for name, value in trial.parameters.items()) or "as usual"
        cells = [f"{trial.value:.3f}", f"{trial.n_folds}", f"{trial.n_rows:,}", f"{trial.seconds:.2f}"]
        style = "bold green" if place == 0 and len(found.trials) > 1 else ""
        table.add_row(Text(words), *(["–", *cells[1:]] if trial.error else cells), style=style)
    seconds = f"{len(found.trials)} tried in {found.seconds:.1f} seconds"
    lines = [Text(tuned.command, style="bold"), Text(f"{found.criterion} {found.value:.3f}; {seconds}")]
    errors = [
        Text(f"not trained: {trial.parameters}: {trial.error}") for trial in found.trials if trial.error
    ]
    return [*lines, "", table, *errors]


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
