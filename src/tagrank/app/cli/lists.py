"""`tagrank methods`, `tagrank features` and `tagrank datasets`"""

from dataclasses import asdict
from typing import Annotated

import typer

from tagrank.app.cli.arguments.checks import AUTO, method_names
from tagrank.app.cli.arguments.options import Debug, Json
from tagrank.app.cli.terminal.console import say, show, show_json


def methods(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="METHOD",
            help="Tell all about this one, and what can be set.",
            autocompletion=method_names,
        ),
    ] = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """List the methods that 'tagrank train' and 'tagrank missing' know.

    [bold]Examples[/bold]

    \b
    tagrank methods
    tagrank methods joint-svm
    tagrank methods --json
    """
    import tagrank
    from tagrank.app.cli.terminal.tables import auto_words, method_details, method_table

    if name == AUTO:
        if json:
            show_json([{"name": AUTO, "about": auto_words()}])
        else:
            show(auto_words())
        return
    found = tagrank.methods(name)
    if json:
        show_json([method.to_dict() for method in found])
    elif name is None:
        show(method_table(found))
        say(auto_words())
        say("'tagrank methods METHOD' tells what it does and what can be set")
    else:
        show(*method_details(found[0]))


def features(json: Json = False, debug: Debug = False) -> None:
    """List the sets of picture features that 'tagrank train --features' knows.

    [bold]Examples[/bold]

    \b
    tagrank features
    tagrank features --json
    """
    from tagrank.app.cli.terminal.tables import feature_table
    from tagrank.commands import lists

    found = lists.features()
    if json:
        show_json([asdict(entry) for entry in found])
    else:
        show(feature_table(found))


def datasets(json: Json = False, debug: Debug = False) -> None:
    """List the data sets that can be used by name, where they are, or how to get them.

    They are looked for below TAGRANK_DATA and in the cache folder; nothing is downloaded.

    [bold]Examples[/bold]

    \b
    tagrank datasets
    TAGRANK_DATA=~/data tagrank datasets --json
    """
    from tagrank.app.cli.terminal.tables import dataset_table
    from tagrank.commands import lists

    found = lists.datasets()
    if json:
        show_json([asdict(dataset) for dataset in found])
    else:
        show(dataset_table(found))
        absent = [dataset for dataset in found if not dataset.is_here]
        if absent:
            say(f"{len(absent)} are not here; for instance {absent[0].name}: {absent[0].advice}")
