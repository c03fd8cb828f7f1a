"""Three methods on public sets, and table 1 of the ranking paper."""

from tagrank.reproduction.declarations import Answer, Figures

MEASURES = ("Image-AUC", "Image-MAP", "Micro-F1")


OBJECTS = {"overall": "Image-AUC", "multi-obj": "Image-AUC (multi)", "single-obj": "Image-AUC (single)"}
RANKER, MACHINES = "LabelRanker", "OneVsAllSVM"


def answer(table, results):
    return _by_objects(results) if table == "mlr-table1" else _all_methods(results)


def _by_objects(results):
    """Image AUC of samples with one label and with several, C and kernel chosen by image AUC."""
    rows, wins = {}, dict.fromkeys(OBJECTS, 0)
    for result in results:
        by_method = {
            one["method"]: one["metrics"] for one in result["methods"] if one["chosen_by"] == "Image-AUC"
        }
        for title, metric in OBJECTS.items():
            ours, theirs = by_method[RANKER][metric], by_method[MACHINES][metric]
            rows[f"{result['data']}, {title}"] = tuple(
                "" if x is None else f"{100 * x:.1f}" for x in (ours, theirs)
            )
            wins[title] += None not in (ours, theirs) and ours > theirs
    listed = ", ".join(f"{title} on {count}" for title, count in wins.items())
    return Answer(
        Figures(("Proposed", "LIBSVM"), rows),
        f"MLR-L1 is above one-vs-all SVM {listed} of {len(results)} sets.",
    )


def _all_methods(results):
    """What each criterion chose, measured by that criterion, and micro F1 by one threshold for all tags."""
    rows = {}
    for result in results:
        for outcome in result["methods"]:
            criterion = f", by {outcome['chosen_by']}" if outcome["chosen_by"] else ""
            values = outcome["metrics"] | {"Micro-F1": outcome["thresholds"]["global"]["Micro-F1"]}
            rows[f"{result['data']}: {outcome['method']}{criterion}"] = tuple(
                f"{values[name]:.3f}" for name in MEASURES
            )
    return Answer(Figures(MEASURES, rows), "Micro F1 is that of one threshold for all tags.")
