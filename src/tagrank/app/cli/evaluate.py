"""`tagrank evaluate`"""

from pathlib import Path
from typing import Annotated, Any

from tagrank.app.cli.arguments.options import (
    PICTURES,
    ROWS,
    AllMetrics,
    Config,
    Data,
    Debug,
    Decisions,
    JoinSidecars,
    Json,
    MachineTags,
    MinProbability,
    Model,
    NoDecisions,
    Precision,
    Separator,
    decisions_place,
    option,
    reading,
    takes,
)
from tagrank.app.cli.terminal.console import count, report_problems, say, show, show_json
from tagrank.app.cli.terminal.progress import WorkProgress


@takes(reading, after="part")
def evaluate(
    model: Model,
    data: Data,
    part: Annotated[
        str | None, option(ROWS, "Part to measure on, or 'all'.", usual="test if there is one")
    ] = None,
    n_tags: Annotated[int, option(None, "Tags for each picture in Annotation-P, -R, -F1.", min=1)] = 5,
    min_probability: MinProbability = None,
    precision: Precision = None,
    only_unseen: Annotated[
        bool, option(PICTURES, "Leave out pictures that the model was trained on.", "--only-unseen")
    ] = False,
    report: Annotated[Path | None, option(None, "Write an HTML page, too.")] = None,
    pictures: Annotated[
        Path | None,
        option(PICTURES, "Where --report finds training pictures that have moved.", metavar="FOLDER"),
    ] = None,
    machine_tags: MachineTags = False,
    join_sidecars: JoinSidecars = True,
    separator: Separator = None,
    decisions: Decisions = None,
    no_decisions: NoDecisions = False,
    all_metrics: AllMetrics = False,
    config: Config = None,
    json: Json = False,
    debug: Debug = False,
    **shared: Any,
) -> None:
    """Measure a model on data whose tags are known.

    [bold]Examples[/bold]

    \b
    tagrank evaluate model drawn-pictures
    tagrank evaluate model photos/ --part all --report report.html
    tagrank evaluate model photos/ --part all --only-unseen
    tagrank evaluate model photos/ --precision 0.8
    tagrank evaluate model scene --json
    """
    import tagrank
    from tagrank.app.cli.terminal.tables import metric_lines, quality_lines
    from tagrank.data.reading import Reading

    arguments = reading(**shared)
    with WorkProgress() as progress:
        evaluation = tagrank.evaluate(
            model,
            data,
            part=part,
            n_tags=n_tags,
            min_probability=min_probability,
            precision=precision,
            only_unseen=only_unseen,
            report=report,
            pictures=pictures,
            reading=Reading(
                strict=arguments.pop("strict"),
                follow_links=arguments.pop("follow_links"),
                machine_tags=machine_tags,
                join_sidecars=join_sidecars,
                separator=separator,
                decisions=decisions_place(decisions, no_decisions),
            ),
            progress=progress.count,
            **arguments,
        )
    if json:
        show_json(evaluation.to_dict())
    else:
        quality = evaluation.quality if evaluation.is_telling else None
        tables = {evaluation.name or "value": evaluation.table}
        show(*quality_lines(quality), *metric_lines(tables, every=all_metrics))
    if evaluation.n_decisions:
        say(f"{count(evaluation.n_decisions, 'decision')} of the desk used")
    if report is not None:
        say(f"report written to {report}")
    report_problems(evaluation.problems)
