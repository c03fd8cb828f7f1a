"""Every method on one collection with official parts, tuned and measured alike."""

import warnings

from sklearn.base import clone

from tagrank.annotation.scaling import fit_scaler
from tagrank.annotation.tuning import MEASURES, tune_cost
from tagrank.estimators import CalibratedRanker
from tagrank.estimators.methods import find_method
from tagrank.kernels import make_kernel
from tagrank.metrics import catalog_metrics, metric_table
from tagrank.reproduction.protocols.timing import best_time

METHODS_COMPARED = ("label-ranker", "one-vs-all", "label-frequency")
STRATEGIES = ("f1", "global")
COSTS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)


def compare(collection, *, kernels=("rbf",), costs=COSTS, tol=5e-3, seed=0, say=print):
    """Train the methods on the training part and measure them on the test part.

    Kernel and C are chosen by 3-fold cross-validation on the training part, once by each of `MEASURES`. Dense
    columns get mean 0 and deviation 1 on the training part. The test part is looked at once, at the end.

    Parameters
    ----------
    collection : one view of rows, with parts "train" and "test"
    kernels : names of kernels to choose among
    costs : values of C to choose among, the same for every method
    tol : relative duality gap at which each training stops
    seed : for folds and order of visits
    say : called with a line about each step that is done

    Returns
    -------
    dict of plain numbers: "data" its name, "train" the counts of its training part, "n_test" rows of its
    test part, "methods" the outcomes, see `measure`: criterion by criterion, one for each method that has a
    choice; then those that have none
    """
    train, test = collection.train, collection.test
    outcomes = []
    with warnings.catch_warnings():
        # the page states their number
        warnings.filterwarnings("ignore", message=".*never positive in training")
        for method in METHODS_COMPARED:
            estimator, tunings = find_method(method).load()(), {}
            if hasattr(estimator, "C"):
                estimator.set_params(tol=tol, random_state=seed)
                tunings = tune(estimator, train, kernels, costs, seed, say)
            for outcome in measure_choices(estimator, tunings, train, test, seed):
                outcomes.append(outcome)
                say("{method} ({kernel}, C = {C} by {chosen_by}): {seconds:.2f} s".format(**outcome))
    outcomes.sort(key=lambda outcome: [*MEASURES, None].index(outcome["chosen_by"]))
    return {"data": collection.name, "train": train.summary(), "n_test": len(test), "methods": outcomes}


def tune(estimator, train, kernels, costs, seed, say):
    """Every kernel with every cost."""
    tunings = {}
    for kernel in kernels:
        (X,) = scale(kernel, train.X)
        candidate = clone(estimator).set_params(kernel=kernel)
        tunings[kernel] = tune_cost(candidate, X, train.Y, costs=costs, seed=seed)
        say(f"{type(estimator).__name__}: cross-validated with the {kernel} kernel")
    return tunings


def measure_choices(estimator, tunings, train, test, seed):
    """One outcome for each criterion; where two choose the same, it is trained once."""
    if not tunings:
        yield {"chosen_by": None, "cross_validation": {}, **measure(estimator, None, None, train, test, seed)}
        return
    measured = {}
    tried = {kernel: tuning.to_dict() for kernel, tuning in tunings.items()}
    for criterion in MEASURES:
        kernel = max(tunings, key=lambda name: tunings[name].best_score(criterion))
        choice = kernel, tunings[kernel].best(criterion)
        if choice not in measured:
            measured[choice] = measure(estimator, *choice, train, test, seed)
        yield {**measured[choice], "chosen_by": criterion, "cross_validation": tried}


def measure(estimator, kernel, C, train, test, seed):
    """Train with one choice, and measure every rule of prediction on the test part.

    "seconds" is of training with that choice alone, Gram matrix included; "metrics" are by the method's own
    rule, "thresholds" by others, for the metrics of predicted tags; a metric that is undefined is None.
    """
    if kernel is not None:
        estimator = clone(estimator).set_params(kernel=kernel, C=C)
    X, X_test = scale(kernel, train.X, test.X)
    seconds, _, model = best_time(lambda: clone(estimator).fit(X, train.Y), repeats=1)
    scores = model.decision_function(X_test)
    predicted = [name for name, metric in catalog_metrics().items() if metric.takes == "predictions"]
    thresholds = {}
    for strategy in STRATEGIES:
        calibrated = CalibratedRanker(estimator, strategy=strategy, random_state=seed).fit(X, train.Y)
        values = metrics_of(test.Y, scores, calibrated.predict(X_test))
        thresholds[strategy] = {name: values[name] for name in predicted}
    return {
        "method": type(estimator).__name__,
        "kernel": kernel,
        "C": C,
        "seconds": seconds,
        "gap": getattr(model, "duality_gap_", None),
        "metrics": metrics_of(test.Y, scores, model.predict(X_test)),
        "thresholds": thresholds,
    }


def metrics_of(Y, scores, predictions):
    return {row["name"]: row["value"] for row in metric_table(Y, scores, predictions).to_dict()["rows"]}


def scale(kernel, X, *others):
    """`X` and other rows, with columns scaled as `X` and the kernel ask for."""
    scaler = None if kernel is None else fit_scaler(X, "auto", make_kernel(kernel), "")
    return [rows if scaler is None else scaler.apply(rows) for rows in (X, *others)]
