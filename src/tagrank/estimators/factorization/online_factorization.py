"""Online factorization of features and labels."""

from dataclasses import dataclass

from tagrank.estimators.factorization.factorization import Factorization
from tagrank.solvers.factorization_terms import Online
from tagrank.validation import check_below_one, check_positive


@dataclass(kw_only=True, eq=False, repr=False)
class OnlineFactorization(Factorization):
    """Scores labels by codes from which features and labels are made (OMMF, Otálora-Montenegro et al.).

    The code of a training sample follows from its features and labels in closed form, and what makes them
    from codes is learned by steps on batches; see `tagrank.solvers.factorization_terms`. The code of a new
    sample follows from its features alone. Unknown labels are left out.

    Parameters
    ----------
    alpha : float above 0 and below 1, default 0.99
        Weight of making features, that of making labels is ``1 - alpha``. With a smaller one, codes follow
        labels more, which new samples have none of.
    n_components : int, default 40
        Length of a code. One that is longer than there are features learns labels by heart.
    beta : float above 0, default 0.01
        Weight of the squares of the code, beside the mean of the other terms that of all weights.
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
    >>> from tagrank import OnlineFactorization
    >>> rows, tags = [[0.0, 1.0], [1.0, 0.0], [0.1, 0.9]], [{"sea"}, {"street"}, {"sea", "boat"}]
    >>> model = OnlineFactorization(n_components=5, random_state=0).fit(rows, tags)
    >>> model.classes_[model.decision_function([[0.9, 0.0]]).argmax()]
    'street'
    """

    n_components: int = 40
    alpha: float = 0.99
    beta: float = 0.01

    def _check_parameters(self):
        super()._check_parameters()
        check_positive("beta", self.beta)
        check_positive("alpha", self.alpha)
        check_below_one("alpha", self.alpha)

    def _problem(self):
        return Online(self.alpha, self.beta)
