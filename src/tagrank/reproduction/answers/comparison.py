"""Three methods on public sets."""

from tagrank.reproduction.declarations import Answer, Figures

MEASURES = ("Image-AUC", "Image-MAP", "Micro-F1")


def answer(table, results):
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
