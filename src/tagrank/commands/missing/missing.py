"""Tags that pictures probably lack, and tags that they probably have by mistake."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from tagrank.commands.options import (
    AUTO,
    CACHE,
    COMPLETENESS,
    DATA,
    FEATURES,
    JOBS,
    LOOKS,
    METHOD_NAME,
    OUTPUT,
    SCHEDULER,
    SEED,
    SHARED,
    VIEW,
    MethodParameters,
)
from tagrank.commands.tables import Screen, counted, table_of, text_of
from tagrank.data.reading import Reading
from tagrank.errors import ArgumentError
from tagrank.files import Problem
from tagrank.options import METHOD, ROWS, Option
from tagrank.progress import Progress

if TYPE_CHECKING:
    from tagrank.annotation.choosing import Choice
    from tagrank.annotation.describing import Cache
    from tagrank.data import Collection
    from tagrank.estimators.calibration.completeness import Completeness, Remaining
    from tagrank.features import Feature

LISTED = "Suggestions"
CALIBRATIONS = (SHARED, "platt", "isotonic")


@dataclass(frozen=True)
class Suggestion:
    """A tag of a picture that deserves a look.

    Attributes
    ----------
    name : what the picture is called
    tag : the tag that is probably missing, or probably wrong
    probability : of the tag, according to a model that did not see the picture
    score : of the tag, from which the probability was made
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
    folds : how many models shared the pictures
    facts : counts of the data, as `Collection.summary` gives them
    n_candidates : pairs of picture and tag that were looked at
    unjudged : tags of which nothing can be said in some pictures, because too few others have them
    choice : what was tried and what was chosen; None where nothing was
    feature_seconds : set of picture features to the seconds that it took, not counting what was known already
    problems : files that were left out, and why
    n_untagged : how many pictures were left out because nothing is known about them
    completeness : the share of the true tags that are listed, and an interval
    """

    suggestions: Sequence[Suggestion]
    wrong: bool
    method: str
    folds: int
    facts: Mapping[str, Any]
    n_candidates: int
    unjudged: Sequence[str] = ()
    choice: Choice | None = None
    feature_seconds: Mapping[str, float] = field(default_factory=dict)
    problems: Sequence[Problem] = ()
    n_untagged: int = 0
    completeness: Completeness | None = None

    @property
    def kind(self) -> str:
        """What has the tags: a picture, or a row of a table."""
        from tagrank.annotation.describing import kind_of

        return kind_of(self.facts["views"])

    @property
    def about(self) -> str:
        """What the suggestions say of their tags."""
        return "probably wrong" if self.wrong else "probably missing"

    @property
    def answer(self) -> str:
        """What was found, in a sentence."""
        checked = f"{self.n_candidates:,} {'present' if self.wrong else 'absent or unknown'} tags"
        if not self.suggestions:
            return (
                f"{'no tags look wrong' if self.wrong else 'no tags seem to be missing'}; checked {checked}"
            )
        return f"{counted(len(self.suggestions), 'tag')} {self.about}; checked {checked}"

    @property
    def right(self) -> Remaining | None:
        """How many of the suggestions are truly missing tags; None where that cannot be told."""
        import numpy as np

        from tagrank.estimators.calibration.completeness import estimate_remaining

        if self.wrong or self.completeness is None or self.completeness.share == 1:
            return None
        probabilities = np.array([[one.probability for one in self.suggestions]])
        by_tag = np.full(len(self.suggestions), self.completeness.share)
        return estimate_remaining(probabilities, probabilities >= 0, self.completeness, by_tag)

    @property
    def n_right(self) -> float | None:
        """How many of the suggestions are right; None where that cannot be told."""
        return None if self.right is None else self.right.estimate

    @property
    def quality(self) -> str:
        """How many of the suggestions are right, in a sentence; else how many there are."""
        if self.right is None or not self.suggestions:
            return f"{self.answer[0].upper()}{self.answer[1:]}."
        suggestions = (
            "this suggestion"
            if len(self.suggestions) == 1
            else f"these {len(self.suggestions):,} suggestions"
        )
        number = round(self.right.estimate)
        between = f"{self.right.low:,.0f} to {self.right.high:,.0f}"
        return f"About {number:,} of {suggestions} {'is' if number == 1 else 'are'} right ({between})."

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers for JSON."""
        return {
            "about": self.about,
            "answer": self.answer,
            "quality": self.quality,
            "method": self.method,
            "folds": self.folds,
            "data": dict(self.facts),
            "n_candidates": self.n_candidates,
            "n_untagged": self.n_untagged,
            "suggestions": [asdict(suggestion) for suggestion in self.suggestions],
            "unjudged": list(self.unjudged),
            "choice": None if self.choice is None else self.choice.to_dict(),
            "completeness": None if self.completeness is None else self.completeness._asdict(),
            "feature_seconds": dict(self.feature_seconds),
            "problems": [vars(problem) for problem in self.problems],
        }


