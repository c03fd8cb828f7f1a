"""Tags that pictures probably lack, and tags that they probably have by mistake."""

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tagrank.annotation.describing import PICTURES, Cache, Description, describe_pictures
from tagrank.annotation.estimator_choice import mean_kernel
from tagrank.annotation.picture_keys import Progress
from tagrank.annotation.tuning import COSTS
from tagrank.data import Collection, clean_tags
from tagrank.features import Feature, choose_features, usual_features
from tagrank.files import FileError
from tagrank.study.destinations import check_file
from tagrank.study.inputs import choose_part, open_collection
from tagrank.study.list_files import check_list
from tagrank.study.missing_page import write_missing_page
from tagrank.study.missing_result import MissingTags, Suggestion, write_suggestions
from tagrank.study.missing_scores import HeldOut, hold_out
from tagrank.study.training import PICTURE_COSTS, make_estimator
from tagrank.validation import check_choice

CALIBRATIONS = ("platt", "isotonic")
STATE_NAMES = {1: "present", -1: "absent", 0: "unknown"}


def missing(
    data: Collection | str | os.PathLike,
    output: str | os.PathLike | None = None,
    *,
    wrong: bool = False,
    untagged: bool = False,
    top: int | None = 50,
    per_tag: int | None = None,
    min_probability: float = 0.0,
    max_probability: float = 1.0,
    method: str = "label-ranker",
    folds: int = 5,
    calibration: str = "platt",
    seed: int = 0,
    view: str | None = None,
    features: str | Sequence[str] | Mapping[str, Feature] | None = None,
    cache: Cache = True,
    strict: bool = False,
    part: str | None = None,
    lower_case: bool = False,
    min_count: int = 0,
    page: str | os.PathLike | None = None,
    progress: Progress | None = None,
    **parameters: Any,
) -> MissingTags:
    """Find tags that pictures probably lack, or that they probably have by mistake.

    Every picture is judged by a model that saw neither it nor its tags. Candidates for missing tags are those
    that are absent or unknown, the most probable first; with `wrong` those that are present, the least
    probable first.

    Parameters
    ----------
    data : a Collection, a folder of pictures, a file or a name, as `open_collection` takes it
    output : a ``.csv`` or ``.jsonl`` file to write, one line a suggestion, or None
    wrong : look for tags that are probably wrong instead
    untagged : also propose tags for pictures of which nothing is known; one model of all the others judges
        them
    top : how many suggestions at most; None for all
    per_tag : how many suggestions at most of the same tag; None for all
    min_probability, max_probability : leave out tags that are less or more probable
    method : a name from `methods`
    folds : models that share the pictures; each learns from all but its own share
    calibration : {"platt", "isotonic"}, how scores become probabilities
    seed : for everything random
    view : the view to learn from, where there are several
    features : how pictures are described, see `choose_features`; the best that is installed by default
    cache : whether the features of pictures are kept for the next time; or a folder for them
    strict : stop at the first picture that cannot be read instead of leaving it out
    part : the part to look at; None means every row
    lower_case : take "Sky" and "sky" for the same tag
    min_count : leave out tags of fewer pictures
    page : an HTML file to write, with the pictures inside, or None
    progress : called with how much is done, of how much, and what is being done
    parameters : of the estimator, such as `C`, `kernel`, `tol` or `n_jobs`; None leaves its default, but C is
        chosen by cross-validation, and the kernel for pictures is the mean of those that suit the features

    Returns
    -------
    MissingTags
    """
    check_choice("calibration", calibration, CALIBRATIONS)
    _check_limits(top=top, per_tag=per_tag, min_probability=min_probability, max_probability=max_probability)
    if wrong and untagged:
        raise ValueError("pictures without tags have none that could be wrong; leave out untagged or wrong")
    if output is not None:
        check_list(output, "suggestions")
    if page is not None:
        check_file(page)
    estimator = make_estimator(method, parameters, seed=seed)
    rows = choose_part(_named(open_collection(data, strict=strict)), part, usual="all")
    rows = _usable(clean_tags(rows, fold_case=lower_case, min_count=min_count), untagged)
    reading: dict[str, Any] = {"cache": cache, "strict": strict, "progress": progress}
    described = _see(rows, features, n_jobs=parameters.get("n_jobs"), random_state=seed, **reading)
    rows = described.collection
    held_out = hold_out(
        rows,
        estimator,
        view=view,
        features=described.features or None,
        costs=_suit(estimator, parameters, described.features),
        folds=folds,
        calibration=calibration,
        seed=seed,
        progress=progress,
    )
    is_candidate = held_out.is_judged & ((held_out.states > 0) if wrong else (held_out.states <= 0))
    is_wanted = is_candidate & _is_between(held_out.probabilities, min_probability, max_probability)
    places, columns = _first_pairs(held_out, is_wanted, wrong=wrong, top=top, per_tag=per_tag)
    found = MissingTags(
        _suggestions(rows, held_out, places, columns),
        wrong,
        method,
        folds,
        rows.summary(),
        int(is_candidate.sum()),
        _unjudged(rows.tags, held_out),
        held_out.tuning,
        described.seconds,
        rows.problems,
    )
    if output is not None:
        write_suggestions(output, found.suggestions)
    if page is not None:
        write_missing_page(page, found, rows, places)
    return found


