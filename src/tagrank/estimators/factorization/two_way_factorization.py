"""Two-way factorization of features and labels."""

from dataclasses import dataclass

from tagrank.estimators.factorization.factorization import Factorization
from tagrank.solvers.factorization_terms import TwoWay
from tagrank.validation import check_below_one, check_positive


@dataclass(kw_only=True, eq=False, repr=False)
class TwoWayFactorization(Factorization):
    """Scores labels by one space in which features and labels are coded (TWMMF, Vanegas et al.).

    Features and labels are each brought into the space and back, and labels are read from where the features
    lead; see `tagrank.solvers.factorization_terms`. Unknown labels are left out. Nothing but the weights is
    kept, so that streams of any length are learned (`partial_fit`).

    Parameters
    ----------
    n_components : int, default 100
        Dimensions of the space. More than there are features or labels do no harm, and take time.
    alpha : float from 0 to below 1
        Weight of bringing features back, that of bringing labels back is ``1 - alpha``.
    delta : float
        Weight of reading labels from features.
    beta : float
        Weight of the squares of all weights, beside the mean of the other terms over the samples.
    step : float or None
        Length of the first steps; None takes the inverse of the largest curvature where training begins.
    decay : float
        Steps of pass k, counted from zero, are divided by ``1 + decay * k``; in a stream they stay.
    momentum : float from 0 to below 1
    batch_size : int
        Samples whose mean is one step.
    max_iter : int
        Passes of `fit` at most.
    validation_fraction : float from 0 to below 1
        Share of the samples that `fit` holds out: their labels tell which pass was the best one, and training
        ends after `patience` passes that are no better. With 0 none are held out.
    patience : int
    normalize : bool
        Divide every row by its length.
    fit_intercept : bool
        Add a constant column.
    device : None or str
        Where to compute: None is numpy; "cpu", "cuda" and the like need torch.
    random_state : int, RandomState or None
        Seeds the first weights and the order in which `fit` visits samples.

    Attributes
    ----------
    encoder_, decoder_ : arrays, shapes (n_features, n_components), with one row more for the constant, and
        (n_labels, n_components); `decision_function(X)` is ``rows @ encoder_ @ decoder_.T``
    step_ : float, the step that training ended with: halved where it diverged
    threshold_ : float, what a score must reach in `predict`: as many labels are chosen then as are present
    classes_ : array, the names of the labels
    n_seen_ : int, samples met, one in each pass of `fit` anew
    n_iter_ : int, whole passes of `fit`
    never_positive_ : bool array, labels without a positive sample so far; they are ranked last

    Examples
    --------
    >>> from tagrank import TwoWayFactorization
    >>> rows, tags = [[0.0, 1.0], [1.0, 0.0], [0.1, 0.9]], [{"sea"}, {"street"}, {"sea", "boat"}]
    >>> model = TwoWayFactorization(n_components=5, random_state=0).fit(rows, tags)
    >>> model.classes_[model.decision_function([[0.9, 0.0]]).argmax()]
    'street'
    """

    alpha: float = 0.1
    delta: float = 1.0

    def _check_parameters(self):
        super()._check_parameters()
        check_below_one("alpha", self.alpha)
        check_positive("delta", self.delta)

    def _problem(self):
        return TwoWay(self.alpha, self.delta)
