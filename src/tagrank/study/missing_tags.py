"""Tags that a collection probably lacks, and tags that it probably has by mistake."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from tagrank.annotation.describing import PICTURES, Cache, describe_pictures
from tagrank.annotation.estimator_choice import mean_kernel
from tagrank.annotation.picture_keys import Progress
from tagrank.annotation.tuning import COSTS, Tuning
from tagrank.data import Collection, Problem, clean_tags
from tagrank.features import Feature, choose_features, usual_features
from tagrank.study.destinations import check_file
from tagrank.study.inputs import choose_part, open_collection
from tagrank.study.missing_files import find_writer
from tagrank.study.missing_page import write_page
from tagrank.study.missing_scores import HeldOut, hold_out
from tagrank.study.training import PICTURE_COSTS, make_estimator
from tagrank.validation import check_choice

STATE_NAMES = {1: "present", -1: "absent", 0: "unknown"}


@dataclass(frozen=True)
class Suggestion:
    """A tag of a picture that deserves a look.

    Attributes
    ----------
    name : what the picture is called
    tag : the tag that is probably missing, or probably wrong
    probability : of the tag, according to a model that did not see the picture
    score : of the tag; comparable within the picture
    rank : 1 for the suggestion to look at first
    state : what the data says of the tag: "absent", "unknown" or "present"
    """

    name: str
    tag: str
    probability: float
    score: float
    rank: int
    state: str


@dataclass(frozen=True)
class MissingTags:
    """Suggestions about a collection, and how they came about.

    Attributes
    ----------
    suggestions : the one to look at first comes first
    wrong : whether they are about tags that are probably wrong, not missing
    method : its name, as in `methods`
    facts : counts of the data, as `Collection.summary` gives them
    n_candidates : pairs of picture and tag among which the suggestions were chosen
    unjudged : tags about which nothing can be said in some or all pictures, because too few others have them
    tuning : how well the values of C did that were tried; None where none were
    feature_seconds : set of picture features to the seconds that it took, not counting what was known already
    problems : files that were left out, and why
    """

    suggestions: Sequence[Suggestion]
    wrong: bool
    method: str
    facts: Mapping[str, Any]
    n_candidates: int
    unjudged: Sequence[str] = ()
    tuning: Tuning | None = None
    feature_seconds: Mapping[str, float] = field(default_factory=dict)
    problems: Sequence[Problem] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers for JSON."""
        return {
            "about": "probably wrong" if self.wrong else "probably missing",
            "method": self.method,
            "data": dict(self.facts),
            "n_candidates": self.n_candidates,
            "suggestions": [asdict(suggestion) for suggestion in self.suggestions],
            "unjudged": list(self.unjudged),
            "C": None if self.tuning is None else self.tuning.to_dict(),
            "feature_seconds": dict(self.feature_seconds),
            "problems": [vars(problem) for problem in self.problems],
        }


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
    untagged : also propose tags for pictures about which nothing is known; one model of all tagged pictures
        judges them
    top : how many suggestions at most; None for all
    per_tag : how many suggestions at most about the same tag; None for all
    min_probability, max_probability : leave out suggestions of tags less or more probable than this
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
    check_choice("calibration", calibration, ("platt", "isotonic"))
    _check_limits(wrong, untagged, top, per_tag, min_probability, max_probability)
    write_suggestions = None if output is None else find_writer(output)
    if page is not None:
        check_file(page)
    estimator = make_estimator(method, parameters, seed=seed)
    rows = choose_part(open_collection(data, strict=strict), part, usual="all")
    rows = _usable(clean_tags(rows, fold_case=lower_case, min_count=min_count), untagged)
    described, seconds, costs = None, {}, COSTS
    if PICTURES in rows.views:
        description = describe_pictures(
            rows,
            choose_features(usual_features() if features is None else features),
            cache=cache,
            n_jobs=parameters.get("n_jobs"),
            strict=strict,
            random_state=seed,
            progress=progress,
        )
        rows, described, seconds = description.collection, description.features, description.seconds
        costs = PICTURE_COSTS
        if hasattr(estimator, "kernel") and parameters.get("kernel") is None:
            estimator.set_params(kernel=mean_kernel(described))
    held_out = hold_out(
        rows,
        estimator,
        view=view,
        features=described,
        costs=costs if parameters.get("C") is None else None,
        folds=folds,
        calibration=calibration,
        seed=seed,
        progress=progress,
    )
    is_candidate = held_out.is_judged & ((held_out.states > 0) if wrong else (held_out.states <= 0))
    is_chosen = (
        is_candidate
        & (held_out.probabilities >= min_probability)
        & (held_out.probabilities <= max_probability)
    )
    pairs = _first(held_out, is_chosen, wrong=wrong, top=top, per_tag=per_tag)
    result = MissingTags(
        _suggestions(rows, held_out, pairs),
        wrong,
        method,
        rows.summary(),
        int(is_candidate.sum()),
        [tag for tag, judged in zip(rows.tags, held_out.is_judged.all(axis=0), strict=True) if not judged],
        held_out.tuning,
        seconds,
        rows.problems,
    )
    if write_suggestions is not None and output is not None:
        write_suggestions(output, result.suggestions)
    if page is not None:
        write_page(page, result, rows, pairs[:, 0].tolist())
    return result
