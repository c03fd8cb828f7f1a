"""The whole path on pictures that are drawn on the spot: nothing to download, nothing to prepare."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tagrank.annotation import RankedTags
from tagrank.annotation.estimator_choice import choose_estimator
from tagrank.annotation.intake import take_in
from tagrank.data import Collection
from tagrank.data.pictures import draw_pictures
from tagrank.metrics import MetricTable
from tagrank.study.destinations import check_folder
from tagrank.study.evaluation import PICTURES_SHOWN, evaluate, report_pictures
from tagrank.study.listings import methods
from tagrank.study.report import MethodResult, write_report
from tagrank.study.training import Training, make_estimator, train
from tagrank.annotation.tuning import tune_cost

PICTURES_PRINTED = 6


@dataclass(frozen=True)
class Demonstration:
    """What the demonstration found and wrote.

    Attributes
    ----------
    tables : class name of each method to its metrics on the test pictures
    costs : class name of each method that has a C to the one that cross-validation chose
    ranked : the best tags of some test pictures, by the first method
    true_tags : the tags that these pictures really have
    model, report : what was written
    seconds : all in all
    """

    tables: dict[str, MetricTable]
    costs: dict[str, float]
    ranked: list[RankedTags]
    true_tags: list[list[str]]
    model: Path
    report: Path
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers for JSON."""
        return {
            "metrics": {name: table.to_dict() for name, table in self.tables.items()},
            "C": self.costs,
            "pictures": [
                {**ranked.to_dict(), "true_tags": tags}
                for ranked, tags in zip(self.ranked, self.true_tags, strict=True)
            ],
            "model": str(self.model),
            "report": str(self.report),
            "seconds": self.seconds,
        }


def demo(
    output: str | os.PathLike = "tagrank-demo",
    *,
    n_pictures: int = 400,
    seed: int = 0,
    n_jobs: int | None = None,
    callback: Callable[[Any], None] | None = None,
) -> Demonstration:
    """Draw pictures, learn their tags with every method, keep the first model and write a report.

    The max-margin methods are treated alike: C by cross-validation on the training pictures, the kernel that
    `train` takes for pictures, and the default calibration and thresholds.

    Parameters
    ----------
    output : folder for ``model`` and ``report.html``
    n_pictures : how many to draw; seven tenths are trained on
    seed : for the pictures and the training
    n_jobs : threads; None for all cores
    callback : called with a TracePoint while training

    Returns
    -------
    Demonstration
    """
    started = time.perf_counter()
    folder = Path(output)
    check_folder(folder)
    pictures = draw_pictures(n_pictures, random_state=seed)
    costs = _tune(pictures.train, seed=seed, n_jobs=n_jobs)
    trained: dict[str, Training] = {}
    for method in methods():
        options: dict[str, Any] = {"seed": seed, "callback": callback}
        if method.estimator in costs:
            options |= {"C": costs[method.estimator], "calibration": "platt", "n_jobs": n_jobs}
        destination = folder / "model" if not trained else None
        trained[method.estimator] = train(pictures, destination, method=method.name, **options)
    seconds = time.perf_counter() - started
    _write_report(folder / "report.html", pictures, trained, costs, seconds)
    shown = pictures.test.subset(slice(PICTURES_PRINTED))
    first = next(iter(trained.values())).annotator
    return Demonstration(
        tables={name: _held_out(training) for name, training in trained.items()},
        costs=costs,
        ranked=first.annotate(shown, n_tags=6),
        true_tags=[list(picture.true_tags) for picture in report_pictures(first, shown)],
        model=folder / "model",
        report=folder / "report.html",
        seconds=time.perf_counter() - started,
    )


def _tune(pictures: Collection, *, seed: int, n_jobs: int | None) -> dict[str, float]:
    """The best C of every method that has one, by the class name of its estimator."""
    intake, costs = take_in(pictures), {}
    for method in methods():
        estimator = make_estimator(method.name, {}, seed=seed)
        if hasattr(estimator, "C"):
            estimator = choose_estimator(estimator.set_params(kernel="chi2", n_jobs=n_jobs), intake)
            costs[method.estimator] = tune_cost(estimator, intake.views, pictures.Y, seed=seed).best()
    return costs


def _held_out(training: Training) -> MetricTable:
    assert training.held_out is not None, "drawn pictures have a test part"
    return training.held_out


def _write_report(
    path: Path,
    pictures: Collection,
    trained: dict[str, Training],
    costs: dict[str, float],
    seconds: float,
) -> None:
    first = next(iter(trained.values()))
    test = pictures.test
    write_report(
        path,
        title="tagrank on drawn pictures",
        summary=(
            "Small pictures drawn from a seed, described by histograms of colours and edges. Tags are "
            "learned on one part of the pictures and ranked for the other, which is shown and measured here. "
            "C is chosen by cross-validation on the first part."
        ),
        methods=[
            MethodResult(name, _held_out(training), training.trace) for name, training in trained.items()
        ],
        pictures=report_pictures(first.annotator, test.subset(slice(PICTURES_SHOWN))),
        per_tag=evaluate(first.annotator, test, part="all").per_tag,
        facts={
            "training pictures": first.facts["rows"],
            "test pictures": len(test),
            "tags": len(pictures.tags),
            "tags a picture": first.facts["cardinality"],
            **{f"C of {name}": cost for name, cost in costs.items()},
            "seconds": seconds,
        },
    )