def missing(
    data: Annotated[Collection | str | os.PathLike, DATA],
    output: Annotated[str | os.PathLike | None, OUTPUT] = None,
    *,
    wrong: Annotated[bool, Option(LISTED)] = False,
    untagged: Annotated[bool, Option(LISTED)] = False,
    top: Annotated[int | None, Option(LISTED, low=1)] = 50,
    per_tag: Annotated[int | None, Option(LISTED, usual="all", low=1)] = None,
    min_probability: Annotated[float, Option(LISTED, low=0, high=1)] = 0.0,
    max_probability: Annotated[
        float | None, Option(LISTED, usual="1; with --wrong 0.5", low=0, high=1)
    ] = None,
    method: Annotated[str, METHOD_NAME] = AUTO,
    folds: Annotated[int, Option(METHOD, low=2)] = 5,
    calibration: Annotated[str, Option(METHOD, words=CALIBRATIONS)] = SHARED,
    completeness: Annotated[float | None, COMPLETENESS] = None,
    seed: Annotated[int, SEED] = 0,
    view: Annotated[str | None, VIEW] = None,
    features: Annotated[str | Sequence[str] | Mapping[str, Feature] | None, FEATURES] = None,
    looks: Annotated[int | str | None, LOOKS] = None,
    cache: Annotated[Cache, CACHE] = True,
    reading: Reading = Reading(),
    part: Annotated[str | None, Option(ROWS, usual="all")] = None,
    page: Annotated[str | os.PathLike | None, Option()] = None,
    n_jobs: Annotated[int | None, JOBS] = None,
    scheduler: Annotated[Any, SCHEDULER] = None,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
    **parameters: Annotated[Any, Option(group=MethodParameters)],
) -> MissingTags:
    """Find tags that pictures probably lack, or have by mistake.

    Every picture is judged by a model that was trained without it; its other tags then count as evidence for
    and against each tag. Candidates for missing tags are absent or unknown tags, the most probable first.
    Candidates for wrong tags are present tags, the least probable first. Tags that were decided at the desk
    are not suggested again.

    Parameters
    ----------
    output : write a .csv or .jsonl file, one line per suggestion
    wrong : list existing tags that look wrong, instead of missing tags
    untagged : also suggest tags for pictures that have none; one model trained on all other pictures judges
        them
    top : maximum number of suggestions. In Python, None for all
    per_tag : maximum number of suggestions for the same tag
    min_probability : skip tags with a lower probability
    max_probability : skip tags with a higher probability
    folds : number of cross-validation folds: each model judges one fold and learns from the others
    calibration : how scores become probabilities: shared uses one curve for all tags, platt and isotonic a
        curve for each tag
    part : part of the data to search
    page : also write an HTML page with the pictures to this file
    data, method, completeness, seed, view, features, looks, cache, reading, n_jobs, scheduler : as in
        `train`
    progress : called with the number of steps done, the number of steps, and the name of the work
    stop : function without arguments; when it returns True, the current training ends early
    parameters : of the estimator, such as `C`, `kernel`, `tol` or `prior`; the `Recipe` chooses what is not
        given by the likelihood of held-out tags, because pictures are compared with each other here

    Returns
    -------
    MissingTags

    Command line
    ------------
    tagrank missing photos/ --page missing.html
    tagrank missing photos/ --wrong --max-probability 0.05
    tagrank missing photos/ --untagged --top 500 --per-tag 20 -o missing.csv
    tagrank missing photos/ --completeness 0.5
    tagrank missing scene --method one-vs-all --json
    tagrank missing scene --method joint-svm --set output_kernel=odds-ratio
    """
    from tagrank.annotation.choosing import Recipe
    from tagrank.annotation.choosing.looks import check_looks, describe_with_looks
    from tagrank.annotation.describing import PICTURES, name_features
    from tagrank.commands.destinations import check_apart, check_distinct, check_list, check_page
    from tagrank.commands.given_data import check_has_tags, choose_part, keep_frequent, open_collection
    from tagrank.commands.missing.choice import PairChoice
    from tagrank.commands.missing.held_out import hold_out
    from tagrank.commands.missing.page import write_missing_page
    from tagrank.commands.missing.suggestions import (
        list_suggestions,
        unjudged_tags,
        usable,
        write_suggestions,
    )
    from tagrank.data import clean_tags
    from tagrank.data.readers.audit_list import with_row_names
    from tagrank.estimators.tag_matrices import is_matrix_file
    from tagrank.validation import check_choice, check_share

    check_choice("calibration", calibration, CALIBRATIONS)
    check_looks(looks)
    if completeness is not None:
        check_share("completeness", completeness)
        if calibration != SHARED:
            raise ArgumentError("completeness needs calibration 'shared'")
    choice = PairChoice(wrong, top, per_tag, min_probability, max_probability)
    if wrong and untagged:
        raise ArgumentError(
            "wrong and untagged cannot be combined: pictures without tags have no wrong tags; leave one out"
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
    rows = choose_part(with_row_names(tagged), part, usual="all")
    rows = clean_tags(rows, **spelling)
    rows = keep_frequent(rows, reading.min_count)
    n_rows, rows = len(rows), usable(rows, untagged)
    n_untagged = n_rows - len(rows)
    if PICTURES in rows.views:
        recipe.check_pictures()
    describing: dict[str, Any] = {
        "cache": cache,
        "n_jobs": n_jobs,
        "strict": reading.strict,
        "scheduler": scheduler,
        "progress": progress,
    }
    described, _ = describe_with_looks(rows, features, looks, seed=seed, **describing)
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
    is_open = ~rows.decided_mask() & ~rows.audited_mask()[:, None]
    places, columns = choice.pick(held_out, is_open)
    found = MissingTags(
        list_suggestions(rows, held_out, places, columns),
        wrong,
        method,
        folds,
        rows.summary(),
        int(choice.candidates(held_out, is_open).sum()),
        unjudged_tags(rows.tags, held_out),
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


def show_missing(
    answer: MissingTags,
    *,
    output: str | os.PathLike | None = None,
    page: str | os.PathLike | None = None,
    wrong: bool = False,
) -> Screen:
    """A line a suggestion, the one to look at first on top."""
    tables: list[Any] = []
    if output is None and answer.suggestions:
        table = table_of(answer.kind, answer.about, "now")
        table.add_column("probability", justify="right")
        for one in answer.suggestions:
            words = map(text_of, (one.name, one.tag, one.state))
            table.add_row(*words, f"{one.probability:.1%}")
        tables = [text_of(answer.quality, "bold"), "", table]
    said = [] if answer.suggestions else [answer.answer]
    if output is not None:
        said.append(f"{counted(len(answer.suggestions), 'suggestion')} written to {output}")
    if page is not None:
        said.append(f"page written to {page}")
    if n_decisions := answer.facts["decisions"]:
        said.append(f"used {counted(n_decisions, 'decision')} of yours; these are not suggested again")
    listed = answer.completeness
    if listed is not None and listed.told != listed.words:  # little is known, or somebody looked
        said.append(f"true tags listed: {listed.told}")
    if answer.n_untagged:
        advice = "" if wrong else "; --untagged suggests tags for them"
        said.append(f"skipped {counted(answer.n_untagged, answer.kind)} without tags{advice}")
    return Screen(tables, said, {"skipped": answer.problems})
