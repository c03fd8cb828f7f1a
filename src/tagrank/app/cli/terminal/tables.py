"""Tables for people, from the results of the library."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tagrank.app.cli.terminal.console import count, printable

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tagrank.annotation import Explanation, RankedTags
    from tagrank.commands.annotate import Annotation
    from tagrank.commands.lists import Dataset, FeatureSet
    from tagrank.commands.train import Training
    from tagrank.data.writers.sidecar_tags import SidecarChange
    from tagrank.estimators.methods import Method
    from tagrank.metrics import MetricTable
    from tagrank.reports.quality import QualityNote

BEST, FOUND, WRONG, QUIET = "bold green", "green", "yellow", "dim"
INDENT = 4
MAIN_METRICS = "Image-AUC", "Image-MAP", "P@1"  # by the first two models are chosen
_SIDECAR_ACTIONS = {"create": "new", "change": "changed", "delete": "deleted", "keep": "stays"}
PREDICTED_NOTE = "* the model would write this tag down"


def quality_lines(quality: "QualityNote | None") -> "list[RenderableType]":
    """What the predicted tags are worth, and how that was measured; nothing where it is not known."""
    if quality is None:
        return []
    return [Text(quality.sentence, style="bold"), Text(quality.origin, style=QUIET), ""]


def metric_lines(tables: "Mapping[str, MetricTable]", *, every: bool = False) -> "list[RenderableType]":
    """The metrics that matter most, or all, and what they take for right."""
    n_left_out = 0 if every else len(next(iter(tables.values()))) - len(MAIN_METRICS)
    note = "metrics count listed tags as right and all others as wrong"
    if n_left_out > 0:
        note += f"; --all-metrics shows {n_left_out} more"
    return [metric_table(tables, None if every else MAIN_METRICS), Text(note, style=QUIET)]


def metric_table(tables: "Mapping[str, MetricTable]", names: Sequence[str] | None = None) -> Table:
    """Metrics down, methods across; the best value of a line stands out. Each has a line of explanation."""
    table = table_of("metric", *tables, numbers=True)
    table.add_column(style=QUIET)
    for column in table.columns[:-1]:
        column.no_wrap = True
    first = next(iter(tables.values()))
    for row in first:
        if names is not None and row.name not in names:
            continue
        values = [found[row.name] if row.name in found.names() else math.nan for found in tables.values()]
        defined = [value for value in values if not math.isnan(value)]
        if not defined:
            continue
        best = (max if row.higher_is_better else min)(defined)
        cells = [
            Text(number(value), style=BEST if value == best and len(values) > 1 else "") for value in values
        ]
        table.add_row(
            f"{row.name} {'↑' if row.higher_is_better else '↓'}",
            *cells,
            Text(row.about, no_wrap=True, overflow="ellipsis"),
        )
    return table


def ranked_table(
    ranked: "Sequence[RankedTags]", true_tags: Sequence[Sequence[str]] = (), *, kind: str = "picture"
) -> Table:
    """A line a picture: its tags, best first, those that the model would write down with a star.

    Where the true tags are known, predicted ones are marked as right or wrong instead.
    """
    table = table_of(kind, "ranked tags")
    for i, row in enumerate(ranked):
        line = Text()
        for tag, score, probability, predicted in row:
            style, mark = ("", "*") if predicted else (QUIET, "")
            if true_tags and predicted:
                style, mark = (FOUND, " ✓") if tag in true_tags[i] else (WRONG, " ✗")
            strength = f"{score:.2f}" if probability is None else f"{probability:.0%}"
            line.append(f"{printable(tag)} {strength}{mark}", style=style).append("   ")
        table.add_row(Text(printable(row.name)), line)
    return table


def difference_table(what: str, rows: Iterable[tuple[str, Sequence[str], Sequence[str]]]) -> Table:
    """A line for each `what`: the tags that come, and those that go."""
    table = table_of(what, "added", "removed")
    for name, added, removed in rows:
        table.add_row(*(Text(printable(words)) for words in (name, ", ".join(added), ", ".join(removed))))
    return table


def sidecar_table(changes: "Sequence[SidecarChange]", verb: str) -> Table:
    """A line a picture: what is done to its sidecar."""
    table = table_of("picture", "sidecar", verb)
    has_present = any(change.present for change in changes)
    if has_present:
        table.add_column("there already")
    for change in changes:
        cells = [change.picture, _SIDECAR_ACTIONS[change.action], ", ".join(change.tags)]
        cells += [", ".join(change.present)] if has_present else []
        table.add_row(*(Text(printable(cell)) for cell in cells))
    return table


def why_tables(annotation: "Annotation", kind: str = "picture") -> "list[RenderableType]":
    """For each picture its tags, and for each predicted tag what adds to its score and what takes from it."""
    content: list[RenderableType] = []
    for row, explanations in zip(annotation.ranked, annotation.why, strict=True):
        content.append(ranked_table([row], kind=kind))
        for explanation in explanations:
            content.append(Text(f"  {printable(explanation.tag)}{_strength(explanation)}", style="bold"))
            content += [
                Padding(Text(line), (0, 0, 0, INDENT), expand=False) for line in _reasons(explanation)
            ]
    return content


def _strength(explanation: "Explanation") -> str:
    """The probability, where there is one, and the score that it was made of."""
    score = f"score {explanation.score:+.2f}"
    return f" {score}" if explanation.probability is None else f" {explanation.probability:.0%}, {score}"


def _reasons(explanation: "Explanation") -> Iterator[str]:
    if explanation.heads:
        yield "models: " + ", ".join(f"{name} {part:+.2f}" for name, part in explanation.heads.items())
    for word, examples in (("for", explanation.for_), ("against", explanation.against)):
        if examples:
            yield f"{word}: " + ", ".join(f"{printable(e.name)} {e.contribution:+.2f}" for e in examples)
    if explanation.shares:
        shares = explanation.shares.items()
        yield "features: " + ", ".join(f"{printable(view)} {share:+.2f}" for view, share in shares)
    if explanation.note:
        yield explanation.note


def feature_table(features: "Sequence[FeatureSet]") -> Table:
    """All sets of picture features."""
    table = table_of("features", "kernel", "presets", "what they are")
    for entry in features:
        table.add_row(entry.name, entry.kernel, ", ".join(entry.presets), entry.about)
    return table


def training_tables(training: "Training", *, all_metrics: bool = False) -> "list[RenderableType]":
    """What it is worth, what was trained and how surely, then the metrics on held-out rows."""
    facts = training.facts
    kind = "picture" if "pictures" in facts["views"] else "row"
    sizes = f"{count(facts['rows'], kind)}, {count(facts['tags'], 'tag')}"
    lines = _choice_lines(training)
    lines["data"] = f"{sizes}, {facts['cardinality']:.2f} each"
    if training.completeness is not None:
        lines["true tags listed"] = training.completeness.words
    lines["seconds"] = f"{training.seconds:.2f}"
    if training.n_refit is not None:
        lines["trained again on"] = f"{count(training.n_refit, kind)}, after it was measured"
    if facts["layout"]:
        lines["tags from"] = facts["layout"]
    if facts["decisions"]:
        lines["decided at the desk"] = count(facts["decisions"], "tag")
    if training.feature_seconds:
        lines["features"] = ", ".join(training.feature_seconds)
        lines["seconds of features"] = f"{sum(training.feature_seconds.values()):.2f}"
    if training.choice is None and training.cost is not None:
        lines["C"] = f"{training.cost:g}"
    if training.certificate:
        lines["passes"] = f"{training.certificate['n_iter']:,}"
        lines["duality gap"] = f"{training.certificate['gap']:.1e}"
    summary = [*quality_lines(training.quality), _facts(lines), *_kernel_lines(training)]
    if training.held_out is None:
        return summary
    name = f"held out ({count(training.held_out.n_samples, kind)})"
    return [*summary, "", *metric_lines({name: training.held_out}, every=all_metrics)]


def _kernel_lines(training: "Training") -> "list[RenderableType]":
    """What each kernel weighs and costs, the heaviest first; nothing where no weights were found."""
    from tagrank.reports.model_notes import KERNELS, kernel_lines

    known = training.annotator.metadata.get(KERNELS)
    if known is None:
        return []
    table = table_of("kernel", "weight", "ms a picture", numbers=True)
    for line in kernel_lines(known):
        weight = f"{line['weight']:.3f}" if line["weight"] > 0 else "–"
        cost = "–" if line["milliseconds"] is None else f"{line['milliseconds']:.1f}"
        table.add_row(printable(line["name"]), weight, cost, style="" if line["weight"] > 0 else QUIET)
    return ["", table]


def _choice_lines(training: "Training") -> dict[str, str]:
    """What was chosen and by how much it won; without a choice, what was asked for."""
    if training.choice is None:
        return {"method": str(training.annotator.metadata["method"])}
    from tagrank.reports.model_notes import choice_words

    return {"chosen": training.choice.words, "by cross-validation": choice_words(training.choice)}


def method_table(methods: "Sequence[Method]") -> Table:
    """All methods, family by family."""
    table = table_of("method", "good for", "training grows with", "paper")
    for family, members in groupby(methods, key=lambda method: method.family):
        table.add_row(Text(family, style="bold"), end_section=True)
        for method in members:
            table.add_row(f"  {method.name}", method.good_for, method.growth, method.citation)
    return table


def auto_words() -> str:
    """What ``--method auto`` does."""
    from tagrank.annotation.choosing import TRIED

    names = f"{', '.join(TRIED[:-1])} and {TRIED[-1]}"
    return (
        f"auto, the usual choice, tries {names} over C, kernels and with and without an intercept, and takes "
        "what ranks held-out pictures best, or a ranker and a classifier together"
    )


def method_details(method: "Method") -> "list[RenderableType]":
    """One method, and the parameters that not all have."""
    facts = {
        "method": method.name,
        "class": method.estimator,
        "family": method.family,
        "what it does": method.about,
        "good for": method.good_for,
        "training grows with": f"{method.growth} (n pictures, m tags)",
        "unknown tags": method.unknown,
        "paper": f"{method.paper} ({method.acronym})" if method.acronym else method.paper,
    }
    if method.space:
        facts["searched"] = "; ".join(
            f"{name} {', '.join(map(_value, values))}" for name, values in method.space.items()
        )
    if not method.parameters:
        return [_facts({**facts, "--set": "nothing: all its parameters are options of 'tagrank train'"})]
    table = table_of("--set", "values", "default", "what it is")
    for parameter in method.parameters:
        table.add_row(parameter.name, parameter.values.words, parameter.default, parameter.about)
    return [_facts(facts), "", table]


def _value(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def dataset_table(datasets: "Sequence[Dataset]") -> Table:
    """All data sets: their sizes, and where they are or how to get them."""
    table = table_of("data set", "rows", "features", "tags", numbers=True)
    table.add_column("where")
    for dataset in datasets:
        sizes = (dataset.n_rows, dataset.n_features, dataset.n_tags)
        table.add_row(
            dataset.name,
            *("pictures" if size is None else f"{size:,}" for size in sizes),
            Text(dataset.folder or dataset.source, overflow="fold"),
            style="" if dataset.is_here else QUIET,
        )
    return table


def reproduction_table(tables: Sequence[Any]) -> Table:
    """A line a table of a paper: its state, how long it takes to measure it again, and what it holds.

    Where there is nothing to measure, the line says why.
    """
    listed = table_of("table", "of", "state", "minutes", "what was measured, or why it is not")
    listed.columns[0].no_wrap = listed.columns[2].no_wrap = True
    for table in tables:
        minutes, about = (str(table.minutes), table.about) if table.experiment else ("", table.why)
        listed.add_row(table.name, f"{table.paper}, {table.number}", table.state, minutes, about)
    return listed


def figures_table(title: str, figures: Any) -> Table:
    """Published figures, or ours."""
    table = table_of(title, *figures.columns, numbers=True)
    for row, cells in figures.rows.items():
        table.add_row(row, *cells)
    return table


def table_of(first: str, *others: str, numbers: bool = False) -> Table:
    table = Table(first, box=None, pad_edge=False, header_style="bold")
    for name in others:
        table.add_column(Text(printable(name)), justify="right" if numbers else "left")
    return table


def _facts(lines: Mapping[str, str]) -> Table:
    table = Table.grid(padding=(0, 2))
    for name, value in lines.items():
        table.add_row(name, Text(printable(value)))
    return table


def number(value: float) -> str:
    if math.isnan(value):
        return "–"
    return f"{value:.0f}" if value.is_integer() and value > 1 else f"{value:.3f}"
