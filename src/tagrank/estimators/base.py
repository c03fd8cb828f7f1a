"""What every estimator is: labels in three states in, scores of all labels out; and what is stored of it.

Every class declares in `stored` what a model file holds of it once fitted, by kind. Model files are written
and read by one piece of code, which finds here what to expect; sizes by name are the same wherever they
occur: ``n_labels`` is known before, the others are fixed by the first array that has them.
"""

import math
from dataclasses import dataclass
from inspect import signature
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.special import expit
from sklearn.base import clone
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted, validate_data

from tagrank.arrays import need_pandas
from tagrank.estimators.compared_rows import PlainRows
from tagrank.estimators.targets import encode_like, encode_targets
from tagrank.kernels.gram import n_rows
from tagrank.labels import labels_from_states
from tagrank.metrics import image_auc
from tagrank.validation import check_choice, check_rows, check_same_length

if TYPE_CHECKING:

    class BaseEstimator:
        """What type checkers see of scikit-learn's class: without types, it would let any parameter pass."""

        n_features_in_: int
        feature_names_in_: np.ndarray

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """The parameters and their values."""

        def set_params(self, **params: Any) -> Self:
            """Change parameters."""

        def __sklearn_tags__(self) -> Any:
            """What scikit-learn asks of an estimator before it checks its data."""

        def __repr__(self, N_CHAR_MAX: int = 700) -> str:
            """The parameters that are not the defaults."""

        def _html_repr(self) -> str:
            """What notebooks show."""

else:
    from sklearn.base import BaseEstimator

FLOATS = [np.float64, np.float32]
# sums of products of numbers up to this one are finite, and so is what is divided by its reciprocal
LARGEST = 1e100
SMALLEST = 1 / LARGEST
# of what these sizes count there may be nothing; all others are at least one
MAY_BE_ZERO = frozenset({"n_kept", "n_signed", "n_knots", "n_rounds", "n_candidates"})


@dataclass(frozen=True)
class Numbers:
    """An array of finite numbers.

    Attributes
    ----------
    kind : letter of the dtype: "f" floats, "i" whole numbers, "b" truth values
    shape : a number, the name of a size, or None for any, for each dimension
    optional : whether it may be None
    infinite : whether infinite values may stand in it
    least : the smallest value that may stand in it; `SMALLEST` for numbers that are divided by
    """

    kind: str
    shape: tuple[int | str | None, ...]
    optional: bool = False
    infinite: bool = False
    least: float = -math.inf


@dataclass(frozen=True)
class Rows:
    """Samples: a dense or sparse matrix of floats, or a mapping of views to such; may be None.

    Attributes
    ----------
    n_rows : the name of a size
    """

    n_rows: str


@dataclass(frozen=True)
class Value:
    """A flag, a count, a number or a text; None if `optional`. Numbers that are not finite become nan.

    No count or number is below `least`.
    """

    kind: type
    optional: bool = False
    least: float = -math.inf


@dataclass(frozen=True)
class Texts:
    """A list of texts.

    Attributes
    ----------
    length : the name of a size
    """

    length: str


@dataclass(frozen=True)
class FittedKernel:
    """A kernel whose widths are fixed."""


@dataclass(frozen=True)
class FittedEstimator:
    """Another estimator, inside this one.

    Attributes
    ----------
    n_labels : the name of the size that is the number of its labels
    """

    n_labels: str = "n_labels"


FLAG, COUNT, NUMBER = Value(bool), Value(int, least=0), Value(float)
KERNEL, ESTIMATOR = FittedKernel(), FittedEstimator()


def stores(**kinds):
    """The declaration of a class: attribute to its kind; None takes back what a more general class says."""
    return MappingProxyType(kinds)


def stored_by(kind):
    """All that a class and those it derives from declare, the most general first."""
    declared = {}
    for base in reversed(kind.__mro__):
        declared |= vars(base).get("stored", {})
    return {name: kind for name, kind in declared.items() if kind is not None}


