"""Why this tag: what every training picture and every set of features adds to a score.

By the representer theorem the score of a tag is a sum over the training pictures x_i,

    f(x) = intercept + sum_i k(x_i, x) a_i,        k = sum_v w_v k_v

so picture i speaks for the tag with k(x_i, x) a_i, and the features v with sum_i w_v k_v(x_i, x) a_i. Nothing
is estimated: either way the parts add up to the score.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from tagrank.annotation.annotator import Annotator
from tagrank.annotation.known_tags import KnownTag, given_known, known_states, voices_of
from tagrank.estimators import LabelFrequency
from tagrank.estimators.base import innermost_fitted
from tagrank.estimators.score_sum import ScoreSum
from tagrank.kernels import Kernel, Linear, Precomputed
from tagrank.kernels.gram import gram, n_rows, take_rows
from tagrank.kernels.structure import leaves_of, split_power, terms_of
from tagrank.validation import check_kind, check_whole

ALL_FEATURES = "all"
NEVER_PRESENT = "this tag was never present in training, so it is ranked last for every picture"
BLIND = "this method ignores the content of the picture"
NO_SUM = "the score of this method is not a sum over training pictures"
NO_ROWS = "a linear model stores no training pictures; only the shares of the features are known"


class Contribution(NamedTuple):
    """What one training picture adds to a score.

    Attributes
    ----------
    name : what the training picture is called
    contribution : above zero it speaks for the tag, below against it
    present : whether the training picture has the tag, by the sign of its coefficient
    """

    name: str
    contribution: float
    present: bool


@dataclass(frozen=True)
class Explanation:
    """One tag of one picture, taken apart in two ways; each adds up to the score.

    ``score = intercept + sum(shares) = intercept + contributions in for_ and against + others``

    Attributes
    ----------
    tag : its name
    score : of the model itself, before it is made a probability
    intercept : what every picture gets
    for_, against : the training pictures that contribute most and least, the strongest first
    others : what all other training pictures contribute together
    shares : set of features -> what it contributes; "all" where they cannot be told apart
    note : why examples or shares are missing, if they are
    probability : that the tag is true, None where the model is not calibrated
    heads : for a sum of two models, the class of each to what it contributes, its intercept included
    known : tags that the picture is known to have, or not to have, and what each adds to the log-odds
    """

    tag: str
    score: float
    intercept: float
    for_: tuple[Contribution, ...] = ()
    against: tuple[Contribution, ...] = ()
    others: float = 0.0
    shares: Mapping[str, float] = field(default_factory=dict)
    note: str = ""
    probability: float | None = None
    heads: Mapping[str, float] = field(default_factory=dict)
    known: tuple[KnownTag, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers for JSON."""
        return {
            "tag": self.tag,
            "score": self.score,
            "intercept": self.intercept,
            "for": [contribution._asdict() for contribution in self.for_],
            "against": [contribution._asdict() for contribution in self.against],
            "others": self.others,
            "shares": dict(self.shares),
            "note": self.note,
            "probability": self.probability,
            "heads": dict(self.heads),
            "known": [one._asdict() for one in self.known],
        }


