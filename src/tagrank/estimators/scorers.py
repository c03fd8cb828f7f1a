"""Scorers for `GridSearchCV` and `cross_val_score` that know unknown labels and tag sets: one a metric.

scikit-learn's own refuse nan and lists of tag sets. Here a scorer is made of the entry of a metric, so that
whatever `tagrank.catalog_metrics` lists can be asked for by name.
"""

import re
from functools import partial
from typing import NoReturn

import numpy as np

from tagrank.errors import ArgumentError, did_you_mean
from tagrank.estimators.targets import encode_like
from tagrank.labels import is_tag_sets, labels_from_states
from tagrank.metrics import Metric, catalog_metrics

_NEGATED = "neg_"


class LabelScorer:
    """Measures a fitted estimator on rows whose labels are known; higher is better for every scorer.

    Called as ``scorer(estimator, X, y)`` it gives a float. Labels may be tag sets, a DataFrame, or a matrix
    of 1, 0 and nan, which is unknown and masked; nan is the answer where the metric is not defined. The
    columns of tag sets and DataFrames are put into the order of `classes_`; tags that the estimator does not
    know are passed over.

    Parameters
    ----------
    name : its name for `get_scorer`; it begins with ``neg_`` if lower values of the metric are better
    metric : its entry
    estimator, X, y : of a call: a fitted estimator, rows, and their labels
    """

    def __init__(self, name: str, metric: Metric) -> None:
        self.name, self.metric = name, metric

    def __call__(self, estimator, X, y) -> float:
        predicts = self.metric.takes == "predictions"
        values = np.asarray(estimator.predict(X)) if predicts else _scores(estimator, X)
        classes = getattr(estimator, "classes_", None)
        if not isinstance(classes, np.ndarray):
            # of scikit-learn's multi-output estimators: a list of the classes of each label
            classes = np.arange(values.shape[-1])
        if not is_tag_sets(y) and np.ndim(y) == 1:
            values = values[:, None] == classes if predicts else _of_each_class(values)
            states = encode_like(y, classes, True)
        else:
            states = encode_like(y, classes, False)
        value = self.metric(labels_from_states(states), values)
        # minus zero would look like less than the best
        return float(value if self.metric.higher_is_better else 0.0 - value)

    def __repr__(self) -> str:
        return f"get_scorer({self.name!r})"

    def __reduce__(self):
        return get_scorer, (self.name,)


def get_scorer(name: str) -> LabelScorer:
    """A scorer by name, for the parameter `scoring` of scikit-learn's functions.

    Parameters
    ----------
    name : of a function of tagrank's metrics, such as "image_auc"; of an entry of `catalog_metrics`, such as
        "micro_f1" or "Image-MAP"; of a list of any length, such as "precision_at_10". Where less is better it
        begins with ``neg_``, such as "neg_ranking_loss": higher is better for every scorer

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import KFold, cross_val_score
    >>> from tagrank import OneVsAllSVM, get_scorer
    >>> X = np.linspace(-1, 1, 20)[:, None]
    >>> tags = [{"low"} if x < 0 else {"high", "bright"} for x in X[:, 0]]
    >>> scorer = get_scorer("neg_one_error")
    >>> cross_val_score(OneVsAllSVM(), X, tags, cv=KFold(2, shuffle=True, random_state=0), scoring=scorer)
    array([0., 0.])
    """
    length = re.search(r"_at_(\d+)$", name) if isinstance(name, str) else None
    ks = {1, 3, 5} | ({int(length[1])} if length and 0 < int(length[1]) < 10**6 else set())
    scorers = {_name_of(metric): metric for metric in catalog_metrics(ks=sorted(ks)).values()}
    for own, metric in scorers.items():
        also = metric.name if metric.higher_is_better else own
        if isinstance(name, str) and _bare(name) in (_bare(own), _bare(also)):
            return LabelScorer(own, metric)
    _refuse(name, list(scorers))


def _refuse(name, known) -> NoReturn:
    negated = f"{_NEGATED}{name}"
    meant = negated if negated in known else str(name)
    hint = did_you_mean(meant, known, f"there are: {', '.join(known)}")
    raise ArgumentError(f"no scorer {name!r}{hint}")


def _name_of(metric):
    """What the scorer of an entry is called: as its function, if that is no other's, else as the entry."""
    function = metric.function
    if isinstance(function, partial):
        length = function.keywords.get("k")
        name = metric.name if length is None else f"{function.func.__name__.removesuffix('_k')}_{length}"
    else:
        name = function.__name__
    name = re.sub(r"\W+", "_", name.replace("+", "_plus")).strip("_").lower()
    return name if metric.higher_is_better else _NEGATED + name


def _bare(name):
    return re.sub(r"[\W_]+", "", name.casefold().replace("+", "plus"))


def _scores(estimator, X):
    """Scores of all labels by what the estimator has; of a list of arrays, one a label, the last columns."""
    if hasattr(estimator, "decision_function"):
        return np.asarray(estimator.decision_function(X))
    values = estimator.predict_proba(X)
    if isinstance(values, list):
        return np.column_stack([one[:, -1] for one in values])
    return np.asarray(values)


def _of_each_class(scores):
    """Two columns of the single one that stands for the lead of the second class."""
    return np.column_stack([-scores, scores]) if scores.ndim == 1 else scores


image_auc_scorer = get_scorer("image_auc")
image_average_precision_scorer = get_scorer("image_average_precision")
category_auc_scorer = get_scorer("category_auc")
category_average_precision_scorer = get_scorer("category_average_precision")
