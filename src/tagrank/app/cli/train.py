"""`tagrank train`"""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from tagrank.app.cli.checks import positive, share
from tagrank.app.cli.console import INTERRUPTED, report_problems, say, show, show_json
from tagrank.app.cli.interrupts import InterruptWatch
from tagrank.app.cli.options import (
    METHOD,
    NUMBERS,
    ROWS,
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

USUAL_TOL = 1e-3
Balance = Literal["balanced"]
Calibration = Literal["auto", "platt", "isotonic", "none"]
Threshold = Literal["f1", "global", "cardinality", "top-k"]


def train(
    data: Data,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the model.")],
    method: MethodName = "label-ranker",
    settings: Settings = None,
    C: Annotated[float | None, cost_option("1; by cross-validation for pictures")] = None,
    kernel: KernelName = None,
    gamma: Annotated[
        float | None,
        typer.Option(
            help="1 / width of --kernel rbf or chi2; rows have rbf without being told.",
            show_default="1 / mean distance",
            callback=positive,
            rich_help_panel=METHOD,
        ),
    ] = None,
    class_weight: Annotated[
        Balance | None,
        choice_option(Balance, "Weigh present and absent tags alike.", rich_help_panel=METHOD),
    ] = None,
    fit_intercept: Annotated[
        bool | None, typer.Option("--fit-intercept", help="Add a constant.", rich_help_panel=METHOD)
    ] = None,
    calibration: Annotated[
        Calibration,
        choice_option(
            Calibration,
            "Learn probabilities on held-out folds; auto: platt for pictures, none for rows.",
            rich_help_panel=METHOD,
        ),
    ] = "auto",
    threshold: Annotated[
        Threshold | None,
        choice_option(
            Threshold,
            "Learn on held-out folds which tags to predict.",
            show_default="global for pictures",
            rich_help_panel=METHOD,
        ),
    ] = None,
    n_tags: Annotated[
        int, typer.Option(help="Tags a picture, for --threshold top-k.", min=1, rich_help_panel=METHOD)
    ] = 5,
    features: Features = None,
    strict: Strict = False,
    cache: CacheFolder = None,
    no_cache: NoCache = False,
    tol: Tolerance = None,
    max_iter: Annotated[
        int | None, typer.Option(help="Passes at most.", show_default="1000", min=1, rich_help_panel=NUMBERS)
    ] = None,
    max_seconds: Annotated[
        float | None,
        typer.Option(help="Stop then, with what was reached.", callback=positive, rich_help_panel=NUMBERS),
    ] = None,
    n_jobs: Jobs = None,
    seed: Seed = 0,
    lower_case: LowerCase = False,
    hierarchy: Hierarchy = "keep",
    synonym: Synonyms = None,
    min_count: MinCount = 0,
    part: Annotated[str | None, part_option("Part to train on, or 'all'.", "train if there is one")] = None,
    test_size: Annotated[
        float | None,
        typer.Option(
            help="Share of the rows to hold out and measure on: 0.25 for a quarter.",
            callback=share,
            rich_help_panel=ROWS,
        ),
    ] = None,
    view: View = None,
    keep_rows: Annotated[
        bool,
        typer.Option("--keep-rows", help="Store all rows, for later training.", rich_help_panel=ROWS),
    ] = False,
    config: Config = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Learn from tagged data and keep the model in a folder.

    Ctrl-C while the model is trained stops early and saves what was reached. Before that, nothing is written;
    pictures that were described already are not described again the next time.

    [bold]Examples[/bold]

    \b
    tagrank train photos/ -o model --test-size 0.25
    tagrank train photos/ -o model --features papers --features embedding
    tagrank train photos.csv -o model -c config.yml --lower-case
    tagrank train scene -o model --method one-vs-all --C 10
    tagrank train scene -o model --method joint-svm --set decoding=transfer
    tagrank train photos/ -o model --method prior-margin --set prior=prior.csv
    """
    import tagrank
    from tagrank.app.cli.tables import training_tables
    from tagrank.commands.train import WRITING

    synonyms = read_synonyms(synonym)
    parameters = method_settings(method, settings)
    gap = USUAL_TOL if tol is None else tol
    with InterruptWatch(tol=gap) as interrupts, WorkProgress(method, tol=gap) as progress:

        def callback(point: Any) -> None:
            progress.gap(point)
            interrupts.check(point)

        def count(done: int, total: int, what: str) -> None:
            interrupts.heed(is_finished=what == WRITING)
            progress.count(done, total, what)

        training = tagrank.train(
            data,
            output,
            method=method,
            C=C,
            kernel=kernel,
            gamma=gamma,
            class_weight=class_weight,
            fit_intercept=fit_intercept,
            calibration=None if calibration == "none" else calibration,
            threshold=threshold,
            n_tags=n_tags,
            tol=tol,
            max_iter=max_iter,
            max_seconds=max_seconds,
            n_jobs=n_jobs,
            seed=seed,
            lower_case=lower_case,
            hierarchy=hierarchy,
            synonyms=synonyms,
            min_count=min_count,
            part=part,
            test_size=test_size,
            view=view,
            features=features or None,
            cache=cache_place(cache, no_cache),
            strict=strict,
            keep_rows=keep_rows,
            callback=callback,
            progress=count,
            **parameters,
        )
    if json:
        show_json({"model": str(output), **training.to_dict()})
    else:
        show(*training_tables(training))
        say(f"model written to {output}")
    report_problems(training.problems)
    if interrupts.seen:
        raise typer.Exit(INTERRUPTED)
