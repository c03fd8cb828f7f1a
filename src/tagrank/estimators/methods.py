"""The registry: one entry a method. What the rest of the house knows of a method, it knows from here.

Public names, the words of the command line and their help, what model files may name, the table in
docs/models.md, search spaces and the lists of all shared tests come from `METHODS`. Listing them loads no
estimator.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from tagrank.errors import ArgumentError, did_you_mean
from tagrank.estimators.parameters import (
    AT_LEAST_ONE,
    BELOW_ONE,
    FLAG,
    NOT_NEGATIVE,
    POSITIVE,
    POSITIVE_COUNT,
    Parameter,
    matrix_or,
    one_of,
)


@dataclass(frozen=True)
class Method:
    """One way to learn.

    Attributes
    ----------
    name : what to write behind ``--method``
    home : the module of its class, and the class
    family : which methods it belongs to
    acronym, paper : what the literature calls it, and where it is described
    about : what it does, in a sentence
    good_for : when to choose it
    growth : of its training time, n pictures and m tags
    parameters : those that it does not share with the others
    space : parameter to the values worth searching, ascending
    """

    name: str
    home: str
    family: str
    acronym: str
    paper: str
    about: str
    good_for: str
    growth: str
    parameters: tuple[Parameter, ...] = ()
    space: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def estimator(self) -> str:
        """The name of the class."""
        return self.home.partition(":")[2]

    @property
    def module(self) -> str:
        """The module that holds the class."""
        return self.home.partition(":")[0]

    def load(self) -> Any:
        """The class."""
        return getattr(import_module(self.module), self.estimator)

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and text for JSON."""
        parameters = [parameter.to_dict() for parameter in self.parameters]
        space = {name: list(values) for name, values in self.space.items()}
        return {**vars(self), "estimator": self.estimator, "parameters": parameters, "space": space}