def _check_limits(
    *, top: int | None, per_tag: int | None, min_probability: float, max_probability: float
) -> None:
    for name, count in {"top": top, "per_tag": per_tag}.items():
        if count is not None and count < 1:
            raise ValueError(f"{name} must be at least 1, or None for all, got {count!r}")
    if not 0 <= min_probability <= max_probability <= 1:
        raise ValueError(
            "probabilities lie between 0 and 1, the smallest first; got "
            f"min_probability={min_probability!r} and max_probability={max_probability!r}"
        )


def _named(rows: Collection) -> Collection:
    """Rows without names are called by their numbers in the data, whatever is left out afterwards."""
    if rows.names is not None:
        return rows
    return replace(rows, names=[f"row {i}" for i in range(len(rows))])


def _usable(rows: Collection, untagged: bool) -> Collection:
    """The rows of which something is known; with `untagged` all."""
    is_known = np.any(rows.states() != 0, axis=1)
    if not is_known.any():
        raise ValueError(
            f"none of the {len(rows):,} pictures of {rows.name or 'the data'} has tags to learn from"
        )
    return rows if untagged else rows.subset(is_known)


def _see(
    rows: Collection, features: str | Sequence[str] | Mapping[str, Feature] | None, **reading: Any
) -> Description:
    """The rows, described if they are pictures."""
    if PICTURES not in rows.views:
        return Description(rows, {}, {})
    chosen = choose_features(usual_features() if features is None else features)
    described = describe_pictures(rows, chosen, **reading)
    if not len(described.collection):
        problem = described.collection.problems[-1]
        raise FileError(problem.path, f"none of {len(rows):,} pictures can be read: {problem.reason}")
    return described


def _suit(
    estimator: Any, parameters: Mapping[str, Any], features: Mapping[str, Feature]
) -> Sequence[float] | None:
    """Give the estimator the kernel of these features, unless one was chosen; the costs to try, likewise."""
    if features and hasattr(estimator, "kernel") and parameters.get("kernel") is None:
        estimator.set_params(kernel=mean_kernel(features))
    if parameters.get("C") is not None:
        return None
    return PICTURE_COSTS if features else COSTS


def _is_between(values: np.ndarray, lowest: float, highest: float) -> np.ndarray:
    return (values >= lowest) & (values <= highest)


def _first_pairs(
    held_out: HeldOut, is_wanted: np.ndarray, *, wrong: bool, top: int | None, per_tag: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the suggestions in their order; of equal probabilities the scores decide."""
    places, columns = np.nonzero(is_wanted)
    direction = 1 if wrong else -1
    keys = [direction * values[is_wanted] for values in (held_out.scores, held_out.probabilities)]
    order = np.lexsort(keys)
    if per_tag is not None:
        order = order[_occurrence(columns[order]) < per_tag]
    return places[order[:top]], columns[order[:top]]


def _occurrence(values: np.ndarray) -> np.ndarray:
    """How many entries before each one have the same value."""
    by_value = np.argsort(values, kind="stable")
    _, starts, counts = np.unique(values[by_value], return_index=True, return_counts=True)
    occurrence = np.empty(len(values), dtype=np.intp)
    occurrence[by_value] = np.arange(len(values)) - np.repeat(starts, counts)
    return occurrence


def _suggestions(
    rows: Collection, held_out: HeldOut, places: np.ndarray, columns: np.ndarray
) -> list[Suggestion]:
    names = rows.names or ()
    return [
        Suggestion(
            names[i],
            rows.tags[j],
            float(held_out.probabilities[i, j]),
            float(held_out.scores[i, j]),
            rank,
            STATE_NAMES[int(held_out.states[i, j])],
        )
        for rank, (i, j) in enumerate(zip(places.tolist(), columns.tolist(), strict=True), start=1)
    ]


def _unjudged(tags: Sequence[str], held_out: HeldOut) -> list[str]:
    """Tags that some model had never seen; said once, by number."""
    found = [tags[int(j)] for j in np.flatnonzero(~np.all(held_out.is_judged, axis=0))]
    if found:
        warnings.warn(
            f"{len(found)} of {len(tags)} tags are in too few pictures to be judged everywhere, such as "
            f"{found[0]!r}; min_count leaves rare tags out",
            stacklevel=3,
        )
    return found
