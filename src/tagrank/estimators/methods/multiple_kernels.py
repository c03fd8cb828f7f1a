"""Methods that weigh several kernels."""

from tagrank.estimators.methods.method import (
    AT_LEAST_ONE,
    AT_LEAST_TWO,
    COSTS,
    NOT_NEGATIVE,
    POSITIVE,
    POSITIVE_COUNT,
    SHARE,
    Method,
    Parameter,
    one_of,
)

WEIGHING = (
    Parameter(
        "norm", AT_LEAST_ONE, "1", "Norm of the weights: 1 selects kernels, 2 and more spread the weights."
    ),
    Parameter(
        "normalization",
        one_of("none", "trace", "variance", "spherical"),
        "none",
        "What is scaled to 1 in each kernel first.",
    ),
    Parameter(
        "cost_strength",
        NOT_NEGATIVE,
        "1",
        "How strongly cheap kernels are preferred. For pictures, the costs are the seconds of each feature.",
    ),
    Parameter("power", POSITIVE_COUNT, "1", "Power of the weighted sum, for weights that are not learned."),
    Parameter(
        "group_norm",
        AT_LEAST_TWO,
        "2",
        "Norm across groups of kernels, see groups in Python: the higher, the more alike groups count.",
    ),
)
WEIGHTS = Parameter(
    "weights",
    one_of("learned", "uniform", "best"),
    "learned",
    "Learn them, use the mean kernel, or use the single kernel that is best on held-out pictures.",
)
SHARED_WEIGHTS = Parameter(
    "weights",
    one_of("learned", "held-out", "uniform", "best"),
    "learned",
    "Learn them with the model, or as held-out pictures are ranked best; or take the mean kernel, or the "
    "single one that does best.",
)
WEIGHING_SOLVERS = ("auto", "silp", "simple", "gradient", "mirror", "level", "group-lasso")
METHODS = (
    Method(
        "multiple-kernel-ranker",
        "tagrank.estimators.multiple_kernel.shared_weights:MultipleKernelRanker",
        "multiple kernels",
        "MK-MLR",
        "Bucak: Multiple Kernel and Multi-label Learning for Image Categorization, dissertation, Michigan "
        "State University, 2014, chapter 6",
        "Ranks tags and learns a weight for each set of features; sets without weight are not computed.",
        "Pictures with several sets of features.",
        "kernels n^2, m^0.6",
        parameters=(
            Parameter(
                "loss",
                one_of("ranking", "group"),
                "ranking",
                "The loss of label-ranker, or of incomplete-label-ranker.",
            ),
            Parameter("solver", one_of(*WEIGHING_SOLVERS), "auto", "How the weights are found."),
            *WEIGHING,
            SHARED_WEIGHTS,
        ),
        space=COSTS,
    ),
    Method(
        "shared-kernel-svm",
        "tagrank.estimators.multiple_kernel.shared_weights:SharedKernelSVM",
        "multiple kernels",
        "ML-MKL",
        "Bucak, Jin, Jain: Multi-label Multiple Kernel Learning by Stochastic Approximation: Application to "
        "Visual Object Recognition, NIPS 2010",
        "One support vector machine per tag, with feature weights that all tags share.",
        "A yes or no for each tag, pictures with several sets of features.",
        "kernels n^2, m^0.6",
        parameters=(
            Parameter(
                "objective",
                one_of("sum", "worst"),
                "sum",
                "Minimize the sum over tags, or the worst tag.",
            ),
            Parameter(
                "solver",
                one_of(*WEIGHING_SOLVERS, "cutting-plane", "stochastic", "paper"),
                "auto",
                "Solver for the weights; the last three are for objective=worst.",
            ),
            Parameter("eta", POSITIVE, "0.01", "For solver=paper: step size of the weights of feature sets."),
            Parameter(
                "eta_labels", POSITIVE, "none, eta", "For solver=paper: step size of the shares of tags."
            ),
            Parameter(
                "delta",
                SHARE,
                "0.2",
                "For solver=paper: part of the tags that is drawn evenly, not by their shares.",
            ),
            *WEIGHING,
            SHARED_WEIGHTS,
        ),
        space=COSTS,
        known_as=("ML-MKL-SA",),
        differs="ML-MKL-SA is objective=worst with solver=paper; solver=stochastic has less noise.",
    ),
    Method(
        "multiple-kernel-svm",
        "tagrank.estimators.multiple_kernel.multiple_kernel_svm:MultipleKernelSVM",
        "multiple kernels",
        "MKL",
        "Bucak, Jin, Jain: Multiple Kernel Learning for Visual Object Recognition: A Review, IEEE PAMI 36, "
        "2014",
        "One support vector machine per tag, each with its own feature weights.",
        "Few tags that depend on different features.",
        "kernels n^2 m",
        parameters=(
            Parameter(
                "solver",
                one_of(*WEIGHING_SOLVERS, "smo"),
                "auto",
                "Solver for the weights; smo needs a norm above 1.",
            ),
            *WEIGHING,
            WEIGHTS,
        ),
        space=COSTS,
        known_as=(
            "SimpleMKL",
            "SILP",
            "VSKL",
        ),
        differs="SimpleMKL is solver=simple, SILP is solver=silp and VSKL is solver=mirror, in Python with "
        "groups; auto solves the same problem.",
    ),
)
