"""`tagrank train`"""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from tagrank.app.console import INTERRUPTED, report_problems, say, show, show_json
from tagrank.app.interrupts import InterruptWatch
from tagrank.app.options import PICTURES, CacheFolder, Config, Data, Debug, Json, NoCache, Strict, cache_place
from tagrank.app.progress import WorkProgress

USUAL_TOL = 1e-3
METHOD, NUMBERS, TAGS, ROWS = "Method", "Numbers", "Tags", "Rows"


def train(
    data: Data,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the model.")],
    method: Annotated[
        Literal[
            "label-ranker",
            "incomplete-label-ranker",
            "pairwise-ranker",
            "online-ranker",
            "one-vs-all",
            "prior-margin",
            "joint-svm",
            "online-joint-svm",
            "label-frequency",
        ],
        typer.Option(help="How to learn; see 'tagrank methods'.", rich_help_panel=METHOD),
    ] = "label-ranker",
    C: Annotated[
        float | None,
        typer.Option(
            "--C",
            help="Cost of a violation.",
            show_default="1; by cross-validation for pictures",
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
    gamma: Annotated[
        float | None,
        typer.Option(
            help="1 / width of the kernel.", show_default="1 / mean distance", rich_help_panel=METHOD
        ),
    ] = None,
    class_weight: Annotated[
        Literal["balanced"] | None,
        typer.Option(help="Weigh present and absent labels alike.", rich_help_panel=METHOD),
    ] = None,
    fit_intercept: Annotated[
        bool | None, typer.Option("--fit-intercept", help="Add a constant.", rich_help_panel=METHOD)
    ] = None,
    calibration: Annotated[
        Literal["auto", "platt", "isotonic", "none"],
        typer.Option(
            help="Learn probabilities on held-out folds; auto: platt for pictures, none for rows.",
            rich_help_panel=METHOD,
        ),
    ] = "auto",
    threshold: Annotated[
        Literal["f1", "global", "cardinality", "top-k"] | None,
        typer.Option(
            help="Learn on held-out folds which tags to predict.",
            show_default="global for pictures",
            rich_help_panel=METHOD,
        ),
    ] = None,
    n_tags: Annotated[
        int, typer.Option(help="Tags a picture, for --threshold top-k.", min=1, rich_help_panel=METHOD)
    ] = 5,
    features: Annotated[
        list[str] | None,
        typer.Option(
            "--features",
            "-f",
            help="How to describe pictures: fast, papers, embedding, all, names of 'tagrank features', or an "
            ".onnx file; may be repeated.",
            show_default="embedding if installed, dense_sift_v3h1, hsv_v3h1",
            rich_help_panel=PICTURES,
        ),
    ] = None,
    strict: Strict = False,
    cache: CacheFolder = None,
    no_cache: NoCache = False,
    tol: Annotated[
        float | None,
        typer.Option(help="Relative duality gap to reach.", show_default="0.001", rich_help_panel=NUMBERS),
    ] = None,
    max_iter: Annotated[
        int | None, typer.Option(help="Passes at most.", show_default="1000", rich_help_panel=NUMBERS)
    ] = None,
    max_seconds: Annotated[
        float | None,
        typer.Option(help="Stop then, with what was reached.", rich_help_panel=NUMBERS),
    ] = None,
    n_jobs: Annotated[
        int | None,
        typer.Option(help="Processes and threads.", show_default="all cores", rich_help_panel=NUMBERS),
    ] = None,
    seed: Annotated[int, typer.Option(help="For everything random.", rich_help_panel=NUMBERS)] = 0,
    lower_case: Annotated[
        bool, typer.Option("--lower-case", help="Take 'Sky' for 'sky'.", rich_help_panel=TAGS)
    ] = False,
    hierarchy: Annotated[
        Literal["keep", "leaf", "ancestors"],
        typer.Option(help="What places|europe|rome becomes.", rich_help_panel=TAGS),
    ] = "keep",
    synonym: Annotated[
        list[str] | None,
        typer.Option(metavar="OLD=NEW", help="Another name; may be repeated.", rich_help_panel=TAGS),
    ] = None,
    min_count: Annotated[
        int, typer.Option(help="Leave out tags of fewer pictures.", min=0, rich_help_panel=TAGS)
    ] = 0,
    part: Annotated[
        str | None,
        typer.Option(
            help="Part to train on, or 'all'.", show_default="train if there is one", rich_help_panel=ROWS
        ),
    ] = None,
    test_size: Annotated[
        float | None,
        typer.Option(help="Share of the rows to hold out and measure on.", rich_help_panel=ROWS),
    ] = None,
    view: Annotated[
        str | None, typer.Option(help="View to learn from, of several.", rich_help_panel=ROWS)
    ] = None,
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
    """
    from tagrank import study
    from tagrank.app.tables import training_tables

    synonyms = dict(_pair(text) for text in synonym or ())
    gap = USUAL_TOL if tol is None else tol
    with InterruptWatch(tol=gap) as interrupts, WorkProgress(method, tol=gap) as progress:

        def callback(point: Any) -> None:
            progress.gap(point)
            interrupts.check(point)

        def count(done: int, total: int, what: str) -> None:
            interrupts.heed()
            progress.count(done, total, what)

        training = study.train(
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
        )
    if json:
        show_json({"model": str(output), **training.to_dict()})
    else:
        show(*training_tables(training))
        say(f"model written to {output}")
    report_problems(training.problems)
    if interrupts.seen:
        raise typer.Exit(INTERRUPTED)


def _pair(text: str) -> tuple[str, str]:
    old, equals, new = text.partition("=")
    if not equals or not old.strip() or not new.strip():
        raise typer.BadParameter(f"expected --synonym old=new, got {text!r}")
    return old.strip(), new.strip()
