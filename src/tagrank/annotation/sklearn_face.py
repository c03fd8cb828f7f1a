"""An annotator as scikit-learn knows estimators: parameters, answers as arrays, and how it is shown."""

import re
from collections.abc import Iterator
from html import escape
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from tagrank.data.coherence import coherent_log_odds, make_coherent
from tagrank.estimators import ProbabilityRanker
from tagrank.estimators.base import BaseEstimator, innermost_fitted

_SHOWN = 6
_LONG_NUMBER = re.compile(r"\d+\.\d{4,}(?:e[+-]?\d+)?")


def _has_probabilities(annotator: Any) -> bool:
    annotator._check_fitted()
    return hasattr(annotator.estimator_, "predict_proba")


class SklearnFace(BaseEstimator):
    """What `Annotator` answers to scikit-learn: `get_params`, `clone`, `predict_proba` and the like."""

    tags: list[str]
    estimator_: Any
    implied_: np.ndarray
    never_positive_: np.ndarray
    min_probability: float | None

    def _rows(self, data: Any) -> Any:
        """What the estimator reads of `data`."""
        raise NotImplementedError

    def _check_fitted(self) -> None:
        """Raise unless something was learned."""
        raise NotImplementedError

    @property
    def classes_(self) -> np.ndarray:
        """The tags, in the order of the columns of all scores and predictions, shape (n_tags,)."""
        if not hasattr(self, "estimator_"):
            raise AttributeError("classes_ are known after fit")
        return np.array(self.tags, dtype=object)

    def scores(self, data: Any) -> np.ndarray:
        """Scores of all tags, shape (n, n_tags); `data` as in `annotate`."""
        return self.score_rows(self._rows(data))

    def score_rows(self, rows: Any) -> np.ndarray:
        """Scores, given rows as the estimator reads them."""
        # an array, whatever `set_output` asks of the estimator
        scores = np.asarray(self.estimator_.decision_function(rows))
        return coherent_log_odds(scores, self.implied_) if self._scores_are_log_odds else scores

    def probabilities(self, data: Any) -> np.ndarray | None:
        """Probabilities of all tags, shape (n, n_tags), or None if the estimator has none."""
        self._check_fitted()
        if not hasattr(self.estimator_, "predict_proba"):
            return None
        if self._scores_are_log_odds:
            return self.probabilities_of(self.scores(data))
        return make_coherent(np.asarray(self.estimator_.predict_proba(self._rows(data))), self.implied_)

    def probabilities_of(self, scores: np.ndarray) -> np.ndarray | None:
        """Probabilities, given what `scores` gave; None if the estimator has none."""
        if not hasattr(self.estimator_, "probabilities_of"):
            return None
        probabilities = self.estimator_.probabilities_of(scores)
        # what log-odds say is coherent already
        is_coherent = probabilities is None or self._scores_are_log_odds
        return probabilities if is_coherent else make_coherent(probabilities, self.implied_)

    def predict(self, data: Any) -> np.ndarray:
        """1 for the tags that the estimator would write down, else 0, shape (n, n_tags)."""
        return self.choose(self.scores(data))

    def choose(self, scores: np.ndarray) -> np.ndarray:
        """1 for the tags that would be written down, else 0, given what `scores` gave."""
        if self.min_probability is None:
            return self.estimator_.choose(scores)
        probabilities: Any = self.probabilities_of(scores)
        return ((probabilities >= self.min_probability) & ~self.never_positive_).astype(np.int64)

    @property
    def _scores_are_log_odds(self) -> bool:
        return isinstance(self.estimator_, ProbabilityRanker)

    def decision_function(self, data: Any) -> np.ndarray:
        """As `scores`, by the name that scikit-learn gives it."""
        return self.scores(data)

    @available_if(_has_probabilities)
    def predict_proba(self, data: Any) -> np.ndarray | None:
        """As `probabilities`, by the name that scikit-learn gives it; missing if the model has none."""
        return self.probabilities(data)

    def predict_tags(self, data: Any) -> list[set[str]]:
        """The tags that the model would write down for each picture or row, as `fit` takes them."""
        return [{self.tags[j] for j in np.flatnonzero(row)} for row in self.predict(data)]

    def score(self, data: Any, tags: Any) -> float:
        """Image-based AUC: the share of (present, absent) tag pairs in the right order, unknown masked.

        Parameters
        ----------
        data : as in `annotate`
        tags : the true tags, as in `fit`
        """
        from tagrank.estimators.scorers import get_scorer

        return get_scorer("image_auc")(self, data, tags)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        if not hasattr(self, "estimator_"):
            return super().__repr__(N_CHAR_MAX)
        facts = "; ".join(f"{name}: {value}" for name, value in _facts(self))
        return f"<{type(self).__name__}, {facts}>"

    def _html_repr(self) -> str:
        """What notebooks show: once fitted, a table of what was learned."""
        if not hasattr(self, "estimator_"):
            return super()._html_repr()
        lines = "".join(
            f"<tr><th style='text-align:left'>{escape(name)}</th>"
            f"<td style='text-align:left'>{escape(value)}</td></tr>"
            for name, value in _facts(self)
        )
        return f"<table><caption>{type(self).__name__}</caption>{lines}</table>"


def _facts(annotator: Any) -> Iterator[tuple[str, str]]:
    """What a fitted annotator learned, in words."""
    n_training = annotator.metadata.get("n_training")
    kind = "rows" if annotator.features_ is None else "pictures"
    yield "learned from", f"{n_training:,} {kind}" if isinstance(n_training, int) else kind
    yield ("columns" if annotator.features_ is None else "features"), ", ".join(annotator.columns_)
    yield "method", str(annotator.metadata.get("method", type(annotator.estimator_).__name__))
    kernel = getattr(innermost_fitted(annotator.estimator_), "kernel_", None)
    if kernel is not None:
        yield "kernel", _LONG_NUMBER.sub(lambda number: f"{float(number[0]):.4g}", repr(kernel))
    shown = ", ".join(annotator.tags[:_SHOWN]) + (", ..." if len(annotator.tags) > _SHOWN else "")
    yield "tags", f"{len(annotator.tags):,} ({shown})"
    if quality := _quality(annotator):
        yield "quality", quality


def _quality(annotator: Any) -> str:
    """What predicted tags are worth on held-out samples of the training, if the model knows."""
    estimator = annotator.estimator_
    if not isinstance(estimator, ProbabilityRanker) or len(annotator.tags) < 2 or estimator.n_held_out_ < 2:
        return ""
    own = annotator.min_probability
    right, found, _ = estimator.curve_.quality(estimator.threshold_ if own is None else own)
    if np.isnan(right):
        return "predicts no tags: none is probable enough"
    of_true = "" if np.isnan(found) else f"; of 100 true tags, about {found:.0%}".removesuffix("%")
    words = f"of 100 predicted tags, about {right:.0%}".removesuffix("%") + " are right"
    return words + (f"{of_true} are predicted" if of_true else "")
