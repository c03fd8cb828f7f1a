"""Comparisons as a page of Markdown tables; what it says about them follows from the numbers."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from tagrank.study.comparison import OWN, Comparison, Outcome

RANKING = ("Image-AUC", "Image-MAP", "Category-AUC", "One-error", "P@1", "P@5")
PREDICTION = ("Micro-F1", "Macro-F1", "Hamming loss")
RULES = {OWN: "own rule", "f1": "threshold of each tag", "global": "one threshold"}
KERNELS = {"rbf": "Gaussian", "linear": "linear", "chi2": "chi-square"}

Row = Sequence[str]


def comparison_page(
    comparisons: Sequence[Comparison],
    *,
    intro: str,
    machine: str,
    notes: Mapping[str, str] | None = None,
) -> str:
    """A page with a summary and one section for each comparison.

    Parameters
    ----------
    comparisons : what to show, all with the same methods
    intro : Markdown in front of the tables: the title and how it was measured
    machine : where, in a few words
    notes : name of a collection to a paragraph at the end of its section

    Returns
    -------
    Markdown
    """
    notes = notes or {}
    parts = [intro.strip(), f"Seconds are of one training on this machine: {machine}.", _summary(comparisons)]
    for comparison in comparisons:
        parts += [_section(comparison), notes.get(comparison.name, "")]
    return "\n\n".join(part for part in parts if part) + "\n"


def losses(comparison: Comparison, *, method: str = "LabelRanker", rival: str = "OneVsAllSVM") -> list[str]:
    """Where `method` does worse than `rival`, to three digits: metrics of scores, then of predicted tags."""
    ours, theirs = comparison[method], comparison[rival]
    found = _worse(ours, theirs, OWN, RANKING)
    for rule, shown in RULES.items():
        if worse := _worse(ours, theirs, rule, PREDICTION):
            found.append(f"{' and '.join(worse)} by {shown}")
    return found


def _worse(ours: Outcome, theirs: Outcome, rule: str, names: Sequence[str]) -> list[str]:
    worse = []
    for name in names:
        lead = round(_value(ours, rule, name), 3) - round(_value(theirs, rule, name), 3)
        if (lead < 0) if _rises(ours, name) else (lead > 0):
            worse.append(name)
    return worse


def _summary(comparisons: Sequence[Comparison]) -> str:
    names = [outcome.method for outcome in comparisons[0].outcomes]
    rows = [
        [comparison.name, *_marked([_value(outcome, OWN, "Image-AUC") for outcome in comparison.outcomes])]
        for comparison in comparisons
    ]
    lost = [
        f"- **{comparison.name}**: {'; '.join(losses(comparison)) or 'nowhere'}" for comparison in comparisons
    ]
    return "\n".join(
        [
            "## Summary",
            "",
            "Image-AUC on the test part, the best in bold:",
            "",
            *_table(["data set", *names], rows),
            "",
            "Where `LabelRanker` does worse than `OneVsAllSVM`, to three digits:",
            "",
            *lost,
            "",
            *_frequency_wins(comparisons),
        ]
    ).rstrip()


def _frequency_wins(comparisons: Sequence[Comparison]) -> list[str]:
    names = [
        comparison.name
        for comparison in comparisons
        if _value(comparison["LabelFrequency"], OWN, "Image-AUC")
        > _value(comparison["LabelRanker"], OWN, "Image-AUC")
    ]
    return [f"By Image-AUC, label frequency alone beats `LabelRanker` on: {', '.join(names) or 'none'}."]


def _section(comparison: Comparison) -> str:
    return "\n".join(
        [
            f"## {comparison.name}",
            "",
            _counts(comparison),
            "",
            *_ranking_table(comparison),
            "",
            *_prediction_table(comparison),
            *_edge_note(comparison),
        ]
    )


def _counts(comparison: Comparison) -> str:
    facts = comparison.facts
    never = facts["tags never present"]
    counts = (
        f"{facts['rows']:,} training and {comparison.n_test:,} test rows, "
        f"{sum(facts['views'].values()):,} features, {facts['tags']} tags, {facts['cardinality']:.2f} a row"
    )
    return counts + (f"; {never} tags are never present in training and are ranked last." if never else ".")


def _ranking_table(comparison: Comparison) -> list[str]:
    outcomes = comparison.outcomes
    columns = [_column(outcomes, OWN, name) for name in RANKING]
    rows = [
        [outcome.method, *metrics, *_training_cells(outcome)]
        for outcome, *metrics in zip(outcomes, *columns, strict=True)
    ]
    heads = ["method", *(_head(outcomes[0], name) for name in RANKING), "kernel", "C", "seconds", "gap"]
    return _table(heads, rows)


def _prediction_table(comparison: Comparison) -> list[str]:
    outcomes = comparison.outcomes
    heads = ["predicted tags by", "method", *(_head(outcomes[0], name) for name in PREDICTION)]
    rows: list[Row] = []
    for rule, shown in RULES.items():
        columns = [_column(outcomes, rule, name) for name in PREDICTION]
        rows += [
            [shown, outcome.method, *metrics] for outcome, *metrics in zip(outcomes, *columns, strict=True)
        ]
    return _table(heads, rows)


def _training_cells(outcome: Outcome) -> Row:
    if outcome.kernel is None or outcome.C is None or outcome.gap is None:
        return ["", "", f"{outcome.seconds:.2f}", ""]
    star = "\\*" if outcome.is_at_edge else ""
    kernel = KERNELS.get(outcome.kernel, outcome.kernel)
    return [kernel, f"{outcome.C:g}{star}", f"{outcome.seconds:.2f}", f"{outcome.gap:.0e}"]


def _edge_note(comparison: Comparison) -> list[str]:
    if not any(outcome.is_at_edge for outcome in comparison.outcomes):
        return []
    return ["", "\\* the smallest or largest C that was tried: a wider grid might do better."]


def _column(outcomes: Sequence[Outcome], rule: str, name: str) -> list[str]:
    values = [_value(outcome, rule, name) for outcome in outcomes]
    return _marked(values, rises=_rises(outcomes[0], name))


def _marked(values: Sequence[float], *, rises: bool = True) -> list[str]:
    """Three digits each, the best in bold, also where several are."""
    defined = [value for value in values if not math.isnan(value)]
    best = f"{(max if rises else min)(defined):.3f}" if defined else ""
    shown = ["-" if math.isnan(value) else f"{value:.3f}" for value in values]
    return [f"**{text}**" if text == best else text for text in shown]


def _value(outcome: Outcome, rule: str, name: str) -> float:
    return float(outcome.tables[rule][name])


def _rises(outcome: Outcome, name: str) -> bool:
    return any(row.higher_is_better for row in outcome.tables[OWN] if row.name == name)


def _head(outcome: Outcome, name: str) -> str:
    return f"{name} {'↑' if _rises(outcome, name) else '↓'}"


def _table(heads: Row, rows: Sequence[Row]) -> list[str]:
    lines: list[Any] = [heads, ["---"] * len(heads), *rows]
    return [f"| {' | '.join(line)} |" for line in lines]
