"""`tagrank evaluate`"""

from pathlib import Path
from typing import Annotated

import typer

from tagrank.app.console import say, show, show_json
from tagrank.app.options import Config, Data, Debug, Json, Model


def evaluate(
    model: Model,
    data: Data,
    part: Annotated[
        str | None, typer.Option(help="Part to measure on, or 'all'.", show_default="test if there is one")
    ] = None,
    n_tags: Annotated[int, typer.Option(help="Tags for each picture in Annotation-P, -R, -F1.", min=1)] = 5,
    report: Annotated[Path | None, typer.Option(help="Write an HTML page, too.")] = None,
    config: Config = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Measure a model on data whose tags are known.

    [bold]Examples[/bold]

    \b
    tagrank evaluate model drawn-pictures
    tagrank evaluate model photos.csv --part all --report report.html
    tagrank evaluate model scene --json
    """
    from tagrank import study
    from tagrank.app.tables import metric_table

    evaluation = study.evaluate(model, data, part=part, n_tags=n_tags, report=report)
    if json:
        show_json(evaluation.to_dict())
    else:
        show(metric_table({evaluation.name or "value": evaluation.table}))
    if report is not None:
        say(f"report written to {report}")
