"""What the pages of the desk claim, and what holds: a keeper who presses Enter on every wall and never looks.

Of the 4,500 training photographs of Corel5k 40 % of the tags are hidden at random; every picture keeps one.
On each page the model says how many of its tags are right, and Enter accepts them; pages that accept nothing
by themselves are passed over. It is trained again after some hundred decisions, until no page accepts
anything any more. A line is one model; the last one is all of them. The ratio is how many were right to how
many were claimed to be: 1 or more keeps the promise.
"""

from benchmarks.simulated_keeper import Keeper, press_enter
from benchmarks.speed.desk_keeper import read
from tagrank.data import hide_labels
from tagrank.desk.learning.learn import learn
from tagrank_papers.text import show

MINUTES = 4
QUICK = {"data": "drawn", "retrain": 20, "features": "hsv", "most_models": 3}
ALL = "all"


def run(*, data="corel5k_images_260", hidden=0.4, retrain=400, features="", most_models=40, seed=0):
    rows, _, used = read(data, features)
    listed = rows.with_labels(hide_labels(rows.labels, hidden, random_state=seed), rows.tags)
    keeper = Keeper(listed, rows.states() > 0, used)
    first = learn(keeper.examples(), seed=seed)
    lines = []
    for line in press_enter(keeper, first, retrain=retrain, seed=seed):
        lines = [one for one in lines if one["model"] != ALL] + [told(line)]
        sums = {name: sum(one[name] for one in lines) for name in ("accepted", "claimed", "right")}
        lines.append(told({"model": ALL} | sums))
        show(lines[-2], *lines[-2])
        yield lines
        if len(lines) > most_models:
            return


def told(line):
    """The line with shares of what was accepted, and their ratio."""
    shares = {f"share {name}": line[name] / line["accepted"] for name in ("claimed", "right")}
    return line | shares | {"ratio": line["right"] / line["claimed"]}
