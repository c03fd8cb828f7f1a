"""Every method on one collection with official parts, tuned and measured alike."""

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sklearn.base import clone

from tagrank.annotation.scaling import fit_scaler
from tagrank.annotation.tuning import COSTS, CRITERIA, Tuning, tune_cost
from tagrank.commands.estimators import make_estimator
from tagrank.data import Collection
from tagrank.estimators import CalibratedRanker
from tagrank.estimators.methods import find_method
from tagrank.kernels import make_kernel
from tagrank.metrics import MetricTable, catalog_metrics, metric_table

OWN = "own"
METHODS_COMPARED = ("label-ranker", "one-vs-all", "label-frequency")
STRATEGIES = ("f1", "global")


@dataclass(frozen=True)
class Outcome:
    """What one method reached.

    Attributes
    ----------
    method : the class of the estimator
    criterion : the metric by which cross-validation chose; None for a method without a choice
    kernel, C : what it chose, or None
    tunings : kernel to the costs that were tried with it
    seconds : training with the chosen C alone, Gram matrix included
    gap : relative duality gap of that training, or None
    tables : how tags are predicted ("own" rule of the method, or thresholds by "f1" or "global") to metrics
        on the test part; metrics of scores are the same in all of them
    """

    method: str
    criterion: str | None
    kernel: str | None
    C: float | None
    tunings: Mapping[str, Tuning]
    seconds: float
    gap: float | None
    tables: Mapping[str, MetricTable]

    @property
    def is_at_edge(self) -> bool:
        """Whether C is the smallest or largest that was tried."""
        if self.kernel is None or self.criterion is None:
            return False
        return self.tunings[self.kernel].is_at_edge(self.criterion)

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers for JSON; an undefined metric is None."""
        values = {
            rule: {row["name"]: row["value"] for row in table.to_dict()["rows"]}
            for rule, table in self.tables.items()
        }
        predicted = [name for name, metric in catalog_metrics().items() if metric.takes == "predictions"]
        return {
            "method": self.method,
            "chosen_by": self.criterion,
            "kernel": self.kernel,
            "C": self.C,
            "cross_validation": {kernel: tuning.to_dict() for kernel, tuning in self.tunings.items()},
            "seconds": self.seconds,
            "gap": self.gap,
            "metrics": values[OWN],
            "thresholds": {rule: {name: values[rule][name] for name in predicted} for rule in STRATEGIES},
        }


@dataclass(frozen=True)
class Comparison:
    """All methods on one collection.

    Attributes
    ----------
    name : of the collection
    facts : counts of its training part, as `Collection.summary` gives them
    n_test : rows of its test part
    outcomes : criterion by criterion, one for each method that has a choice; then those that have none
    """

    name: str
    facts: Mapping[str, Any]
    n_test: int
    outcomes: Sequence[Outcome]

    def find(self, method: str, criterion: str | None = None) -> Outcome:
        """The outcome of a method, chosen by a criterion."""
        return next(
            outcome
            for outcome in self.outcomes
            if outcome.method == method and outcome.criterion == criterion
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers for JSON."""
        return {
            "data": self.name,
            "train": dict(self.facts),
            "n_test": self.n_test,
            "methods": [outcome.to_dict() for outcome in self.outcomes],
        }


