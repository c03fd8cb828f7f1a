"""What `missing` answers, and the files that it writes."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field, fields
from typing import Any

import numpy as np

from tagrank.annotation.choosing import Choice
from tagrank.annotation.describing import kind_of
from tagrank.commands.destinations import write_list
from tagrank.estimators.calibration.completeness import Completeness, Remaining, estimate_remaining
from tagrank.problems import Problem


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
        return kind_of(self.facts["views"])

    @property
    def about(self) -> str:
        """What the suggestions say of their tags."""
        return "probably wrong" if self.wrong else "probably missing"

    @property
    def answer(self) -> str:
        """What was found, in a sentence."""
        looked_at = f"{self.n_candidates:,} {'present' if self.wrong else 'absent or unknown'} tags looked at"
        if not self.suggestions:
            return f"{'nothing suspicious' if self.wrong else 'nothing seems to be missing'}: {looked_at}"
        return f"{len(self.suggestions):,} {self.about} of {looked_at}"

    @property
    def right(self) -> Remaining | None:
        """How many of the suggestions are truly missing tags; None where that cannot be told."""
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
        counted = (
            "this suggestion"
            if len(self.suggestions) == 1
            else f"these {len(self.suggestions):,} suggestions"
        )
        number = round(self.right.estimate)
        between = f"{self.right.low:,.0f} to {self.right.high:,.0f}"
        return f"Of {counted} about {number:,} {'is' if number == 1 else 'are'} right ({between})."

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


def write_suggestions(path: str | os.PathLike, suggestions: Sequence[Suggestion]) -> None:
    """Write suggestions as a ``.csv`` or ``.jsonl`` file, a line each, whole or not at all."""
    columns = [column.name for column in fields(Suggestion)]
    write_list(path, table=[columns, *map(astuple, suggestions)], documents=map(asdict, suggestions))
