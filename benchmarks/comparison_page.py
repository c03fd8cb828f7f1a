"""Comparisons as a page of Markdown tables; what it says about them follows from the numbers."""

import math
from collections.abc import Mapping, Sequence

from comparison import OWN, Comparison, Outcome

from tagrank.annotation.tuning import CRITERIA

RANKING = ("Image-AUC", "Image-MAP", "Category-AUC", "One-error", "P@1", "P@5")
PREDICTION = ("Micro-F1", "Macro-F1", "Hamming loss")
RULES = {OWN: "own rule", "f1": "a threshold for each tag", "global": "one threshold"}
KERNELS = {"rbf": "Gaussian", "linear": "linear", "chi2": "chi-square"}
OURS, RIVAL, BASELINE = "LabelRanker", "OneVsAllSVM", "LabelFrequency"

Row = Sequence[str]


def render_comparisons(
    comparisons: Sequence[Comparison],
    *,
    intro: str,
    machine: str,
    notes: Mapping[str, str] | None = None,
) -> str:
    """A page with a summary and one section for each comparison.

    Parameters
    ----------
    comparisons : what to show
    intro : Markdown in front of the tables: the title and how it was measured
    machine : where, in a few words
    notes : name of a collection to a paragraph at the end of its section

    Returns
    -------
    Markdown
    """
    notes = notes or {}
    parts = [
        intro.strip(),
        f"Seconds are of one training, taken once: an impression, no benchmark ({machine}).",
    ]
    parts += [_summary(comparisons), _losses(comparisons)]
    for comparison in comparisons:
        parts += [_section(comparison), notes.get(comparison.name, "").strip()]
    return "\n\n".join(part for part in parts if part) + "\n"


def worse_metrics(comparison: Comparison, criterion: str, *, rule: str, names: Sequence[str]) -> list[str]:
    """The metrics among `names` in which LabelRanker does worse than OneVsAllSVM, to three digits."""
    ours, rival = comparison.find(OURS, criterion), comparison.find(RIVAL, criterion)
    leads = {name: round(_value(ours, rule, name), 3) - round(_value(rival, rule, name), 3) for name in names}
    return [name for name, lead in leads.items() if (lead < 0 if _rises(ours, name) else lead > 0)]


def _summary(comparisons: Sequence[Comparison]) -> str:
    """Each criterion of choice as what it is on the test part."""
    lines = ["## Summary", "", "On the test part, with C chosen by the same metric; the best in bold."]
    for criterion in CRITERIA:
        rows = []
        for comparison in comparisons:
            outcomes = [comparison.find(OURS, criterion), comparison.find(RIVAL, criterion)]
            outcomes.append(comparison.find(BASELINE))
            rows.append([comparison.name, *_column(outcomes, OWN, criterion)])
        lines += ["", *_table([criterion, OURS, RIVAL, BASELINE], rows)]
    return "\n".join(lines)


def _losses(comparisons: Sequence[Comparison]) -> str:
    lines = [f"Where `{OURS}` does worse than `{RIVAL}`, to three digits:", ""]
    for comparison in comparisons:
        found: dict[str, list[str]] = {}
        for criterion in CRITERIA:
            found.setdefault(_losses_by(comparison, criterion), []).append(criterion)
        for text, criteria in found.items():
            lines.append(f"- **{comparison.name}**, C by {' or '.join(criteria)}: {text}.")
    return "\n".join([*lines, "", _losses_to_baseline(comparisons)])


def _losses_by(comparison: Comparison, criterion: str) -> str:
    groups = [", ".join(worse_metrics(comparison, criterion, rule=OWN, names=RANKING))]
    for rule, shown in RULES.items():
        names = worse_metrics(comparison, criterion, rule=rule, names=PREDICTION)
        groups.append(f"{', '.join(names)} by {shown}" if names else "")
    return "; ".join(group for group in groups if group) or "nowhere"


