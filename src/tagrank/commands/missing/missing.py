"""Tags that pictures probably lack, and tags that they probably have by mistake."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tagrank.annotation.choosing import METHOD, Recipe
from tagrank.annotation.describing import PICTURES, Cache, describe_rows, kind_of, name_features
from tagrank.commands.destinations import check_apart, check_distinct, check_list, check_page
from tagrank.commands.given_data import check_has_tags, choose_part, keep_frequent, open_collection
from tagrank.commands.missing.choice import PairChoice
from tagrank.commands.missing.held_out import SHARED, HeldOut, hold_out
from tagrank.commands.missing.page import write_missing_page
from tagrank.commands.missing.result import MissingTags, Suggestion, write_suggestions
from tagrank.data import Collection, Reading, clean_tags
from tagrank.errors import ArgumentError, warn
from tagrank.estimators.tag_matrices import is_matrix_file
from tagrank.features import Feature
from tagrank.progress import Progress
from tagrank.validation import check_choice, check_share

CALIBRATIONS = (SHARED, "platt", "isotonic")
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
    max_probability: float | None = None,
    method: str = METHOD,
    folds: int = 5,
    calibration: str = SHARED,
    completeness: float | None = None,
    seed: int = 0,
    view: str | None = None,
    features: str | Sequence[str] | Mapping[str, Feature] | None = None,
    cache: Cache = True,
    reading: Reading = Reading(),
    part: str | None = None,
    page: str | os.PathLike | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
    **parameters: Any,
) -> MissingTags:
    """Find tags that pictures probably lack, or that they probably have by mistake.

    Every picture is judged by a model that saw neither it nor its tags. Candidates for missing tags are those
    that are absent or unknown, the most probable first; with `wrong` those that are present, the least
    probable first. What was decided at the desk is not proposed again.

    Parameters
    ----------
    data : a Collection, a folder of pictures, a file or a name, as `open_collection` takes it
    output : a ``.csv`` or ``.jsonl`` file to write, one line a suggestion, or None
    wrong : look for tags that are probably wrong instead
    untagged : also propose tags for pictures of which nothing is known; one model of all the others judges
        them
    top : how many suggestions at most; None for all
    per_tag : how many suggestions at most of the same tag; None for all
    min_probability, max_probability : leave out tags that are less or more probable; by default none, but
        with `wrong` those that are more probable than not
    method : a name from `methods`
    folds : models that share the pictures; each learns from all but its own share
    calibration : {"shared", "platt", "isotonic"}, how scores become probabilities: by one curve for all tags,
        see `ProbabilityRanker`, or tag by tag
    completeness : the share of the true tags that are listed, for the shared curve; estimated by default
    seed : for everything random
    view : the view to learn from, where there are several
    features : how pictures are described, see `choose_features`; the best that is installed by default. An
        error for rows that are no pictures
    cache : whether the features of pictures are kept for the next time; or a folder for them
    reading : how the data are read, and how their tags are tidied
    part : the part to look at; None means every row
    page : an HTML file to write, with the pictures inside, or None
    n_jobs : processes that describe pictures, and threads; all cores by default
    progress : called with how much is done, of how much, and what is being done
    stop : function without arguments; once it answers true, what is being trained ends early
    parameters : of the estimator, such as `C`, `kernel`, `tol` or `prior`; what is not given is chosen by the
        `Recipe`, by the likelihood of held-out tags: here pictures are compared too

    Returns
    -------
    MissingTags
    """
    check_choice("calibration", calibration, CALIBRATIONS)
    if completeness is not None:
        check_share("completeness", completeness)
        if calibration != SHARED:
            raise ArgumentError("completeness goes with calibration 'shared'")
    choice = PairChoice(wrong, top, per_tag, min_probability, max_probability)
    if wrong and untagged:
        raise ArgumentError(
            "pictures without tags have none that could be wrong; leave out untagged or wrong"
        )
    check_distinct(output=output, page=page)
    if output is not None:
        check_list(output, "suggestions")
        check_apart(data, *filter(is_matrix_file, parameters.values()), output=output)
    if page is not None:
        check_page(page)
    recipe = Recipe(method, parameters, calibration=None, seed=seed, n_jobs=n_jobs)
    features, spelling = name_features(features), reading.spelling()
    opened = open_collection(data, reading)
    tagged = check_has_tags(opened, data)
    rows = choose_part(_named(tagged), part, usual="all")
    rows = clean_tags(rows, **spelling)
    rows = keep_frequent(rows, reading.min_count)
    n_rows, rows = len(rows), _usable(rows, untagged)
    n_untagged = n_rows - len(rows)
    if PICTURES in rows.views:
        recipe.check_pictures()
    describing: dict[str, Any] = {
        "cache": cache,
        "n_jobs": n_jobs,
        "strict": reading.strict,
        "progress": progress,
    }
    described = describe_rows(rows, features, random_state=seed, **describing)
    rows = described.collection
    held_out = hold_out(
        rows,
        recipe,
        view=view,
        features=described.features or None,
        folds=folds,
        calibration=calibration,
        completeness=completeness,
        seed=seed,
        progress=progress,
        stop=stop,
    )
    is_open = ~rows.decided_mask()
    places, columns = choice.pick(held_out, is_open)
    found = MissingTags(
        _suggestions(rows, held_out, places, columns),
        wrong,
        method,
        folds,
        rows.summary(),
        int(choice.candidates(held_out, is_open).sum()),
        _unjudged(rows.tags, held_out),
        held_out.choice,
        described.seconds,
        rows.problems,
        n_untagged,
        held_out.completeness,
    )
    if output is not None:
        write_suggestions(output, found.suggestions)
    if page is not None:
        write_missing_page(page, found, rows, places)
    return found


def _named(rows: Collection) -> Collection:
    """Rows without names are called by their numbers in the data, whatever is left out afterwards."""
    if rows.names is not None:
        return rows
    return rows.replaced(names=[f"row {i}" for i in range(len(rows))])


def _usable(rows: Collection, untagged: bool) -> Collection:
    """The rows of which something is known; with `untagged` all."""
    is_known = rows.known_rows()
    if not is_known.any():
        all_rows = f"{len(rows):,} {kind_of(rows.views)}s of {rows.name or 'the data'}"
        raise ValueError(f"none of the {all_rows} has tags to learn from")
    return rows if untagged else rows.subset(is_known)


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
        warn(
            f"{len(found)} of {len(tags)} tags are in too few pictures to be judged everywhere, such as "
            f"{found[0]!r}; min_count leaves rare tags out"
        )
    return found