def compare(
    collection: Collection,
    *,
    kernels: Sequence[str] = ("rbf",),
    costs: Sequence[float] = COSTS,
    tol: float = 5e-3,
    seed: int = 0,
    n_jobs: int | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> Comparison:
    """Train the methods on the training part and measure it on the test part.

    Kernel and C are chosen by 3-fold cross-validation on the training part, once by each of `CRITERIA`. Dense
    columns get mean 0 and deviation 1 on the training part. The test part is looked at once, at the end.

    Parameters
    ----------
    collection : one view of rows, with parts "train" and "test"
    kernels : names of kernels to choose among
    costs : values of C to choose among, the same for every method
    tol : relative duality gap at which each training stops
    seed : for folds and order of visits
    n_jobs : threads; None for all cores
    say : called with a line about each step that is done

    Returns
    -------
    Comparison
    """
    train, test = collection.train, collection.test
    outcomes = []
    with warnings.catch_warnings():
        # the page states their number
        warnings.filterwarnings("ignore", message=".*never positive in training")
        for method in map(find_method, METHODS_COMPARED):
            estimator, tunings = make_estimator(method.name, {}, seed=seed), {}
            if hasattr(estimator, "C"):
                estimator.set_params(tol=tol, n_jobs=n_jobs)
                tunings = _tune(estimator, train, kernels, costs, seed, say)
            for outcome in _outcomes(estimator, tunings, train, test, seed):
                outcomes.append(outcome)
                say(_describe(outcome))
    outcomes.sort(key=lambda outcome: [*CRITERIA, None].index(outcome.criterion))
    return Comparison(collection.name, train.summary(), len(test), outcomes)


def _tune(
    estimator: Any,
    train: Collection,
    kernels: Sequence[str],
    costs: Sequence[float],
    seed: int,
    say: Callable[[str], None],
) -> dict[str, Tuning]:
    """Every kernel with every cost."""
    tunings = {}
    for kernel in kernels:
        (X,) = _scaled(kernel, train.X)
        candidate = clone(estimator).set_params(kernel=kernel)
        tunings[kernel] = tune_cost(candidate, X, train.Y, costs=costs, seed=seed)
        say(f"{type(estimator).__name__}: cross-validated with the {kernel} kernel")
    return tunings


def _outcomes(
    estimator: Any, tunings: Mapping[str, Tuning], train: Collection, test: Collection, seed: int
) -> Iterator[Outcome]:
    """One outcome for each criterion; where two choose the same, it is trained once."""
    if not tunings:
        yield _measure(estimator, None, None, train, test, seed)
        return
    measured: dict[tuple[str, float], Outcome] = {}
    for criterion in CRITERIA:
        kernel = max(tunings, key=lambda name: tunings[name].best_score(criterion))
        choice = kernel, tunings[kernel].best(criterion)
        if choice not in measured:
            measured[choice] = _measure(estimator, *choice, train, test, seed)
        yield replace(measured[choice], criterion=criterion, tunings=tunings)


def _measure(
    estimator: Any, kernel: str | None, C: float | None, train: Collection, test: Collection, seed: int
) -> Outcome:
    """Train with one choice, and measure every rule of prediction on the test part."""
    if kernel is not None:
        estimator = clone(estimator).set_params(kernel=kernel, C=C)
    X, X_test = _scaled(kernel, train.X, test.X)
    started = time.perf_counter()
    model = clone(estimator).fit(X, train.Y)
    seconds = time.perf_counter() - started
    scores = model.decision_function(X_test)
    predictions = {OWN: model.predict(X_test)}
    for strategy in STRATEGIES:
        calibrated = CalibratedRanker(estimator, strategy=strategy, random_state=seed).fit(X, train.Y)
        predictions[strategy] = calibrated.predict(X_test)
    return Outcome(
        method=type(estimator).__name__,
        criterion=None,
        kernel=kernel,
        C=C,
        tunings={},
        seconds=seconds,
        gap=getattr(model, "duality_gap_", None),
        tables={rule: metric_table(test.Y, scores, predicted) for rule, predicted in predictions.items()},
    )


def _scaled(kernel: str | None, X: Any, *others: Any) -> list[Any]:
    """`X` and other rows, with columns scaled as `X` and the kernel ask for."""
    scaler = None if kernel is None else fit_scaler(X, "auto", make_kernel(kernel), "")
    return [rows if scaler is None else scaler.apply(rows) for rows in (X, *others)]


def _describe(outcome: Outcome) -> str:
    choice = "" if outcome.C is None else f" ({outcome.kernel}, C = {outcome.C:g} by {outcome.criterion})"
    auc = outcome.tables[OWN]["Image-AUC"]
    return f"{outcome.method}{choice}: trained in {outcome.seconds:.2f} s, test Image-AUC {auc:.4f}"