class LabelEstimator(BaseEstimator):
    """Learns labels in three states, and scores all labels of any sample.

    A subclass writes ``fit(X, y)``, which begins with `_take` and ends with `_name_labels`, and
    ``_scores(X)``: scores (n_samples, n_labels) of rows that were checked. It may write ``choose(scores)``,
    which labels such scores make present, and ``_check_parameters()``. What answers for it once fitted is
    listed in `stored`, by name and kind, so that models can be saved. A class without a kernel says in
    `column_scaling` what `Annotator` does to dense columns first: "none", "standard" or "minmax".

    Attributes
    ----------
    classes_ : array, shape (n_labels,)
        The names of the labels, in the order of the columns of all scores and predictions.
    never_positive_ : bool array, shape (n_labels,)
        Labels without a positive training sample. They are ranked last and never predicted.
    n_features_in_ : int
        Number of columns of X in `fit`; missing if X was a mapping of views.
    """

    stored = stores(
        n_features_in_=Value(int, optional=True, least=1), never_positive_=Numbers("b", ("n_labels",))
    )
    column_scaling = "none"
    # how many threads and how much talk suit the machine, not the model
    unstored_parameters = ("n_jobs", "verbose")
    # values of parameters that model files of earlier versions do not name, where the default is another one
    parameters_before: ClassVar[dict[str, Any]] = {}
    # whether its training hardly grows faster than the rows, with landmarks or on straight lines
    suits_many_rows = False

    def decision_function(self, X) -> Any:
        """Scores of all labels, shape (n_samples, n_labels).

        For one-dimensional y with two classes, shape (n_samples,): the lead of the second over the first.
        """
        scores = self._scores_of_all(X)
        if self._one_dimensional and len(self.classes_) == 2:
            return scores[:, 1] - scores[:, 0]
        return self._answer(scores, X)

    def predict(self, X) -> Any:
        """Labels present, ints of shape (n_samples, n_labels); for one-dimensional y the best class."""
        scores = self._scores_of_all(X)
        if self._one_dimensional:
            return self.classes_[np.argmax(scores, axis=1)]
        return self._answer(self.choose(scores), X)

    def predict_tags(self, X) -> list[set[Any]]:
        """The names of the labels present in each sample: a list of sets, as `fit` takes them."""
        predicted = np.asarray(self.predict(X))
        if self._one_dimensional:
            return [{name} for name in predicted.tolist()]
        return [set(self.classes_[row > 0].tolist()) for row in predicted]

    def set_output(self, *, transform=None) -> Self:
        """Let answers be DataFrames, by the call that scikit-learn has for transformers.

        Parameters
        ----------
        transform : {"pandas", "default"} or None
            With "pandas", `decision_function`, `predict_proba` and `predict` give DataFrames with the columns
            `classes_`; their index is that of X, if it has one. "default" gives arrays, None changes nothing.
            Clones keep it, model files do not. One-dimensional answers stay arrays.

        Returns
        -------
        self
        """
        if transform is not None:
            check_choice("transform", transform, ("pandas", "default"))
            # the name by which scikit-learn copies it to clones
            self._sklearn_output_config = {"transform": transform}
        return self

    def choose(self, scores) -> np.ndarray:
        """Labels present, ints, given scores of shape (n_samples, n_labels): those that reach zero."""
        return ((scores >= 0) & ~self.never_positive_).astype(np.int64)

    def score(self, X, y) -> float:
        """Image-based AUC: the share of (present, absent) label pairs in the right order, unknown masked."""
        states = encode_like(y, self.classes_, self._one_dimensional)
        return image_auc(labels_from_states(states), self._scores_of_all(X))

    def compare(self, X) -> Any:
        """Rows to be learned from more than once, as `fit`, `path` and `decision_function` take them.

        What is the same for every training on them, such as a Gram matrix, is computed here, once.

        Parameters
        ----------
        X : rows in any form that `fit` takes

        Returns
        -------
        PlainRows, or another with its methods `training` and `held_out`, which cut folds out of it
        """
        return X if isinstance(X, PlainRows) else PlainRows(X)

    def left_open(self):
        """Parameters that `fit` chooses by what it measures, and the attribute that tells each choice."""
        return {}

    def frozen(self) -> Self:
        """A copy of this fitted estimator, not fitted, whose parameters are those that `fit` chose.

        Nothing else is carried over: coefficients are learned anew.
        """
        chosen = {name: getattr(self, attribute) for name, attribute in self.left_open().items()}
        return clone(self).set_params(**chosen)

    def stored_state(self):
        """What `stored` lists, as it is to be saved."""
        return {name: getattr(self, name, None) for name in stored_by(type(self))}

    def restore(self, state):
        """Take over what `stored_state` gave; a ValueError says what does not fit together."""
        for name, value in state.items():
            if value is not None or name != "n_features_in_":
                setattr(self, name, value)

    def _answer(self, values, X):
        """Values (n_samples, n_labels) as `set_output` wants them."""
        if getattr(self, "_sklearn_output_config", {}).get("transform") != "pandas":
            return values
        index = X.index if hasattr(X, "iloc") else None
        return need_pandas().DataFrame(values, columns=self.classes_, index=index)

    def _check_parameters(self):
        """Raise if a parameter is not what it must be."""

    def _take(self, X, y):
        """Checked rows and Targets of `fit`."""
        self._check_parameters()
        targets = encode_targets(y)
        X = self._check_rows(X, reset=True)
        check_same_length(X=range(n_rows(X)), y=targets.states)
        return X, targets

    def _check_rows(self, X, *, reset):
        X = X.X if isinstance(X, PlainRows) else X
        check_rows("X", X)
        return validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=reset)

    def _name_labels(self, targets, never_positive=None):
        self.classes_ = targets.classes
        self._one_dimensional = targets.one_dimensional
        self.never_positive_ = targets.never_positive if never_positive is None else never_positive

    def _scores_of_all(self, X):
        """Scores (n_samples, n_labels); a label never positive in training scores below all."""
        check_is_fitted(self)
        scores = self._scores(self._check_rows(X, reset=False))
        if self.never_positive_.any() and not self.never_positive_.all():
            known = scores[:, ~self.never_positive_]
            scores[:, self.never_positive_] = known.min(axis=1, keepdims=True) - 1
        return scores

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags


