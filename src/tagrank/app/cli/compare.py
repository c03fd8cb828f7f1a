"""`tagrank compare`"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tagrank.app.cli.arguments.checks import (
    compared_names,
    dataset_names,
    jobs,
    metric_names,
    positive,
    share,
)
from tagrank.app.cli.arguments.options import (
    NUMBERS,
    ROWS,
    Config,
    Debug,
    Json,
    collecting,
    option,
    takes,
)
from tagrank.app.cli.terminal.console import INTERRUPTED, printable, report_problems, say, show, show_json
from tagrank.app.cli.terminal.progress import WorkProgress
from tagrank.app.cli.tune import SearchOption

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType
    from rich.table import Table

    from tagrank.commands.compare.result import Comparison, DataResult
    from tagrank.metrics.chance import AverageRanks

MOST_NAMED = 3


@takes(collecting, after="metrics")
def compare(
    data: Annotated[
        list[str],
        typer.Argument(
            help="Folders of pictures, files or names from 'tagrank datasets', one or several.",
            autocompletion=dataset_names,
        ),
    ],
    output: Annotated[
        Path | None,
        option(
            None, "Folder that remembers what is done; started again, it goes on there.", "--output", "-o"
        ),
    ] = None,
    methods: Annotated[
        list[str] | None,
        option(
            None,
            "Methods or families of 'tagrank methods'; commas between them, or repeated. Label frequency and "
            "logistic regression always run.",
            metavar="NAME",
            usual="all",
            autocompletion=compared_names,
        ),
    ] = None,
    metric: Annotated[
        str | None,
        option(
            None,
            "What parameters are chosen by and methods ordered by: a metric such as Micro-F1.",
            usual="the mean of Image-MAP and Image-AUC",
            autocompletion=metric_names,
        ),
    ] = None,
    metrics: Annotated[
        list[str] | None,
        option(
            None,
            "Metrics to show, with intervals; commas between them, or repeated.",
            metavar="NAME",
            usual="Image-AUC, Image-MAP, Micro-F1, Macro-F1, Example-F1",
            autocompletion=metric_names,
        ),
    ] = None,
    folds: Annotated[int | None, option(ROWS, "Cross-validate on so many folds.", min=2)] = None,
    test_size: Annotated[
        float | None,
        option(
            ROWS,
            "Share of the rows to measure on: 0.25 for a quarter.",
            usual="the test part, or a quarter",
            callback=share,
        ),
    ] = None,
    search: SearchOption = "halving",
    max_seconds: Annotated[
        float | None,
        option(
            NUMBERS,
            "Of a method: after half of them its tuning ends with the best so far, after all it is ended.",
            callback=positive,
        ),
    ] = None,
    n_jobs: Annotated[
        int | None,
        option(
            NUMBERS,
            "Methods at the same time, in processes of their own.",
            "--jobs",
            "--n-jobs",
            usual="all cores",
            callback=jobs,
        ),
    ] = None,
    fresh: Annotated[bool, option(None, "Forget what the folder of --output holds.", "--fresh")] = False,
    report: Annotated[Path | None, option(None, "Write an HTML page, too.")] = None,
    markdown: Annotated[Path | None, option(None, "Write the tables as Markdown, too.")] = None,
    latex: Annotated[Path | None, option(None, "Write the tables as LaTeX, too.")] = None,
    config: Config = None,
    json: Json = False,
    debug: Debug = False,
    **shared: Any,
) -> None:
    """Put methods side by side: each is tuned, trained and measured alike.

    Parameters are searched on the training part alone; then a method is trained with the best of them, as by
    'tagrank train', and measured on the test part, as by 'tagrank evaluate'. A method that fails, is too slow
    or would not fit into memory gets a line that says so.

    [bold]Examples[/bold]

    \b
    tagrank compare emotions
    tagrank compare photos/ --methods ranking,neighbours --max-seconds 600 -o comparison
    tagrank compare emotions scene yeast -o comparison --report comparison.html
    tagrank compare emotions --folds 5 --metric Micro-F1 --json
    """
    import tagrank

    arguments = collecting(**shared)
    wanted = {"methods": methods, "metrics": metrics}
    try:
        with WorkProgress() as progress:
            found = tagrank.compare(
                data,
                output,
                metric=metric,
                folds=folds,
                test_size=test_size,
                search=search,
                max_seconds=max_seconds,
                n_jobs=n_jobs,
                fresh=fresh,
                report=report,
                markdown=markdown,
                latex=latex,
                progress=progress.count,
                **arguments,
                **{name: value for name, value in wanted.items() if value},
            )
    except KeyboardInterrupt:
        say(f"interrupted; {_kept(output)}")
        raise typer.Exit(INTERRUPTED) from None
    if json:
        show_json(found.to_dict())
    else:
        show(*comparison_tables(found))
    for path in (report, markdown, latex):
        if path is not None:
            say(f"comparison written to {path}")
    if found.n_before:
        say(f"{found.n_before} had been done before, see {output}")
    for words, who in warned(found).items():
        more = f" and {len(who) - MOST_NAMED} more" if len(who) > MOST_NAMED else ""
        say(f"warning: {', '.join(who[:MOST_NAMED])}{more}: {words}")
    report_problems(found.problems)


def warned(found: "Comparison") -> dict[str, list[str]]:
    """What was said while methods were trained, and by which."""
    heard: dict[str, list[str]] = {}
    for one in found.data:
        for line in one.lines:
            for words in line.warnings:
                heard.setdefault(words, []).append(line.method)
    return {words: list(dict.fromkeys(who)) for words, who in heard.items()}


def _kept(output: Path | None) -> str:
    if output is None:
        return "nothing is kept; -o FOLDER would remember what is done"
    return f"what is done is kept in {output}, and the same command goes on"


def comparison_tables(found: "Comparison") -> "Iterator[RenderableType]":
    """For each collection a line a method, what was chosen, and the ranks over all."""
    from rich.text import Text

    from tagrank.app.cli.terminal.tables import QUIET
    from tagrank.commands.compare.cells import legend, rank_words, said

    for one in found.data:
        yield Text(f"{printable(one.name)}: {one.sizes}", style="bold")
        yield _metric_table(found, one)
        yield ""
        yield from (Text(printable(f"{words}: {', '.join(who)}")) for words, who in said(one).items())
        yield Text(legend(found), style=QUIET)
        yield ""
        yield _chosen_table(one)
        yield ""
    if found.ranks is not None:
        yield Text(rank_words(found))
        yield _rank_table(found.ranks)


def _metric_table(found: "Comparison", one: "DataResult") -> "Table":
    from rich.text import Text

    from tagrank.app.cli.terminal.tables import BEST, QUIET, WRONG, table_of
    from tagrank.commands.compare.cells import shown_metrics, table_lines

    criterion, *others = shown_metrics(found)
    table = table_of("method", criterion, "95 %", *others, "seconds", numbers=True)
    for line, cells in table_lines(found, one):
        texts = [
            Text(cell.marks + cell.text, style=BEST if cell.is_best else WRONG if cell.is_below else "")
            for cell in cells
        ]
        texts.insert(1, Text(f"{cells[0].low}–{cells[0].high}", style=QUIET))
        table.add_row(line.method, *texts, f"{line.total_seconds:.1f}")
    return table


def _chosen_table(one: "DataResult") -> "Table":
    from rich.text import Text

    from tagrank.app.cli.terminal.tables import table_of
    from tagrank.commands.compare.cells import chosen_words

    table = table_of("method", "tuning", "training", "prediction", numbers=True)
    table.add_column("chosen parameters")
    for line in one.lines:
        if line.is_done:
            seconds = [f"{line.seconds[part]:.2f} s" for part in ("tuning", "training", "prediction")]
            table.add_row(line.method, *seconds, Text(chosen_words(line)))
    return table


def _rank_table(ranks: "AverageRanks") -> "Table":
    from tagrank.app.cli.terminal.tables import table_of

    table = table_of("method", "rank", numbers=True)
    for name, rank in zip(ranks.names, ranks.ranks, strict=True):
        table.add_row(name, f"{rank:.2f}")
    return table
