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
    alpha : float from 0 to below 1, default 0.1
        Weight of bringing features back; that of bringing labels back is ``1 - alpha``.
    delta : float, default 1.0
        Weight of reading labels from features, which is what predictions do.
    n_components : int, default 100
        Number of dimensions of the space. More than there are features or labels do no harm, and take time.
    beta : float, default 0.001
        Weight of the squares of all weights, beside the mean of the other terms over the samples. Raise it
        where labels are learned by heart.
    step : float, optional
        Length of the first steps; None takes the inverse of the largest curvature where training begins.
        Shorten it if training is said to diverge.
    decay : float, default 0.02
        Steps of pass k, counted from zero, are divided by ``1 + decay * k``; in a stream they stay.
    momentum : float from 0 to below 1, default 0.9
        Share of a step that goes into the next one.
    batch_size : int, default 256
        Number of samples whose mean is one step. Larger batches are faster and learn less in a pass.
    max_iter : int, default 120
        Maximum number of passes of `fit` over the data. `partial_fit` passes once.
    validation_fraction : float from 0 to below 1, default 0.0
        Share of the samples that `fit` holds out: their labels tell which pass was the best one, and training
        ends after `patience` passes that are no better. With 0 none are held out.
    patience : int, default 10
        Number of passes without progress on the held-out samples after which training ends.
    normalize : bool, default True
        Divide every row by its length. Turn it off if the length of rows means something.
    fit_intercept : bool, default True
        Add a constant column.
    device : str, optional
        Where to compute: None is numpy; "cpu", "cuda" and the like need torch.
    random_state : int, RandomState or None, default None
        Seeds the first weights and the order in which `fit` visits samples. An int makes results repeatable.

    Attributes
    ----------
    encoder_ : array, shape (n_features, n_components)
        With one row more for the constant. `decision_function(X)` is ``rows @ encoder_ @ decoder_.T``.
    decoder_ : array, shape (n_labels, n_components)
        See `encoder_`.
    step_ : float
        The step that training ended with: halved where it diverged.
    threshold_ : float
        What a score must reach in `predict`: as many labels are chosen then as are present.
    n_updates_ : int
        Always 0: steps are not counted.
    n_seen_ : int
        Number of samples met; each pass of `fit` meets a sample anew.
    n_iter_ : int
        Number of passes of `fit`.
    never_positive_ : bool array, shape (n_labels,)
        Labels without a positive sample so far. They are ranked last and never predicted.
    stream_ : LabelStream
        What is known of the labels so far: their names, and how often each was present and known.
    classes_ : array, shape (n_labels,)
        The names of the labels, in the order of the columns of all scores and predictions.
    n_features_in_ : int
        Number of columns of X in `fit`; missing where X was a mapping of views.

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
