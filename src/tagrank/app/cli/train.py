"""`tagrank train`"""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from tagrank.app.cli.arguments.checks import countable, positive, share, share_or_all
from tagrank.app.cli.arguments.options import (
    METHOD,
    NUMBERS,
    ROWS,
    USUAL_TOL,
    AllMetrics,
    Completeness,
    Config,
    Data,
    Debug,
    Json,
    learning,
    option,
    takes,
)
from tagrank.app.cli.terminal.console import INTERRUPTED, report_problems, say, show, show_json
from tagrank.app.cli.terminal.interrupts import InterruptWatch
from tagrank.app.cli.terminal.progress import WorkProgress

Balance = Literal["balanced"]
Calibration = Literal["auto", "shared", "platt", "isotonic", "none"]
Threshold = Literal["f1", "global", "cardinality", "top-k"]


@takes(learning, after="output")
def train(
    data: Data,
    output: Annotated[Path, option(None, "Folder of the model.", "--output", "-o")],
    gamma: Annotated[
        float | None,
        option(
            METHOD,
            "1 / width of --kernel rbf or chi2; rows have rbf without being told.",
            usual="1 / mean distance",
            callback=positive,
        ),
    ] = None,
    kernel_power: Annotated[
        int | None,
        option(
            METHOD,
            "Raise the kernel to this power; of pictures it is chosen with C.",
            usual="by cross-validation",
            min=1,
            callback=countable,
        ),
    ] = None,
    class_weight: Annotated[
        Balance | None, option(METHOD, "Weigh present and absent tags alike.", words=Balance)
    ] = None,
    fit_intercept: Annotated[
        bool | None, option(METHOD, "Add a constant, or none.", "--fit-intercept/--no-fit-intercept")
    ] = None,
    calibration: Annotated[
        Calibration,
        option(
            METHOD,
            "Learn probabilities on held-out folds: shared, by one curve for all tags, or tag by tag; auto: "
            "shared, from ten pictures or rows on.",
            words=Calibration,
        ),
    ] = "auto",
    threshold: Annotated[
        Threshold | None,
        option(
            METHOD,
            "For calibration tag by tag: learn on held-out folds which tags to predict.",
            usual="f1",
            words=Threshold,
        ),
    ] = None,
    precision: Annotated[
        float | None,
        option(
            METHOD,
            "Predict only what is right so often: 0.8 for four times of five.",
            usual="the best balance of right and found",
            callback=share_or_all,
        ),
    ] = None,
    completeness: Completeness = None,
    n_tags: Annotated[int, option(METHOD, "Tags a picture, for --threshold top-k.", min=1)] = 5,
    max_iter: Annotated[
        int | None, option(NUMBERS, "Passes at most.", usual="1000", min=1, callback=countable)
    ] = None,
    max_seconds: Annotated[
        float | None, option(NUMBERS, "Stop then, with what was reached.", callback=positive)
    ] = None,
    part: Annotated[
        str | None, option(ROWS, "Part to train on, or 'all'.", usual="train if there is one")
    ] = None,
    test_size: Annotated[
        float | None,
        option(ROWS, "Share of the rows to hold out and measure on: 0.25 for a quarter.", callback=share),
    ] = None,
    refit: Annotated[
        bool,
        option(ROWS, "After --test-size train the measured model again, on all rows.", "--refit/--no-refit"),
    ] = True,
    keep_rows: Annotated[bool, option(ROWS, "Store all rows, for later training.", "--keep-rows")] = False,
    all_metrics: AllMetrics = False,
    config: Config = None,
    json: Json = False,
    debug: Debug = False,
    **shared: Any,
) -> None:
    """Learn from tagged data and keep the model in a folder.

    Ctrl-C while the model is trained stops early and saves what was reached. Before that, nothing is written;
    pictures that were described already are not described again the next time.

    [bold]Examples[/bold]

    \b
    tagrank train photos/ -o model --test-size 0.25
    tagrank train photos/ -o model --features papers --features embedding
    tagrank train photos.csv -o model -c config.yml --lower-case
    tagrank train photos/ -o model --precision 0.8 --completeness 0.5
    tagrank train scene -o model --method one-vs-all --C 10
    tagrank train scene -o model --method joint-svm --set decoding=transfer
    tagrank train photos/ -o model --method prior-margin --set prior=prior.csv
    """
    import tagrank
    from tagrank.app.cli.terminal.tables import training_tables
    from tagrank.commands.train import WRITING

    arguments = learning(**shared)
    gap = arguments["tol"] or USUAL_TOL
    with InterruptWatch(tol=gap) as interrupts, WorkProgress("learning", tol=gap) as progress:

        def callback(point: Any) -> None:
            progress.gap(point)
            interrupts.check(point)

        def count(done: int, total: int, what: str) -> None:
            interrupts.insist(is_finished=what == WRITING)
            progress.count(done, total, what)

        training = tagrank.train(
            data,
            output,
            gamma=gamma,
            kernel_power=kernel_power,
            class_weight=class_weight,
            fit_intercept=fit_intercept,
            calibration=None if calibration == "none" else calibration,
            threshold=threshold,
            precision=precision,
            completeness=completeness,
            n_tags=n_tags,
            max_iter=max_iter,
            max_seconds=max_seconds,
            part=part,
            test_size=test_size,
            refit=refit,
            keep_rows=keep_rows,
            callback=callback,
            progress=count,
            stop=interrupts.stop,
            **arguments,
        )
    if json:
        show_json({"model": str(output), **training.to_dict()})
    else:
        show(*training_tables(training, all_metrics=all_metrics))
        say(f"model written to {output}")
    report_problems(training.problems)
    if interrupts.seen:
        raise typer.Exit(INTERRUPTED)
