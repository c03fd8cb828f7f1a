"""Train a model from data on disk and keep it in a folder."""

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tagrank.annotation import Annotator
from tagrank.data import Collection, clean_tags, split_collection
from tagrank.metrics import MetricTable
from tagrank.study.destinations import check_folder
from tagrank.study.evaluation import SPELLING, evaluate
from tagrank.study.inputs import choose_part, has_pictures, open_collection
from tagrank.study.listings import find_method


@dataclass(frozen=True)
class Training:
    """A trained model and how it came about.

    Attributes
    ----------
    annotator : the model
    method : its name, as in `methods`
    facts : counts of the training data, as `Collection.summary` gives them
    seconds : time spent on training alone
    held_out : metrics on rows that were not trained on, or None if there are none
    """

    annotator: Annotator
    method: str
    facts: dict[str, Any]
    seconds: float
    held_out: MetricTable | None

    @property
    def certificate(self) -> dict[str, Any]:
        """Passes, objectives and relative duality gap of the solver; empty for a method without one."""
        solved = self._solved
        if not hasattr(solved, "duality_gap_"):
            return {}
        return {
            "n_iter": int(solved.n_iter_),
            "primal": float(solved.primal_objective_),
            "dual": float(solved.dual_objective_),
            "gap": float(solved.duality_gap_),
            "converged": bool(solved.converged_),
        }

    @property
    def trace(self) -> list[Any]:
        """Points of the solver's way, as `trace_` holds them; empty for a method without one."""
        return list(getattr(self._solved, "trace_", ()))

    @property
    def _solved(self) -> Any:
        """The estimator that was trained on everything, inside of whatever calibrates it."""
        estimator = self.annotator.estimator_
        return getattr(estimator, "estimator_", estimator)

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers for JSON."""
        return {
            "method": self.method,
            "data": self.facts,
            "seconds": self.seconds,
            "certificate": self.certificate,
            "held_out": None if self.held_out is None else self.held_out.to_dict(),
        }


def train(
    data: Collection | str | os.PathLike,
    output: str | os.PathLike | None = None,
    *,
    method: str = "label-ranker",
    seed: int = 0,
    calibration: str | None = None,
    threshold: str | None = None,
    n_tags: int = 5,
    view: str | None = None,
    part: str | None = None,
    test_size: float | None = None,
    hierarchy: str = "keep",
    lower_case: bool = False,
    synonyms: Mapping[str, str] | None = None,
    min_count: int = 0,
    keep_rows: bool = False,
    callback: Callable[[Any], None] | None = None,
    **parameters: Any,
) -> Training:
    """Learn from a collection and, where `output` says so, keep the model in a folder.

    Parameters
    ----------
    data : a Collection, a file or a name, as `open_collection` takes it
    output : the folder of the model; None keeps it in memory only
    method : a name from `methods`
    seed : for the order of visits, for `test_size` and for the folds of the calibration
    calibration : {"platt", "isotonic", None}, how probabilities are learned from held-out scores
    threshold : {"f1", "global", "cardinality", "top-k", None}, how it is learned which tags to predict, see
        `CalibratedRanker`; "f1" where only `calibration` is given
    n_tags : tags for each picture with threshold="top-k"
    view : the view to learn from, where there are several
    part : the part to train on; None means "train" where there is one, else every row
    test_size : share or number of rows to hold out instead; each tag keeps its share
    hierarchy, lower_case, synonyms, min_count : tidier tags, see `clean_tags` (`lower_case` is `fold_case`);
        the count is of the rows trained on
    keep_rows : store all training rows, not only the support vectors
    callback : called with a TracePoint while training
    parameters : of the estimator, such as `C`, `kernel`, `tol` or `max_seconds`; None leaves its default, but
        makes the kernel "chi2" for pictures

    Returns
    -------
    Training
    """
    if output is not None:
        check_folder(output)
    estimator = make_estimator(method, parameters, seed=seed)
    spelling: dict[str, Any] = {"hierarchy": hierarchy, "fold_case": lower_case, "synonyms": synonyms or {}}
    rows, rest = _parts(clean_tags(open_collection(data), **spelling), part, test_size, seed)
    rows = clean_tags(rows, min_count=min_count)
    if has_pictures(rows) and hasattr(estimator, "kernel") and parameters.get("kernel") is None:
        # the features of pictures are histograms
        estimator.set_params(kernel="chi2")
    if calibration or threshold:
        estimator = _calibrated(estimator, calibration, threshold or "f1", n_tags=n_tags, seed=seed)
    started = time.perf_counter()
    annotator = Annotator(estimator, view=view).fit(rows, callback=callback)
    seconds = time.perf_counter() - started
    annotator.metadata[SPELLING] = spelling
    if output is not None:
        annotator.save(output, keep_rows=keep_rows)
    held_out = None if rest is None else evaluate(annotator, rest, part="all").table
    return Training(annotator, method, rows.summary(), seconds, held_out)


def make_estimator(method: str, parameters: Mapping[str, Any], *, seed: int | None = None) -> Any:
    """The estimator of a method, not fitted.

    Parameters
    ----------
    method : a name from `methods`
    parameters : constructor arguments; None leaves the default of the estimator, anything else must be one
        of its parameters
    seed : its `random_state`, where it has one
    """
    from tagrank import estimators

    estimator = getattr(estimators, find_method(method).estimator)()
    known = estimator.get_params(deep=False)
    given = {name: value for name, value in parameters.items() if value is not None}
    if strangers := sorted(set(given) - set(known)):
        raise ValueError(f"method {method!r} has no parameter {', '.join(strangers)}; leave it out")
    if "random_state" in known:
        given["random_state"] = seed
    return estimator.set_params(**given)


def _calibrated(
    estimator: Any, calibration: str | None, threshold: str, *, n_tags: int, seed: int | None
) -> Any:
    from tagrank.estimators import CalibratedRanker

    strategy = threshold.replace("-", "_")
    return CalibratedRanker(
        estimator, method=calibration, strategy=strategy, n_tags=n_tags, random_state=seed
    )


def _parts(
    collection: Collection, part: str | None, test_size: float | None, seed: int
) -> tuple[Collection, Collection | None]:
    """The rows to train on, and those to measure on afterwards, if there are any."""
    if test_size is not None:
        chosen = choose_part(collection, part, usual="all")
        parted = split_collection(chosen, test_size=test_size, random_state=seed)
        return parted.train, parted.test
    rows = choose_part(collection, part, usual="train")
    has_test = part is None and collection.part is not None and "test" in collection.part
    return rows, collection.test if has_test else None
