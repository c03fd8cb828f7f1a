"""One-vs-all logistic regression, all labels at once."""

from dataclasses import dataclass

from tagrank.estimators.log_odds import LogOdds
from tagrank.estimators.max_margin import MaxMarginEstimator


@dataclass(kw_only=True, eq=False, repr=False)
class OneVsAllLogistic(LogOdds, MaxMarginEstimator):
    """One logistic regression per label, trained together.

    Minimises ``1/2 sum_l |f_l|^2 + sum_il C_il log(1 + exp(-y_il f_l(x_i)))`` over the labels that are known;
    y is +1 for a present and -1 for an absent label. Scores are log-odds: ``1 / (1 + exp(-f_l(x)))`` is the
    probability of a label, and `predict` answers those that reach 1/2.

    Parameters
    ----------
    C : float, default 1.0
        Cost of a unit of log-loss. More samples, or similarities that vary less, ask for another C than an
        `OneVsAllSVM`.
    fit_intercept : bool, default True
        Add a constant feature; its weight is regularised like the others. Most labels are rare: without it
        the features have to say so.

    Other parameters and attributes are those of `OneVsAllSVM`; every training sample has coefficients that
    are not zero.

    Examples
    --------
    >>> import numpy as np
    >>> from tagrank import OneVsAllLogistic
    >>> X = np.array([[0.0, 1.0], [0.1, 0.9], [1.0, 0.0], [0.9, 0.2]])
    >>> Y = np.array([[1, 0], [1, 0], [0, 1], [np.nan, 1]])
    >>> model = OneVsAllLogistic(kernel="linear", C=10).fit(X, Y)
    >>> model.predict(X).tolist()
    [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> model.predict_proba(X[:1]).round(1).tolist()
    [[0.9, 0.1]]
    """

    fit_intercept: bool = True

    def _loss(self):
        from tagrank.losses.logistic import Logistic

        return Logistic
