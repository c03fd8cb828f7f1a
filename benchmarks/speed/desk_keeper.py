"""What the desk saves: hidden tags that a simulated keeper finds, by each queue, with and without retraining.

Of the 4,500 training photographs of Corel5k 40 or 60 % of the tags are hidden at random; every picture keeps
one. The keeper answers by the truth. A decision is one answer about one tag of one picture. Beside queues:
pictures in order with five proposals each, which are the model's or the most frequent tags, and answers about
pairs at random. Without retraining the queue "missing" is the list of `tagrank missing`. What is learned is
measured on the 499 test photographs, whose tags nobody sees: mean average precision of models that learned
from 500, 1,000, 2,000 and 4,000 decisions.
"""

import time

import numpy as np

from benchmarks.simulated_keeper import STRATEGIES, Keeper, work_through
from tagrank.annotation.describing import describe_rows, name_features
from tagrank.data import hide_labels, load_dataset
from tagrank.data.drawn_pictures import draw_pictures
from tagrank.desk.learning.learn import learn
from tagrank.metrics import category_average_precision, image_average_precision
from tagrank_papers.protocols.data import draw_some
from tagrank_papers.text import show

MINUTES = 40
QUICK = {"data": "drawn", "hidden": (0.4,), "retrain": 20, "decisions": (20,), "features": "hsv"}
QUICK |= {"strategies": ("missing", "in order, frequent tags")}
DECISIONS = (500, 1000, 2000, 4000)
BASELINE = "in order, frequent tags"
# answers from which is asked how much the model learns, not how much is found
LEARNING = ("informative", "random", "random proposals")


def run(
    *,
    data="corel5k_images_260",
    hidden=(0.4, 0.6),
    strategies=tuple(STRATEGIES),
    retrain=1000,
    decisions=DECISIONS,
    features="",
    pictures=0,
    seed=0,
):
    rows, test, used = read(data, features, pictures)
    truth, lines = rows.states() > 0, []
    for fraction in hidden:
        listed = rows.with_labels(hide_labels(rows.labels, fraction, random_state=seed), rows.tags)
        first = learn(Keeper(listed, truth, used).examples(), seed=seed)
        for name, again in plan(strategies, retrain):
            keeper = Keeper(listed, truth, used)
            line = {"hidden": fraction, "n_hidden": keeper.n_hidden, "strategy": name, "retrain": again}
            lines.append(line | measure(keeper, name, again, first, test, decisions))
            beside(lines)
            show(lines[-1], *lines[-1])
            yield lines


def plan(strategies, retrain):
    """Strategy and decisions between trainings: each with and without, but for the one without a model."""
    for name in strategies:
        if name not in LEARNING:
            yield name, 0
    for name in strategies:
        if name != BASELINE:
            yield name, retrain


def measure(keeper, name, retrain, first, test, decisions):
    """Tags found after so many decisions, and how good the models were that learned from them.

    Up to twice as many decisions as tags are hidden; but where it is trained again, only by the first queue.
    """
    started, is_long = time.perf_counter(), not retrain or name == "missing"
    quality = {0: held_out(first, test)}

    def on_model(n_decisions, learned):
        if n_decisions in decisions and name in ("missing", *LEARNING):
            quality[n_decisions] = held_out(learned, test)

    until = [*decisions, 2 * keeper.n_hidden] if is_long else decisions
    found = dict(work_through(keeper, name, first, until=until, retrain=retrain, on_model=on_model))
    return {
        "found": found,
        "share": {count: n_found / keeper.n_hidden for count, n_found in found.items()},
        "test": quality,
        "seconds": time.perf_counter() - started,
    }


def held_out(learned, test):
    """Mean average precisions on pictures that nobody decided anything about."""
    scores = learned.annotator().scores(test.with_labels(np.zeros(test.labels.shape), test.tags))
    return {
        "image_map": image_average_precision(test.labels, scores),
        "tag_map": category_average_precision(test.labels, scores),
    }


def beside(lines):
    """Tell of every line how many times as many tags it found as the baseline, at the last count of both."""
    baselines = {line["hidden"]: line["found"] for line in lines if line["strategy"] == BASELINE}
    for line in lines:
        common = set(line["found"]) & set(baselines.get(line["hidden"], {}))
        count = max(common, default=None)
        line["ratio"] = line["found"][count] / baselines[line["hidden"]][count] if count else None


def read(data, features, n_pictures=0):
    """Training rows with their true tags, test rows, and the features that both came from.

    With a number of pictures so many are drawn of the training part, and half as many of the test part.
    """
    whole = draw_pictures(80, size=48) if data == "drawn" else load_dataset(data)
    if n_pictures:
        parts = draw_some(whole, n_pictures, n_pictures // 2)
        whole = whole.subset(np.flatnonzero(np.isin(whole.names, [*parts[0].names, *parts[1].names])))
    described = describe_rows(whole, name_features(features.split() or None), cache=data != "drawn")
    views = {name: view for name, view in described.collection.views.items() if name != "pictures"}
    rows = described.collection.replaced(views=views)
    return rows.train, rows.test, described.features
