"""`tagrank demo`"""

from pathlib import Path
from typing import Annotated, Any

from tagrank.app.cli.arguments.options import AllMetrics, Config, Debug, Jobs, Json, Seed, option
from tagrank.app.cli.terminal.console import say, show, show_json
from tagrank.app.cli.terminal.interrupts import InterruptWatch
from tagrank.app.cli.terminal.progress import WorkProgress


def demo(
    output: Annotated[Path, option(None, "Folder for model and report.", "--output", "-o")] = Path(
        "tagrank-demo"
    ),
    n_pictures: Annotated[int, option(None, "Pictures to draw.", min=20)] = 400,
    n_jobs: Jobs = None,
    seed: Seed = 0,
    all_metrics: AllMetrics = False,
    config: Config = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Draw pictures, learn their tags, and write a report: the whole path in under a minute.

    [bold]Examples[/bold]

    \b
    tagrank demo
    tagrank demo --output tour --seed 7
    """
    import tagrank
    from tagrank.app.cli.terminal.tables import metric_lines, quality_lines, ranked_table

    with InterruptWatch(keeps=False) as interrupts, WorkProgress("learning") as progress:

        def callback(point: Any) -> None:
            interrupts.insist()
            progress.gap(point)

        def count(done: int, total: int, what: str) -> None:
            interrupts.insist()
            progress.count(done, total, what)

        result = tagrank.demo(
            output,
            n_pictures=n_pictures,
            seed=seed,
            n_jobs=n_jobs,
            callback=callback,
            progress=count,
            stop=interrupts.stop,
        )
    if json:
        show_json(result.to_dict())
        return
    show(
        *quality_lines(result.quality),
        *metric_lines(result.tables, every=all_metrics),
        "",
        ranked_table(result.ranked, result.true_tags),
    )
    say("✓ predicted and right, ✗ predicted and wrong; the others are not predicted")
    say(f"model written to {result.model}")
    say(f"report written to {result.report}: open it in a browser")
