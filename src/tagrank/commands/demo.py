"""The whole path on pictures that are drawn on the spot: nothing to download, nothing to prepare."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tagrank.commands.evaluate import Evaluation, evaluate
from tagrank.commands.options import ALL_METRICS, JOBS, OUTPUT, SEED
from tagrank.commands.tables import Screen, metric_lines, quality_lines, ranked_table
from tagrank.commands.train import Training, train
from tagrank.estimators.methods import find_method
from tagrank.options import Option
from tagrank.progress import Progress

if TYPE_CHECKING:
    from tagrank.annotation import RankedTags
    from tagrank.data import Collection
    from tagrank.metrics import MetricTable
    from tagrank.reports.quality import QualityNote

PICTURES_PRINTED = 6
METHODS_SHOWN = ("label-ranker", "one-vs-all", "label-frequency")
FEATURES_SHOWN = ("gist", "lab_v3h1", "dense_sift_v3h1", "dense_hue", "lbp", "phog")


@dataclass(frozen=True)
class Demonstration:
    """What the demonstration found and wrote.

    Attributes
    ----------
    tables : class name of each method to its metrics on the test pictures
    costs : class name of each method that has a C to the one that cross-validation chose
    ranked : the best tags of some test pictures, by the first method
    true_tags : the tags that these pictures really have
    quality : what the tags of the first method are worth on the test pictures
    model, report : what was written
    seconds : all in all
    """

    tables: dict[str, MetricTable]
    costs: dict[str, float]
    ranked: list[RankedTags]
    true_tags: list[list[str]]
    quality: QualityNote
    model: Path
    report: Path
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers for JSON."""
        return {
            "quality": self.quality.to_dict(),
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
    output: Annotated[str | os.PathLike, OUTPUT] = "tagrank-demo",
    *,
    n_pictures: Annotated[int, Option(low=20)] = 400,
    seed: Annotated[int, SEED] = 0,
    n_jobs: Annotated[int | None, JOBS] = None,
    callback: Callable[[Any], None] | None = None,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> Demonstration:
    """Draw pictures, learn their tags and write a report, all in under a minute.

    Three methods are trained, as `train` does for pictures: all use the same features and the mean of their
    kernels, choose C by cross-validation on the training pictures, and learn a calibration and a threshold.
    The model of the first method is saved.

    Parameters
    ----------
    output : folder for the model and the report
    n_pictures : number of pictures to draw; 70 % of them are for training
    seed : random seed
    n_jobs : number of processes and threads
    callback : called with a TracePoint while training
    progress : called with the number of steps done, the number of steps, and the name of the work
    stop : function without arguments; when it returns True, the current training ends early

    Returns
    -------
    Demonstration

    Command line
    ------------
    tagrank demo
    tagrank demo --output tour --seed 7
    """
    from tagrank.annotation import describe_pictures
    from tagrank.annotation.model_files.storage import check_replaceable
    from tagrank.commands.destinations import check_folder, check_page
    from tagrank.data.drawn_pictures import draw_pictures
    from tagrank.features import installed_features

    started = time.perf_counter()
    folder = Path(output)
    check_folder(folder)
    check_folder(folder / "model")
    check_replaceable(folder / "model")
    check_page(folder / "report.html")
    shown = installed_features(FEATURES_SHOWN)
    drawn = draw_pictures(n_pictures, random_state=seed)
    reading: dict[str, Any] = {"n_jobs": n_jobs, "progress": progress}
    seen = describe_pictures(drawn.train, shown, random_state=seed, **reading)
    test = describe_pictures(drawn.test, seen.features, **reading).collection
    trained: dict[str, Training] = {}
    for method in map(find_method, METHODS_SHOWN):
        trained[method.estimator] = train(
            seen.collection,
            folder / "model" if not trained else None,
            method=method.name,
            features=seen.features,
            # whoever draws pictures knows all their tags
            completeness=1.0,
            seed=seed,
            callback=callback,
            n_jobs=n_jobs,
            progress=progress,
            stop=stop,
        )
    measured = {name: evaluate(training.annotator, test, part="all") for name, training in trained.items()}
    quality = next(iter(measured.values())).quality.of_unseen(len(test))
    seconds = time.perf_counter() - started
    _write_report(folder / "report.html", drawn, test, trained, measured, seen.seconds, seconds)
    printed = test.subset(slice(PICTURES_PRINTED))
    return Demonstration(
        tables={name: evaluation.table for name, evaluation in measured.items()},
        costs=_costs(trained),
        ranked=next(iter(trained.values())).annotator.annotate(printed, n_tags=6),
        true_tags=[
            [tag for tag, state in zip(printed.tags, states, strict=True) if state > 0]
            for states in printed.states()
        ],
        quality=quality,
        model=folder / "model",
        report=folder / "report.html",
        seconds=time.perf_counter() - started,
    )


def _costs(trained: dict[str, Training]) -> dict[str, float]:
    return {name: training.chosen_cost for name, training in trained.items() if training.chosen_cost}


def _write_report(
    path: Path,
    drawn: Collection,
    test: Collection,
    trained: dict[str, Training],
    measured: dict[str, Evaluation],
    feature_seconds: dict[str, float],
    seconds: float,
) -> None:
    from tagrank.reports.report import write_model_report

    name, first = next(iter(trained.items()))
    write_model_report(
        path,
        title="tagrank on drawn pictures",
        summary=(
            "The pictures are drawn by a program and described by their layout, colours and textures. The "
            "model learned from the training pictures, where cross-validation chose C; this report shows and "
            "measures the test pictures."
        ),
        quality=measured[name].quality.of_unseen(len(test)),
        annotator=first.annotator,
        rows=test,
        tables={name: evaluation.table for name, evaluation in measured.items()},
        per_tag=measured[name].per_tag,
        answers=measured[name].answers,
        traces={name: training.trace for name, training in trained.items()},
        feature_seconds=feature_seconds,
        training=drawn.train,
        facts={
            "training pictures": first.facts["rows"],
            "test pictures": len(test),
            "tags": len(drawn.tags),
            "tags per picture": first.facts["cardinality"],
            **{f"C of {name}": cost for name, cost in _costs(trained).items()},
            "seconds": seconds,
        },
    )


def show_demonstration(
    demonstration: Demonstration, *, json: bool = False, all_metrics: Annotated[bool, ALL_METRICS] = False
) -> Screen:
    """The metrics of all methods, and the ranked tags of some pictures.

    Parameters
    ----------
    demonstration : what `demo` returned
    json : whether JSON is shown instead
    all_metrics : show all metrics, not only the three most important ones
    """
    if json:
        return Screen()
    tables = [
        *quality_lines(demonstration.quality),
        *metric_lines(demonstration.tables, every=all_metrics),
        "",
        ranked_table(demonstration.ranked, demonstration.true_tags),
    ]
    said = (
        "✓ predicted and right, ✗ predicted but wrong; the other tags are not predicted",
        f"model written to {demonstration.model}",
        f"report written to {demonstration.report}; open it in a browser",
    )
    return Screen(tables, said)


def draw_archive(
    folder: str | os.PathLike, *, n_pictures: int = 400, size: int = 144, hidden: float = 0.5, seed: int = 0
) -> None:
    """Draw pictures into a folder that does not exist yet, with a list of some of their tags.

    Parameters
    ----------
    folder : is complete when this returns, or not there
    n_pictures, size, seed : as in `draw_pictures`
    hidden : share of the tags that the list lacks
    """
    from tagrank.data.drawn_pictures import draw_pictures
    from tagrank.data.splits import hide_labels
    from tagrank.data.writers.tags import write_picture_folder

    drawn = draw_pictures(n_pictures, size=size, random_state=seed)
    write_picture_folder(drawn.replaced(labels=hide_labels(drawn.labels, hidden, random_state=seed)), folder)
