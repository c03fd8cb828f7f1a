"""How many looks at a picture pay: tried on some pictures, of which a part is held out.

Each doubling of the looks doubles the time that embeddings take. It is worth it where held-out pictures are
ranked better by more than `WORTH_A_LOOK`, and by more than chance.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from tagrank.annotation.choosing.candidates import Candidate, mean_kernel
from tagrank.annotation.choosing.choice import CRITERION, measure
from tagrank.annotation.choosing.recipe import AUTO, FEWEST_TO_WEIGH
from tagrank.annotation.choosing.trials import Trials
from tagrank.annotation.describing import (
    PICTURES,
    DescribedPictures,
    FeatureChoice,
    describe_pictures,
    describe_rows,
)
from tagrank.annotation.scaling import arrange_views, fit_scalers
from tagrank.data import Collection
from tagrank.errors import ArgumentError
from tagrank.estimators.compared_rows import compare_rows
from tagrank.estimators.methods import find_method
from tagrank.features import Feature, choose_features, usual_features
from tagrank.features.networks.looks import LOOKS, with_looks
from tagrank.progress import Progress

MOST_PICTURES = 1_000  # by which looks are chosen
WORTH_A_LOOK = 0.002  # of the mean of image MAP and AUC, for twice the time
POWER = 2  # of the kernel, as where sets of features are weighed
METHOD, COSTS = "label-ranker", (1.0, 3.0, 10.0)


@dataclass(frozen=True)
class LooksTrial:
    """What a number of looks did on held-out pictures.

    Attributes
    ----------
    looks : 1, 2 or 4
    value : mean of image MAP and AUC
    gain : over the fewer looks that were kept so far
    error : standard error of the gain over the pictures
    """

    looks: int
    value: float
    gain: float = 0.0
    error: float = 0.0


@dataclass(frozen=True)
class LooksChoice:
    """How many looks were chosen.

    Attributes
    ----------
    n_looks : 1, 2 or 4
    trials : one for each number of looks; empty where there was too little to try them on
    n_pictures : on how many pictures they were tried
    """

    n_looks: int
    trials: tuple[LooksTrial, ...] = ()
    n_pictures: int = 0

    @property
    def words(self) -> str:
        """What was chosen, in a few words."""
        if not self.trials:
            return f"{self.n_looks} (too few pictures or no embedding to try more)"
        gains = ", ".join(f"{one.looks}: {100 * one.gain:+.1f}" for one in self.trials[1:])
        return f"{self.n_looks} (points on held-out pictures for {gains})"

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers for JSON."""
        return asdict(self) | {"trials": [asdict(one) for one in self.trials]}


def describe_with_looks(
    rows: Collection, features: FeatureChoice, looks: int | str | None, *, seed: int = 0, **describing: Any
) -> tuple[DescribedPictures, LooksChoice | None]:
    """Rows to learn from, see `describe_rows`, and how the number of looks was chosen, where it was.

    Parameters
    ----------
    rows : as they are, or pictures
    features : the best that is installed by default
    looks : 1, 2, 4, or "auto" for what pays; None is 1
    seed : for everything random
    describing : options of `describe_pictures`
    """
    n_looks = check_looks(looks)
    if n_looks == 1:
        return describe_rows(rows, features, random_state=seed, **describing), None
    if PICTURES not in rows.views:
        raise ArgumentError(
            f"looks={looks} needs pictures, but {rows.name or 'the data'} has rows of numbers"
        )
    chosen = choose_features(usual_features() if features is None else features)
    if n_looks != AUTO:
        try:
            chosen = with_looks(chosen, n_looks)
        except ValueError as error:
            raise ArgumentError(str(error)) from None
        return describe_rows(rows, chosen, random_state=seed, **describing), None
    described = describe_rows(rows, chosen, random_state=seed, **describing)
    choice = choose_looks(described.collection, described.features, seed=seed, **describing)
    if choice.n_looks == 1:
        return described, choice
    again = describe_rows(rows, with_looks(described.features, choice.n_looks), **describing)
    seconds = {name: value + described.seconds.get(name, 0.0) for name, value in again.seconds.items()}
    return replace(again, seconds=seconds), choice


