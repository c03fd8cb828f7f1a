"""Seconds of the factorizations: tables 1 and 4 of the two-way paper.

A run loads the data, learns from four fifths of it for some passes, and measures the F-measure of the rest,
as the paper counts it. `device` is where to compute, as the estimators take it.
"""

import warnings

from tagrank.data import Collection, load_dataset, split_collection
from tagrank.estimators.methods import METHODS, find_method
from tagrank.metrics import f_measure
from tagrank_papers.figures import Answer, Figures
from tagrank_papers.measuring import best_time
from tagrank_papers.protocols.data import DRAWN, dense, draw_rows
from tagrank_papers.text import show

QUICK = {"only": (DRAWN,), "epochs": (2, 1)}
TWO_WAY, ONLINE = "two-way-factorization", "online-factorization"
N_COMPONENTS = {"corel5k": 100, "bibtex": 300}  # of the paper's table 3
HELD_OUT = 0.1  # of the training samples, which tell when to stop


def run(*, only=("corel5k", "bibtex"), epochs=(120, 15, 1), device=None):
    warnings.filterwarnings("ignore", message=".*never (positive|present) in training")
    known = {method.name for method in METHODS}
    results = {"device": device, "epochs": [], "convergence": []}
    for name in only:
        components = N_COMPONENTS.get(name, 5)
        for passes in epochs:
            options = {"max_iter": passes, "n_components": components, "device": device}
            results["epochs"].append({"data": name, "epochs": passes, **measure(name, TWO_WAY, options)})
            show(results["epochs"][-1], *results["epochs"][-1])
        for method in (ONLINE, TWO_WAY):
            if method in known:
                options = {"n_components": components, "validation_fraction": HELD_OUT, "device": device}
                results["convergence"].append(
                    {"data": name, "method": method, **measure(name, method, options)}
                )
                show(results["convergence"][-1], *results["convergence"][-1])
        yield results


def measure(name, method, options):
    """Seconds from loading to the F-measure, of the clock and of the processor, and passes."""
    timing = best_time(load_and_learn, name, method, options, repeats=1)
    passes, value = timing.answer
    return {
        "seconds": timing.processor_seconds,
        "clock_seconds": timing.seconds,
        "passes": passes,
        "micro": value,
    }


def load_and_learn(name, method, options):
    if name == DRAWN:
        X, Y = draw_rows(100, 5)
        whole = Collection({"features": X}, Y, name=name)
    else:
        whole = load_dataset(name)
    split = split_collection(whole, test_size=0.2, random_state=0)
    estimator = find_method(method).load()(random_state=0, **options)
    estimator.fit(split.train.X, split.train.Y)
    predicted = estimator.predict(split.test.X)
    return int(estimator.n_iter_), float(f_measure(dense(split.test.Y), predicted))


# Its answers to tables

TITLES = {"corel5k": "Corel5k", "bibtex": "Bibtex"}
ACRONYMS = {"online-factorization": "OMMF", "two-way-factorization": "TWMMF"}


def answer(table, results):
    return _convergence(results) if table == "twmmf-table4" else _epochs(results)


def _epochs(results):
    place = "GPU" if results["device"] == "cuda" else "CPU"
    seconds = {(_title(line), line["epochs"]): line["seconds"] for line in results["epochs"]}
    sets, epochs = ([*dict.fromkeys(key[part] for key in seconds)] for part in (0, 1))
    rows = {f"{name}, {place}": tuple(_clock(seconds[name, number]) for number in epochs) for name in sets}
    most = max(epochs)
    listed = ", ".join(f"{seconds[name, most]:.1f} ({name})" for name in sets)
    return Answer(
        Figures(tuple(f"{number} epoch{'s' if number > 1 else ''}" for number in epochs), rows),
        f"Seconds of {most} epochs from loading to the F-measure: {listed}.",
    )


def _convergence(results):
    lines = {(_title(line), ACRONYMS[line["method"]]): line for line in results["convergence"]}
    sets, methods = ([*dict.fromkeys(key[part] for key in lines)] for part in (0, 1))
    listed = "; ".join(
        f"{name}: "
        + ", ".join(
            f"{method} {lines[name, method]['seconds']:.1f} ({lines[name, method]['passes']})"
            for method in methods
        )
        for name in sets
    )
    figures = Figures.fill(sets, methods, lambda name, method: _clock(lines[name, method]["seconds"]))
    return Answer(
        figures,
        f"Seconds (passes) until a tenth of the training samples, held out, gets no better: {listed}.",
    )


def _title(line):
    return TITLES.get(line["data"], line["data"])


def _clock(seconds):
    """Hours, minutes and seconds, as the paper has them."""
    whole = round(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"
