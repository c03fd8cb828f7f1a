"""Nine methods on Corel5k and Bibtex, with one threshold for all labels: table 3 of the two-way paper.

A fifth of the samples is held out, in which each label keeps its share. Parameters are searched over the
space that the method's entry declares, by halving, by micro F on two folds of the training part, for
`seconds` at most; the threshold is the one with the best micro F on the held-out scores of five folds. Then
the method learns from the whole training part and the test part is looked at once. All are linear, as in the
paper.
"""

import warnings

import numpy as np

from tagrank.annotation import Annotator
from tagrank.commands.tune import tune
from tagrank.data import Collection, LabelStratifiedKFold, load_dataset, split_collection
from tagrank.estimators.methods import find_method
from tagrank.metrics import f_measure
from tagrank_papers.figures import Answer, Figures
from tagrank_papers.measuring import best_time
from tagrank_papers.protocols.data import DRAWN, dense, draw_rows
from tagrank_papers.text import show

METHODS = {
    "OVA": "one-vs-all",
    "CCA": "canonical-correlation",
    "CS": "compressed-sensing",
    "PLST": "label-space-transform",
    "MME": "margin-embedding",
    "ANMF": "asymmetric-factorization",
    "MNMF": "mixed-factorization",
    "OMMF": "online-factorization",
    "TWMMF": "two-way-factorization",
}
# Where a search of them takes an hour, the dimensions are those that the paper prints
DIMENSIONS = {"MNMF": {"corel5k": 35, "bibtex": 140}}
QUICK = {"only": (DRAWN,), "methods": ("OVA", "PLST", "TWMMF")}
CRITERION, SEARCH_FOLDS, FOLDS, SEED, TEST_SIZE = "Micro-F1", 2, 5, 0, 0.2


def run(*, only=("corel5k", "bibtex"), methods=tuple(METHODS), seconds=900.0):
    warnings.filterwarnings("ignore", message=".*never (positive|present) in training")
    lines = []
    for name in only:
        split = split_collection(read(name), test_size=TEST_SIZE, random_state=SEED)
        for acronym in methods:
            given = {"n_components": DIMENSIONS.get(acronym, {}).get(name)}
            lines.append(
                {"data": name, "method": acronym, **measure(METHODS[acronym], split, seconds, given)}
            )
            show(lines[-1], *(key for key in lines[-1] if key != "tried"))
            yield lines


def read(name):
    if name == DRAWN:
        X, Y = draw_rows(100, 5)
        return Collection({"features": np.abs(X)}, Y, name=name)
    return load_dataset(name)


def measure(method, split, seconds, given):
    """One line: what was chosen, and the F-measures of the test part."""
    train, test = split.train, split.test
    known = find_method(method).load()().get_params()
    # one threshold for all labels needs scores that know how frequent each is
    usual = {"kernel": "linear", "fit_intercept": True}
    given = {**given, **{name: value for name, value in usual.items() if name in known}}
    search = {"metric": CRITERION, "folds": SEARCH_FOLDS, "max_seconds": seconds, "seed": SEED}
    tuned = tune(train, method=method, **search, **given)
    parameters = dict(tuned.parameters)
    threshold, held_out = choose_threshold(*hold_out(method, parameters, train))
    training = best_time(fit, method, parameters, train, repeats=1)
    scores, truth = training.answer.scores(test), dense(test.Y)
    return {
        "parameters": parameters,
        "n_components": n_components(training.answer),
        "threshold": threshold,
        "held_out": held_out,
        **{
            average: float(f_measure(truth, scores >= threshold, average=average))
            for average in ("micro", "macro", "example")
        },
        "seconds": training.seconds,
        "searching_seconds": tuned.search.seconds,
        "n_tried": len(tuned.search.trials),
        "is_complete": tuned.search.is_complete,
    }


def fit(method, parameters, rows):
    estimator = find_method(method).load()(**parameters)
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=SEED)
    return Annotator(estimator).fit(rows)


def n_components(annotator):
    return getattr(annotator.estimator_, "n_components", None)


def hold_out(method, parameters, rows):
    """Labels and scores of all rows, each scored by a model that did not see it."""
    truth = dense(rows.Y)
    scores = np.empty(truth.shape)
    for train, test in LabelStratifiedKFold(FOLDS, shuffle=True, random_state=SEED).split(truth, truth):
        scores[test] = fit(method, parameters, rows.subset(train)).scores(rows.subset(test))
    return truth, scores


def choose_threshold(truth, scores):
    """The threshold of the best micro F for all labels together, and that F."""
    order = np.argsort(-scores, axis=None, kind="stable")
    ranked, hits = scores.ravel()[order], np.cumsum(truth.ravel()[order])
    values = 2 * hits / (np.arange(1, len(hits) + 1) + truth.sum())
    values[:-1][ranked[:-1] == ranked[1:]] = -1  # equal scores are chosen together
    best = int(np.argmax(values))
    return float(ranked[best]), float(values[best])


# Its answers to tables

TITLES = {"corel5k": "Corel5k", "bibtex": "Bibtex"}
AVERAGES = ("micro", "macro", "example")


def answer(table, results):
    """Micro F under the heading of the paper, which does not say how it averages; the others beside it."""
    lines = {(TITLES.get(line["data"], line["data"]), line["method"]): line for line in results}
    sets, methods = ([*dict.fromkeys(key[place] for key in lines)] for place in (0, 1))
    headings = {
        name if average == "micro" else f"{name}, {average}": (name, average)
        for average in AVERAGES
        for name in sets
    }

    def cell(method, heading):
        name, average = headings[heading]
        line = lines.get((name, method))
        return "" if line is None else f"{line[average]:.3f}"

    return Answer(Figures.fill(methods, headings, cell), _order(lines, sets) + _cut_short(lines))


def _order(lines, sets):
    words = []
    for name in sets:
        some = sorted(
            (line for (data, _), line in lines.items() if data == name), key=lambda line: -line["micro"]
        )
        words.append(f"{name}: " + ", ".join(line["method"] for line in some))
    return f"By our micro F, best first: {'; '.join(words)}."


def _cut_short(lines):
    found = [f"{method} ({name})" for (name, method), line in lines.items() if not line["is_complete"]]
    return f" The search ran out of time, and the best so far was taken: {', '.join(found)}." if found else ""
