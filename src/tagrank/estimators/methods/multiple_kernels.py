"""Methods that weigh several kernels."""

from tagrank.estimators.methods.method import (
    AT_LEAST_ONE,
    COSTS,
    NOT_NEGATIVE,
    POSITIVE_COUNT,
    Method,
    Parameter,
    one_of,
)

WEIGHING = (
    Parameter("norm", AT_LEAST_ONE, "1", "Of the weights: 1 selects kernels, 2 and more spread the weights."),
    Parameter(
        "normalization",
        one_of("none", "trace", "variance"),
        "none",
        "What is brought to one for each kernel before they are weighed.",
    ),
    Parameter(
        "cost_strength",
        NOT_NEGATIVE,
        "1",
        "How much cheap kernels are preferred; given for pictures, by the seconds of each set of features.",
    ),
    Parameter("power", POSITIVE_COUNT, "1", "Of the weighted sum, for shared weights that are not learned."),
)
WEIGHTS = Parameter(
    "weights",
    one_of("learned", "uniform", "best"),
    "learned",
    "Learn them, take the mean kernel, or the single one that does best on held-out pictures.",
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
        "Ranks tags, and learns how much each set of features counts; those without weight are not needed.",
        "Pictures with several sets of features.",
        "kernels n^2, m^0.6",
        parameters=(
            Parameter(
                "loss",
                one_of("ranking", "group"),
                "ranking",
                "That of label-ranker, or of incomplete-label-ranker.",
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
        "One support vector machine per tag, and weights of the sets of features that all tags share.",
        "Single tags, pictures with several sets of features.",
        "kernels n^2, m^0.6",
        parameters=(
            Parameter(
                "objective",
                one_of("sum", "worst"),
                "sum",
                "Over tags: the sum, or the one that is learned worst.",
            ),
            Parameter(
                "solver",
                one_of(*WEIGHING_SOLVERS, "cutting-plane", "stochastic"),
                "auto",
                "How the weights are found; the last two are for objective=worst.",
            ),
            *WEIGHING,
            SHARED_WEIGHTS,
        ),
        space=COSTS,
    ),
    Method(
        "multiple-kernel-svm",
        "tagrank.estimators.multiple_kernel.multiple_kernel_svm:MultipleKernelSVM",
        "multiple kernels",
        "MKL",
        "Bucak, Jin, Jain: Multiple Kernel Learning for Visual Object Recognition: A Review, IEEE PAMI 36, "
        "2014",
        "One support vector machine per tag, each with its own weights of the sets of features.",
        "Few tags that show in different features.",
        "kernels n^2 m",
        parameters=(
            Parameter(
                "solver",
                one_of(*WEIGHING_SOLVERS, "smo"),
                "auto",
                "How the weights are found; smo: norm above 1.",
            ),
            *WEIGHING,
            WEIGHTS,
        ),
        space=COSTS,
    ),
)