def check_looks(looks: int | str | None) -> int | str:
    """The number of looks, or "auto"; an error for anything else."""
    words: dict[str, int | str] = {AUTO: AUTO, "None": 1, **{str(number): number for number in LOOKS}}
    if str(looks) not in words:
        raise ArgumentError(f"looks must be 1, 2, 4 or 'auto', got {looks!r}")
    return words[str(looks)]


def choose_looks(
    rows: Collection,
    features: Mapping[str, Feature],
    *,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    **describing: Any,
) -> LooksChoice:
    """How many looks pay on these pictures.

    Parameters
    ----------
    rows : pictures with their tags
    features : fitted sets of features by name, with one look each
    seed : for the pictures that are drawn, and for the folds
    n_jobs : threads and processes; all cores by default
    progress : called with the number of steps done, the number of steps, and the name of the work
    describing : options of `describe_pictures`
    """
    states = rows.states()
    is_ranked = (states > 0).any(axis=1) & (states < 0).any(axis=1)
    has_embedding = any(hasattr(feature, "framing") for feature in features.values())
    if PICTURES not in rows.views or not has_embedding or is_ranked.sum() < FEWEST_TO_WEIGH:
        return LooksChoice(1)
    drawn = np.random.default_rng(seed).permutation(np.flatnonzero(is_ranked))[:MOST_PICTURES]
    some = rows.subset(np.sort(drawn))
    by_looks = {n_looks: with_looks(features, n_looks) for n_looks in LOOKS}
    # all at once, so that every look is taken once, whether or not rows are kept
    named = {
        f"{n_looks} {name}": feature for n_looks, sets in by_looks.items() for name, feature in sets.items()
    }
    pictures = some.replaced(views={PICTURES: some.view(PICTURES)}, feature_names={})
    described = describe_pictures(pictures, named, n_jobs=n_jobs, progress=progress, **describing).collection
    values: dict[int, np.ndarray] = {}
    for n_looks, sets in by_looks.items():
        views = {name: described.view(f"{n_looks} {name}") for name in sets}
        values[n_looks] = _picture_values(described, views, sets, seed, n_jobs, progress)
    return _chosen(values, len(described))


def _picture_values(
    rows: Collection,
    views: Mapping[str, Any],
    features: Mapping[str, Feature],
    seed: int,
    n_jobs: int | None,
    progress: Progress | None,
) -> np.ndarray:
    """The mean of average precision and AUC of every picture, by models that did not see it."""
    kernel, entry = mean_kernel(features), find_method(METHOD)
    estimator = entry.load()(kernel=kernel, random_state=seed, n_jobs=n_jobs)
    candidate = Candidate(entry.name, entry.family, estimator, COSTS, power=POWER)
    scalers = fit_scalers(dict(views), kernel, "auto")
    X = arrange_views(dict(views), scalers, by_view=True)
    compared = compare_rows(candidate._replace(power=1).made(), X).raised(POWER)
    trials = Trials(rows.labels, CRITERION, n_folds=3, seed=seed, n_expected=1, progress=progress, stop=None)
    tried = trials.try_costs(candidate, compared)
    if tried is None:
        return np.full(len(rows), np.nan)
    return np.array(
        [
            measure(rows.labels[[row]], tried.scores[[row]].astype(np.float64))[CRITERION]
            for row in range(len(rows))
        ]
    )


def _chosen(values: Mapping[int, np.ndarray], n_pictures: int) -> LooksChoice:
    kept = LOOKS[0]
    trials = [LooksTrial(kept, float(np.nanmean(values[kept])))]
    for n_looks in LOOKS[1:]:
        gains = values[n_looks] - values[kept]
        error = float(np.nanstd(gains, ddof=1) / np.sqrt(np.isfinite(gains).sum()))
        gain = float(np.nanmean(gains))
        trials.append(LooksTrial(n_looks, float(np.nanmean(values[n_looks])), gain, error))
        # four looks cost twice as much as two, and four times as much as one
        n_doublings = np.log2(n_looks / kept)
        if gain > max(n_doublings * WORTH_A_LOOK, error):
            kept = n_looks
    return LooksChoice(kept, tuple(trials), n_pictures)
