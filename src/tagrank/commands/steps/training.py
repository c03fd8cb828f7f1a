"""Steps of `train`: rows to learn from and to measure on, the model once more on all, and its notes."""

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from sklearn.base import clone

from tagrank.annotation import Annotator
from tagrank.annotation.describing import DescribedPictures
from tagrank.annotation.model_files.storage import check_replaceable
from tagrank.commands.destinations import check_apart, check_folder
from tagrank.commands.evaluate import SPELLING, Evaluation
from tagrank.commands.given_data import (
    check_has_tags,
    check_several,
    choose_part,
    keep_frequent,
    known_pictures,
    open_collection,
)
from tagrank.commands.train import final_estimator
from tagrank.data import Collection, Reading, clean_tags, split_collection
from tagrank.estimators.base import innermost_fitted
from tagrank.estimators.tag_matrices import is_matrix_file
from tagrank.features import Feature
from tagrank.reports.model_notes import CHOICE, KERNELS, describe_choice, describe_kernels
from tagrank.reports.picture_pixels import remember_pictures
from tagrank.reports.quality import QualityNote, model_quality


class TrainingRows(NamedTuple):
    """What is learned from, and what is measured on.

    Attributes
    ----------
    train : rows to train on
    test : rows to measure on afterwards, if there are any
    everything : rows to train on again after that, if that is asked for
    spelling : how their tags were tidied, for the notes of the model
    """

    train: Collection
    test: Collection | None
    everything: Collection | None
    spelling: dict[str, Any]


def check_output(data: Any, output: str | os.PathLike, parameters: Mapping[str, Any]) -> None:
    """Raise unless a model could be written at `output`, where nothing lies that is read."""
    check_folder(output)
    check_replaceable(output)
    check_apart(data, *filter(is_matrix_file, parameters.values()), output=output)


def read_rows(
    data: Collection | str | os.PathLike,
    reading: Reading,
    *,
    part: str | None,
    test_size: float | None,
    refit: bool,
    seed: int,
) -> TrainingRows:
    """The rows of the data about which something is known, with tidy tags."""
    spelling = reading.spelling()
    tagged = check_has_tags(open_collection(data, reading), data)
    tidy = clean_tags(known_pictures(tagged), **spelling)
    rows, rest = _parts(tidy, part, test_size, seed)
    everything = choose_part(tidy, part, usual="all") if refit and test_size is not None else None
    rows = keep_frequent(check_several(rows), reading.min_count)
    if everything is not None:
        everything = keep_frequent(everything, reading.min_count)
    return TrainingRows(rows, rest, everything, spelling | {"parents": _all_above(tidy)})


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


def _all_above(rows: Collection) -> dict[str, list[str]]:
    """What each tag implies, by whatever it was known: data to measure on are to say the same."""
    above: dict[str, list[str]] = {}
    for tag, one in rows.implies:
        above.setdefault(tag, []).append(one)
    return above


def check_learned(annotator: Annotator, *, max_seconds: float | None) -> None:
    """Raise again a Ctrl-C that a solver took before its first pass: there is nothing worth keeping."""
    solved = final_estimator(annotator)
    is_empty = getattr(solved, "n_iter_", 1) == 0 and not getattr(solved, "converged_", True)
    if is_empty and max_seconds is None:
        raise KeyboardInterrupt


def can_refit(parameters: Mapping[str, Any]) -> bool:
    """Whether what was chosen can be trained on other tags: matrices and weights of tags belong to these."""
    return not any(
        isinstance(value, Mapping) or hasattr(value, "shape") or is_matrix_file(value)
        for value in parameters.values()
    )


def features_to_learn_from(
    annotator: Annotator, features: Mapping[str, Feature]
) -> Mapping[str, Feature] | None:
    """Those that the model reads; all `features` for one that weighs them itself, each time it is trained."""
    weighs = hasattr(innermost_fitted(annotator.estimator_), "kernel_weights_")
    return dict(features) if weighs and features else annotator.features_


def trained_again(
    annotator: Annotator, rows: Collection, *, features: Mapping[str, Feature] | None, **hooks: Any
) -> Annotator:
    """What was chosen, trained on these rows, which have these sets of features."""
    again = Annotator(
        clone(annotator.estimator_),
        criterion=annotator.criterion,
        view=annotator.view,
        features=features,
        scaling=annotator.scaling_,
    )
    again.fit(rows, **hooks)
    again.choice_, again.tuning_ = annotator.choice_, annotator.tuning_
    return again


def note(
    annotator: Annotator,
    described: DescribedPictures,
    spelling: Mapping[str, Any],
    costs: Mapping[str, float],
) -> None:
    """Write down what later commands ask the model: its tags, how it was chosen, and its pictures."""
    annotator.metadata |= {
        SPELLING: dict(spelling),
        CHOICE: describe_choice(annotator.choice_),
        KERNELS: describe_kernels(annotator, costs),
        **remember_pictures(described.collection, described.keys),
    }


def quality_of(annotator: Annotator, tested: Evaluation | None, kind: str) -> QualityNote | None:
    """What the predicted tags are worth, on rows held out or, without any, in the folds of the training."""
    if tested is None:
        return model_quality(annotator, kind=kind)
    if not tested.is_telling:
        return None
    return tested.quality.of_unseen(tested.table.n_samples, kind)
