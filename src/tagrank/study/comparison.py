"""Every method on one collection with official parts, tuned and measured alike."""

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from tagrank.annotation.scaling import fit_scaler
from tagrank.data import Collection
from tagrank.estimators import CalibratedRanker
from tagrank.kernels import make_kernel
from tagrank.metrics import MetricTable, metric_table
from tagrank.study.listings import methods
from tagrank.study.training import make_estimator
from tagrank.study.tuning import COSTS, Tuning, tune_cost

OWN = "own"
STRATEGIES = ("f1", "global")


@dataclass(frozen=True)
class Outcome:
    """What one method reached.

    Attributes
    ----------
    method : the class of the estimator
    kernel, C : what cross-validation chose; None for a method that has none
    tunings : kernel to the costs that were tried with it
    seconds : training with the chosen C alone, Gram matrix included
    gap : relative duality gap of that training, or None
    tables : how tags are predicted ("own" rule of the method, or thresholds by "f1" or "global") to metrics
        on the test part; metrics of scores are the same in all of them
    """

    method: str
    kernel: str | None
    C: float | None
    tunings: Mapping[str, Tuning]
    seconds: float
    gap: float | None
    tables: Mapping[str, MetricTable]

    @property
    def is_at_edge(self) -> bool:
        """Whether C is the smallest or largest that was tried."""
        return self.kernel is not None and self.tunings[self.kernel].is_at_edge

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers for JSON; an undefined metric is None."""
        return {
            "method": self.method,
            "kernel": self.kernel,
            "C": self.C,
            "cross_validation": {kernel: tuning.to_dict() for kernel, tuning in self.tunings.items()},
            "seconds": self.seconds,
            "gap": self.gap,
            "metrics": {
                rule: {row["name"]: row["value"] for row in table.to_dict()["rows"]}
                for rule, table in self.tables.items()
            },
        }


@dataclass(frozen=True)
class Comparison:
    """All methods on one collection.

    Attributes
    ----------
    name : of the collection
    facts : counts of its training part, as `Collection.summary` gives them
    n_test : rows of its test part
    outcomes : one for each method, in the order of `methods`
    """

    name: str
    facts: Mapping[str, Any]
    n_test: int
    outcomes: Sequence[Outcome]

    def __getitem__(self, method: str) -> Outcome:
        return next(outcome for outcome in self.outcomes if outcome.method == method)

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
    """Train every method on the training part and measure it on the test part.

    Kernel and C are chosen by 3-fold cross-validation on the training part, by image-based AUC. Dense columns
    get mean 0 and deviation 1 on the training part. The test part is looked at once, at the end.

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
        for method in methods():
            estimator, tunings = make_estimator(method.name, {}, seed=seed), {}
            if hasattr(estimator, "C"):
                estimator.set_params(tol=tol, n_jobs=n_jobs)
                tunings = _tune(estimator, train, kernels=kernels, costs=costs, seed=seed, say=say)
            outcomes.append(_measure(estimator, tunings, train, test, seed=seed))
            say(_describe(outcomes[-1]))
    return Comparison(collection.name, train.summary(), len(test), outcomes)


def _tune(
    estimator: Any,
    train: Collection,
    *,
    kernels: Sequence[str],
    costs: Sequence[float],
    seed: int,
    say: Callable[[str], None],
) -> dict[str, Tuning]:
    """Cross-validate every kernel, and set the best kernel and C."""
    tunings = {}
    for kernel in kernels:
        (X,) = _scaled(kernel, train.X)
        tunings[kernel] = tune_cost(estimator.set_params(kernel=kernel), X, train.Y, costs=costs, seed=seed)
        best = tunings[kernel]
        say(f"{type(estimator).__name__}: {kernel} kernel, C = {best.best:g}, held out {best.best_score:.4f}")
    chosen = max(tunings, key=lambda kernel: tunings[kernel].best_score)
    estimator.set_params(kernel=chosen, C=tunings[chosen].best)
    return tunings


def _measure(
    estimator: Any, tunings: Mapping[str, Tuning], train: Collection, test: Collection, *, seed: int
) -> Outcome:
    kernel = getattr(estimator, "kernel", None)
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
        kernel=kernel,
        C=getattr(estimator, "C", None),
        tunings=tunings,
        seconds=seconds,
        gap=getattr(model, "duality_gap_", None),
        tables={rule: metric_table(test.Y, scores, predicted) for rule, predicted in predictions.items()},
    )


def _scaled(kernel: str | None, X: Any, *others: Any) -> list[Any]:
    """`X` and other rows, with columns scaled as `X` and the kernel ask for."""
    scaler = None if kernel is None else fit_scaler(X, "auto", make_kernel(kernel), "")
    return [rows if scaler is None else scaler.apply(rows) for rows in (X, *others)]


def _describe(outcome: Outcome) -> str:
    auc = outcome.tables[OWN]["Image-AUC"]
    return f"{outcome.method}: Image-AUC {auc:.4f} on the test part, trained in {outcome.seconds:.2f} s"
