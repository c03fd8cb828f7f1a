"""Sets of features alone: table 3 of the Joint SVM paper."""

from tagrank.reproduction.declarations import Answer, Figures
from tagrank.reproduction.entries import find_table


def answer(table, results):
    """Of photographs of Corel5k where they were measured, and of the first set otherwise."""
    published = find_table(table).published.rows
    result = next((one for one in results if one["data"].startswith("corel5k")), results[0])
    lines = {line["features"]: line for line in reversed(result["lines"])}
    rows = {
        name: tuple(f"{100 * lines[name][key]:.1f}" for key in ("P", "R", "F1"))
        for name in published
        if name in lines
    }
    gaps = [float(published[name][2]) - float(cells[2]) for name, cells in rows.items()]
    best = max(rows, key=lambda name: float(rows[name][2]))
    return Answer(
        Figures(("Corel5k P", "Corel5k R", "Corel5k F1"), rows),
        f"Our F1 is {min(gaps):.1f} to {max(gaps):.1f} points below the published one; best is {best} "
        "(published dense_sift_v3h1).",
    )
