"""Claims and what holds."""

from tagrank.reproduction.declarations import Answer, Figures


def answer(table, results):
    keys = ("claim", "right", "completeness", "true_completeness")
    rows = {
        f"{line['data']}, {line['hidden']:.0%} hidden": tuple(f"{line[key]:.2f}" for key in keys)
        for line in results
    }
    off = max(abs(line["claim"] - line["right"]) for line in results)
    return Answer(
        Figures(("claimed right", "right", "claimed complete", "complete"), rows),
        f"The claim is at most {100 * off:.0f} points from what holds.",
    )
