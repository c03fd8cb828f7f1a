"""Tags that pictures are known to have, and what they say about the others."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tagrank.data import Collection
from tagrank.data.coherence import coherent_log_odds
from tagrank.errors import ArgumentError
from tagrank.estimators import ProbabilityRanker
from tagrank.estimators.calibration.companions import known_of

if TYPE_CHECKING:
    from tagrank.annotation.annotator import Annotator

MOST_NAMED = 5
_LEAST = 0.05  # of log-odds, below which a tag is not named


class KnownTag(NamedTuple):
    """What one known tag of a picture adds to the log-odds of another.

    Attributes
    ----------
    tag : its name
    contribution : above zero it speaks for the other tag, below against it
    present : whether the picture is known to have it, or known not to
    """

    tag: str
    contribution: float
    present: bool


def known_states(known: Any, tags: Sequence[str], implied: np.ndarray, n_rows: int) -> np.ndarray:
    """What is known of pictures as an int8 array (n_rows, n_tags): +1 true, -1 not true, 0 not known.

    Parameters
    ----------
    known : for each picture the names of the tags that it has; a Collection of the pictures with their tags;
        or such an array. Names that are not among `tags` are passed over
    tags : of the model
    implied : int array (m, 2), columns of tags and of those that they imply
    """
    if isinstance(known, Collection):
        states = _of_collection(known, tags)
    elif isinstance(known, np.ndarray):
        states = np.sign(known).astype(np.int8)
    else:
        states = _of_names(known, tags)
    if states.shape != (n_rows, len(tags)):
        raise ArgumentError(
            f"known must be a list of tags for each of {n_rows} pictures, or an array of shape "
            f"({n_rows}, {len(tags)}); got shape {states.shape}"
        )
    for below, above in implied:
        states[states[:, below] > 0, above] = 1
    for below, above in implied:
        states[states[:, above] < 0, below] = -1
    return states


def _of_collection(known: Collection, tags: Sequence[str]) -> np.ndarray:
    found, column = (
        known_of(known.states(), known.decided_mask()),
        {tag: j for j, tag in enumerate(known.tags)},
    )
    states = np.zeros((len(known), len(tags)), dtype=np.int8)
    for j, tag in enumerate(tags):
        if tag in column:
            states[:, j] = found[:, column[tag]]
    return states


def _of_names(known: Any, tags: Sequence[str]) -> np.ndarray:
    if isinstance(known, str) or any(isinstance(some, str) for some in known):
        raise ArgumentError('known must be a list of tags for each picture, such as [["sky", "sea"], []]')
    column = {tag: j for j, tag in enumerate(tags)}
    states = np.zeros((len(known), len(tags)), dtype=np.int8)
    for i, some in enumerate(known):
        states[i, [column[tag] for tag in some if tag in column]] = 1
    return states


def check_knows(estimator: Any) -> None:
    """Raise unless an estimator has log-odds, which known tags could change."""
    if not isinstance(estimator, ProbabilityRanker):
        raise ArgumentError(
            "known tags need a model with calibration 'shared', the default; train it again with that"
        )


def given_known(annotator: "Annotator", scores: np.ndarray, known: Any) -> np.ndarray:
    """What `annotator.scores` gave, given the tags that the pictures are known to have.

    `known` is as in `Annotator.annotate`.
    """
    check_knows(annotator.estimator_)
    states = known_states(known, annotator.tags, annotator.implied_, len(scores))
    return coherent_log_odds(annotator.estimator_.given_known(scores, states), annotator.implied_)


def voices_of(
    estimator: ProbabilityRanker, tags: Sequence[str], scores: np.ndarray, known: np.ndarray, column: int
) -> tuple[KnownTag, ...]:
    """The known tags of a picture that speak most for and against another, the loudest first.

    Parameters
    ----------
    estimator : of the model
    tags : its tags
    scores : log-odds by the picture alone, (n_tags,)
    known : what is known of it, int8 (n_tags,)
    column : of the other tag
    """
    if estimator.companions_ is None:
        return ()
    voices = estimator.companions_.voices(scores, known)[:, column]
    loudest = [int(j) for j in np.argsort(-np.abs(voices), kind="stable") if abs(voices[j]) >= _LEAST]
    return tuple(KnownTag(tags[j], float(voices[j]), bool(known[j] > 0)) for j in loudest[:MOST_NAMED])
