"""The automatic choice beside logistic regression."""

from tagrank.reproduction.declarations import Answer, Figures


def answer(table, results):
    keys = ("ours_auc", "peer_auc", "ours_map", "peer_map")
    rows = {line["data"]: tuple(f"{line[key]:.2f}" for key in keys) for line in results}
    above = sum(line["ours_map"] > line["peer_map"] for line in results)
    return Answer(
        Figures(("our AUC", "peer's AUC", "our MAP", "peer's MAP"), rows),
        f"In image MAP the choice is above its peer on {above} of {len(results)} sets.",
    )