AVERAGE = Parameter("average", FLAG, "true", "Predict with the mean of the weights over all pictures seen.")
CENTER = Parameter("center", FLAG, "true", "Take off how frequent each tag is; false is the published form.")
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
COSTS = {"C": (0.1, 0.3, 1.0, 3.0, 10.0)}
SMALL_COSTS = {"C": (0.01, 0.03, 0.1, 0.3, 1.0)}
LARGE_COSTS = {"C": (1.0, 3.0, 10.0, 30.0, 100.0)}
METHODS = [
    Method(
        "label-ranker",
        "tagrank.estimators.ranking.label_ranker:LabelRanker",
        "ranking",
        "MLR-L1",
        "Bucak, Mallapragada, Jin, Jain: Efficient Multi-label Ranking for Multi-class Learning: Application "
        "to Object Recognition, ICCV 2009",
        "Ranks present tags above absent ones, with a threshold of its own for every picture.",
        "The order of tags; the usual choice.",
        "n^2, m^0.6",
        space=COSTS,
    ),
    Method(
        "incomplete-label-ranker",
        "tagrank.estimators.ranking.incomplete_label_ranker:IncompleteLabelRanker",
        "ranking",
        "MLR-GL",
        "Bucak, Jin, Jain: Multi-label Learning with Incomplete Class Assignments, CVPR 2011; Bucak: "
        "dissertation, Michigan State University, 2014, chapter 5",
        "Ranks tags where pictures lack some that are true: errors of a forgotten tag count as a group.",
        "Pictures that carry only some of their true tags.",
        "n^2, m^0.6 to m^1.2",
        parameters=(
            Parameter(
                "solver",
                one_of("exact", "paper"),
                "exact",
                "Solve the problem, or a modified one by the steps of the dissertation.",
            ),
            Parameter(
                "eta",
                POSITIVE,
                "half the number of tags",
                "For solver=paper: weight of the modified regulariser; to be tuned like C.",
            ),
        ),
        space=SMALL_COSTS,
    ),
    Method(
        "pairwise-ranker",
        "tagrank.estimators.ranking.pairwise_ranker:PairwiseRanker",
        "ranking",
        "all pairs",
        "Bucak, Mallapragada, Jin, Jain: Efficient Multi-label Ranking for Multi-class Learning: Application "
        "to Object Recognition, ICCV 2009, equation 2",
        "Ranks by all pairs of a present and an absent tag: what label-ranker approximates; slow.",
        "Comparisons with label-ranker on small data.",
        "n^2, pairs of a present and an absent tag",
        parameters=(
            Parameter(
                "pairs",
                one_of("all", "lowest"),
                "all",
                "All pairs, or only those with the lowest present tag, which is as fast as label-ranker.",
            ),
        ),
        space=COSTS,
    ),
    Method(
        "online-ranker",
        "tagrank.estimators.online.online_ranker:OnlineRanker",
        "online",
        "MMP",
        "Crammer, Singer: A Family of Additive Online Algorithms for Category Ranking, JMLR 3, 2003",
        "A perceptron over pairs of tags in wrong order, which can go on learning from new pictures.",
        "Streams of rows, linear models.",
        "n m, one pass",
        parameters=(
            Parameter(
                "pairs",
                one_of("uniform", "worst"),
                "uniform",
                "Who shares an update: all pairs in wrong order, or the worst one.",
            ),
            Parameter(
                "step",
                one_of("loss", "constant"),
                "loss",
                "Size of an update: the share of pairs in wrong order, or one.",
            ),
            AVERAGE,
        ),
    ),
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
    Method(
        "joint-svm",
        "tagrank.estimators.joint.joint_svm:JointSVM",
        "joint",
        "JSVM",
        "Xiong, Szedmak, Piater: Scalable, Accurate Image Annotation with Joint SVMs and Output Kernels, "
        "Neurocomputing 169, 2015",
        "One support vector machine for all tags together: by far the fastest to train.",
        "Many tags and little time.",
        "n^2, hardly with m",
        parameters=(
            Parameter(
                "output_kernel",
                matrix_or("linear", "odds-ratio", "poly2", "poly3"),
                "linear",
                "How alike pictures are by their tags; a matrix holds similarities of tags.",
            ),
            CENTER,
            Parameter(
                "decoding",
                one_of("direct", "transfer"),
                "direct",
                "Score each tag, or take over those of training pictures with similar tags.",
            ),
            Parameter(
                "n_neighbors", POSITIVE_COUNT, "10", "For decoding=transfer: how many training pictures."
            ),
        ),
        space=COSTS,
    ),
    Method(
        "online-joint-svm",
        "tagrank.estimators.online.online_joint_svm:OnlineJointSVM",
        "online",
        "JSVM-Per",
        "Xiong, Szedmak, Piater: Scalable, Accurate Image Annotation with Joint SVMs and Output Kernels, "
        "Neurocomputing 169, 2015",
        "A perceptron for all tags together, which can go on learning from new pictures.",
        "Streams of rows with any kernel.",
        "n m, one pass; with a kernel n times the pictures kept",
        parameters=(
            Parameter("margin", BELOW_ONE, "0.1", "A picture whose tags are met by less is learned from."),
            AVERAGE,
            CENTER,
        ),
    ),
    Method(
        "multiple-kernel-ranker",
        "tagrank.estimators.multiple_kernel.multiple_kernel_ranker:MultipleKernelRanker",
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
        "tagrank.estimators.multiple_kernel.shared_kernel_svm:SharedKernelSVM",
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
    Method(
        "label-frequency",
        "tagrank.estimators.baselines.label_frequency:LabelFrequency",
        "baselines",
        "",
        "baseline",
        "Gives every picture the same ranking: the most frequent tags first.",
        "What every other method must beat.",
        "n m",
    ),
]


def methods(name: str | None = None) -> list[Method]:
    """All methods that `train` knows, or only the one of this name."""
    return list(METHODS) if name is None else [find_method(name)]


def find_method(name: str) -> Method:
    """The method called `name`, or an error that lists them."""
    names = [method.name for method in METHODS]
    if name not in names:
        raise ArgumentError(f"no method {name!r}{did_you_mean(name, names)}; there are: {', '.join(names)}")
    return METHODS[names.index(name)]


def read_parameters(method: str, texts: Mapping[str, str]) -> dict[str, Any]:
    """Parameters of a method from their texts, as `train` takes them; in names ``-`` may stand for ``_``."""
    known = {parameter.name: parameter for parameter in find_method(method).parameters}
    values = {}
    for written, text in texts.items():
        name = written.replace("-", "_")
        if name not in known:
            raise ArgumentError(
                f"method {method!r} has no parameter {written!r} of its own{did_you_mean(name, known)}; "
                f"it has: {', '.join(known) or 'none'}"
            )
        values[name] = known[name].read(text)
    return values
