"""Train a model from data on disk and keep it in a folder."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from tagrank.commands.evaluate import evaluate
from tagrank.commands.options import (
    ALL_METRICS,
    AUTO,
    CACHE,
    COMPLETENESS,
    DATA,
    FEATURES,
    JOBS,
    KERNEL_POWER,
    LOOKS,
    MEMORY,
    METHOD_NAME,
    NUMBERS,
    PART,
    SCALING,
    SCHEDULER,
    SEED,
    SHARED,
    THRESHOLD,
    VIEW,
    TrainingParameters,
)
from tagrank.commands.tables import QUIET, Screen, counted, facts_table, metric_lines, quality_lines, table_of
from tagrank.data.reading import Reading
from tagrank.files import Problem
from tagrank.options import METHOD, ROWS, Option, share, share_or_all
from tagrank.progress import WRITING, Progress
from tagrank.visible_text import printable

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tagrank.annotation import Annotator
    from tagrank.annotation.choosing import Choice, Trial
    from tagrank.annotation.choosing.looks import LooksChoice
    from tagrank.annotation.describing import Cache
    from tagrank.data import Collection
    from tagrank.estimators.calibration.completeness import Completeness
    from tagrank.features import Feature
    from tagrank.metrics import MetricTable
    from tagrank.reports.quality import QualityNote

NO_CALIBRATION = "none"
# where the tags of a folder of pictures come from, by the name of its layout
SOURCES = {
    "tag_list": "the list of tags in the folder",
    "corel5k": "the files of Corel5k",
    "voc": "PASCAL VOC annotations",
    "coco": "COCO annotations",
    "keywords": "keywords in sidecars and pictures",
    "tag_folders": "names of folders",
    "untagged": "decisions only",
}
CALIBRATION = Option(
    METHOD,
    words=(AUTO, SHARED, "platt", "isotonic", NO_CALIBRATION),
    read=lambda word: None if word == NO_CALIBRATION else word,
)


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
    quality : what the predicted tags are worth, on those rows or, without any, in the folds of the training;
        or None
    feature_seconds : set of picture features to the seconds that it took, not counting what was known already
    problems : files that were left out, and why
    n_refit : how many rows it was trained on again after it was measured; None if it was not
    looks : how the number of looks at a picture was chosen; None where it was given
    """

    annotator: Annotator
    method: str
    facts: dict[str, Any]
    seconds: float
    held_out: MetricTable | None
    feature_seconds: Mapping[str, float] = field(default_factory=dict)
    problems: Sequence[Problem] = ()
    quality: QualityNote | None = None
    n_refit: int | None = None
    looks: LooksChoice | None = None

    @property
    def choice(self) -> Choice | None:
        """What was tried and what was chosen; None where nothing was."""
        return self.annotator.choice_

    @property
    def completeness(self) -> Completeness | None:
        """The share of the true tags that are listed, where it was estimated or parts."""
        return getattr(self.annotator.estimator_, "completeness_", None)

    @property
    def tuning(self) -> Trial | None:
        """How well the values of C did that were tried; None where none were."""
        return self.annotator.tuning_

    @property
    def certificate(self) -> dict[str, Any]:
        """Passes, objectives and relative duality gap of the solver; empty for a method without one."""
        solved = final_estimator(self.annotator)
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
        return list(getattr(final_estimator(self.annotator), "trace_", ()))

    @property
    def chosen_cost(self) -> float | None:
        """The C that cross-validation chose, if it did."""
        return None if self.tuning is None else self.tuning.best(self.annotator.criterion)

    @property
    def cost(self) -> float | None:
        """The C that was trained with; None for a method without one."""
        return getattr(final_estimator(self.annotator), "C", None)

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers for JSON."""
        from tagrank.reports.model_notes import KERNELS

        return {
            "method": self.method,
            "quality": None if self.quality is None else self.quality.to_dict(),
            "choice": None if self.choice is None else self.choice.to_dict(),
            "completeness": None if self.completeness is None else self.completeness._asdict(),
            "data": self.facts,
            "refit": self.n_refit,
            "looks": None if self.looks is None else self.looks.to_dict(),
            "seconds": self.seconds,
            "certificate": self.certificate,
            "kernels": self.annotator.metadata.get(KERNELS),
            "C": None if self.tuning is None else self.tuning.to_dict(),
            "feature_seconds": dict(self.feature_seconds),
            "problems": [vars(problem) for problem in self.problems],
            "held_out": None if self.held_out is None else self.held_out.to_dict(),
        }


def train(
    data: Annotated[Collection | str | os.PathLike, DATA],
    output: Annotated[str | os.PathLike | None, Option(names=("--output", "-o"), is_required=True)] = None,
    *,
    method: Annotated[str, METHOD_NAME] = AUTO,
    seed: Annotated[int, SEED] = 0,
    calibration: Annotated[str | None, CALIBRATION] = AUTO,
    threshold: Annotated[str | None, THRESHOLD] = None,
    n_tags: Annotated[int, Option(METHOD, low=1)] = 5,
    completeness: Annotated[float | None, COMPLETENESS] = None,
    precision: Annotated[
        float | None, Option(METHOD, usual="the best balance of precision and recall", check=share_or_all)
    ] = None,
    kernel_power: Annotated[int | None, KERNEL_POWER] = None,
    scaling: Annotated[str | None, SCALING] = None,
    view: Annotated[str | None, VIEW] = None,
    features: Annotated[str | Sequence[str] | Mapping[str, Feature] | None, FEATURES] = None,
    looks: Annotated[int | str | None, LOOKS] = None,
    cache: Annotated[Cache, CACHE] = True,
    reading: Reading = Reading(),
    part: Annotated[str | None, PART] = None,
    test_size: Annotated[float | None, Option(ROWS, check=share)] = None,
    refit: Annotated[bool, Option(ROWS)] = True,
    keep_rows: Annotated[bool, Option(ROWS)] = False,
    n_jobs: Annotated[int | None, JOBS] = None,
    memory: Annotated[float | None, MEMORY] = None,
    exact: Annotated[bool, Option(NUMBERS)] = False,
    scheduler: Annotated[Any, SCHEDULER] = None,
    callback: Callable[[Any], None] | None = None,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
    **parameters: Annotated[Any, Option(group=TrainingParameters)],
) -> Training:
    """Train a model on tagged data and save it in a folder.

    Parameters
    ----------
    data : a folder of pictures, a file (.csv, .jsonl, .json, .arff, .libsvm, .npz, .npy) or a name from
        'tagrank datasets'. In Python, also a `Collection`
    output : folder for the model. In Python, None keeps it in memory only
    method : learning method by our name or the published one, see 'tagrank methods'; auto tries the best ones
        and keeps the winner on held-out pictures, or two of them together
    seed : random seed
    calibration : how scores become probabilities, learned on held-out folds: shared uses one curve for all
        tags, platt and isotonic a curve for each tag; auto is shared if there are at least ten pictures or
        rows. In Python, None for no probabilities
    threshold : how to learn, on held-out folds, which tags to predict; for calibration platt or isotonic
    n_tags : tags per picture, for threshold top-k
    completeness : share of the true tags that are listed: 0.5 if half of them are, 1 if the tags are complete
    precision : target precision, such as 0.8: predict only tags that are right this often
    kernel_power : raise the kernel to this power; for pictures, it is chosen together with C
    scaling : how to scale the columns of rows; auto depends on the kernel, and for counts is chosen by
        cross-validation
    view : view (set of columns) to learn from, if the data have several
    features : how to describe pictures: fast, papers, embedding, all, names from 'tagrank features', or an
        .onnx file. In Python, also a mapping of names to features, see `choose_features`. An error for rows
        that are not pictures
    looks : number of versions of each picture that embeddings see: 2 adds the mirror image, 4 also the centre
        and its mirror image; each version costs time. auto uses more if they improve the ranking of held-out
        pictures
    cache : folder that stores features for the next run. In Python, True is the user's cache folder and False
        stores none
    reading : how to read the data and clean up their tags
    part : part of the data to train on, or 'all'
    test_size : share of the pictures or rows to hold out and measure on: 0.25 for a quarter. In Python, also
        a number of rows; each tag keeps its share
    refit : after measuring, train again on all pictures or rows, including those held out
    keep_rows : store all training rows in the model, so that it can be trained further
    n_jobs : number of processes and threads
    memory : memory that training may use, such as 8G. If this is too little to compare all pairs of rows,
        rows are compared with a sample of landmark rows. In Python, a number of bytes
    exact : compare all pairs of rows, or stop with an error if memory does not allow it
    scheduler : address of a Dask scheduler whose workers describe the pictures. In Python, also a
        `distributed.Client`
    callback : called with a TracePoint while training
    progress : called with the number of steps done, the number of steps, and the name of the work
    stop : function without arguments, such as ``threading.Event().is_set``; when it returns True, training
        stops and keeps the result
    parameters : of the estimator, such as `C`, `kernel`, `tol`, `max_seconds` or `prior`; the `Recipe`
        chooses what is not given

    Returns
    -------
    Training

    Command line
    ------------
    Press Ctrl-C during training to stop early and save the result. Before training starts, Ctrl-C saves
    nothing, but the next run does not describe the same pictures again.

    tagrank train photos/ -o model --test-size 0.25
    tagrank train photos/ -o model --features papers --features embedding
    tagrank train photos/ -o model --looks auto
    tagrank train photos.csv -o model -c config.yml --lower-case
    tagrank train photos/ -o model --precision 0.8 --completeness 0.5
    tagrank train rows.npy -o model --memory 8G
    tagrank train scene -o model --method one-vs-all --C 10
    tagrank train scene -o model --method joint-svm --set decoding=transfer
    tagrank train photos/ -o model --method prior-margin --set prior=prior.csv
    """
    from tagrank.annotation import Annotator, Recipe
    from tagrank.annotation.choosing.looks import check_looks, describe_with_looks
    from tagrank.annotation.describing import PICTURES, kind_of, name_features, see_pictures
    from tagrank.commands.steps import training as steps

    if output is not None:
        steps.check_output(data, output, parameters)
    recipe = Recipe(
        method,
        parameters,
        calibration,
        threshold,
        n_tags,
        seed,
        n_jobs,
        completeness,
        precision,
        kernel_power,
        scaling,
        memory,
        exact,
    )
    features = name_features(features)
    check_looks(looks)
    parts = steps.read_rows(data, reading, part=part, test_size=test_size, refit=refit, seed=seed)
    if PICTURES in parts.train.views:
        recipe.check_pictures()
    strict = reading.strict
    where: dict[str, Any] = {"cache": cache, "n_jobs": n_jobs, "scheduler": scheduler, "progress": progress}
    describing = {**where, "strict": strict}
    hooks: dict[str, Any] = {"callback": callback, "progress": progress, "stop": stop}
    described, looks_choice = describe_with_looks(parts.train, features, looks, seed=seed, **describing)
    rows, feature_seconds, costs = described.collection, described.seconds, described.seconds_a_picture
    annotator = Annotator(recipe.with_costs(costs), view=view, features=described.features or None)
    started = time.perf_counter()
    annotator.fit(rows, **hooks)
    seconds = time.perf_counter() - started
    steps.check_learned(annotator, max_seconds=parameters.get("max_seconds"))
    tested = None
    if parts.test is not None:
        tested = evaluate(annotator, parts.test, part="all", reading=Reading(strict=strict), **where)
    facts, n_refit = {**rows.summary(), "layout": rows.layout}, None
    is_stopped = stop is not None and stop()
    if parts.everything is not None and not is_stopped and steps.can_refit(parameters):
        learned = steps.features_to_learn_from(annotator, described.features)
        described = see_pictures(annotator, parts.everything, features=learned, **describing)
        rows, n_refit = described.collection, len(described.collection)
        annotator = steps.trained_again(annotator, rows, features=learned, **hooks)
    steps.note(annotator, described, parts.spelling, costs)
    if output is not None:
        if progress is not None:
            # the last moment to give up
            progress(0, 1, WRITING)
        annotator.save(output, keep_rows=keep_rows)
    return Training(
        annotator,
        method,
        facts,
        seconds,
        held_out=None if tested is None else tested.table,
        feature_seconds=feature_seconds,
        # what was wrong with the folder as a whole stands in both
        problems=tuple(dict.fromkeys((*rows.problems, *(tested.problems if tested else ())))),
        quality=steps.quality_of(annotator, tested, kind_of(rows.views)),
        n_refit=n_refit,
        looks=looks_choice,
    )


def final_estimator(annotator: Annotator) -> Any:
    """The estimator that was trained on everything, inside of whatever calibrates it."""
    return getattr(annotator.estimator_, "estimator_", annotator.estimator_)


def show_training(
    training: Training,
    *,
    output: str | os.PathLike,
    json: bool = False,
    all_metrics: Annotated[bool, ALL_METRICS] = False,
) -> Screen:
    """The quality of the predicted tags, facts about the training, and the metrics on held-out rows.

    Parameters
    ----------
    training : what `train` returned
    output : folder of the model
    json : whether JSON is shown instead
    all_metrics : show all metrics, not only the three most important ones
    """
    return Screen(
        [] if json else _tables(training, all_metrics),
        [] if json else [f"model written to {output}"],
        {"skipped": training.problems},
        document={"model": str(output), **training.to_dict()} if json else None,
    )


def _tables(training: Training, all_metrics: bool) -> list[RenderableType]:
    facts = training.facts
    kind = "picture" if "pictures" in facts["views"] else "row"
    sizes = f"{counted(facts['rows'], kind)}, {counted(facts['tags'], 'tag')}"
    lines = _choice_lines(training)
    lines["data"] = f"{sizes}, {facts['cardinality']:.2f} each"
    if training.completeness is not None:
        lines["true tags listed"] = training.completeness.told
    lines["training seconds"] = f"{training.seconds:.2f}"
    if training.n_refit is not None:
        lines["final training"] = f"on all {counted(training.n_refit, kind)}, after the measurement"
    if facts["layout"]:
        lines["tags from"] = SOURCES.get(facts["layout"], facts["layout"])
    if facts["decisions"]:
        lines["decided by you"] = counted(facts["decisions"], "tag")
    if training.choice is not None and training.choice.plan:
        lines["rows"] = training.choice.plan
    if training.looks is not None:
        lines["looks"] = training.looks.words
    if training.feature_seconds:
        lines["features"] = ", ".join(training.feature_seconds)
        lines["feature seconds"] = f"{sum(training.feature_seconds.values()):.2f}"
    if training.choice is None and training.cost is not None:
        lines["C"] = f"{training.cost:g}"
    if training.certificate:
        lines["passes"] = f"{training.certificate['n_iter']:,}"
        lines["duality gap"] = f"{training.certificate['gap']:.1e}"
    summary = [*quality_lines(training.quality), facts_table(lines), *_kernel_table(training)]
    if training.held_out is None:
        return summary
    name = f"held out ({counted(training.held_out.n_samples, kind)})"
    return [*summary, "", *metric_lines({name: training.held_out}, every=all_metrics)]


def _kernel_table(training: Training) -> list[RenderableType]:
    """What each kernel weighs and costs, the heaviest first; nothing where no weights were found."""
    from tagrank.reports.model_notes import KERNELS, kernel_lines

    known = training.annotator.metadata.get(KERNELS)
    if known is None:
        return []
    table = table_of("kernel", "weight", "ms per picture", numbers=True)
    for line in kernel_lines(known):
        weight = f"{line['weight']:.3f}" if line["weight"] > 0 else "–"
        cost = "–" if line["milliseconds"] is None else f"{line['milliseconds']:.1f}"
        table.add_row(printable(line["name"]), weight, cost, style="" if line["weight"] > 0 else QUIET)
    return ["", table]


def _choice_lines(training: Training) -> dict[str, str]:
    """What was chosen and by how much it won; without a choice, what was asked for."""
    from tagrank.reports.model_notes import choice_words

    if training.choice is None:
        return {"method": str(training.annotator.metadata["method"])}
    return {"chosen": training.choice.words, "by cross-validation": choice_words(training.choice)}