def explain(
    annotator: Annotator,
    data: Any,
    *,
    tags: Sequence[str] | None = None,
    n_examples: int = 5,
    known: Any = None,
) -> list[Explanation]:
    """Why a picture gets its tags.

    Parameters
    ----------
    annotator : fitted or loaded
    data : one picture or row, in any form that `Annotator.annotate` takes, alone or in a list
    tags : the tags to explain; by default those that the model gives the picture, or its best one
    n_examples : training pictures to name on each side
    known : tags that the picture is known to have, as in `Annotator.annotate`; the answer shows
        their effect

    Returns
    -------
    list of Explanation, in the order of `tags`, by default the highest score first
    """
    check_kind("annotator", annotator, Annotator, "an Annotator")
    check_whole("n_examples", n_examples, 0)
    X = annotator._rows(data)
    if n_rows(X) != 1:
        raise ValueError(f"expected one picture to explain, got {n_rows(X)}; pass them one by one")
    alone = annotator.score_rows(X)
    ranked = alone if known is None else given_known(annotator, alone, known)
    columns, probabilities = _columns(annotator, tags, ranked), annotator.probabilities_of(ranked)
    estimator = innermost_fitted(annotator.estimator_)
    scores = alone if estimator is annotator.estimator_ else np.asarray(estimator.decision_function(X))
    if not (hasattr(estimator, "kernel_") and hasattr(estimator, "intercept_")):
        note = BLIND if isinstance(estimator, LabelFrequency) else NO_SUM
        explanations = [_constant(annotator.tags[j], scores[0, j], note) for j in columns]
    else:
        parts = _take_apart(annotator, estimator, X, columns)
        explanations = [
            _constant(annotator.tags[j], scores[0, j], NEVER_PRESENT)
            if annotator.never_positive_[j]
            else Explanation(
                annotator.tags[j],
                float(scores[0, j]),
                float(estimator.intercept_[j]),
                **parts.examples(at, n_examples),
                shares={feature: float(share[at]) for feature, share in parts.shares.items()},
                heads={name: float(part[at]) for name, part in parts.heads.items()},
            )
            for at, j in enumerate(columns)
        ]
    if probabilities is None:
        return explanations
    states = None if known is None else known_states(known, annotator.tags, annotator.implied_, 1)[0]
    return [
        replace(
            one,
            probability=float(probabilities[0, j]),
            known=()
            if states is None
            else voices_of(annotator.estimator_, annotator.tags, alone[0], states, j),
        )
        for one, j in zip(explanations, columns, strict=True)
    ]


@dataclass(frozen=True)
class _Parts:
    """The scores of some tags taken apart.

    Attributes
    ----------
    shares : set of features -> array, shape (n_tags,)
    contributions, coefficients : arrays, shape (n_support, n_tags), or None where no rows are stored
    names : of the supporting rows
    heads : model of a sum of two -> array, shape (n_tags,)
    """

    shares: dict[str, np.ndarray]
    contributions: np.ndarray | None = None
    coefficients: np.ndarray | None = None
    names: Sequence[str] = ()
    heads: Mapping[str, np.ndarray] = field(default_factory=dict)

    def examples(self, at: int, n_examples: int) -> dict[str, Any]:
        """The fields of an Explanation that tell of training pictures."""
        if self.contributions is None or self.coefficients is None:
            return {"others": float(sum(share[at] for share in self.shares.values())), "note": NO_ROWS}
        values, present = self.contributions[:, at], self.coefficients[:, at] > 0
        order = np.argsort(-values, kind="stable")
        for_ = [i for i in order[:n_examples] if values[i] > 0]
        against = [i for i in order[::-1][:n_examples] if values[i] < 0]

        def tell(rows: list[int]) -> tuple[Contribution, ...]:
            return tuple(Contribution(self.names[i], float(values[i]), bool(present[i])) for i in rows)

        others = float(np.delete(values, for_ + against).sum())
        return {"for_": tell(for_), "against": tell(against), "others": others}


def _columns(annotator: Annotator, tags: Sequence[str] | None, scores: np.ndarray) -> list[int]:
    if tags is None:
        order = np.lexsort((-scores[0], annotator.never_positive_))
        is_given = annotator.choose(scores)[0] > 0
        return [int(j) for j in order if is_given[j]] or [int(order[0])]
    place = {tag: j for j, tag in enumerate(annotator.tags)}
    if unknown := [tag for tag in tags if tag not in place]:
        raise ValueError(f"the model has no tag {unknown[0]!r}; it has {len(place)}, see annotator.tags")
    return [place[tag] for tag in tags]


def _take_apart(annotator: Annotator, estimator: Any, X: Any, columns: list[int]) -> _Parts:
    similarities = dict(_similarities(estimator, X, _only_view(annotator), columns))
    if not similarities:
        shares = _linear_shares(annotator, estimator, X, columns)
        return _Parts(shares, heads=_heads(estimator, X, columns, shares.values()))
    coefficients = estimator.dual_coef_[np.ix_(estimator.support_, columns)]
    if isinstance(estimator.kernel_, Linear):
        shares = _linear_shares(annotator, estimator, X, columns)
    else:
        shares = {feature: (values * coefficients).sum(axis=0) for feature, values in similarities.items()}
    contributions = np.sum(list(similarities.values()), axis=0) * coefficients
    names, heads = _training_names(annotator, estimator), _heads(estimator, X, columns, shares.values())
    return _Parts(shares, contributions, coefficients, names, heads)