def innermost(estimator):
    """The estimator inside all that go around one, which carry it as `estimator`."""
    while hasattr(estimator, "estimator"):
        estimator = estimator.estimator
    return estimator


def innermost_fitted(estimator):
    """The fitted estimator inside all that go around one, which carry it as `estimator_`."""
    while hasattr(estimator, "estimator_"):
        estimator = estimator.estimator_
    return estimator


def taken_by(fit, **options):
    """The options of a training, such as `callback` and `stop`, that are set and that its `fit` takes."""
    known = signature(fit).parameters
    return {name: value for name, value in options.items() if value is not None and name in known}


class LogOdds:
    """Stands before a `LabelEstimator` whose scores are log-odds: gives it `predict_proba`."""

    def predict_proba(self, X) -> Any:
        """Probabilities of all labels, one array of shape (n_samples, n_labels).

        Each label has its own, 0 if it was never present in training; for one-dimensional y they are divided
        by their sum.
        """
        probabilities = expit(self._scores_of_all(X))
        probabilities[:, self.never_positive_] = 0
        if self._one_dimensional:
            probabilities /= probabilities.sum(axis=1, keepdims=True)
        return self._answer(probabilities, X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # scikit-learn reads these of whatever has predict_proba; it is no classifier for all that
        tags.classifier_tags = ClassifierTags()
        return tags
