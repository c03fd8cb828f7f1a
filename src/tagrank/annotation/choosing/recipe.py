"""The recipe: how a model is made of whatever comes. What is not given is chosen here, and nowhere else.

- features of pictures: the best that are installed
- method, with an intercept or without, kernel, C and what else its entry declares, see
  `tagrank.annotation.choosing.steps`: by cross-validation, by the mean of average precision and AUC of
  held-out rankings
- kernel: of pictures a power of the weighted sum of those that suit their features, of rows a Gaussian
  or a straight line
- scale of the columns: by the kernel; of counts, such as those of words, by cross-validation, too
- weights of the sets of features: those that rank held-out pictures best
- probabilities: one curve on held-out scores that all tags share, see `ProbabilityRanker`; order, percentage
  and prediction come from it. How complete the tags are is estimated. A tag is predicted where its
  probability reaches the one threshold with the highest expected F1

With fewer than ten rows nothing can be held out: C keeps its default, and there are no probabilities.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np

from tagrank.annotation.choosing.candidates import (
    Candidate,
    Candidates,
    kernel_of,
    kernel_to_the_power,
    mean_kernel,
    on_kernels_of,
    suit_views,
)
from tagrank.annotation.choosing.plan import MOST_COMPARED, Budget
from tagrank.annotation.scaling import SCALINGS, Scaler, count_scalers
from tagrank.annotation.views import UnscaledRows
from tagrank.errors import ArgumentError, did_you_mean
from tagrank.estimators import CalibratedRanker, MultipleKernelRanker, ProbabilityRanker
from tagrank.estimators.kernel_estimator import KernelEstimator
from tagrank.estimators.methods import Method, find_method
from tagrank.estimators.tag_matrices import TagMatrix, as_tag_matrix
from tagrank.validation import check_choice, check_count, check_kind, check_positive, check_share

AUTO = "auto"
METHOD = AUTO
TRIED = (
    "label-ranker",
    "one-vs-all-logistic",
    "ridge-regression",
    "one-vs-all",
    "label-powerset",
    "incomplete-label-ranker",
)
N_LEADING = 3  # methods that are tried on every kernel of rows; the others on the best one
KERNEL_POWER, SCALING = "kernel_power", "scaling"
PICTURE_POWERS = (1, 2, 4)
FEWEST_TO_HOLD_OUT = 10
# with fewer pictures sets of features cannot be weighed: the embeddings alone are tried, too; with very few
# nothing else is, as so few say little about which is better
FEWEST_TO_WEIGH, FEWEST_TO_COMPARE = 200, 50
EMBEDDING = "embedding"
MAX_SECONDS = "max_seconds"  # the budget of the whole, not a parameter of one estimator
WEIGHING_C, WEIGHING_TOL = 3.0, 2e-2  # of the models by which sets of features are weighed


@dataclass(frozen=True)
class Recipe:
    """The settings of a model; what is left open is chosen by cross-validation.

    Attributes
    ----------
    method : a name from `methods`, ours or that of the literature, or "auto" to choose among `TRIED`
    parameters : constructor arguments of its estimator; None leaves them open. For a matrix with a row and a
        column for each tag, a file, see `read_tag_matrix`, or a DataFrame is accepted, too. `max_seconds` is
        the budget of choice, calibration and training together
    calibration : {"shared", "platt", "isotonic", None} or "auto", how probabilities are learned from held-out
        scores: "shared" uses one curve for all tags, see `ProbabilityRanker`, the others use a curve for each
        tag, see `CalibratedRanker`; "auto" is "shared", or "platt" if a threshold is given
    threshold : {"f1", "global", "cardinality", "top-k", None}, how to learn which tags to predict, with
        calibration "platt" or "isotonic"; None is "f1"
    completeness : share of the true tags that are listed, between 0 and 1; estimated by default. For the
        shared curve
    precision : predict tags so that this share of them is right; by default, those with the highest expected
        F1. For the shared curve
    n_tags : tags per picture with threshold="top-k"
    seed : random seed
    n_jobs : number of threads; all cores by default
    kernel_power : power of the kernel; None leaves it open
    memory : bytes that training may use; most of the free memory by default
    exact : compare all pairs of rows, or raise an error; by default many rows are compared with landmarks
    scaling : how to scale the columns, one of `SCALINGS`; None leaves it to the `Annotator`
    """

    method: str = METHOD
    parameters: Mapping[str, Any] = field(default_factory=dict)
    calibration: str | None = AUTO
    threshold: str | None = None
    n_tags: int = 5
    seed: int | None = 0
    n_jobs: int | None = None
    completeness: float | None = None
    precision: float | None = None
    kernel_power: int | None = None
    scaling: str | None = None
    memory: float | None = None
    exact: bool = False

    def __post_init__(self) -> None:
        if self.method != AUTO:
            object.__setattr__(self, "method", find_method(self.method).name)
        if self.scaling is not None:
            check_choice("scaling", self.scaling, SCALINGS)
        self._check_calibration()
        self._check_kernel_power()
        if self.memory is not None:
            check_positive("memory", self.memory)
        check_kind("parameters", self.parameters, Mapping, "a mapping of names to values")
        parameters = {name: value for name, value in self.parameters.items() if value is not None}
        known = self._make(self._entries[0]).get_params(deep=False)
        if unknown := sorted(set(parameters) - set(known) - {MAX_SECONDS}):
            hint = did_you_mean(unknown[0], known, f"it has: {', '.join(known) or 'none'}")
            raise ArgumentError(f"method {self.method!r} has no parameter {', '.join(unknown)}{hint}")
        matrices = {name: as_tag_matrix(value, name) for name, value in parameters.items()}
        object.__setattr__(self, "parameters", matrices)

    def check_pictures(self) -> None:
        """Raise if a width is given for pictures without the kernel that it belongs to."""
        gamma = self.parameters.get("gamma")
        if gamma is not None and "kernel" not in self.parameters:
            raise ArgumentError(
                f"gamma={gamma:g} needs kernel=rbf or kernel=chi2: without a named kernel, pictures use "
                "the sum of the kernels that suit their features, each with its own width"
            )

    def with_costs(self, seconds: Mapping[str, float]) -> "Recipe":
        """The same where cheap sets of features are preferred, and what they cost is not given but measured.

        `seconds` are those of a set of features for one picture, nan where they are not known.
        """
        if self.parameters.get("cost_strength") is None or "kernel_costs" in self.parameters or not seconds:
            return self
        if unknown := [name for name, value in seconds.items() if np.isnan(value)]:
            raise ArgumentError(
                f"cost_strength needs the seconds of every set of features, but {', '.join(unknown)} came "
                "from the cache and was never timed; compute it once without the cache (--no-cache), or give "
                "kernel_costs"
            )
        return replace(self, parameters={**self.parameters, "kernel_costs": dict(seconds)})

    def candidates(self, rows: UnscaledRows, tags: Sequence[str], scaling: str = "auto") -> Candidates:
        """What to choose among on these rows with these tags; "auto" leaves the `scaling` of counts open."""
        can_hold_out = len(rows.names) >= FEWEST_TO_HOLD_OUT
        entries = self._entries if can_hold_out else self._entries[:1]
        if self.method == AUTO and rows.features:
            # users ask which pictures, and which of their features, speak for a tag
            entries = [one for one in entries if issubclass(one.load(), KernelEstimator)]
        if self.method == AUTO and len(rows.names) > MOST_COMPARED and not self.exact:
            entries = [one for one in entries if one.load().suits_many_rows] or entries
        candidates = [
            self._candidate(entry, rows, tags, can_hold_out, parameters)
            for entry in entries
            for parameters in (self._open_parameters(entry) if can_hold_out else [{}])
        ]
        # on text and tables it is the method that decides for a straight line, on pictures hardly
        n_leading = 1 if rows.features else N_LEADING
        kernels = self._kernels(rows, candidates[0].estimator, can_hold_out)
        return Candidates(
            self._around(can_hold_out),
            on_kernels_of(candidates[:n_leading], kernels),
            candidates[n_leading:],
            self._weigher(rows, candidates) if can_hold_out else None,
            self._scalers(rows, candidates[0].estimator, scaling) if can_hold_out else {},
            self.parameters.get(MAX_SECONDS),
            Budget(self.memory, self.exact),
        )

    def with_parameters(self, parameters: Mapping[str, Any]) -> "Recipe":
        """The same with these parameters, such as a search found, KERNEL_POWER and SCALING among them."""
        of_recipe = (KERNEL_POWER, SCALING)
        of_estimator = {name: value for name, value in parameters.items() if name not in of_recipe}
        return replace(
            self,
            parameters={**self.parameters, **of_estimator},
            kernel_power=parameters.get(KERNEL_POWER, self.kernel_power),
            scaling=parameters.get(SCALING, self.scaling),
        )

    def _weigher(self, rows: UnscaledRows, candidates: Sequence[Candidate]) -> Any:
        """What finds the weights of the sets of features, where several are read by plain kernel methods."""
        if not rows.features or len(rows.features) < 2 or "kernel" in self.parameters:
            return None
        if any(
            not hasattr(one.estimator, "kernel") or hasattr(one.estimator, "weights") for one in candidates
        ):
            return None
        return MultipleKernelRanker(
            WEIGHING_C,
            kernel=mean_kernel(rows.features),
            weights="held-out",
            power=2,
            tol=WEIGHING_TOL,
            random_state=self.seed,
            n_jobs=self.n_jobs,
        )

    def _scalers(self, rows: UnscaledRows, estimator: Any, scaling: str) -> Mapping[str, Scaler | None]:
        """How rows may be scaled, where that is part of the choice."""
        return {} if rows.features else count_scalers(rows.views, kernel_of(estimator), scaling)

    def _open_parameters(self, entry: Method) -> list[dict[str, Any]]:
        """Every combination of what a method's space leaves open beside C; of many methods, the usual one."""
        if self.method == AUTO:
            return [{}]
        space = {
            name: values
            for name, values in entry.space.items()
            if name != "C" and self.parameters.get(name) is None
        }
        return [dict(zip(space, values, strict=True)) for values in product(*space.values())]

    def _candidate(
        self,
        entry: Method,
        rows: UnscaledRows,
        tags: Sequence[str],
        can_hold_out: bool,
        parameters: Mapping[str, Any],
    ) -> Candidate:
        estimator = self._make(entry, tags).set_params(**parameters)
        if rows.features and "kernel" not in self.parameters and hasattr(estimator, "kernel"):
            estimator.set_params(kernel=mean_kernel(rows.features))
        chooses_cost = can_hold_out and "C" not in self.parameters
        return Candidate(
            entry.name,
            entry.family,
            suit_views(estimator, rows),
            entry.space.get("C") if chooses_cost else None,
            tries_intercept=can_hold_out
            and self.method == AUTO
            and hasattr(estimator, "fit_intercept")
            and "fit_intercept" not in self.parameters,
            extends=chooses_cost and "C" in entry.space,
            parameters=parameters,
        )

    def _kernels(self, rows: UnscaledRows, estimator: Any, can_hold_out: bool) -> list[dict[str, Any]]:
        """The kernels to be tried, as fields of a candidate; one without any keeps that of the estimator."""
        if self.kernel_power is not None:
            return [kernel_to_the_power(self.kernel_power)]
        is_given = "kernel" in self.parameters or ("C" in self.parameters and self.method != AUTO)
        if not can_hold_out or is_given or not isinstance(estimator, KernelEstimator):
            return [{}]
        if rows.features:
            return _picture_kernels(rows)
        if self.parameters.get("gamma") is not None:
            return [{}]
        straight = {"kernel_words": "linear", "kernel": "linear"}
        return [{"kernel_words": "Gaussian"}, straight]

    def _check_kernel_power(self) -> None:
        if self.kernel_power is None:
            return
        check_count("kernel_power", self.kernel_power)
        if not hasattr(self._make(self._entries[0]), "kernel"):
            raise ArgumentError(
                f"kernel_power={self.kernel_power} needs a method with a kernel, and {self.method!r} has none"
            )

    def _check_calibration(self) -> None:
        is_shared = self.calibration == "shared" or (self.calibration == AUTO and self.threshold is None)
        for name in ("completeness", "precision"):
            share = getattr(self, name)
            if share is None:
                continue
            if not is_shared:
                raise ArgumentError(f"{name} needs calibration 'shared' and no threshold")
            check_share(name, share)
        if self.calibration == "shared" and self.threshold is not None:
            raise ArgumentError(
                f"threshold={self.threshold!r} needs calibration 'platt' or 'isotonic'; with 'shared', all "
                "tags have one threshold, and precision moves it"
            )

    @property
    def _entries(self) -> list[Method]:
        if self.method != AUTO:
            return [find_method(self.method)]
        names = self.parameters.keys() - {MAX_SECONDS}
        first, *others = (find_method(name) for name in TRIED)
        # a parameter that is given asks for methods that have it
        return [first, *(one for one in others if names <= one.load()().get_params(deep=False).keys())]

    def _make(self, entry: Method, tags: Sequence[str] | None = None) -> Any:
        """The estimator of a method; with `tags`, matrices are put into their order."""
        estimator = entry.load()()
        known = estimator.get_params(deep=False)
        usual = {"random_state": self.seed, "n_jobs": self.n_jobs}
        estimator.set_params(**{name: value for name, value in usual.items() if name in known})
        if tags is None:
            return estimator
        return estimator.set_params(
            **{
                name: value.ordered(tags) if isinstance(value, TagMatrix) else value
                for name, value in self.parameters.items()
                if name != MAX_SECONDS
            }
        )

    def _around(self, can_hold_out: bool) -> Any:
        """Calibration and thresholds, if they are wanted."""
        calibration, threshold = self.calibration, self.threshold
        if calibration == AUTO:
            calibration = None if not can_hold_out else "shared" if threshold is None else "platt"
        if calibration is None and threshold is None:
            return None
        if calibration == "shared":
            return ProbabilityRanker(
                None, completeness=self.completeness, precision=self.precision, random_state=self.seed
            )
        threshold = threshold or "f1"
        return CalibratedRanker(
            None,
            method=calibration,
            strategy=threshold.replace("-", "_"),
            n_tags=self.n_tags,
            random_state=self.seed,
        )


def _picture_kernels(rows: UnscaledRows) -> list[dict[str, Any]]:
    """Powers of the kernel of all sets of features; with few pictures, of that of the embeddings, too."""
    powers = [kernel_to_the_power(power) for power in PICTURE_POWERS]
    features = rows.features or {}
    embeddings = {name: feature for name, feature in features.items() if feature.family == EMBEDDING}
    n_pictures = len(rows.names)
    if n_pictures >= FEWEST_TO_WEIGH or len(embeddings) in (0, len(features)):
        return powers
    kernel = mean_kernel(embeddings)
    alone = [
        {**power, "kernel": kernel, "kernel_words": f"embedding alone, {power['kernel_words']}"}
        for power in powers
    ]
    return alone if n_pictures < FEWEST_TO_COMPARE else [*alone, *powers]
