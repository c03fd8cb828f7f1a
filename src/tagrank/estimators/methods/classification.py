"""One classifier per tag."""

from tagrank.estimators.methods.method import COSTS, LARGE_COSTS, Method
from tagrank.estimators.parameters import Parameter, matrix_or

METHODS = (
    Method(
        "one-vs-all",
        "tagrank.estimators.classification.one_vs_all:OneVsAllSVM",
        "classification",
        "OVA SVM",
        "Rifkin, Klautau: In Defense of One-Vs-All Classification, JMLR 5, 2004",
        "One support vector machine per tag, all trained together.",
        "Single tags, each with its own yes or no.",
        "n^2, m^0.6",
        space=COSTS,
    ),
    Method(
        "one-vs-all-logistic",
        "tagrank.estimators.classification.one_vs_all_logistic:OneVsAllLogistic",
        "classification",
        "OVA logistic",
        "Yu, Huang, Lin: Dual coordinate descent methods for logistic regression and maximum entropy models, "
        "Machine Learning 85, 2011",
        "One logistic regression per tag, all trained together; its scores are log-odds.",
        "Single tags, each with its own probability; texts.",
        "n^2, m",
        space=LARGE_COSTS,
    ),
    Method(
        "prior-margin",
        "tagrank.estimators.classification.prior_margin:PriorMarginClassifier",
        "classification",
        "M3L",
        "Hariharan, Zelnik-Manor, Vishwanathan, Varma: Large Scale Max-Margin Multi-Label Classification "
        "with Priors, ICML 2010",
        "One support vector machine per tag, tied together by which tags are known to go together.",
        "Tags of which little is known but how they go together.",
        "n^2, m^2",
        parameters=(
            Parameter(
                "prior",
                matrix_or("correlation", "identity"),
                "correlation",
                "Which tags go together: as in the training data, none, or as a matrix says.",
            ),
        ),
        space=COSTS,
    ),
)
