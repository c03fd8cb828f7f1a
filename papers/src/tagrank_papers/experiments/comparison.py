"""LabelRanker, one-vs-all SVMs and label frequency on public data sets with their official splits."""

import warnings

import numpy as np
from sklearn.base import clone

from tagrank.annotation.choosing import MEASURES, tune_cost
from tagrank.annotation.scaling import fit_scaler
from tagrank.data import Collection, load_dataset
from tagrank.estimators import CalibratedRanker
from tagrank.estimators.methods import find_method
from tagrank.kernels import make_kernel
from tagrank.metrics import catalog_metrics, metric_table
from tagrank_papers.figures import Answer, Figures
from tagrank_papers.lines import listed, where
from tagrank_papers.measuring import best_time
from tagrank_papers.protocols.data import draw_rows
from tagrank_papers.text import markdown_table, read_text

TEXT = read_text("comparison")
PAGES = ("results.md",)
QUICK = {"only": ("drawn",)}
METHODS, STRATEGIES = ("label-ranker", "one-vs-all", "label-frequency"), ("f1", "global")
OURS, RIVAL, BASELINE = "LabelRanker", "OneVsAllSVM", "LabelFrequency"
SEED = 0
TOLERANCE = 1e-3
COSTS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
# the kernels among which cross-validation chooses
KERNELS = {"bibtex": ("rbf", "linear")}
NOTES = {
    "corel5k": TEXT.rare_tags + TEXT.published.format(ova="0.112", best="0.283"),
    "bibtex": TEXT.published.format(ova="0.372", best="0.436"),
    **dict.fromkeys(("scene", "yeast", "emotions"), "No published figure for this protocol is at hand."),
}


def run(*, only=("corel5k", "bibtex", "scene", "yeast", "emotions")):
    results = []
    for name in only:
        print(name)
        collection = draw() if name == "drawn" else load_dataset(name)
        results.append(compare(collection, kernels=KERNELS.get(name, ("rbf",)), tol=TOLERANCE, seed=SEED))
        yield results


def render(results, machine):
    intro = TEXT.intro.format(costs=listed(COSTS), tolerance=TOLERANCE, seed=SEED)
    place = f"{machine['processor']}, {machine['cores']} cores"
    return {PAGES[0]: render_comparisons(results, intro=intro, machine=place, notes=NOTES)}


def draw():
    X, Y = draw_rows(90, 5)
    return Collection({"features": X}, Y, part=np.repeat(["train", "test"], [60, 30]), name="drawn")


def compare(collection, *, kernels=("rbf",), costs=COSTS, tol=5e-3, seed=0, say=print):
    """Train the methods on the training part and measure them on the test part.

    Kernel and C are chosen by 3-fold cross-validation on the training part, once by each of `MEASURES`. Dense
    columns get mean 0 and deviation 1 on the training part. The test part is looked at once, at the end.

    Parameters
    ----------
    collection : one view of rows, with parts "train" and "test"
    kernels : names of kernels to choose among
    costs : values of C to choose among, the same for every method
    tol : relative duality gap at which each training stops
    seed : for folds and order of visits
    say : called with a line about each step that is done

    Returns
    -------
    dict of plain numbers: "data" its name, "train" the counts of its training part, "n_test" rows of its
    test part, "methods" the outcomes, see `measure`: criterion by criterion, one for each method that has a
    choice; then those that have none
    """
    train, test = collection.train, collection.test
    outcomes = []
    with warnings.catch_warnings():
        # the page states their number
        warnings.filterwarnings("ignore", message=".*never positive in training")
        for method in METHODS:
            estimator, tunings = find_method(method).load()(), {}
            if hasattr(estimator, "C"):
                estimator.set_params(tol=tol, random_state=seed)
                tunings = tune(estimator, train, kernels, costs, seed, say)
            for outcome in measure_choices(estimator, tunings, train, test, seed):
                outcomes.append(outcome)
                say("{method} ({kernel}, C = {C} by {chosen_by}): {seconds:.2f} s".format(**outcome))
    outcomes.sort(key=lambda outcome: [*MEASURES, None].index(outcome["chosen_by"]))
    return {"data": collection.name, "train": train.summary(), "n_test": len(test), "methods": outcomes}