def _heads(estimator: Any, X: Any, columns: list[int], shares: Iterable[np.ndarray]) -> dict[str, np.ndarray]:
    """What each model of a sum contributes; nothing for a single one."""
    intercept = estimator.intercept_[columns]
    if not isinstance(estimator, ScoreSum):
        return {}
    first = estimator.first_scores(X)[0, columns]
    whole = np.sum(list(shares), axis=0) + intercept
    return {estimator.first_name_: first, estimator.second_name_: whole - first}


def _similarities(
    estimator: Any, X: Any, only_view: str, columns: list[int]
) -> Iterator[tuple[str, np.ndarray]]:
    """w_v k_v(x_i, x) of the supporting rows for each set of features, shape (n_support, n_columns).

    There is one column where all tags have the same weights.
    """
    if isinstance(estimator.kernel_, Precomputed):
        row = X.toarray() if sparse.issparse(X) else X
        yield only_view, np.asarray(row[0, estimator.support_], dtype=np.float64)[:, None]
    if not hasattr(estimator, "X_fit_"):
        return
    rows = take_rows(estimator.X_fit_, estimator.support_)
    whole, exponent = split_power(estimator.kernel_)
    by_feature: dict[str, np.ndarray] = {}
    for (weight, kernel), by_tag in zip(terms_of(whole), _weights_by_tag(estimator, columns), strict=False):
        values = (
            weight * gram(kernel, X, rows, n_jobs=estimator.n_jobs)[0].astype(np.float64)[:, None] * by_tag
        )
        feature = _feature_of(kernel) or only_view
        by_feature[feature] = by_feature.get(feature, 0) + values
    # k ** n is k ** (n - 1) times the sum of the terms of k
    factor = np.sum(list(by_feature.values()), axis=0) ** (exponent - 1)
    for feature, values in by_feature.items():
        yield feature, factor * values


def _weights_by_tag(estimator: Any, columns: list[int]) -> Iterator[Any]:
    """For each term of the kernel what the tags weigh it with beside the weight of the term."""
    weights = getattr(estimator, "kernel_weights_", np.ones(1))
    if weights.ndim == 1:
        return repeat(1.0)
    return iter(weights[np.ix_(columns, estimator.active_kernels_)].T)


def _feature_of(kernel: Kernel) -> str:
    """What one term of a kernel reads: the view, or the columns; empty if it reads all."""
    places = [place for _, place in leaves_of(kernel) if place != slice(None)]
    return " × ".join(dict.fromkeys(map(_place_name, places)))


def _place_name(place: Any) -> str:
    if isinstance(place, str):
        return place
    if isinstance(place, slice):
        return f"columns {place.start or 0}:{'' if place.stop is None else place.stop}"
    return f"columns {', '.join(map(str, np.atleast_1d(place)))}"


def _only_view(annotator: Annotator) -> str:
    return next(iter(annotator.columns_)) if len(annotator.columns_) == 1 else ALL_FEATURES


def _linear_shares(annotator: Annotator, estimator: Any, X: Any, columns: list[int]) -> dict[str, np.ndarray]:
    """The columns of each view times their weights: a linear model reads the views side by side."""
    shares, start = {}, 0
    for view, width in annotator.columns_.items():
        place = slice(start, start + width)
        shares[view] = np.asarray(X[:, place] @ estimator.coef_[columns, place].T)[0]
        start += width
    return shares


def _training_names(annotator: Annotator, estimator: Any) -> Sequence[str]:
    """A name for each supporting row."""
    n_training = len(estimator.dual_coef_)
    names = getattr(annotator, "training_names_", None)
    if names is None:
        training = getattr(annotator, "training_", None)
        names = None if training is None else training.names
    if names is None or len(names) != n_training:
        names = [f"training picture {i}" for i in range(n_training)]
    return [names[i] for i in estimator.support_]


def _constant(tag: str, score: float, note: str) -> Explanation:
    return Explanation(tag, float(score), intercept=float(score), note=note)
