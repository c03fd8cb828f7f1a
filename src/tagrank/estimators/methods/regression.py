"""Regression for all tags at once."""

from tagrank.estimators.methods.method import Method
from tagrank.estimators.parameters import POSITIVE, Parameter

AVERAGED = (
    "A tag that is unknown counts as the mean of those that are known; a picture without any is left out."
)
ALPHA = Parameter("alpha", POSITIVE, "by leaving pictures out", "Penalty on the size of the weights.")
METHODS = (
    Method(
        "ridge-regression",
        "tagrank.estimators.regression.ridge_regression:RidgeRegression",
        "regression",
        "ridge",
        "Rifkin, Yeo, Poggio: Regularized Least-Squares Classification, Advances in Learning Theory, 2003",
        "Least squares for all tags at once in closed form; the penalty is chosen by leaving pictures out.",
        "A quick, strong first model for many tags; nothing to tune.",
        "n^3, m",
        parameters=(ALPHA,),
        unknown=AVERAGED,
    ),
)
