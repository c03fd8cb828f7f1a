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
    n_components : int, default 40
        Length of a code. One that is longer than there are features learns labels by heart.
    alpha : float above 0 and below 1, default 0.99
        Weight of making features, that of making labels is ``1 - alpha``. With less, codes follow
        labels more, which new samples have none of.
    beta : float above 0
        Weight of the squares of the code, beside the mean of the other terms that of all weights.
    step, decay, momentum, batch_size, max_iter, validation_fraction, patience, normalize,
    fit_intercept, device, random_state : as in `TwoWayFactorization`

    Attributes
    ----------
    encoder_, decoder_, step_, threshold_, classes_, n_seen_, n_iter_, never_positive_ : as in
        `TwoWayFactorization`

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
