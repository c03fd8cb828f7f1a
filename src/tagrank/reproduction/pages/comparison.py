"""Comparisons as a page of Markdown tables; what it says about them follows from the numbers."""

from tagrank.annotation.tuning import MEASURES
from tagrank.metrics import catalog_metrics
from tagrank.reproduction.text import markdown_table

OWN = "own"
RANKING = ("Image-AUC", "Image-MAP", "Category-AUC", "One-error", "P@1", "P@5")
PREDICTION = ("Micro-F1", "Macro-F1", "Hamming loss")
RULES = {OWN: "own rule", "f1": "a threshold for each tag", "global": "one threshold"}
KERNELS = {"rbf": "Gaussian", "linear": "linear", "chi2": "chi-square"}
OURS, RIVAL, BASELINE = "LabelRanker", "OneVsAllSVM", "LabelFrequency"


def render_comparisons(comparisons, *, intro, machine, notes=None):
    """A page with a summary and one section for each comparison.

    Parameters
    ----------
    comparisons : what to show, see `tagrank.reproduction.protocols.comparison.compare`
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
        parts += [_section(comparison), notes.get(comparison["data"], "").strip()]
    return "\n\n".join(part for part in parts if part) + "\n"


def find_outcome(comparison, method, criterion=None):
    """The outcome of a method, chosen by a criterion."""
    return next(
        outcome
        for outcome in comparison["methods"]
        if (outcome["method"], outcome["chosen_by"]) == (method, criterion)
    )


def worse_metrics(comparison, criterion, *, rule, names):
    """The metrics among `names` in which LabelRanker does worse than OneVsAllSVM, to three digits."""
    ours, rival = find_outcome(comparison, OURS, criterion), find_outcome(comparison, RIVAL, criterion)
    leads = {name: round(_value(ours, rule, name), 3) - round(_value(rival, rule, name), 3) for name in names}
    return [name for name, lead in leads.items() if (lead < 0 if _rises(name) else lead > 0)]


def _summary(comparisons):
    """Each criterion of choice as what it is on the test part."""
    lines = ["## Summary", "", "On the test part, with C chosen by the same metric; the best in bold."]
    for criterion in MEASURES:
        rows = []
        for comparison in comparisons:
            outcomes = [find_outcome(comparison, OURS, criterion), find_outcome(comparison, RIVAL, criterion)]
            outcomes.append(find_outcome(comparison, BASELINE))
            rows.append([comparison["data"], *_column(outcomes, OWN, criterion)])
        lines += ["", markdown_table([criterion, OURS, RIVAL, BASELINE], rows)]
    return "\n".join(lines)


def _losses(comparisons):
    lines = [f"Where `{OURS}` does worse than `{RIVAL}`, to three digits:", ""]
    for comparison in comparisons:
        found = {}
        for criterion in MEASURES:
            found.setdefault(_losses_by(comparison, criterion), []).append(criterion)
        for text, criteria in found.items():
            lines.append(f"- **{comparison['data']}**, C by {' or '.join(criteria)}: {text}.")
    return "\n".join([*lines, "", _losses_to_baseline(comparisons)])


def _losses_by(comparison, criterion):
    groups = [", ".join(worse_metrics(comparison, criterion, rule=OWN, names=RANKING))]
    for rule, shown in RULES.items():
        names = worse_metrics(comparison, criterion, rule=rule, names=PREDICTION)
        groups.append(f"{', '.join(names)} by {shown}" if names else "")
    return "; ".join(group for group in groups if group) or "nowhere"


def _losses_to_baseline(comparisons):
    lost = [
        f"{comparison['data']} ({criterion})"
        for comparison in comparisons
        for criterion in MEASURES
        if _value(find_outcome(comparison, OURS, criterion), OWN, criterion)
        < _value(find_outcome(comparison, BASELINE), OWN, criterion)
    ]
    places = ", ".join(lost) or "nowhere"
    return f"Where `{OURS}` does worse than `{BASELINE}`, by the metric that chose C: {places}."


def _section(comparison):
    outcomes = comparison["methods"]
    lines = [f"## {comparison['data']}", "", _counts(comparison), "", _ranking_table(outcomes)]
    for rule, shown in RULES.items():
        lines += ["", f"Tags predicted by {shown}:", "", _prediction_table(outcomes, rule)]
    if any(map(_is_at_edge, outcomes)):
        lines += ["", "\\* the smallest or largest C that was tried: another one might do better."]
    return "\n".join(lines)


def _counts(comparison):
    facts = comparison["train"]
    never = facts["tags never present"]
    counts = (
        f"{facts['rows']:,} training and {comparison['n_test']:,} test rows, "
        f"{sum(facts['views'].values()):,} features, {facts['tags']} tags, {facts['cardinality']:.2f} a row"
    )
    return counts + (f"; {never} tags are never present in training and are ranked last." if never else ".")


def _ranking_table(outcomes):
    columns = [_column(outcomes, OWN, name) for name in RANKING]
    heads = ["method", "C by", *_heads(RANKING), "kernel", "C", "seconds", "gap"]
    rows = [
        [outcome["method"], outcome["chosen_by"] or "", *metrics, *_training_cells(outcome)]
        for outcome, *metrics in zip(outcomes, *columns, strict=True)
    ]
    return markdown_table(heads, rows)


def _prediction_table(outcomes, rule):
    columns = [_column(outcomes, rule, name) for name in PREDICTION]
    rows = [
        [outcome["method"], outcome["chosen_by"] or "", *metrics]
        for outcome, *metrics in zip(outcomes, *columns, strict=True)
    ]
    return markdown_table(["method", "C by", *_heads(PREDICTION)], rows)


def _training_cells(outcome):
    seconds = f"{outcome['seconds']:.2f}"
    if outcome["kernel"] is None:
        return ["", "", seconds, ""]
    star = "\\*" if _is_at_edge(outcome) else ""
    kernel = KERNELS.get(outcome["kernel"], outcome["kernel"])
    return [kernel, f"{outcome['C']:g}{star}", seconds, f"{outcome['gap']:.0e}"]


def _is_at_edge(outcome):
    """Whether C is the smallest or largest that was tried."""
    if outcome["kernel"] is None:
        return False
    tried = outcome["cross_validation"][outcome["kernel"]]["C"]
    return outcome["C"] in (tried[0], tried[-1])


def _column(outcomes, rule, name):
    """Three digits each, the best in bold, also where several are."""
    values = [_value(outcome, rule, name) for outcome in outcomes]
    defined = [value for value in values if value is not None]
    choose = max if _rises(name) else min
    best = f"{choose(defined):.3f}" if defined else ""
    shown = ["-" if value is None else f"{value:.3f}" for value in values]
    return [f"**{text}**" if text == best else text for text in shown]


def _heads(names):
    return [f"{name} {'↑' if _rises(name) else '↓'}" for name in names]


def _value(outcome, rule, name):
    values = outcome["metrics"] if rule == OWN else outcome["thresholds"][rule]
    return values[name]


def _rises(name):
    return catalog_metrics()[name].higher_is_better