def tune(estimator, train, kernels, costs, seed, say):
    """Every kernel with every cost."""
    tunings = {}
    for kernel in kernels:
        (X,) = scale(kernel, train.X)
        candidate = clone(estimator).set_params(kernel=kernel)
        tunings[kernel] = tune_cost(candidate, X, train.Y, costs=costs, seed=seed)
        say(f"{type(estimator).__name__}: cross-validated with the {kernel} kernel")
    return tunings


def measure_choices(estimator, tunings, train, test, seed):
    """One outcome for each criterion; where two choose the same, it is trained once."""
    if not tunings:
        yield {"chosen_by": None, "cross_validation": {}, **measure(estimator, None, None, train, test, seed)}
        return
    measured = {}
    tried = {kernel: tuning.to_dict() for kernel, tuning in tunings.items()}
    for criterion in MEASURES:
        kernel = max(tunings, key=lambda name: tunings[name].best_score(criterion))
        choice = kernel, tunings[kernel].best(criterion)
        if choice not in measured:
            measured[choice] = measure(estimator, *choice, train, test, seed)
        yield {**measured[choice], "chosen_by": criterion, "cross_validation": tried}


def measure(estimator, kernel, C, train, test, seed):
    """Train with one choice, and measure every rule of prediction on the test part.

    "seconds" is of training with that choice alone, Gram matrix included; "metrics" are by the method's own
    rule, "thresholds" by others, for the metrics of predicted tags; a metric that is undefined is None.
    """
    if kernel is not None:
        estimator = clone(estimator).set_params(kernel=kernel, C=C)
    X, X_test = scale(kernel, train.X, test.X)
    seconds, _, model = best_time(lambda: clone(estimator).fit(X, train.Y), repeats=1)
    scores = model.decision_function(X_test)
    predicted = [name for name, metric in catalog_metrics().items() if metric.takes == "predictions"]
    thresholds = {}
    for strategy in STRATEGIES:
        calibrated = CalibratedRanker(estimator, strategy=strategy, random_state=seed).fit(X, train.Y)
        values = metrics_of(test.Y, scores, calibrated.predict(X_test))
        thresholds[strategy] = {name: values[name] for name in predicted}
    return {
        "method": type(estimator).__name__,
        "kernel": kernel,
        "C": C,
        "seconds": seconds,
        "gap": getattr(model, "duality_gap_", None),
        "metrics": metrics_of(test.Y, scores, model.predict(X_test)),
        "thresholds": thresholds,
    }


def metrics_of(Y, scores, predictions):
    return {row["name"]: row["value"] for row in metric_table(Y, scores, predictions).to_dict()["rows"]}


def scale(kernel, X, *others):
    """`X` and other rows, with columns scaled as `X` and the kernel ask for."""
    scaler = None if kernel is None else fit_scaler(X, "auto", make_kernel(kernel), "")
    return [rows if scaler is None else scaler.apply(rows) for rows in (X, *others)]


# Its answers to tables

SHOWN = (*MEASURES, "Micro-F1")


def answer(table, results):
    """What each criterion chose, measured by that criterion, and micro F1 by one threshold for all tags."""
    rows = {}
    for result in results:
        for outcome in result["methods"]:
            criterion = f", by {outcome['chosen_by']}" if outcome["chosen_by"] else ""
            values = outcome["metrics"] | {"Micro-F1": outcome["thresholds"]["global"]["Micro-F1"]}
            rows[f"{result['data']}: {outcome['method']}{criterion}"] = tuple(
                f"{values[name]:.3f}" for name in SHOWN
            )
    return Answer(Figures(SHOWN, rows), "Micro F1 is that of one threshold for all tags.")


# Its page

OWN = "own"
RANKING = ("Image-AUC", "Image-MAP", "Category-AUC", "One-error", "P@1", "P@5")
PREDICTION = ("Micro-F1", "Macro-F1", "Hamming loss")
RULES = {OWN: "own rule", "f1": "a threshold for each tag", "global": "one threshold"}
KERNEL_NAMES = {"rbf": "Gaussian", "linear": "linear", "chi2": "chi-square"}


def render_comparisons(comparisons, *, intro, machine, notes=None):
    """A page with a summary and one section for each comparison.

    Parameters
    ----------
    comparisons : what to show, see `compare`
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
    return where(comparison["methods"], method=method, chosen_by=criterion)[0]


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
    kernel = KERNEL_NAMES.get(outcome["kernel"], outcome["kernel"])
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
