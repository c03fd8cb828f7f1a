"""Seconds of the factorizations: tables 1 and 4 of the two-way paper.

A run loads the data, learns from four fifths of it for some passes, and measures the F-measure of the rest,
as the paper counts it. `device` is where to compute, as the estimators take it.
"""

import warnings

from tagrank.data import Collection, load_dataset, split_collection
from tagrank.estimators.methods import METHODS, find_method
from tagrank.metrics import f_measure
from tagrank.reproduction.protocols.data import DRAWN, dense, draw_rows
from tagrank.reproduction.protocols.timing import best_time
from tagrank.reproduction.text import show

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
