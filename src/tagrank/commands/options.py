"""Options that several commands share, and what a shell offers for them at the Tab key."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from tagrank.errors import ArgumentError
from tagrank.options import (
    METHOD,
    NUMBERS,
    PICTURES,
    ROWS,
    Option,
    countable,
    jobs,
    positive,
    read_pairs,
    read_size,
    share_or_all,
    size,
)

AUTO = "auto"
SHARED = "shared"  # one curve for all tags makes probabilities of scores
DECISION = "Predicted tags"
KERNELS = ("rbf", "linear", "poly", "chi2", "intersection", "hellinger")


def _beginning(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """A function that gives the names that begin with a text."""
    return lambda incomplete: [name for name in names() if name.startswith(incomplete)]


def _method_names() -> list[str]:
    from tagrank.estimators.methods import method_names

    return [AUTO, *method_names()]


def _compared_names() -> list[str]:
    from tagrank.estimators.methods import METHODS, method_names

    families = dict.fromkeys(method.family.replace(" ", "-") for method in METHODS)
    return ["all", *families, *method_names()]


def _metric_names() -> Iterable[str]:
    from tagrank.metrics import catalog_metrics

    return catalog_metrics()


def _feature_names() -> list[str]:
    from tagrank.features.registry import FEATURES, PRESETS

    return [*PRESETS, *FEATURES]


def dataset_names(incomplete: str) -> list[str]:
    """Data sets that begin so; before the first letter none, so that the shell offers files."""
    from tagrank.commands.lists import datasets

    return [entry.name for entry in datasets() if incomplete and entry.name.startswith(incomplete)]


method_names, compared_names = _beginning(_method_names), _beginning(_compared_names)
metric_names, feature_names = _beginning(_metric_names), _beginning(_feature_names)


def _check_method(text: str) -> None:
    try:
        _known_method(text)
    except ValueError as error:
        raise ArgumentError(str(error)) from None


def _known_method(text: str) -> str:
    from tagrank.estimators.methods import find_method

    return text if text == AUTO else find_method(text).name


DATA = Option(kind=str, is_argument=True, complete=dataset_names)
MODEL = Option(kind=Path, is_argument=True)
PHOTOS = Option(kind=Path, is_argument=True)
OUTPUT = Option(kind=Path, names=("--output", "-o"))
METHOD_NAME = Option(METHOD, metavar="METHOD", check=_check_method, read=_known_method, complete=method_names)
COMPLETENESS = Option(METHOD, usual="estimated", check=share_or_all)
FEATURES = Option(
    PICTURES,
    names=("--features", "-f"),
    kind=str,
    is_many=True,
    metavar="NAME",
    usual="embedding if installed, dense_sift_v3h1, hsv_v3h1",
    complete=feature_names,
)
LOOKS = Option(PICTURES, kind=str, words=("auto", "1", "2", "4"), usual="1")
CACHE = Option(
    PICTURES,
    kind=Path,
    metavar="FOLDER",
    usual="your cache folder",
    no=("--no-cache", "Do not store features on disk."),
)
PICTURE_JOBS = Option(PICTURES, usual="all cores", check=jobs)
SCHEDULER = Option(PICTURES, kind=str, metavar="ADDRESS", usual="use this machine")
JOBS = Option(NUMBERS, usual="all cores", check=jobs)
SEED = Option(NUMBERS, low=0, high=2**32 - 1)
VIEW = Option(ROWS)
KERNEL_POWER = Option(METHOD, usual="by cross-validation", low=1, check=countable)
THRESHOLD = Option(METHOD, words=("f1", "global", "cardinality", "top-k"), usual="f1")
MEMORY = Option(NUMBERS, kind=str, metavar="SIZE", usual="most of what is free", check=size, read=read_size)
SCALING = Option(ROWS, words=("auto", "standard", "minmax", "unit", "tf-idf", "none"), usual="auto")
PART = Option(ROWS, usual="train, if the data have such a part")
METRIC = Option(usual="the mean of Image-MAP and Image-AUC", complete=metric_names)
SEARCH = Option(NUMBERS, words=("halving", "grid"))
MIN_PROBABILITY = Option(DECISION, usual="the model decides", check=share_or_all)
PRECISION = Option(DECISION, check=share_or_all)
STYLE = Option(words=("full", "stem"))
STRICT = Option(PICTURES)
FOLLOW_LINKS = Option(PICTURES)
DECISION_FILE = Option(kind=Path, metavar="FILE.sqlite", usual="PHOTOS/.tagrank/desk.sqlite")
ALL_METRICS = Option()


@dataclass(frozen=True)
class MethodParameters:
    """Parameters of the method. In Python, all parameters of the estimator may be given by name.

    Parameters
    ----------
    C : penalty for training errors; a larger C fits the training data more closely
    kernel : similarity of rows: rbf, linear, poly, chi2, intersection or hellinger
    tol : stop training at this relative duality gap
    settings : set a parameter of the method; 'tagrank methods METHOD' lists them
    """

    C: Annotated[float | None, Option(METHOD, ("--C",), usual="by cross-validation", check=positive)] = None
    kernel: Annotated[
        str | None,
        Option(METHOD, words=KERNELS, metavar="NAME", usual="rbf; the mean over all features for pictures"),
    ] = None
    tol: Annotated[float | None, Option(NUMBERS, usual="0.001", check=positive)] = None
    settings: Annotated[
        Sequence[str], Option(METHOD, ("--set",), kind=str, is_many=True, metavar="NAME=VALUE")
    ] = ()

    def for_method(self, method: str) -> dict[str, Any]:
        """The parameters by name; those that --set names are read as the entry of the method says."""
        from tagrank.estimators.methods import read_parameters

        common = {name: value for name, value in vars(self).items() if name != "settings"}
        pairs = read_pairs("--set", self.settings, "name=value")
        if method == AUTO:
            for name in pairs:
                raise ArgumentError(
                    f"method 'auto' has no parameter {name!r}; choose a method that has it with --method"
                )
            return common
        try:
            return common | read_parameters(method, pairs)
        except ValueError as error:
            raise ArgumentError(str(error)) from None


@dataclass(frozen=True)
class TrainingParameters(MethodParameters):
    """Parameters of the method when one model is trained.

    Parameters
    ----------
    gamma : 1 / width of the kernels rbf and chi2; rbf is the default for rows
    class_weight : balanced gives present and absent tags the same total weight
    fit_intercept : add a constant to the scores
    max_iter : maximum number of passes over the training data
    max_seconds : stop choosing and training after this many seconds and keep the result
    """

    gamma: Annotated[float | None, Option(METHOD, usual="1 / mean distance", check=positive)] = None
    class_weight: Annotated[str | None, Option(METHOD, words=("balanced",))] = None
    fit_intercept: Annotated[bool | None, Option(METHOD)] = None
    max_iter: Annotated[int | None, Option(NUMBERS, usual="1000", low=1, check=countable)] = None
    max_seconds: Annotated[float | None, Option(NUMBERS, check=positive)] = None