def _losses_to_baseline(comparisons: Sequence[Comparison]) -> str:
    lost = [
        f"{comparison.name} ({criterion})"
        for comparison in comparisons
        for criterion in CRITERIA
        if _value(comparison.find(OURS, criterion), OWN, criterion)
        < _value(comparison.find(BASELINE), OWN, criterion)
    ]
    places = ", ".join(lost) or "nowhere"
    return f"Where `{OURS}` does worse than `{BASELINE}`, by the metric that chose C: {places}."


def _section(comparison: Comparison) -> str:
    outcomes = comparison.outcomes
    lines = [f"## {comparison.name}", "", _counts(comparison), "", *_ranking_table(outcomes)]
    for rule, shown in RULES.items():
        lines += ["", f"Tags predicted by {shown}:", "", *_prediction_table(outcomes, rule)]
    if any(outcome.is_at_edge for outcome in outcomes):
        lines += ["", "\\* the smallest or largest C that was tried: another one might do better."]
    return "\n".join(lines)


def _counts(comparison: Comparison) -> str:
    facts = comparison.facts
    never = facts["tags never present"]
    counts = (
        f"{facts['rows']:,} training and {comparison.n_test:,} test rows, "
        f"{sum(facts['views'].values()):,} features, {facts['tags']} tags, {facts['cardinality']:.2f} a row"
    )
    return counts + (f"; {never} tags are never present in training and are ranked last." if never else ".")


def _ranking_table(outcomes: Sequence[Outcome]) -> list[str]:
    columns = [_column(outcomes, OWN, name) for name in RANKING]
    heads = ["method", "C by", *_heads(outcomes, RANKING), "kernel", "C", "seconds", "gap"]
    rows = [
        [outcome.method, outcome.criterion or "", *metrics, *_training_cells(outcome)]
        for outcome, *metrics in zip(outcomes, *columns, strict=True)
    ]
    return _table(heads, rows)


def _prediction_table(outcomes: Sequence[Outcome], rule: str) -> list[str]:
    columns = [_column(outcomes, rule, name) for name in PREDICTION]
    rows = [
        [outcome.method, outcome.criterion or "", *metrics]
        for outcome, *metrics in zip(outcomes, *columns, strict=True)
    ]
    return _table(["method", "C by", *_heads(outcomes, PREDICTION)], rows)


def _training_cells(outcome: Outcome) -> Row:
    if outcome.kernel is None or outcome.C is None or outcome.gap is None:
        return ["", "", f"{outcome.seconds:.2f}", ""]
    star = "\\*" if outcome.is_at_edge else ""
    kernel = KERNELS.get(outcome.kernel, outcome.kernel)
    return [kernel, f"{outcome.C:g}{star}", f"{outcome.seconds:.2f}", f"{outcome.gap:.0e}"]


def _column(outcomes: Sequence[Outcome], rule: str, name: str) -> list[str]:
    """Three digits each, the best in bold, also where several are."""
    values = [_value(outcome, rule, name) for outcome in outcomes]
    defined = [value for value in values if not math.isnan(value)]
    choose = max if _rises(outcomes[0], name) else min
    best = f"{choose(defined):.3f}" if defined else ""
    shown = ["-" if math.isnan(value) else f"{value:.3f}" for value in values]
    return [f"**{text}**" if text == best else text for text in shown]


def _heads(outcomes: Sequence[Outcome], names: Sequence[str]) -> list[str]:
    return [f"{name} {'↑' if _rises(outcomes[0], name) else '↓'}" for name in names]


def _value(outcome: Outcome, rule: str, name: str) -> float:
    return float(outcome.tables[rule][name])


def _rises(outcome: Outcome, name: str) -> bool:
    return any(row.higher_is_better for row in outcome.tables[OWN] if row.name == name)


def _table(heads: Row, rows: Sequence[Row]) -> list[str]:
    return [f"| {' | '.join(cells)} |" for cells in (heads, ["---"] * len(heads), *rows)]
